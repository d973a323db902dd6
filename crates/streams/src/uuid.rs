//! UUIDs of streams and of deliveries; clients check their form.

use store::StreamId;

pub fn new_stream_id() -> StreamId {
    version_4(rand::random())
}

/// With the bits that say so.
pub fn version_4(mut bytes: [u8; 16]) -> StreamId {
    let [_, _, _, _, _, _, version, _, variant, ..] = &mut bytes;
    *version = (*version & 0x0f) | 0x40;
    *variant = (*variant & 0x3f) | 0x80;
    StreamId::new(bytes)
}

/// `0d653a7a-05da-4f4a-8eec-bca8725046cd`.
pub fn uuid_text(id: &StreamId) -> String {
    let hex = alloy_primitives::hex::encode(id);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_of_version_4_and_never_the_same() {
        let ids: std::collections::HashSet<String> =
            (0..100).map(|_| uuid_text(&new_stream_id())).collect();
        assert_eq!(ids.len(), 100);
        for id in ids {
            let parts: Vec<&str> = id.split('-').collect();
            assert_eq!(parts.iter().map(|it| it.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
            assert!(
                parts[2].starts_with('4') && parts[3].starts_with(['8', '9', 'a', 'b']),
                "{id}"
            );
        }
    }
}
