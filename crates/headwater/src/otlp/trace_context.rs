//! Which trace a span belongs to: its own, its parent's, or that of a caller who said so in a W3C `traceparent`.

/// Ids of a span and of what is above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    /// All zero: it is the first of its trace.
    pub parent_id: [u8; 8],
}

/// What a caller said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    /// Whether the caller records the trace; where it does not, neither do we.
    pub is_sampled: bool,
}

impl TraceParent {
    /// None for what is not one: it is then as if nothing had been said.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let version = hex::<1>(parts.next()?)?;
        let (trace_id, span_id) = (hex::<16>(parts.next()?)?, hex::<8>(parts.next()?)?);
        let [flags] = hex::<1>(parts.next()?)?;
        // Later versions may say more; version 255 is none.
        let is_known = version != [0xff] && (version != [0] || parts.next().is_none());
        let has_ids = trace_id != [0; 16] && span_id != [0; 8];
        (is_known && has_ids).then_some(TraceParent {
            trace_id,
            span_id,
            is_sampled: flags & 1 == 1,
        })
    }
}

/// Small letters only, as the standard wants it.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_plain = text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    let mut bytes = [0; N];
    (is_plain && alloy_primitives::hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_or_left_alone() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let read = TraceParent::read(good).unwrap();
        assert_eq!((read.trace_id[0], read.span_id[7], read.is_sampled), (0x0a, 0x31, true));
        assert!(!TraceParent::read(&good.replace("-01", "-00")).unwrap().is_sampled);
        assert!(TraceParent::read(&format!("cc{}-more", &good[2..])).is_some());
        for bad in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c8031-b7ad6b7169203331-01",
            "00-zzf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(TraceParent::read(bad), None, "{bad}");
        }
    }
}
