//! What came on each channel, how often, and what the last message says.

use super::types::{Seen, Types};
use crate::show::harmless;
use bytes::Bytes;
use folkmoot_lcm::Heard;
use folkmoot_pubsub::Channel;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Most channels that are shown; what comes on others is counted together.
const CHANNELS_MAX: usize = 1_000;
/// Longest message that is kept until a table is shown. Longer ones are looked at when they come,
/// and a bounded part of what they say is kept.
const KEPT_MAX: usize = 64 << 10;
/// Rates over less than this are told by chance.
const SPAN_MIN: Duration = Duration::from_millis(100);

/// How many messages and bytes there were.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    messages: u64,
    bytes: u64,
}

/// The last message of a channel.
#[derive(Debug, Default)]
enum Last<'m> {
    #[default]
    Nothing,
    Kept(Bytes),
    Seen(Seen<'m>),
}

/// What came on one channel.
#[derive(Debug, Default)]
struct Traffic<'m> {
    now: Count,
    /// What it was at the last table, and at the one before.
    tables: [Count; 2],
    /// Of the last message.
    size: usize,
    last: Last<'m>,
}

#[derive(Debug)]
pub(super) struct Channels<'m> {
    types: Option<&'m Types>,
    known: BTreeMap<Channel, Traffic<'m>>,
    others: Traffic<'m>,
    /// When the last table was shown, and the one before.
    tables: [Instant; 2],
}

impl<'m> Channels<'m> {
    pub(super) fn new(types: Option<&'m Types>, now: Instant) -> Self {
        Self { types, known: BTreeMap::new(), others: Traffic::default(), tables: [now; 2] }
    }

    pub(super) fn note(&mut self, heard: &Heard) {
        let crowded = self.known.len() >= CHANNELS_MAX && !self.known.contains_key(&heard.channel);
        let traffic = if crowded { &mut self.others } else { self.known.entry(heard.channel).or_default() };
        traffic.now.messages = traffic.now.messages.saturating_add(1);
        let bytes = u64::try_from(heard.payload.len()).unwrap_or(u64::MAX);
        traffic.now.bytes = traffic.now.bytes.saturating_add(bytes);
        traffic.size = heard.payload.len();
        traffic.last = match self.types {
            Some(_) if crowded => Last::Nothing,
            Some(types) if heard.payload.len() > KEPT_MAX => Last::Seen(types.see(&heard.payload)),
            Some(_) => Last::Kept(heard.payload.clone()),
            None => Last::Nothing,
        };
    }

    /// A row of each channel, and what is behind the rows. The rates are over the time since the
    /// last table. `over`: this is the last one. It may come right after the one before, so its
    /// rates are over the last whole interval, too.
    pub(super) fn rows(&mut self, now: Instant, over: bool) -> Vec<Row> {
        let [last, earlier] = self.tables;
        let span = now.saturating_duration_since(if over { earlier } else { last });
        self.tables = [now, last];
        let types = self.types;
        let others =
            (self.others.now.messages > 0).then_some(("(other channels)".to_owned(), &mut self.others));
        let known = self.known.iter_mut().map(|(channel, traffic)| (channel.text(), traffic));
        known.chain(others).map(|(name, traffic)| traffic.row(name, span, over, types)).collect()
    }
}

impl Traffic<'_> {
    fn row(&mut self, name: String, span: Duration, over: bool, types: Option<&Types>) -> Row {
        let [last, earlier] = self.tables;
        self.tables = [self.now, last];
        let before = if over { earlier } else { last };
        let per_second = |now: u64, before: u64| {
            (span >= SPAN_MIN).then(|| now.saturating_sub(before) as f64 / span.as_secs_f64())
        };
        let hertz = per_second(self.now.messages, before.messages);
        let bandwidth = per_second(self.now.bytes, before.bytes);
        let seen = match (&self.last, types) {
            (Last::Kept(payload), Some(types)) => Some(Told::of(&types.see(payload))),
            (Last::Seen(seen), _) => Some(Told::of(seen)),
            _ => None,
        };
        Row { name, now: self.now, size: self.size, hertz, bandwidth, seen }
    }
}

/// What is told of a channel.
#[derive(Debug)]
pub(super) struct Row {
    name: String,
    now: Count,
    size: usize,
    /// `None`: too little time has passed.
    hertz: Option<f64>,
    bandwidth: Option<f64>,
    seen: Option<Told>,
}

/// What is told of the last message.
#[derive(Debug)]
struct Told {
    words: String,
    /// The fields of the row's JSON object.
    json: Vec<(&'static str, Value)>,
}

impl Row {
    /// The columns, the last one only if there are types.
    pub(super) const HEADING: [&str; 6] = ["CHANNEL", "MESSAGES", "HZ", "KB/S", "LAST BYTES", "LAST MESSAGE"];

    pub(super) fn cells(&self) -> Vec<String> {
        let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"));
        let cells = [
            harmless(&self.name),
            self.now.messages.to_string(),
            rate(self.hertz),
            rate(self.bandwidth.map(|bytes| bytes / 1_000.0)),
            self.size.to_string(),
        ];
        cells.into_iter().chain(self.seen.iter().map(|seen| seen.words.clone())).collect()
    }

    pub(super) fn json(&self) -> Value {
        let mut value = json!({
            "channel": self.name,
            "messages": self.now.messages,
            "bytes": self.now.bytes,
            "messages_per_second": self.hertz,
            "bytes_per_second": self.bandwidth,
            "last_size": self.size,
        });
        if let (Value::Object(fields), Some(seen)) = (&mut value, &self.seen) {
            fields.extend(seen.json.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        value
    }
}

impl Told {
    fn of(seen: &Seen<'_>) -> Self {
        let (name, fingerprint, fields, shortened, wrong) = match seen {
            Seen::Unknown(fingerprint) => (None, *fingerprint, None, false, Some("type unknown".to_owned())),
            Seen::Damaged { name, why } => (Some(*name), None, None, false, Some(why.to_string())),
            Seen::Fields { name, fields, shortened } => (Some(*name), None, Some(fields), *shortened, None),
        };
        let fingerprint = fingerprint.map(|fingerprint| format!("{fingerprint:016x}"));
        let words = match (seen, &fingerprint) {
            (Seen::Fields { name, fields, .. }, _) => format!("{name}: {}", fields.words()),
            (Seen::Damaged { name, why }, _) => format!("{name}, damaged: {why}"),
            (Seen::Unknown(_), Some(fingerprint)) => format!("type unknown: fingerprint {fingerprint}"),
            (Seen::Unknown(_), None) => "type unknown: too short for a fingerprint".to_owned(),
        };
        let json = vec![
            ("type", json!(name)),
            ("fields", json!(fields.map(super::value::Value::json))),
            ("shortened", json!(shortened)),
            ("wrong", json!(wrong)),
            ("fingerprint", json!(fingerprint)),
        ];
        Self { words, json }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(channels: &mut Channels<'_>, count: usize) {
        for _ in 0..count {
            channels.note(&Heard {
                channel: Channel::new("POSE").unwrap(),
                payload: Bytes::from_static(&[7; 50]),
                time: 0,
                from: std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 1),
                sequence: 0,
                missing: 0,
                sender: None,
                attribution: None,
            });
        }
    }

    /// The rates of messages, and of bytes, at a table.
    fn rates(channels: &mut Channels<'_>, now: Instant, over: bool) -> [Option<f64>; 2] {
        let rows = channels.rows(now, over);
        [rows[0].hertz, rows[0].bandwidth]
    }

    #[test]
    fn the_last_table_has_rates_over_the_last_whole_interval_and_what_follows_it() {
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let mut channels = Channels::new(None, begin);
        hear(&mut channels, 100);
        assert_eq!(rates(&mut channels, at(1_000), false), [Some(100.0), Some(5_000.0)]);
        hear(&mut channels, 200);
        assert_eq!(rates(&mut channels, at(2_000), false)[0], Some(200.0));
        // One message a fraction of a millisecond later is no thousand messages a second.
        hear(&mut channels, 1);
        let [hertz, bandwidth] = rates(&mut channels, begin + Duration::from_micros(2_000_300), true);
        let near = |rate: Option<f64>, wanted: f64| (rate.unwrap() - wanted).abs() < wanted / 100.0;
        assert!(near(hertz, 201.0) && near(bandwidth, 10_050.0), "{hertz:?} {bandwidth:?}");
    }

    #[test]
    fn before_the_first_table_rates_are_over_all_the_time_and_not_over_next_to_none() {
        let begin = Instant::now();
        let mut channels = Channels::new(None, begin);
        hear(&mut channels, 5);
        assert_eq!(rates(&mut channels, begin + Duration::from_millis(500), true), [Some(10.0), Some(500.0)]);
        let mut channels = Channels::new(None, begin);
        hear(&mut channels, 5);
        let rows = channels.rows(begin + Duration::from_micros(300), true);
        assert_eq!((rows[0].hertz, rows[0].cells()[2].as_str()), (None, "-"));
        assert_eq!(rows[0].json()["messages_per_second"], Value::Null);
    }

    #[test]
    fn what_is_no_type_that_is_known_says_so() {
        let told = |seen| Told::of(&seen).words;
        assert_eq!(told(Seen::Unknown(Some(7))), "type unknown: fingerprint 0000000000000007");
        assert_eq!(told(Seen::Unknown(None)), "type unknown: too short for a fingerprint");
        let why = folkmoot_pubsub::typed::DecodeError::PeerShort;
        assert_eq!(
            told(Seen::Damaged { name: "a", why }),
            "a, damaged: the message ends before its last field does"
        );
    }
}
