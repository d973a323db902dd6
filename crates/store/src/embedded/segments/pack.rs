//! Groups of rows to frames, and back.
//!
//! A frame holds neighbouring groups: for each group its rows, each with its length in front; nothing stands for a row
//! that there is not. Larger frames pack better and cost more to read one row of; `bench packing` measures both
//! (docs/adr/0012).

use std::cell::RefCell;

use model::chain::ChainId;
use zstd::zstd_safe::{CCtx, DCtx, compress_bound};

use super::bodies::Dictionaries;
use super::body_row::{BodyRow, FrameRef, Place};
use super::dictionary::Dictionary;
use super::frame_hash::{FrameOf, frame_hash};
use super::frame_kind::FrameKind;
use super::kind::Kind;
use crate::embedded::codec::{put_counted, take_counted};

/// A frame ends with the group that reaches this.
const FRAME_BYTES: usize = 8 << 10;
/// Frames are 4 to 5 % larger than those of level -1, and history is filled 3 % faster (docs/adr/0012).
pub const LEVEL: i32 = -3;

/// Nearly all bodies become smaller by more than this, so room for them is made once.
const USUAL_RATIO: usize = 2;

/// The groups of a block that have a row, rising, by kind.
pub type BodyGroups = [Vec<(u32, Vec<u8>)>; 3];

/// The groups that have a row of this sort of frame, rising, each with all its rows; an empty one stands for none.
pub fn by_group(kind: FrameKind, groups: &BodyGroups) -> impl Iterator<Item = (u32, Vec<&[u8]>)> {
    let mut rows: Vec<_> = kind.kinds().map(|kind| kind.of(groups).iter().peekable()).collect();
    std::iter::from_fn(move || {
        let next = rows.iter_mut().filter_map(|rows| rows.peek().map(|(group, _)| *group)).min()?;
        let of_next = rows.iter_mut().map(|rows| {
            let row = rows.next_if(|(group, _)| *group == next);
            row.map_or(&[] as &[u8], |(_, row)| row.as_slice())
        });
        Some((next, of_next.collect()))
    })
}

/// A block's body as it is written.
#[derive(Clone)]
pub struct PackedBody {
    pub dictionaries: [u32; 3],
    pub frames: Vec<FrameRef>,
    /// All frames, each with its hash in front.
    pub bytes: Vec<u8>,
}

thread_local! {
    /// Made once: they are larger than most frames.
    static PACKER: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static UNPACKER: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

impl PackedBody {
    pub fn pack(
        (chain, number): (ChainId, u64),
        groups: &BodyGroups,
        dictionaries: &Dictionaries,
    ) -> Self {
        let raw_bytes: usize = groups.iter().flatten().map(|(_, row)| row.len()).sum();
        let bytes = Vec::with_capacity(raw_bytes / USUAL_RATIO);
        let mut body = PackedBody { dictionaries: [0; 3], frames: Vec::new(), bytes };
        for (kind, dictionary) in FrameKind::WRITTEN.into_iter().zip(dictionaries) {
            let dictionary = dictionary.as_deref();
            let id = dictionary.map_or(0, |dictionary| dictionary.id);
            let of = FrameOf { chain, number, dictionary: id };
            let mut raw = Vec::with_capacity(2 * FRAME_BYTES);
            let mut first_group = None;
            let mut last = 0;
            for (group, rows) in by_group(kind, groups) {
                let first = *first_group.get_or_insert(group);
                let empty_between = if raw.is_empty() { 0 } else { group - last - 1 };
                let empty_rows = empty_between as usize * rows.len();
                (0..empty_rows).for_each(|_| put_counted(&mut raw, &[]));
                rows.into_iter().for_each(|row| put_counted(&mut raw, row));
                last = group;
                if raw.len() >= FRAME_BYTES {
                    body.add((of, kind), (first, last), &raw, dictionary);
                    raw.clear();
                    first_group = None;
                }
            }
            if let Some(first) = first_group {
                body.add((of, kind), (first, last), &raw, dictionary);
            }
            *kind.lead().of_mut(&mut body.dictionaries) = id;
        }
        body
    }

    fn add(
        &mut self,
        (of, kind): (FrameOf, FrameKind),
        (first_group, last): (u32, u32),
        raw: &[u8],
        dictionary: Option<&Dictionary>,
    ) {
        let packed = pack_frame(raw, dictionary);
        let packed = packed.as_deref().unwrap_or(raw);
        let frame = FrameRef {
            kind,
            first_group,
            groups: last - first_group + 1,
            packed_bytes: packed.len() as u32,
            bytes: raw.len() as u32,
        };
        self.bytes.extend_from_slice(&frame_hash(of, &frame, packed));
        self.bytes.extend_from_slice(packed);
        self.frames.push(frame);
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The engine's row, with the body behind it.
    pub fn inline_row(&self) -> Vec<u8> {
        let PackedBody { dictionaries, frames, bytes } = self;
        let (dictionaries, frames) = (*dictionaries, frames.clone());
        let row = BodyRow { place: Place::Inline, dictionaries, frames };
        [row.pack().as_slice(), bytes].concat()
    }
}

/// None where it would not become smaller; such a frame lies as it is, which its lengths tell.
fn pack_frame(raw: &[u8], dictionary: Option<&Dictionary>) -> Option<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| {
        if packer.is_none() {
            *packer = CCtx::try_create();
        }
        let packer = packer.as_mut()?;
        let mut out = Vec::with_capacity(compress_bound(raw.len()));
        match dictionary {
            Some(it) => packer.compress_using_cdict(&mut out, raw, it.encoder.as_cdict()),
            None => packer.compress(&mut out, raw, LEVEL),
        }
        .ok()?;
        (out.len() < raw.len()).then_some(out)
    })
}

/// None where it is not what was packed.
pub fn unpack_frame(
    frame: &FrameRef,
    packed: &[u8],
    dictionary: Option<&Dictionary>,
) -> Option<Vec<u8>> {
    if frame.packed_bytes == frame.bytes {
        return Some(packed.to_vec());
    }
    UNPACKER.with_borrow_mut(|unpacker| {
        if unpacker.is_none() {
            *unpacker = DCtx::try_create();
        }
        let unpacker = unpacker.as_mut()?;
        let mut out = Vec::with_capacity(frame.bytes as usize);
        match dictionary {
            Some(it) => unpacker.decompress_using_ddict(&mut out, packed, it.decoder.as_ddict()),
            None => unpacker.decompress(&mut out, packed),
        }
        .ok()?;
        (out.len() == frame.bytes as usize).then_some(out)
    })
}

/// The groups of an unpacked frame that have a row of this kind; an error in place of one that cannot be read.
pub fn rows_of_frame<'a>(
    frame: &FrameRef,
    mut raw: &'a [u8],
    wanted: Kind,
) -> impl Iterator<Item = Option<(u32, &'a [u8])>> {
    let groups = frame.first_group..frame.first_group.saturating_add(frame.groups);
    let kinds = frame.kind.kinds();
    let rows = groups.flat_map(move |group| kinds.clone().map(move |kind| (group, kind)));
    let rows = rows.map(move |(group, kind)| Some((group, kind, take_counted(&mut raw)?)));
    let is_wanted = move |(_, kind, row): &(u32, Kind, &[u8])| *kind == wanted && !row.is_empty();
    rows.filter(move |row| row.as_ref().is_none_or(is_wanted))
        .map(|row| row.map(|(group, _, row)| (group, row)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    const OF: (ChainId, u64) = (ChainId(1), 77);

    fn again(body: &PackedBody, dictionary: Option<&Dictionary>) -> BodyGroups {
        let mut groups = BodyGroups::default();
        let (dictionaries, frames) = (body.dictionaries, body.frames.clone());
        for (frame, start) in (BodyRow { place: Place::Inline, dictionaries, frames }).placed() {
            let stored = &body.bytes[start as usize..][..frame.stored_bytes() as usize];
            let (hash, packed) = stored.split_at(8);
            let id = *frame.kind.lead().of(&body.dictionaries);
            let of = FrameOf { chain: OF.0, number: OF.1, dictionary: id };
            assert_eq!(hash, frame_hash(of, frame, packed));
            let raw = unpack_frame(frame, packed, dictionary.filter(|it| it.id == id)).unwrap();
            for kind in frame.kind.kinds() {
                let rows = rows_of_frame(frame, &raw, kind).map(|row| row.unwrap());
                kind.of_mut(&mut groups).extend(rows.map(|(group, row)| (group, row.to_vec())));
            }
        }
        groups
    }

    /// Rows that have something in common and something of their own.
    fn rows(seed: u8, groups: &[u32], bytes: usize) -> Vec<(u32, Vec<u8>)> {
        let row = |group: u32| {
            let own = (group as u8).wrapping_mul(31).wrapping_add(seed);
            let at = |i: usize| if i.is_multiple_of(3) { own.wrapping_add(i as u8) } else { seed };
            (group, (0..bytes).map(at).collect())
        };
        groups.iter().map(|group| row(*group)).collect()
    }

    #[test]
    fn groups_come_back_with_and_without_a_dictionary_and_with_it_they_are_smaller() {
        let all: Vec<u32> = (0..40).collect();
        let groups = [rows(1, &all, 2000), rows(2, &[3, 4, 9, 30], 9000), rows(3, &[39], 10)];
        let none = [None, None];
        let plain = PackedBody::pack(OF, &groups, &none);
        assert_eq!(again(&plain, None), groups);
        assert!(plain.frames.len() > 5, "{:?}", plain.frames);
        let common = [groups[0][0].1.clone(), groups[0][1].1.clone()].concat();
        let dictionary = Arc::new(Dictionary::new(9, (OF.0, FrameKind::TxsAndLogs), &common));
        let small = PackedBody::pack(OF, &groups, &[Some(dictionary.clone()), None]);
        assert_eq!((again(&small, Some(&dictionary)), small.dictionaries), (groups, [9, 0, 0]));
        assert!(small.bytes.len() < plain.bytes.len());
        let nothing = PackedBody::pack(OF, &BodyGroups::default(), &none);
        assert!(nothing.is_empty() && nothing.bytes.is_empty());
    }

    proptest! {
        #[test]
        fn any_groups_come_back(
            txs in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..4000), 0..20),
            apart in 1u32..5,
        ) {
            let groups: Vec<(u32, Vec<u8>)> = (0u32..).step_by(apart as usize).zip(txs).collect();
            let fewer = groups.iter().filter(|(group, _)| group % 3 > 0).cloned().collect();
            let groups = [groups.clone(), fewer, groups];
            prop_assert_eq!(again(&PackedBody::pack(OF, &groups, &[None, None]), None), groups);
        }

        #[test]
        fn bytes_of_any_kind_never_stop_the_reader(
            packed in prop::collection::vec(any::<u8>(), 0..90),
            bytes in 0u32..5000,
        ) {
            let packed_bytes = packed.len() as u32;
            let kind = FrameKind::TxsAndLogs;
            let frame = FrameRef { kind, first_group: 1, groups: 4, packed_bytes, bytes };
            if let Some(raw) = unpack_frame(&frame, &packed, None) {
                let _ = rows_of_frame(&frame, &raw, Kind::Logs).count();
            }
        }
    }
}
