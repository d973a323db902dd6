//! A dictionary that frames are packed with: bytes that many rows of a chain have in common. Once used it
//! is never changed or removed; a newer one has another number.

use model::chain::ChainId;
use zstd::dict::{DecoderDictionary, EncoderDictionary};

use super::frame_kind::FrameKind;
use super::pack::LEVEL;

pub struct Dictionary {
    pub id: u32,
    pub chain: ChainId,
    pub kind: FrameKind,
    pub encoder: EncoderDictionary<'static>,
    pub decoder: DecoderDictionary<'static>,
}

impl Dictionary {
    pub fn new(id: u32, (chain, kind): (ChainId, FrameKind), bytes: &[u8]) -> Self {
        let encoder = EncoderDictionary::copy(bytes, LEVEL);
        Dictionary { id, chain, kind, encoder, decoder: DecoderDictionary::copy(bytes) }
    }

    /// The row that it is made from again.
    pub fn pack_row((chain, kind): (ChainId, FrameKind), bytes: &[u8]) -> Vec<u8> {
        [chain.0.to_be_bytes().as_slice(), &[kind.code()], bytes].concat()
    }

    pub fn unpack_row(id: u32, row: &[u8]) -> Option<Self> {
        let (chain, rest) = row.split_first_chunk::<8>()?;
        let (kind, bytes) = rest.split_first()?;
        let of = (ChainId(u64::from_be_bytes(*chain)), FrameKind::of_code(*kind)?);
        Some(Dictionary::new(id, of, bytes))
    }
}
