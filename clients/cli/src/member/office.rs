//! The process as the group's authority: when its state is looked at, and its session.

use crate::exit::{Exit, Failure};
use folkmoot::{Folkmoot, Session};
use serde_json::Value;
use std::time::Duration;

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// What was told of it last.
#[derive(Debug)]
pub(super) struct Watch {
    runs: bool,
    pub(super) told: Option<Value>,
    look: tokio::time::Instant,
}

impl Watch {
    pub(super) fn new(runs: bool) -> Self {
        Self { runs, told: None, look: tokio::time::Instant::now() }
    }

    /// When to look; never, where this is no authority.
    pub(super) async fn next(&mut self) {
        if !self.runs {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep_until(self.look).await;
        self.look = tokio::time::Instant::now() + LOOK;
    }
}

/// Its session with a group that it is never in; refused where this process is no authority.
pub(super) async fn of(moot: &Folkmoot) -> Result<Session, Failure> {
    if moot.authority().await?.is_some() {
        return Ok(moot.session(moot.group()));
    }
    let why = "this folder cannot be the group's authority: its key is not among the charter's authority.nodes, or it holds no office \
               (folkmoot authority new, take-over)";
    Err(Failure::new(Exit::Refused, why))
}
