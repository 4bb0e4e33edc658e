//! Takes the line's time back to the voters' clocks, by a proposal.

use super::names::name;
use super::process::Process;
use crate::exit::{Exit, Failure};
use folkmoot::tools::Command;
use folkmoot::{Times, UnixTime};
use serde_json::{Value, json};

impl Process {
    /// Proposes it. To be weighed: only what the person is asked about.
    pub(super) async fn retime(&mut self, weigh: bool) -> Result<Value, Failure> {
        self.learn_names().await?;
        let times = self.moot.times().await?;
        let clock = is_ahead(&times)?;
        let by: Vec<String> = times.by.iter().map(|id| name(&self.names, id)).collect();
        let answer = json!({
            "head": times.head.whole(), "time": times.line.to_string(), "clock": clock.to_string(),
            "seconds": times.line.0.saturating_sub(clock.0), "committed_by": by,
        });
        if weigh {
            return Ok(answer);
        }
        self.propose(Command::Retime, false, answer).await
    }
}

/// This clock, if the line's time is ahead of it.
fn is_ahead(times: &Times) -> Result<UnixTime, Failure> {
    let clock = times.clock.unwrap_or_default();
    if times.line > clock {
        return Ok(clock);
    }
    let line = match times.line {
        UnixTime(0) => "no decision has been made yet".to_owned(),
        line => format!("the last decision was made at {line}, and this machine's clock shows {clock}"),
    };
    let why = format!("{line}: the line's time is not ahead of this clock, so there is nothing to take back");
    Err(Failure::new(Exit::Refused, why))
}
