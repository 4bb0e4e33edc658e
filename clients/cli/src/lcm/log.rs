//! `folkmoot lcm log`

use super::meeting::Meeting;
use super::{Place, failed, losses, lost};
use crate::args::lcm::Log;
use crate::exit::{Exit, Failure};
use crate::show::{data, many_of};
use folkmoot_lcm::{Capacity, Full, Heard, Subscription};
use folkmoot_pubsub::log::Event;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// What waits for the disk. If it does not keep up, the newest messages are dropped and counted.
const WAITING: Capacity = Capacity { messages: 100_000, bytes: 100 << 20, full: Full::DropNewest };

/// How often the file is written out, so that a reader beside it sees what there is.
const FLUSH: Duration = Duration::from_millis(100);

/// The file, and what is in it.
#[derive(Debug)]
struct Recording {
    file: BufWriter<File>,
    messages: i64,
    bytes: u64,
    /// Where an event is put together.
    room: Vec<u8>,
}

pub(super) async fn run(at: Meeting, log: Log, json: bool) -> Result<(), Failure> {
    let place = Place::listen(at, &log.secured, json).await?;
    let bus = place.bus();
    let mut subscription = bus.subscribe(log.wanted.channel.clone(), WAITING).map_err(failed)?;
    let end = place.end(log.wanted.seconds);
    // Anyone who waits for the file knows then that all is recorded from now on, and that Ctrl-C
    // ends it well.
    let file = BufWriter::new(open(&log)?);
    let mut recording = Recording { file, messages: 0, bytes: 0, room: Vec::new() };
    if !json {
        let opened = if log.secured.secured.is_some() { ", opened" } else { "" };
        eprintln!("recording {} in {}{opened}; Ctrl-C ends this", place.address(), log.file.display());
    }
    let most = log.count.and_then(|count| i64::try_from(count).ok()).unwrap_or(i64::MAX);
    let ended = tokio::select! {
        ended = record(&mut subscription, &mut recording, most) => ended,
        () = end => Ok(()),
    };
    let written = ended.and_then(|()| finish(&mut subscription, &mut recording, most));
    written.map_err(|error| Failure::file(&log.file, &error))?;
    let value = json!({
        "file": log.file,
        "messages": recording.messages,
        "bytes": recording.bytes,
        "lost": lost(bus, &subscription),
    });
    data(json, &value, || {
        let count = many_of(u64::try_from(recording.messages).unwrap_or_default(), "message");
        format!("{count} in {}{}", log.file.display(), losses(bus, subscription.dropped()))
    });
    drop(subscription);
    place.leave().await
}

fn open(log: &Log) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(!log.force).create(log.force).truncate(log.force);
    options.open(&log.file).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(&log.file),
        _ => Failure::file(&log.file, &error),
    })
}

fn exists(file: &Path) -> Failure {
    let file = file.display();
    Failure::new(Exit::Configuration, format!("{file} exists. To overwrite it, give --force"))
}

/// What came before the end and waits is recorded, too.
fn finish(subscription: &mut Subscription, to: &mut Recording, most: i64) -> std::io::Result<()> {
    while to.messages < most
        && let Some(heard) = subscription.waiting()
    {
        to.write(&heard)?;
    }
    to.file.flush()
}

/// Records until there are enough.
async fn record(subscription: &mut Subscription, to: &mut Recording, most: i64) -> std::io::Result<()> {
    let mut tick = tokio::time::interval(FLUSH);
    while to.messages < most {
        let heard = tokio::select! {
            heard = subscription.next() => heard,
            _ = tick.tick() => {
                to.file.flush()?;
                continue;
            }
        };
        let Some(heard) = heard else { break };
        to.write(&heard)?;
    }
    Ok(())
}

impl Recording {
    fn write(&mut self, heard: &Heard) -> std::io::Result<()> {
        self.room.clear();
        let Heard { channel, time, payload, .. } = heard;
        let event = Event { number: self.messages, time: *time, channel: *channel, payload };
        event.encode(&mut self.room).map_err(std::io::Error::other)?;
        self.file.write_all(&self.room)?;
        self.messages = self.messages.saturating_add(1);
        self.bytes = self.bytes.saturating_add(u64::try_from(self.room.len()).unwrap_or(u64::MAX));
        Ok(())
    }
}
