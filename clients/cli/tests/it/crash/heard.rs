//! What one process printed, as it comes: its events, and the view it stands in.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::ChildStdout;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A view with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) id: String,
    pub(crate) members: Vec<String>,
    pub(crate) epoch: String,
}

#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) events: Vec<Value>,
    /// The view installed last, if its key is at work and no change is under way.
    steady: Option<View>,
    ended: bool,
}

/// The events of one life, shared with the thread that reads them.
pub(crate) struct Heard {
    lines: Mutex<Lines>,
    news: Condvar,
    reader: Mutex<Option<JoinHandle<()>>>,
}

impl Lines {
    /// The first event of this kind, from place `from` on.
    pub(crate) fn find(&self, kind: &str, from: usize) -> Option<Value> {
        self.events.get(from..)?.iter().find(|event| event["event"] == kind).cloned()
    }

    fn note(&mut self, event: Value) {
        match event["event"].as_str().unwrap_or_default() {
            "view" => self.steady = Some(view(&event)),
            "key-pending" | "transitional" | "removed" => self.steady = None,
            _ => {}
        }
        self.events.push(event);
    }
}

/// The view of a view event.
pub(crate) fn view(event: &Value) -> View {
    let text = |field: &str| event[field].as_str().unwrap().to_owned();
    let mut members: Vec<String> =
        event["members"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    members.sort();
    View { id: text("view"), members, epoch: text("epoch") }
}

impl Heard {
    /// Reads in a thread of its own until the process is gone. A last line cut by a kill is no
    /// event.
    pub(crate) fn listen(out: ChildStdout) -> Arc<Self> {
        let heard =
            Arc::new(Self { lines: Mutex::default(), news: Condvar::new(), reader: Mutex::default() });
        let told = Arc::clone(&heard);
        let thread = std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let Ok(event) = serde_json::from_str(&line) else { break };
                told.lock().note(event);
                told.news.notify_all();
            }
            told.lock().ended = true;
            told.news.notify_all();
        });
        *heard.reader.lock().unwrap() = Some(thread);
        heard
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap()
    }

    /// The process is gone: takes in the rest.
    pub(crate) fn end(&self) {
        let reader = self.reader.lock().unwrap().take();
        reader.unwrap().join().unwrap();
    }

    /// How many events there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().events.len()
    }

    /// Waits until `done` brings something; `None` when the time is over or the process is.
    pub(crate) fn wait<T>(&self, limit: Duration, done: impl Fn(&Lines) -> Option<T>) -> Option<T> {
        let end = Instant::now() + limit;
        let mut lines = self.lock();
        loop {
            if let Some(found) = done(&lines) {
                return Some(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            if lines.ended || left.is_zero() {
                return None;
            }
            lines = self.news.wait_timeout(lines, left).unwrap().0;
        }
    }

    pub(crate) fn steady(&self) -> Option<View> {
        self.lock().steady.clone()
    }

    pub(crate) fn picture(&self) -> String {
        let lines = self.lock();
        let kinds: Vec<&str> = lines
            .events
            .iter()
            .filter(|event| event["event"] != "message")
            .rev()
            .take(6)
            .filter_map(|event| event["event"].as_str())
            .collect();
        format!("steady: {:?}; last events, newest first: {kinds:?}", lines.steady)
    }
}
