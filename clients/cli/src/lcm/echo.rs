//! `folkmoot lcm echo`

use super::meeting::Meeting;
use super::{Place, failed, losses, lost};
use crate::args::lcm::Echo;
use crate::exit::{Exit, Failure};
use crate::show::{data, many_of};
use folkmoot_lcm::{Capacity, Pattern};
use folkmoot_pubsub::Channel;
use serde_json::json;

pub(super) async fn run(at: Meeting, echo: &Echo, json: bool) -> Result<(), Failure> {
    let Echo { from, to, secured, seconds, count } = echo;
    if from == to {
        return Err(Failure::new(Exit::Usage, "an echo on the channel that it hears would never end"));
    }
    let place = Place::listen(at, secured, json).await?;
    let bus = place.bus();
    let mut subscription = bus.subscribe(only(from)?, Capacity::default()).map_err(failed)?;
    let mut end = Box::pin(place.end(*seconds));
    if !json {
        eprintln!("what comes on {} goes to {}; Ctrl-C ends this", from.text(), to.text());
    }
    let mut messages = 0_u64;
    while messages < count.unwrap_or(u64::MAX) {
        let heard = tokio::select! {
            heard = subscription.next() => heard,
            () = &mut end => None,
        };
        let Some(heard) = heard else { break };
        place.publish(*to, &heard.payload).await?;
        messages = messages.saturating_add(1);
    }
    let value = json!({ "messages": messages, "lost": lost(bus, &subscription) });
    data(json, &value, || {
        format!("{} echoed{}", many_of(messages, "message"), losses(bus, subscription.dropped()))
    });
    drop((subscription, end));
    place.leave().await
}

/// The pattern of this channel alone.
fn only(channel: &Channel) -> Result<Pattern, Failure> {
    let quoted = channel.text().chars().fold(String::new(), |mut text, c| {
        if !c.is_alphanumeric() && c != '_' && c.is_ascii() {
            text.push('\\');
        }
        text.push(c);
        text
    });
    Pattern::new(&quoted).map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_hears_one_channel_alone() {
        for name in ["POSE", "a.b", "[x]", "a-b c", "grün", "$^"] {
            let channel = Channel::new(name).unwrap();
            assert!(only(&channel).unwrap().matches(&channel), "{name}");
        }
        assert!(!only(&Channel::new("a.b").unwrap()).unwrap().matches(&Channel::new("axb").unwrap()));
    }
}
