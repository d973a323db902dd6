//! Which file of a table is not what was written, so that a message can name it after the engine met damage
//! in that table. The engine itself says only that something did not fit.
//!
//! In: the files of a table and the hash noted of each. Out: the first that differs. Must not know: the engine.
//! A table may be large and be asked for often, so one look is under way at a time, takes no longer than
//! `LOOK_MAX`, and what it found counts for a while.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::file_hash::hash_file;

/// Whoever asked waits for it.
const LOOK_MAX: Duration = Duration::from_secs(5);
/// What could not be found is looked for again after this.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Suspects {
    last: Mutex<Option<Look>>,
}

struct Look {
    at: Instant,
    damaged: Option<PathBuf>,
}

impl Suspects {
    /// None where none differs, where it would take too long, or while somebody else looks.
    pub fn find(&self, files: impl FnOnce() -> Vec<(PathBuf, u128)>) -> Option<PathBuf> {
        let mut last = self.last.try_lock().ok()?;
        match last.as_ref() {
            Some(look) if look.damaged.is_some() || look.at.elapsed() < LOOK_AGAIN => {}
            _ => {
                let damaged = first_damaged(files(), Instant::now() + LOOK_MAX);
                *last = Some(Look { at: Instant::now(), damaged });
            }
        }
        last.as_ref()?.damaged.clone()
    }
}

/// A file that is missing is one, too.
fn first_damaged(files: Vec<(PathBuf, u128)>, deadline: Instant) -> Option<PathBuf> {
    let in_time = files.into_iter().take_while(|_| Instant::now() < deadline);
    let mut damaged = in_time.filter(|(path, noted)| hash_file(path).ok() != Some(*noted));
    damaged.next().map(|(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_file_that_differs_is_remembered_and_a_whole_table_is_not_read_again_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, name).unwrap();
            (path.clone(), hash_file(&path).unwrap())
        };
        let files = vec![file("one"), file("two"), file("three")];
        let two = files[1].0.clone();
        let whole = Suspects::default();
        assert_eq!(whole.find(|| files.clone()), None);
        assert_eq!(whole.find(|| panic!("read again")), None);
        std::fs::write(&two, "other").unwrap();
        let damaged = Suspects::default();
        assert_eq!(damaged.find(|| files.clone()), Some(two.clone()));
        assert_eq!(damaged.find(|| panic!("read again")), Some(two.clone()));
        std::fs::remove_file(&two).unwrap();
        assert_eq!(Suspects::default().find(|| files.clone()), Some(two));
        assert_eq!(first_damaged(files, Instant::now()), None, "there was no time");
    }
}
