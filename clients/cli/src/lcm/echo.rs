//! `folkmoot lcm echo`

use super::{end, failed, listen, losses, lost};
use crate::args::lcm::Echo;
use crate::exit::{Exit, Failure};
use crate::show::{data, many_of};
use folkmoot_lcm::{Capacity, Pattern};
use folkmoot_pubsub::{Address, Channel};
use serde_json::json;

pub(super) async fn run(address: &Address, echo: &Echo, json: bool) -> Result<(), Failure> {
    let Echo { from, to, seconds, count } = echo;
    if from == to {
        return Err(Failure::new(Exit::Usage, "an echo on the channel that it hears would never end"));
    }
    let bus = listen(address).await?;
    let mut subscription = bus.subscribe(only(from)?, Capacity::default()).map_err(failed)?;
    let mut end = std::pin::pin!(end(*seconds));
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
        bus.publish(*to, &heard.payload).await.map_err(failed)?;
        messages = messages.saturating_add(1);
    }
    let counters = bus.counters();
    let value = json!({ "messages": messages, "lost": lost(&counters, &subscription) });
    data(json, &value, || {
        format!("{} echoed{}", many_of(messages, "message"), losses(&counters, subscription.dropped()))
    });
    Ok(())
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
