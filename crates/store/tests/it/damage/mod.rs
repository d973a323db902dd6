//! Files that lost a bit, their end, or all: each is noticed before a wrong answer is given, or does no
//! harm. The long form looks at a thousand.

mod torn;

use std::path::Path;

use testkit::rounds;

use crate::files::{answers, chain, copy, files_of, fill, open, scratch};

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    RefusedAtOpen,
    RefusedAtReading,
    FoundByCheck,
    Harmless,
}

/// Enough of a random number for a test, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_noticed_or_does_no_harm() {
    let base = scratch();
    let sim = chain(24);
    let whole = base.path().join("whole");
    fill(&whole, &sim).await;
    // Opened once more, the log has no room behind it.
    let expected = answers(&open(&whole).await.unwrap()).await.unwrap();
    let files = files_of(&whole);
    let mut random = Random(11);
    let (mut outcomes, mut names) = (Vec::new(), Vec::new());
    for case in 0..rounds(120, 1000) {
        let copied = base.path().join("copy");
        copy(&whole, &copied);
        // A fifth each in the log, in tables, in segments, in index files, anywhere: small files are many.
        let some: Vec<_> = files.iter().filter(|path| is_of(path, case % 5)).collect();
        let file = some[random.below(some.len() as u64) as usize];
        let file = copied.join(file.strip_prefix(&whole).unwrap());
        let what = harm(&file, &mut random);
        let (outcome, told) = look(&copied, &expected, &what).await;
        if outcome != Outcome::Harmless {
            eprintln!("{what}: {outcome:?}");
        }
        if let Some(told) = told {
            let named = Named::of(&told, &copied, &file);
            if named != Named::DamagedFile {
                eprintln!("named {named:?}: {what}: {told}");
            }
            names.push(named);
        }
        outcomes.push(outcome);
        std::fs::remove_dir_all(&copied).unwrap();
    }
    let count = |outcome| outcomes.iter().filter(|it| **it == outcome).count();
    eprintln!(
        "{} cases: {} refused at opening, {} at reading, {} found by the check, {} harmless",
        outcomes.len(),
        count(Outcome::RefusedAtOpen),
        count(Outcome::RefusedAtReading),
        count(Outcome::FoundByCheck),
        count(Outcome::Harmless),
    );
    assert!(count(Outcome::RefusedAtOpen) > outcomes.len() / 4);
    let named = |kind| names.iter().filter(|it| **it == kind).count();
    eprintln!(
        "{} refusals: {} name the damaged file, {} another file, {} a folder only, {} nothing",
        names.len(),
        named(Named::DamagedFile),
        named(Named::OtherFile),
        named(Named::Folder),
        named(Named::Nothing),
    );
    assert_eq!(named(Named::DamagedFile), names.len(), "every message names the damaged file");
}

/// What a message names of the store.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    DamagedFile,
    OtherFile,
    Folder,
    Nothing,
}

impl Named {
    fn of(told: &str, store: &Path, damaged: &Path) -> Self {
        let store = store.display().to_string();
        let paths = told.match_indices(&store).map(|(at, _)| {
            let rest = &told[at..];
            let end = rest.find([':', ';', ')', ' ', ',']).unwrap_or(rest.len());
            Path::new(rest[..end].trim_end_matches('.'))
        });
        let kind = |path: &Path| {
            if path == damaged {
                Named::DamagedFile
            } else if path.is_dir() {
                Named::Folder
            } else {
                Named::OtherFile
            }
        };
        let kinds: Vec<Named> = paths.map(kind).collect();
        let order = [Named::DamagedFile, Named::OtherFile, Named::Folder];
        order.into_iter().find(|kind| kinds.contains(kind)).unwrap_or(Named::Nothing)
    }
}

fn is_of(path: &Path, kind: u64) -> bool {
    match kind {
        0 => path.extension().is_some_and(|it| it == "jnl"),
        1 => path.parent().is_some_and(|parent| parent.ends_with("tables")),
        2 => path.extension().is_some_and(|it| it == "bodies"),
        3 => path.extension().is_some_and(|it| it == "rows"),
        _ => true,
    }
}

fn harm(file: &Path, random: &mut Random) -> String {
    let name = file.display().to_string();
    let mut bytes = std::fs::read(file).unwrap();
    let length = bytes.len() as u64;
    match random.below(10) {
        0 => {
            std::fs::remove_file(file).unwrap();
            format!("{name} removed")
        }
        1 | 2 => {
            let end = random.below(length);
            bytes.truncate(end as usize);
            std::fs::write(file, bytes).unwrap();
            format!("{name} of {length} bytes cut at {end}")
        }
        _ if length > 0 => {
            let (place, bit) = (random.below(length), random.below(8));
            bytes[place as usize] ^= 1 << bit;
            std::fs::write(file, bytes).unwrap();
            format!("{name} of {length} bytes: bit {bit} of byte {place} flipped")
        }
        _ => format!("{name} is empty"),
    }
}

/// With what was said, where something was.
async fn look(folder: &Path, expected: &str, what: &str) -> (Outcome, Option<String>) {
    let told = |error: store::Error| {
        let text = error.to_string();
        assert!(text.contains("headwater"), "{what}: what to do is not said: {text}");
        Some(text)
    };
    let store = match open(folder).await {
        Ok(store) => store,
        Err(error) => return (Outcome::RefusedAtOpen, told(error)),
    };
    match answers(&store).await {
        Ok(found) if found == expected => {}
        Ok(_) => panic!("{what}: a wrong answer was given"),
        Err(error) => return (Outcome::RefusedAtReading, told(error)),
    }
    let report = store.check(|_| ()).await.unwrap();
    if report.holds() {
        return (Outcome::Harmless, None);
    }
    let faults: Vec<_> = report.parts.into_iter().flat_map(|part| part.faults).collect();
    (Outcome::FoundByCheck, Some(faults.join("; ")))
}
