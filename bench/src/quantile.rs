//! Where a share of measured values ends.

/// The value below which so large a share of them lies.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share) as usize).copied().unwrap_or(f64::NAN)
}
