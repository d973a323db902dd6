//! Bodies of webhooks as they lie on disk: JSON full of hexadecimal, which becomes bytes (`hex_runs`) and is then packed, to
//! about a quarter. Each is written two or three times (unconfirmed, kept until it is confirmed, confirmed) and stays for days.

use std::cell::RefCell;
use std::collections::HashMap;

use bytes::Bytes;
use zstd::bulk::{Compressor, Decompressor};

use super::hex_runs::{with_runs_packed, with_runs_unpacked};
use crate::embedded::codec::{put_varint, take_varint};

/// Quick: the webhook waits for it. With its runs packed, a body of 14 KB takes as much room as at level 1 without, and zstd a
/// quarter of the time.
const LEVEL: i32 = -2;
/// Smaller ones gain nothing.
const BYTES_MIN: usize = 256;
/// Larger ones stay as they are, so that a damaged row cannot ask for more memory than this.
const BYTES_MAX: usize = 256 << 20;
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
/// What `hex_runs` made of it. Not written before format 9.
const HEX_RUNS: u8 = 2;

/// From here on a second thread is worth its start.
const BYTES_OF_TWO_THREADS: usize = 256 << 10;

/// Packs the bodies of one write; the same bytes are packed once.
#[derive(Default)]
pub struct BodyPacker {
    zstd: Option<Compressor<'static>>,
    /// By where they lie in memory: bodies that are kept and sent are the same bytes.
    done: HashMap<(usize, usize), (Bytes, Bytes)>,
}

impl BodyPacker {
    /// With these packed already, so that whoever writes them under a lock need not.
    pub fn with<'a>(bodies: impl Iterator<Item = &'a Bytes>) -> Self {
        let bodies: Vec<&Bytes> = bodies.collect();
        let all: usize = bodies.iter().map(|body| body.len()).sum();
        let mut packer = Self::default();
        if all < BYTES_OF_TWO_THREADS {
            packer.pack_all(&bodies);
            return packer;
        }
        let mut passed = 0;
        let half = bodies.partition_point(|body| {
            passed += body.len();
            passed <= all / 2
        });
        let (mine, others) = bodies.split_at(half);
        let mut other = Self::default();
        std::thread::scope(|threads| {
            threads.spawn(|| other.pack_all(others));
            packer.pack_all(mine);
        });
        packer.done.extend(other.done);
        packer
    }

    fn pack_all(&mut self, bodies: &[&Bytes]) {
        for body in bodies {
            self.pack(body);
        }
    }

    pub fn pack(&mut self, body: &Bytes) -> Bytes {
        let place = (body.as_ptr() as usize, body.len());
        if let Some((_, packed)) = self.done.get(&place) {
            return packed.clone();
        }
        let packed = Bytes::from(self.packed(body));
        // The body is held with it, so that nothing else comes to lie there meanwhile.
        self.done.insert(place, (body.clone(), packed.clone()));
        packed
    }

    fn packed(&mut self, body: &[u8]) -> Vec<u8> {
        let is_worth_it = (BYTES_MIN..=BYTES_MAX).contains(&body.len());
        let runs = is_worth_it.then(|| with_runs_packed(body)).flatten();
        let zstd = self.zstd().filter(|_| is_worth_it);
        let packed = zstd.and_then(|zstd| zstd.compress(runs.as_deref().unwrap_or(body)).ok());
        let mut out = Vec::with_capacity(packed.as_ref().map_or(body.len(), Vec::len) + 16);
        match packed.filter(|packed| packed.len() < body.len()) {
            Some(packed) => {
                out.push(if runs.is_some() { HEX_RUNS } else { ZSTD });
                put_varint(&mut out, body.len() as u64);
                if let Some(runs) = runs {
                    put_varint(&mut out, runs.len() as u64);
                }
                out.extend_from_slice(&packed);
            }
            None => {
                out.push(PLAIN);
                out.extend_from_slice(body);
            }
        }
        out
    }

    fn zstd(&mut self) -> Option<&mut Compressor<'static>> {
        if self.zstd.is_none() {
            self.zstd = Compressor::new(LEVEL).ok();
        }
        self.zstd.as_mut()
    }
}

thread_local! {
    /// Made once: it is larger than most bodies.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    /// What is unpacked on the way to a body.
    static RUNS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}
/// More room than this is given back after use.
const RUNS_BYTES_KEPT: usize = 256 << 10;

/// None where it is damaged.
pub fn unpack_body(packed: &[u8]) -> Option<Bytes> {
    let (kind, mut rest) = packed.split_first()?;
    match *kind {
        PLAIN => Some(Bytes::copy_from_slice(rest)),
        ZSTD => {
            let bytes = take_bytes(&mut rest)?;
            let mut body = Vec::new();
            unpack_zstd(rest, bytes, &mut body)?;
            Some(body.into())
        }
        HEX_RUNS => {
            let (bytes, with_runs) = (take_bytes(&mut rest)?, take_bytes(&mut rest)?);
            RUNS.with_borrow_mut(|runs| {
                let body = unpack_zstd(rest, with_runs, runs)
                    .and_then(|()| with_runs_unpacked(runs, bytes));
                runs.clear();
                runs.shrink_to(RUNS_BYTES_KEPT);
                body.map(Bytes::from)
            })
        }
        _ => None,
    }
}

/// A length that is believed.
fn take_bytes(input: &mut &[u8]) -> Option<usize> {
    usize::try_from(take_varint(input)?).ok().filter(|bytes| *bytes <= BYTES_MAX)
}

/// Into an empty `out`. None where it does not become so many bytes.
fn unpack_zstd(packed: &[u8], bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    out.reserve_exact(bytes);
    let found = DECOMPRESSOR.with_borrow_mut(|zstd| {
        if zstd.is_none() {
            *zstd = Decompressor::new().ok();
        }
        zstd.as_mut()?.decompress_to_buffer(packed, out).ok()
    })?;
    (found == bytes).then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_bytes_are_packed_once_and_json_becomes_small() {
        let text = r#"{"hash":"0xddf252ad1be2c89b69c2b068fc378daa","value":"0"},"#.repeat(200);
        let body = Bytes::from(text.into_bytes());
        let mut packer = BodyPacker::default();
        let packed = packer.pack(&body);
        assert!(packed.len() * 6 < body.len(), "{} of {}", packed.len(), body.len());
        assert_eq!(packed.first(), Some(&HEX_RUNS));
        assert_eq!(packer.pack(&body.clone()).as_ptr(), packed.as_ptr());
        let copy = Bytes::copy_from_slice(&body);
        assert_ne!(packer.pack(&copy).as_ptr(), packed.as_ptr());
        assert_eq!(unpack_body(&packed), Some(body));
    }

    #[test]
    fn many_are_packed_by_two_threads_as_by_one() {
        let body = |number: usize| Bytes::from(format!("{number},").repeat(9_000).into_bytes());
        let bodies: Vec<Bytes> = (0..20).map(body).collect();
        assert!(bodies.iter().map(Bytes::len).sum::<usize>() > BYTES_OF_TWO_THREADS);
        let mut packer = BodyPacker::with(bodies.iter());
        assert_eq!(packer.done.len(), bodies.len());
        for body in &bodies {
            assert_eq!(packer.pack(body), BodyPacker::default().pack(body));
        }
    }

    #[test]
    fn bodies_that_older_builds_packed_are_read() {
        let body = br#"{"hash":"0xddf252ad1be2c89b69c2b068fc378daa"},"#.repeat(9);
        let zstd = zstd::bulk::compress(&body, 1).unwrap();
        let mut packed = vec![ZSTD];
        put_varint(&mut packed, body.len() as u64);
        packed.extend_from_slice(&zstd);
        assert_eq!(unpack_body(&packed), Some(Bytes::from(body)));
        assert_eq!(unpack_body(b"\0{}"), Some(Bytes::from_static(b"{}")));
    }

    proptest! {
        #[test]
        fn bodies_come_back_and_bytes_of_any_kind_never_stop_the_reader(
            body in prop::collection::vec(any::<u8>(), 0..600),
            repeat in 1usize..20,
            bytes in prop::collection::vec(any::<u8>(), 0..90),
        ) {
            let body = Bytes::from(body.repeat(repeat));
            let packed = BodyPacker::default().pack(&body);
            prop_assert_eq!(unpack_body(&packed), Some(body.clone()));
            if packed[0] != PLAIN {
                prop_assert_eq!(unpack_body(&packed[..packed.len() - 1]), None);
            }
            let _ = unpack_body(&bytes);
            for kind in [ZSTD, HEX_RUNS] {
                let _ = unpack_body(&[&[kind], bytes.as_slice()].concat());
            }
        }
    }
}
