//! Sends what commands say, in the order in which they say it.

use super::process::{Process, Tally};
use crate::control::Line;
use crate::exit::{Exit, Failure};
use crate::values::Ordering;
use folkmoot::{Service, Session};
use folkmoot_base::unhex;
use serde_json::{Value, json};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// A task's way to the group.
pub(super) struct Say {
    session: Session,
    tally: Tally,
}

impl Process {
    pub(super) fn say(&self) -> Say {
        Say { session: self.session.clone(), tally: self.tally.clone() }
    }
}

impl Say {
    /// Sends one, and waits until it is sealed.
    pub(super) async fn one(&self, line: Line, service: Ordering) -> Result<Value, Failure> {
        self.send(line, service.into()).await.map(|()| Value::Null)
    }

    /// Sends all of them, and says which were refused: each by its place among these, and why.
    ///
    /// They enter the member's queue in this order, and short ones share what is sealed. To wait
    /// for each before the next is handed over would cost a turn of the engine for each.
    pub(super) async fn all(&self, lines: Vec<Line>, service: Ordering) -> Result<Value, Failure> {
        let sent = in_order(lines.into_iter().map(|line| self.send(line, service.into())));
        let refused = sent.await.into_iter().enumerate();
        let refused = refused.filter_map(|(place, sent)| Some((place, sent.err()?)));
        let refused = refused.map(|(place, why)| json!({ "line": place, "why": why.text }));
        Ok(json!({ "refused": refused.collect::<Vec<_>>() }))
    }

    async fn send(&self, line: Line, service: Service) -> Result<(), Failure> {
        let payload = unhex(&line.payload);
        let payload = payload.ok_or_else(|| Failure::new(Exit::Usage, "the payload is not hexadecimal"))?;
        self.tally.goes(service);
        let sent = match line.sign {
            true => self.session.signed().send(service, payload).await,
            false => self.session.send(service, payload).await,
        };
        if sent.is_err() {
            self.tally.settles(service);
        }
        sent.map_err(Failure::from)
    }
}

/// Runs all at once. Each is begun after those before it.
async fn in_order<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<(Pin<Box<_>>, Option<T>)> = all.map(|one| (Box::pin(one), None)).collect();
    poll_fn(|context| {
        let mut waits = false;
        for (one, done) in all.iter_mut().filter(|(_, done)| done.is_none()) {
            match one.as_mut().poll(context) {
                Poll::Ready(result) => *done = Some(result),
                Poll::Pending => waits = true,
            }
        }
        if waits { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    all.into_iter().filter_map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::in_order;
    use std::cell::RefCell;

    #[tokio::test]
    async fn each_is_begun_after_those_before_it() {
        let (begun, room) = (RefCell::new(Vec::new()), tokio::sync::Semaphore::new(2));
        let one = async |number: usize| {
            let _permit = room.acquire().await.unwrap();
            begun.borrow_mut().push(number);
            tokio::task::yield_now().await;
            number
        };
        let done = in_order((0..20).map(one)).await;
        assert!(done.iter().copied().eq(0..20));
        assert!(begun.borrow().iter().copied().eq(0..20), "{begun:?}");
    }
}
