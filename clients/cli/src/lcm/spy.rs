//! `folkmoot lcm spy`

mod traffic;
mod types;
mod value;

use super::meeting::Meeting;
use super::{Place, failed, losses, lost};
use crate::args::lcm::Spy;
use crate::exit::Failure;
use crate::show::{Paint, data, line, many, paint, table};
use folkmoot_lcm::{Bus, Capacity, Subscription};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use traffic::{Channels, Row};
use types::Types;

pub(super) async fn run(at: Meeting, spy: Spy, json: bool) -> Result<(), Failure> {
    let types = if spy.types.is_empty() { None } else { Some(Types::read(&spy.types)?) };
    let place = Place::listen(at, &spy.secured, json).await?;
    let bus = place.bus();
    let wanted = spy.wanted.channels;
    let pattern = wanted.pattern().map_err(Failure::bug)?;
    let mut subscription = bus.subscribe(pattern, Capacity::default()).map_err(failed)?;
    let mut end = Box::pin(place.end(spy.wanted.seconds));
    let mut tick = tokio::time::interval(Duration::from_secs(spy.every));
    tick.tick().await;
    let mut channels = Channels::new(types.as_ref(), Instant::now());
    if !json {
        eprintln!("listening on {}; Ctrl-C ends this", place.address());
    }
    loop {
        let over = tokio::select! {
            heard = subscription.next() => match heard {
                Some(heard) => {
                    if wanted.keeps(&heard.channel) {
                        channels.note(&heard);
                    }
                    continue;
                }
                None => true,
            },
            _ = tick.tick() => false,
            () = &mut end => true,
        };
        show(&channels.rows(Instant::now(), over), types.is_some(), bus, &subscription, json);
        if over {
            drop((subscription, end));
            return place.leave().await;
        }
    }
}

fn show(rows: &[Row], typed: bool, bus: &Bus, subscription: &Subscription, json: bool) {
    let all: Vec<Value> = if json { rows.iter().map(Row::json).collect() } else { Vec::new() };
    let value = json!({ "channels": all, "lost": lost(bus, subscription) });
    data(json, &value, || {
        let heading: Vec<&str> = Row::HEADING.into_iter().take(if typed { 6 } else { 5 }).collect();
        let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
        let losses = losses(bus, subscription.dropped());
        let about = format!("{}{losses}", many(rows.len(), "channel"));
        format!("{}\n{}", table(&heading, &cells), paint(Paint::Dim, &about))
    });
    if !json {
        line("");
    }
}
