//! Whether every segment is byte for byte what was written, and as full as the engine says.

use std::collections::BTreeMap;

use super::body_row::{BodyRow, Place};
use super::files::SegmentFiles;
use super::record::{HEADER_BYTES, RecordHeader};
use super::segment_row::SegmentRow;
use crate::Error;
use crate::check::CheckedPart;
use crate::embedded::read::View;

pub fn check_files(view: &View) -> CheckedPart {
    let mut part = CheckedPart::new("segments");
    if let Err(error) = check(view, &mut part) {
        part.fault(error.to_string());
    }
    part
}

fn check(view: &View, part: &mut CheckedPart) -> Result<(), Error> {
    let mut alive = BTreeMap::<u64, (u64, u64)>::new();
    for item in view.snapshot.iter(&view.tables.bodies) {
        let stored = item.value()?;
        let (row, _) = BodyRow::unpack(&stored).ok_or(Error::Broken { what: "body of a block" })?;
        if let Place::Segment { id, .. } = row.place {
            let (blocks, bytes) = alive.entry(id).or_default();
            *blocks += 1;
            *bytes += HEADER_BYTES + row.body_bytes();
        }
    }
    for item in view.snapshot.iter(&view.tables.segments) {
        let (key, row) = item.into_inner()?;
        let id = key.as_ref().try_into().map(u64::from_be_bytes).ok();
        let row = id.zip(SegmentRow::unpack(&row));
        let (id, row) = row.ok_or(Error::Broken { what: "row of a segment" })?;
        part.count += 1;
        let (blocks, bytes) = alive.remove(&id).unwrap_or_default();
        if (blocks, bytes) != (row.live_blocks, row.live_bytes) {
            part.fault(format!(
                "{}: {blocks} bodies of {bytes} bytes lead to it, and {} of {} should",
                view.bodies.files.path(id).display(),
                row.live_blocks,
                row.live_bytes
            ));
        }
        walk(&view.bodies.files, id, &row, part);
    }
    for id in alive.keys() {
        let path = view.bodies.files.path(*id);
        part.fault(format!("{}: bodies lead to it, and it has no row", path.display()));
    }
    Ok(())
}

/// Every record, also those that nothing leads to.
fn walk(files: &SegmentFiles, id: u64, row: &SegmentRow, part: &mut CheckedPart) {
    let name = files.path(id);
    let name = name.display();
    let mut at = 0;
    while at < row.bytes {
        let header = files.read(id, at, HEADER_BYTES as usize);
        let header = match header.map(<[u8; HEADER_BYTES as usize]>::try_from) {
            Ok(Ok(bytes)) => RecordHeader::unpack(&bytes).map(|header| (header, bytes)),
            Ok(Err(_)) => None,
            Err(error) => return part.fault(format!("{name}: {error}")),
        };
        let Some((header, bytes)) = header.filter(|(it, _)| it.chain == row.chain) else {
            return part.fault(format!("{name}: at byte {at} there is no body of a block"));
        };
        let end = at + HEADER_BYTES + u64::from(header.body_bytes);
        if end > row.bytes {
            return part.fault(format!("{name}: the body at byte {at} does not end in it"));
        }
        match files.read(id, at + HEADER_BYTES, header.body_bytes as usize) {
            Ok(body) if header.fits(&bytes, &body) => {}
            Ok(_) => {
                let number = header.number;
                part.fault(format!("{name}: block {number} at byte {at} is not what was written"));
            }
            Err(error) => return part.fault(format!("{name}: {error}")),
        }
        at = end;
    }
}
