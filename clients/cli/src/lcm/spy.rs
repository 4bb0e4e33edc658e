//! `folkmoot lcm spy`

use super::meeting::Meeting;
use super::{Place, failed, losses, lost};
use crate::args::lcm::Spy;
use crate::exit::Failure;
use crate::show::{Paint, data, harmless, line, many, paint, table};
use folkmoot_lcm::{Bus, Capacity, Heard, Subscription};
use folkmoot_pubsub::Channel;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Most channels that are shown; what comes on others is counted together.
const CHANNELS_MAX: usize = 1_000;

/// What came on one channel.
#[derive(Debug, Clone, Copy, Default)]
struct Traffic {
    messages: u64,
    bytes: u64,
    /// Of the last message.
    size: usize,
    /// The same at the last table.
    before: (u64, u64),
}

#[derive(Debug, Default)]
struct Channels {
    known: BTreeMap<Channel, Traffic>,
    others: Traffic,
}

impl Channels {
    fn note(&mut self, heard: &Heard) {
        let crowded = self.known.len() >= CHANNELS_MAX && !self.known.contains_key(&heard.channel);
        let traffic = if crowded { &mut self.others } else { self.known.entry(heard.channel).or_default() };
        traffic.messages = traffic.messages.saturating_add(1);
        traffic.bytes = traffic.bytes.saturating_add(u64::try_from(heard.payload.len()).unwrap_or(u64::MAX));
        traffic.size = heard.payload.len();
    }

    /// A row of each channel, and what is behind the rows; the rates begin anew.
    fn rows(&mut self, seconds: f64) -> Vec<Row> {
        let others = (self.others.messages > 0).then_some(("(other channels)".to_owned(), &mut self.others));
        let known = self.known.iter_mut().map(|(channel, traffic)| (channel.text(), traffic));
        known.chain(others).map(|(name, traffic)| Row::of(name, traffic, seconds)).collect()
    }
}

#[derive(Debug)]
struct Row {
    name: String,
    traffic: Traffic,
    hertz: f64,
    bandwidth: f64,
}

impl Row {
    fn of(name: String, traffic: &mut Traffic, seconds: f64) -> Self {
        let per_second = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds.max(0.001);
        let (messages, bytes) = traffic.before;
        let hertz = per_second(traffic.messages, messages);
        let bandwidth = per_second(traffic.bytes, bytes);
        traffic.before = (traffic.messages, traffic.bytes);
        Self { name, traffic: *traffic, hertz, bandwidth }
    }

    fn cells(&self) -> Vec<String> {
        let numbers = [self.traffic.messages.to_string(), format!("{:.1}", self.hertz)];
        let sizes = [format!("{:.1}", self.bandwidth / 1_000.0), self.traffic.size.to_string()];
        [harmless(&self.name)].into_iter().chain(numbers).chain(sizes).collect()
    }

    fn json(&self) -> Value {
        json!({
            "channel": self.name,
            "messages": self.traffic.messages,
            "bytes": self.traffic.bytes,
            "messages_per_second": self.hertz,
            "bytes_per_second": self.bandwidth,
            "last_size": self.traffic.size,
        })
    }
}

pub(super) async fn run(at: Meeting, spy: Spy, json: bool) -> Result<(), Failure> {
    let place = Place::listen(at, &spy.secured, json).await?;
    let bus = place.bus();
    let mut subscription = bus.subscribe(spy.wanted.channel, Capacity::default()).map_err(failed)?;
    let mut end = Box::pin(place.end(spy.wanted.seconds));
    let mut tick = tokio::time::interval(Duration::from_secs(spy.every));
    tick.tick().await;
    let mut channels = Channels::default();
    let mut since = tokio::time::Instant::now();
    if !json {
        eprintln!("listening on {}; Ctrl-C ends this", place.address());
    }
    loop {
        let over = tokio::select! {
            heard = subscription.next() => match heard {
                Some(heard) => {
                    channels.note(&heard);
                    continue;
                }
                None => true,
            },
            _ = tick.tick() => false,
            () = &mut end => true,
        };
        let seconds = since.elapsed().as_secs_f64();
        since = tokio::time::Instant::now();
        show(&channels.rows(seconds), bus, &subscription, json);
        if over {
            drop((subscription, end));
            return place.leave().await;
        }
    }
}

fn show(rows: &[Row], bus: &Bus, subscription: &Subscription, json: bool) {
    let all: Vec<Value> = rows.iter().map(Row::json).collect();
    let value = json!({ "channels": all, "lost": lost(bus, subscription) });
    data(json, &value, || {
        let heading = ["CHANNEL", "MESSAGES", "HZ", "KB/S", "LAST BYTES"];
        let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
        let losses = losses(bus, subscription.dropped());
        let about = format!("{}{losses}", many(rows.len(), "channel"));
        format!("{}\n{}", table(&heading, &cells), paint(Paint::Dim, &about))
    });
    if !json {
        line("");
    }
}
