//! The engine's row of a body: where it lies, and where in it each frame begins.

use super::frame_hash::HASH_BYTES;
use super::frame_kind::FrameKind;
use super::kind::Kind;
use crate::embedded::codec::{put_varint, take_byte, take_varint};

/// In front of every row, so that another form can be told apart.
const INLINE: u8 = 1;
const IN_SEGMENT: u8 = 2;
/// What a damaged row can ask memory for.
const FRAME_BYTES_MAX: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Behind this row.
    Inline,
    /// `offset` is that of the body's record.
    Segment { id: u64, offset: u64 },
}

/// One packed run of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRef {
    pub kind: FrameKind,
    pub first_group: u32,
    pub groups: u32,
    pub packed_bytes: u32,
    /// Unpacked.
    pub bytes: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyRow {
    pub place: Place,
    /// By the leading kind of frames; 0 where none was used.
    pub dictionaries: [u32; 3],
    /// In the order in which they lie.
    pub frames: Vec<FrameRef>,
}

impl BodyRow {
    pub fn pack(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + 8 * self.frames.len());
        match self.place {
            Place::Inline => out.push(INLINE),
            Place::Segment { id, offset } => {
                out.push(IN_SEGMENT);
                put_varint(&mut out, id);
                put_varint(&mut out, offset);
            }
        }
        self.dictionaries.iter().for_each(|id| put_varint(&mut out, u64::from(*id)));
        put_varint(&mut out, self.frames.len() as u64);
        for frame in &self.frames {
            out.push(frame.kind.code());
            for number in [frame.first_group, frame.groups, frame.packed_bytes, frame.bytes] {
                put_varint(&mut out, u64::from(number));
            }
        }
        out
    }

    /// With what follows it, which is the body where it is inline.
    pub fn unpack(mut input: &[u8]) -> Option<(Self, &[u8])> {
        let rest = &mut input;
        let place = match take_byte(rest)? {
            INLINE => Place::Inline,
            IN_SEGMENT => Place::Segment { id: take_varint(rest)?, offset: take_varint(rest)? },
            _ => return None,
        };
        let mut dictionaries = [0; 3];
        for id in &mut dictionaries {
            *id = small(rest)?;
        }
        let count = take_varint(rest)?;
        let mut frames = Vec::with_capacity(usize::try_from(count).ok()?.min(rest.len()));
        for _ in 0..count {
            let kind = FrameKind::of_code(take_byte(rest)?)?;
            let (first_group, groups) = (small(rest)?, small(rest)?);
            let (packed_bytes, bytes) = (small(rest)?, small(rest)?);
            if u64::from(bytes) > FRAME_BYTES_MAX || first_group.checked_add(groups).is_none() {
                return None;
            }
            frames.push(FrameRef { kind, first_group, groups, packed_bytes, bytes });
        }
        let row = BodyRow { place, dictionaries, frames };
        let behind = if place == Place::Inline { row.body_bytes() } else { 0 };
        (rest.len() as u64 == behind).then_some((row, *rest))
    }

    /// Of all frames, with their hashes.
    pub fn body_bytes(&self) -> u64 {
        self.frames.iter().map(FrameRef::stored_bytes).sum()
    }

    /// The frame that holds a group, and where in the body it begins.
    pub fn frame_of(&self, kind: Kind, group: u32) -> Option<(&FrameRef, u64)> {
        self.placed().find(|(frame, _)| frame.kind.has(kind) && frame.holds(group))
    }

    /// Every frame, and where in the body it begins.
    pub fn placed(&self) -> impl Iterator<Item = (&FrameRef, u64)> {
        self.frames.iter().scan(0u64, |end, frame| {
            let start = *end;
            *end += frame.stored_bytes();
            Some((frame, start))
        })
    }
}

impl FrameRef {
    pub fn holds(&self, group: u32) -> bool {
        group >= self.first_group && group - self.first_group < self.groups
    }

    /// With its hash.
    pub fn stored_bytes(&self) -> u64 {
        u64::from(self.packed_bytes) + HASH_BYTES as u64
    }
}

fn small(input: &mut &[u8]) -> Option<u32> {
    u32::try_from(take_varint(input)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(place: Place) -> BodyRow {
        let frame = |kind, first_group, packed_bytes| FrameRef {
            kind,
            first_group,
            groups: 3,
            packed_bytes,
            bytes: 900,
        };
        let [txs, logs] = [Kind::Txs, Kind::Logs].map(FrameKind::Of);
        let frames = vec![frame(txs, 0, 5), frame(txs, 3, 300), frame(logs, 0, 7)];
        BodyRow { place, dictionaries: [0, 7, 300], frames }
    }

    #[test]
    fn a_row_comes_back_and_frames_are_found_by_their_groups() {
        let in_segment = row(Place::Segment { id: 3, offset: 1 << 40 });
        let packed = in_segment.pack();
        assert_eq!(BodyRow::unpack(&packed), Some((in_segment.clone(), &[] as &[u8])));
        assert_eq!(BodyRow::unpack(&packed[..packed.len() - 1]), None);
        assert_eq!(BodyRow::unpack(&[packed.as_slice(), b"x"].concat()), None);
        let inline = row(Place::Inline);
        assert_eq!(inline.body_bytes(), 5 + 300 + 7 + 24);
        let body = vec![9; 336];
        let packed = [inline.pack(), body.clone()].concat();
        assert_eq!(BodyRow::unpack(&packed), Some((inline.clone(), body.as_slice())));
        assert_eq!(BodyRow::unpack(&packed[..packed.len() - 1]), None, "a byte is missing");
        let start = |kind, group| inline.frame_of(kind, group).map(|(_, start)| start);
        assert_eq!(
            [0, 2, 3, 5, 6].map(|g| start(Kind::Txs, g)),
            [Some(0), Some(0), Some(13), Some(13), None]
        );
        assert_eq!((start(Kind::Logs, 1), start(Kind::Traces, 0)), (Some(321), None));
        let mut together = inline;
        together.frames.iter_mut().for_each(|frame| frame.kind = FrameKind::TxsAndLogs);
        let start = |kind, group| together.frame_of(kind, group).map(|(_, start)| start);
        assert_eq!([Kind::Txs, Kind::Logs].map(|kind| start(kind, 4)), [Some(13), Some(13)]);
        assert_eq!(start(Kind::Traces, 4), None);
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_never_stop_the_reader(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let _ = BodyRow::unpack(&bytes);
            let _ = BodyRow::unpack(&[&[INLINE, 0, 0, 0], bytes.as_slice()].concat());
        }
    }
}
