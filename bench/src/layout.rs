//! (l) Ways to keep what never changes of a block, side by side on the same rows: tables of the engine as they are,
//! the engine's own separation of keys and values, the same with values that we pack, and append-only files that the
//! engine only leads to. Real blocks are written again and again under other numbers: history downwards, and now
//! and then a block at the head, as a server does. What counts is what it costs: processor, bytes written, bytes left.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions,
    OwnedWriteBatch, PersistMode,
};
use zstd::zstd_safe::{CCtx, CDict, compress_bound};

use crate::packing::{Recorded, Rows, recorded};
use crate::say;

/// Blocks of one commit, as ingest fills history.
const COMMIT_BLOCKS: u64 = 96;
/// One block at the head for so many of history.
const HEAD_EVERY: u64 = 48;
/// Groups whose rows share a frame of a body.
const FRAME_BYTES: usize = 16 << 10;

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Tables,
    Separated,
    SeparatedPacked,
    Segments,
}

const LAYOUTS: [(Layout, &str); 4] = [
    (Layout::Tables, "tables, as in format 4"),
    (Layout::Separated, "engine's separation, lz4"),
    (Layout::SeparatedPacked, "engine's separation, packed by us"),
    (Layout::Segments, "segments, packed by us"),
];

struct Cost {
    wall: Duration,
    processor: Duration,
    written: u64,
    left: u64,
}

/// Below `folder`, which should be on the disk that is meant.
pub fn run(folder: &Path, blocks: u64) -> Result<()> {
    let Some(Recorded { measured, training, txs: txs_of_all }) = recorded()? else { return Ok(()) };
    let (measured, training) = (measured.by_kind, training.by_kind);
    let per_round = measured.first().map_or(1, Vec::len) as f64;
    let txs = txs_of_all as f64 / per_round * blocks as f64;
    say(&format!(
        "layout: {blocks} blocks, {txs:.0} transactions with logs and traces; rounds of the same real blocks"
    ))?;
    for (layout, name) in LAYOUTS {
        let place = tempfile::tempdir_in(folder)?;
        let cost = write(layout, place.path(), blocks, &measured, &training)?;
        say(&format!(
            "  {name:34} {:6.1} s, processor {:6.1} s, written {:6.0} bytes/tx, left {:6.0} bytes/tx",
            cost.wall.as_secs_f64(),
            cost.processor.as_secs_f64(),
            cost.written as f64 / txs,
            cost.left as f64 / txs,
        ))?;
    }
    Ok(())
}

struct Writer<'a> {
    layout: Layout,
    db: Database,
    tables: Vec<Keyspace>,
    dictionaries: &'a [CDict<'static>],
    packer: CCtx<'static>,
    segment: File,
    /// How long the segment is.
    end: u64,
}

fn write(
    layout: Layout,
    folder: &Path,
    blocks: u64,
    rows: &[Rows; 3],
    training: &[Rows; 3],
) -> Result<Cost> {
    let dictionaries = training.iter().map(|rows| {
        let samples: Vec<&[u8]> = rows.iter().flatten().map(Vec::as_slice).collect();
        Ok(CDict::create(&zstd::dict::from_samples(&samples, 112 << 10)?, 1))
    });
    let dictionaries = dictionaries.collect::<Result<Vec<_>>>()?;
    let (start, processor, written) = (Instant::now(), processor()?, written()?);
    let db = Database::builder(folder.join("db"))
        .manual_journal_persist(true)
        .max_journaling_size(256 << 20)
        .journal_compression(CompressionType::None)
        .worker_threads(1)
        .open()?;
    let tables = ["txs", "logs", "traces"].map(|name| db.keyspace(name, || options(layout)));
    let tables = tables.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (packer, segment) = (CCtx::create(), File::create(folder.join("segment"))?);
    let dictionaries = &dictionaries;
    let mut writer = Writer { layout, db, tables, dictionaries, packer, segment, end: 0 };
    for from in (0..blocks).step_by(usize::try_from(COMMIT_BLOCKS)?) {
        writer.commit(from..(from + COMMIT_BLOCKS).min(blocks), rows)?;
    }
    writer.settle()?;
    let left = writer.tables.iter().map(Keyspace::disk_space).sum::<u64>() + writer.end;
    Ok(Cost {
        wall: start.elapsed(),
        processor: self::processor()?.saturating_sub(processor),
        written: self::written()?.saturating_sub(written),
        left,
    })
}

impl Writer<'_> {
    fn commit(&mut self, blocks: Range<u64>, rows: &[Rows; 3]) -> Result<()> {
        let mut batch = self.db.batch();
        let mut appended = Vec::new();
        for at in blocks {
            for (kind, of_kind) in rows.iter().enumerate() {
                let place = usize::try_from(at)? % of_kind.len().max(1);
                let of_block = of_kind.get(place).context("block")?;
                self.put(&mut batch, (at, kind), of_block, &mut appended)?;
            }
        }
        if !appended.is_empty() {
            self.segment.write_all(&appended)?;
            self.segment.sync_data()?;
            self.end += appended.len() as u64;
        }
        Ok(batch.durability(Some(PersistMode::SyncAll)).commit()?)
    }

    fn put(
        &mut self,
        batch: &mut OwnedWriteBatch,
        (at, kind): (u64, usize),
        rows: &[Vec<u8>],
        appended: &mut Vec<u8>,
    ) -> Result<()> {
        let is_head = at % HEAD_EVERY == 0;
        let number = if is_head { (1u64 << 30) + at } else { (1 << 30) - 1 - at };
        let table = self.tables.get(kind).context("table")?;
        let dictionary = self.dictionaries.get(kind).context("dictionary")?;
        let key =
            |part: usize| [number.to_be_bytes().as_slice(), &(part as u32).to_be_bytes()].concat();
        if matches!(self.layout, Layout::Tables | Layout::Separated) {
            rows.iter()
                .enumerate()
                .for_each(|(i, row)| batch.insert(table, key(i), row.as_slice()));
            return Ok(());
        }
        for (part, frame) in frames(rows).into_iter().enumerate() {
            let packed = pack(&mut self.packer, &frame, dictionary)?;
            if self.layout == Layout::SeparatedPacked || is_head {
                batch.insert(table, key(part), packed);
            } else {
                let handle = self.end + appended.len() as u64;
                batch.insert(table, key(part), handle.to_be_bytes());
                appended.extend_from_slice(&packed);
            }
        }
        Ok(())
    }

    /// What waits is work of this layout, too.
    fn settle(&self) -> Result<()> {
        for table in &self.tables {
            table.rotate_memtable()?;
        }
        while self.tables.iter().any(|table| table.sealed_memtable_count() > 0) {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_secs(2));
        Ok(())
    }
}

fn frames(rows: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (mut all, mut frame) = (Vec::new(), Vec::new());
    for row in rows {
        frame.extend_from_slice(row);
        if frame.len() >= FRAME_BYTES {
            all.push(std::mem::take(&mut frame));
        }
    }
    if !frame.is_empty() {
        all.push(frame);
    }
    all
}

fn pack(packer: &mut CCtx, frame: &[u8], dictionary: &CDict) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(compress_bound(frame.len()));
    let packed = packer.compress_using_cdict(&mut out, frame, dictionary);
    packed.map_err(|code| anyhow::anyhow!("zstd: {}", zstd::zstd_safe::get_error_name(code)))?;
    Ok(out)
}

fn options(layout: Layout) -> KeyspaceCreateOptions {
    let policy = CompressionPolicy::new([CompressionType::None, CompressionType::Lz4]);
    let options = KeyspaceCreateOptions::default()
        .data_block_compression_policy(policy)
        .data_block_size_policy(BlockSizePolicy::all(16 * 1024))
        .max_memtable_size(64 << 20);
    let separated = |compression| {
        Some(KvSeparationOptions::default().compression(compression).separation_threshold(512))
    };
    options.with_kv_separation(match layout {
        Layout::Tables | Layout::Segments => None,
        Layout::Separated => separated(CompressionType::Lz4),
        Layout::SeparatedPacked => separated(CompressionType::None),
    })
}

/// Time that all threads of this process have used.
fn processor() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let rest = stat.rsplit(')').next().context("stat")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<u64>().ok());
    let (user, system) = (ticks(11).context("user")?, ticks(12).context("system")?);
    // A hundred to the second on every Linux.
    Ok(Duration::from_millis((user + system) * 10))
}

/// Bytes handed to the system by this process.
fn written() -> Result<u64> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).context("wchar")?;
    Ok(line.trim().parse()?)
}
