//! A body as it lies in a segment: a header that says whose it is and how long, with a hash over all of it,
//! so that a file can be read through and judged by itself.

use model::chain::ChainId;
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 4] = b"hwb1";
pub const HEADER_BYTES: u64 = 32;

/// What stands in front of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    pub chain: ChainId,
    pub number: u64,
    pub body_bytes: u32,
    pub hash: u64,
}

fn hash(fields: &[u8], body: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(fields);
    hasher.update(body);
    hasher.digest()
}

/// What stands in front of this body.
pub fn header_of((chain, number): (ChainId, u64), body: &[u8]) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER_BYTES as usize);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&(body.len() as u32).to_be_bytes());
    header.extend_from_slice(&chain.0.to_be_bytes());
    header.extend_from_slice(&number.to_be_bytes());
    let hash = hash(&header, body);
    header.extend_from_slice(&hash.to_be_bytes());
    header
}

impl RecordHeader {
    pub fn unpack(bytes: &[u8; HEADER_BYTES as usize]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (body_bytes, rest) = rest.split_first_chunk::<4>()?;
        let (chain, rest) = rest.split_first_chunk::<8>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        Some(RecordHeader {
            chain: ChainId(u64::from_be_bytes(*chain)),
            number: u64::from_be_bytes(*number),
            body_bytes: u32::from_be_bytes(*body_bytes),
            hash: u64::from_be_bytes(rest.try_into().ok()?),
        })
    }

    /// Whether header and body are what was written.
    pub fn fits(&self, bytes: &[u8; HEADER_BYTES as usize], body: &[u8]) -> bool {
        hash(bytes.get(..24).unwrap_or_default(), body) == self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let record = [header_of((ChainId(7), 9), b"a body"), b"a body".to_vec()].concat();
        let read = |bytes: &[u8]| {
            let (header, body) = bytes.split_first_chunk::<32>().unwrap();
            RecordHeader::unpack(header)
                .filter(|it| it.body_bytes as usize == body.len() && it.fits(header, body))
        };
        let whole = read(&record).unwrap();
        assert_eq!((whole.chain, whole.number, whole.body_bytes), (ChainId(7), 9, 6));
        for bit in 0..record.len() * 8 {
            let mut bytes = record.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&bytes), None, "bit {bit}");
        }
    }
}
