//! Sends what was typed, in its order, and reports what became of it.

use crate::control::{Control, Line, Request};
use crate::values::Ordering;
use folkmoot_base::hex;
use tokio::sync::mpsc;

/// Bytes that may wait for a key before no more is read.
const WAITING_BYTES_MAX: usize = 1024 * 1024;

/// A line that is to be sent.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) number: u64,
    pub(super) text: Vec<u8>,
    pub(super) sign: bool,
}

/// What became of lines that were handed over together.
pub(super) struct Report {
    pub(super) lines: u64,
    bytes: usize,
    /// Numbers of those that were not sent, and why.
    pub(super) refused: Vec<(u64, String)>,
}

/// Lines on their way to the member.
pub(super) struct Saying {
    says: mpsc::UnboundedSender<Vec<Said>>,
    reports: mpsc::UnboundedReceiver<Report>,
    bytes: usize,
    lines: u64,
}

impl Saying {
    pub(super) fn start(control: Control) -> Self {
        // What waits is bounded by its bytes: see `has_room`.
        let (says, said) = mpsc::unbounded_channel();
        let (tell, reports) = mpsc::unbounded_channel();
        tokio::spawn(send(control, said, tell));
        Self { says, reports, bytes: 0, lines: 0 }
    }

    /// Whether more may be read.
    pub(super) fn has_room(&self) -> bool {
        self.bytes < WAITING_BYTES_MAX
    }

    /// How many lines wait.
    pub(super) fn waiting(&self) -> u64 {
        self.lines
    }

    pub(super) fn say(&mut self, batch: Vec<Said>) {
        self.lines += count(&batch);
        self.bytes += bytes(&batch);
        // Its task ends only after this value does.
        let _ = self.says.send(batch);
    }

    /// What became of the oldest that wait. May be dropped and called anew.
    pub(super) async fn report(&mut self) -> Report {
        let Some(report) = self.reports.recv().await else { return std::future::pending().await };
        self.lines = self.lines.saturating_sub(report.lines);
        self.bytes = self.bytes.saturating_sub(report.bytes);
        report
    }
}

/// A line costs a little besides its text.
fn bytes(batch: &[Said]) -> usize {
    batch.iter().map(|said| said.text.len() + size_of::<Said>()).sum()
}

fn count(batch: &[Said]) -> u64 {
    u64::try_from(batch.len()).unwrap_or(u64::MAX)
}

async fn send(
    mut control: Control,
    mut said: mpsc::UnboundedReceiver<Vec<Said>>,
    tell: mpsc::UnboundedSender<Report>,
) {
    while let Some(batch) = said.recv().await {
        let line = |said: &Said| Line { payload: hex(&said.text), sign: said.sign };
        let request = Request::Lines { lines: batch.iter().map(line).collect(), service: Ordering::Agreed };
        let refused = match control.ask(&request).await {
            Err(failure) => batch.iter().map(|said| (said.number, failure.text.clone())).collect(),
            Ok(answer) => {
                let refused = answer.get("refused").and_then(|all| all.as_array()).into_iter().flatten();
                let refused = refused.filter_map(|one| {
                    let place = usize::try_from(one.get("line")?.as_u64()?).ok()?;
                    Some((batch.get(place)?.number, one.get("why")?.as_str()?.to_owned()))
                });
                refused.collect()
            }
        };
        let report = Report { lines: count(&batch), bytes: bytes(&batch), refused };
        if tell.send(report).is_err() {
            return;
        }
    }
}
