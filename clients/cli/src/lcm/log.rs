//! `folkmoot lcm log`

mod files;
mod whole;

use super::meeting::Meeting;
use super::{Place, failed, losses, lost};
use crate::args::lcm::{Channels, Log};
use crate::exit::Failure;
use crate::show::{data, many_of};
use files::Files;
use folkmoot_lcm::{Capacity, Full, Heard, Subscription};
use serde_json::json;
use std::time::Duration;

/// What waits for the disk. If it does not keep up, the newest messages are dropped and counted.
const WAITING: Capacity = Capacity { messages: 100_000, bytes: 100 << 20, full: Full::DropNewest };

/// How often the file is written out, so that a reader beside it sees what there is.
const FLUSH: Duration = Duration::from_millis(100);

/// The files, and what is in them.
#[derive(Debug)]
struct Recording {
    files: Files,
    channels: Channels,
    messages: u64,
    bytes: u64,
    /// After so many messages it ends.
    most: u64,
    json: bool,
}

pub(super) async fn run(at: Meeting, log: Log, json: bool) -> Result<(), Failure> {
    let place = Place::listen(at, &log.secured, json).await?;
    let bus = place.bus();
    let channels = log.wanted.channels.clone();
    let pattern = channels.pattern().map_err(Failure::bug)?;
    let mut subscription = bus.subscribe(pattern, WAITING).map_err(failed)?;
    let end = place.end(log.wanted.seconds);
    // Anyone who waits for the file knows then that all is recorded from now on, and that Ctrl-C
    // ends it well.
    let (files, most) = (Files::open(&log)?, log.count.unwrap_or(u64::MAX));
    let mut recording = Recording { files, channels, messages: 0, bytes: 0, most, json };
    if !json {
        let opened = if log.secured.secured.is_some() { ", opened" } else { "" };
        let (address, file) = (place.address(), recording.files.path().display());
        eprintln!("recording {address} in {file}{opened}; Ctrl-C ends this");
    }
    tokio::select! {
        ended = recording.record(&mut subscription) => ended,
        () = end => Ok(()),
    }?;
    recording.finish(&mut subscription)?;
    let value = json!({
        "file": crate::show::path(recording.files.path()),
        "files": recording.files.count(),
        "messages": recording.messages,
        "bytes": recording.bytes,
        "lost": lost(bus, &subscription),
    });
    data(json, &value, || format!("{}{}", recording.words(), losses(bus, subscription.dropped())));
    drop(subscription);
    place.leave().await
}

impl Recording {
    /// Records until there are enough.
    async fn record(&mut self, subscription: &mut Subscription) -> Result<(), Failure> {
        let mut tick = tokio::time::interval(FLUSH);
        while self.messages < self.most {
            let heard = tokio::select! {
                heard = subscription.next() => heard,
                _ = tick.tick() => {
                    self.files.flush()?;
                    continue;
                }
            };
            let Some(heard) = heard else { break };
            self.write(&heard)?;
        }
        Ok(())
    }

    /// What came before the end and waits is recorded, too.
    fn finish(&mut self, subscription: &mut Subscription) -> Result<(), Failure> {
        while self.messages < self.most
            && let Some(heard) = subscription.waiting()
        {
            self.write(&heard)?;
        }
        self.files.flush()
    }

    fn write(&mut self, heard: &Heard) -> Result<(), Failure> {
        if !self.channels.keeps(&heard.channel) {
            return Ok(());
        }
        let json = self.json;
        let told = |file: &std::path::Path| {
            if !json {
                eprintln!("goes on in {}", file.display());
            }
        };
        let bytes = self.files.write(heard, told)?;
        self.messages = self.messages.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(())
    }

    fn words(&self) -> String {
        let (messages, file) = (many_of(self.messages, "message"), self.files.path().display());
        match self.files.count() {
            1 => format!("{messages} in {file}"),
            count => format!("{messages} in {}, the last one {file}", many_of(count, "file")),
        }
    }
}
