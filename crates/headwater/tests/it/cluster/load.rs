//! Clients that ask a cluster all the time. What they ask about does not change any more, so there is one right answer;
//! whatever else they get must be a clean word to try again, or a process that is gone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::process::KEY;
use crate::world::CHAIN;

/// Where processes of one role listen now.
pub type Urls = Arc<Mutex<Vec<String>>>;

/// A question to one role, and its answer.
#[derive(Clone)]
pub enum Question {
    Get { path: String, result: Value },
    Call { body: String, result: Value },
}

#[derive(Default)]
struct Counts {
    right: AtomicU64,
    put_off: AtomicU64,
    /// The process was gone, or went.
    gone: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

pub struct Load {
    counts: Arc<Counts>,
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    pub fn start(asked: Vec<(Urls, Vec<Question>)>) -> Self {
        let (counts, stop) = (Arc::<Counts>::default(), Arc::<AtomicBool>::default());
        let mut tasks = Vec::new();
        for (urls, questions) in asked {
            for place in 0..2 {
                let (urls, questions) = (urls.clone(), questions.clone());
                let (counts, stop) = (counts.clone(), stop.clone());
                tasks.push(tokio::spawn(async move {
                    let client =
                        Client::builder().timeout(Duration::from_secs(40)).build().unwrap();
                    for (turn, question) in (place..).zip(questions.iter().cycle()) {
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let url = {
                            let urls = urls.lock().unwrap();
                            urls.get(turn % urls.len().max(1)).cloned()
                        };
                        if let Some(url) = url {
                            ask(&client, &url, question, &counts).await;
                        }
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                }));
            }
        }
        Load { counts, stop, tasks }
    }

    /// No answer was wrong; says how many there were of each kind.
    pub async fn stop(self) -> String {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        assert_eq!(*self.counts.wrong.lock().unwrap(), Vec::<String>::new());
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let Counts { right, put_off, gone, .. } = &*self.counts;
        let (right, put_off, gone) = (count(right), count(put_off), count(gone));
        assert!(right > 0);
        format!("{right} right answers, {put_off} put off, {gone} to processes that were gone")
    }
}

fn request(client: &Client, url: &str, question: &Question) -> RequestBuilder {
    match question {
        Question::Get { path, .. } => client.get(format!("{url}{path}")).header("x-api-key", KEY),
        Question::Call { body, .. } => client
            .post(format!("{url}/{CHAIN}/{KEY}"))
            .header("content-type", "application/json")
            .body(body.clone()),
    }
}

async fn ask(client: &Client, url: &str, question: &Question, counts: &Counts) {
    let Ok(response) = request(client, url, question).send().await else {
        counts.gone.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let (status, retry) =
        (response.status().as_u16(), response.headers().contains_key("retry-after"));
    let Ok(text) = response.text().await else {
        counts.gone.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let (Question::Get { result, .. } | Question::Call { result, .. }) = question;
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    match status {
        200 if answer["result"] == *result => counts.right.fetch_add(1, Ordering::Relaxed),
        503 if retry => counts.put_off.fetch_add(1, Ordering::Relaxed),
        _ => {
            let asked = match question {
                Question::Get { path, .. } => path.clone(),
                Question::Call { body, .. } => body.clone(),
            };
            counts.wrong.lock().unwrap().push(format!("{asked}: {status} {text}"));
            0
        }
    };
}

pub fn call(method: &str, params: Value, result: Value) -> Question {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    Question::Call { body: body.to_string(), result }
}
