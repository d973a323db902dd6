//! What the command and the server tell each other through two files in the data folder, since the
//! store belongs to one process: the command writes the request, the server writes the reply.
//!
//! Each file has one writer and is replaced as a whole. Nothing in them is secret.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ingest::redecode::{Outcome, Snapshot};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub id: String,
    /// By id. None is every chain that the server knows.
    pub chains: Vec<u64>,
    pub force: bool,
    /// What the one who asks would decode each chain with.
    pub decoders: BTreeMap<u64, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Of the request.
    pub id: String,
    /// Another number with every writing: somebody is at work.
    pub beat: u64,
    pub refused: Option<String>,
    pub chains: Vec<ReplyChain>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplyChain {
    pub id: u64,
    pub name: String,
    pub progress: Snapshot,
    pub ended: Option<Ended>,
}

/// How it ended for one chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    NothingToDo,
    Done { blocks: u64 },
    Stopped,
    Failed { error: String },
}

impl Reply {
    pub fn is_final(&self) -> bool {
        self.refused.is_some() || self.chains.iter().all(|chain| chain.ended.is_some())
    }
}

impl From<Result<Outcome, ingest::Error>> for Ended {
    fn from(outcome: Result<Outcome, ingest::Error>) -> Self {
        match outcome {
            Ok(Outcome::NothingToDo) => Ended::NothingToDo,
            Ok(Outcome::Done { blocks }) => Ended::Done { blocks },
            Ok(Outcome::Stopped) => Ended::Stopped,
            Err(error) => Ended::Failed { error: error.to_string() },
        }
    }
}

pub struct Files {
    request: PathBuf,
    reply: PathBuf,
}

impl Files {
    pub fn of(data: &Path) -> Self {
        Files { request: data.join("redecode.json"), reply: data.join("redecode.reply.json") }
    }

    /// The request as it stands, none where there is none; the text of one that makes no sense.
    pub fn request(&self) -> Option<Result<Request, String>> {
        let bytes = std::fs::read(&self.request).ok()?;
        let request = serde_json::from_slice(&bytes);
        Some(request.map_err(|_| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// None also where it is not one of ours.
    pub fn reply(&self) -> Option<Reply> {
        serde_json::from_slice(&std::fs::read(&self.reply).ok()?).ok()
    }

    pub fn answer(&self, reply: &Reply) -> Result<()> {
        replace(&self.reply, reply)
    }
}

/// A request that is out. Dropping it takes it back.
pub struct Asked {
    files: Files,
    id: String,
    /// Held so that two commands do not talk over each other.
    _lock: File,
}

impl Asked {
    pub fn new(data: &Path, request: &Request) -> Result<Self> {
        let path = data.join("redecode.lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.with_context(|| format!("cannot use {}", path.display()))?;
        if lock.try_lock().is_err() {
            anyhow::bail!(
                "another `headwater redecode` waits for the server of {} already",
                data.display()
            );
        }
        let files = Files::of(data);
        replace(&files.request, request)?;
        Ok(Asked { files, id: request.id.clone(), _lock: lock })
    }

    /// What the server says to this request so far.
    pub fn reply(&self) -> Option<Reply> {
        self.files.reply().filter(|reply| reply.id == self.id)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.files.request);
    }
}

fn replace<T: Serialize>(path: &Path, content: &T) -> Result<()> {
    let fresh = path.with_extension("json.new");
    let text = serde_json::to_vec_pretty(content)?;
    let written = std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, path));
    written.with_context(|| format!("cannot write {}", path.display()))
}
