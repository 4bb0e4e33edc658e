//! Two programs of liblcm, one of which hears the other, beside what members say.

use crate::Outcome;
use crate::liblcm::Liblcm;
use crate::process::Process;
use std::time::Duration;

/// How often the sender says that it has ended, five times each.
const TRIES: usize = 10;

pub(crate) struct Pair {
    sender: Process,
    receiver: Process,
}

impl Pair {
    /// Starts them where this process is.
    pub(crate) fn start(liblcm: &Liblcm, url: &str) -> Outcome<Self> {
        let receiver = liblcm.start(Vec::new(), "receive", url)?;
        let sender = liblcm.start(Vec::new(), "send", url)?;
        Ok(Self { sender, receiver })
    }

    /// The share that is lost of so many milliseconds' messages of 8 bytes, a millisecond apart.
    pub(crate) fn lost(&mut self, milliseconds: u64) -> Outcome<f64> {
        let sent = self.say(milliseconds)?;
        for _ in 0..TRIES {
            if let Ok(came) = self.receiver.numbers(Duration::from_secs(1)) {
                let came = came.first().copied().unwrap_or_default();
                return Ok(1.0 - came as f64 / sent.max(1) as f64);
            }
            // All the words that it has ended were lost, too.
            self.say(0)?;
        }
        Err("a program of liblcm heard nothing".into())
    }

    fn say(&mut self, milliseconds: u64) -> Outcome<u64> {
        self.sender.tell(&format!("8 {milliseconds} 1000"))?;
        Ok(self.sender.numbers(Duration::from_secs(30))?.first().copied().unwrap_or_default())
    }
}
