//! `folkmoot lcm exclude`: a certificate counts no more, and all others agree on new keys.

use super::failed;
use super::meeting::Meeting;
use super::papers::{RootFolder, create, read_certificate, wrong};
use super::sealed::groups;
use crate::args::certify::Exclude;
use crate::exit::{Exit, Failure};
use crate::show::{data, visible};
use folkmoot_base::hex;
use folkmoot_lcm::{Bus, EXCLUSION_CHANNEL};
use folkmoot_pubsub::secured::Claim;
use folkmoot_pubsub::{Address, Channel};
use serde_json::json;
use std::time::Duration;

/// Any datagram may be lost, so it is said more than once.
const TIMES: usize = 5;
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn run(at: Meeting, command: &Exclude, json: bool) -> Result<(), Failure> {
    let root = RootFolder::open(&command.root)?;
    let der = read_certificate(&command.certificate)?;
    let claim = Claim::from_der(&der).map_err(|error| wrong(&command.certificate, &error))?;
    let Some(sender) = claim.rights.first().map(|right| right.sender) else {
        let text = format!("{} is a root, which has no rights to lose", command.certificate.display());
        return Err(Failure::new(Exit::Usage, text));
    };
    // Whether its term holds does not matter.
    let statement = root.issuer.exclude(&der).map_err(|error| wrong(&command.certificate, &error))?;
    if let Some(out) = &command.out {
        create(out, &statement)?;
    }
    root.exclude(sender.get(), &der)?;
    let mut published = Vec::new();
    if command.now {
        let known = groups(&claim).map(|group| at.home(group));
        for address in at.url.map_or_else(|| known.collect(), |url| vec![at.on(url)]) {
            publish(&address, &statement).await?;
            published.push(address.to_string());
        }
    }
    let value = json!({
        "subject": claim.subject,
        "sender": sender.get(),
        "statement": hex(&statement),
        "file": command.out,
        "published": published,
    });
    data(json, &value, || {
        let said = published.iter().map(|address| format!("\npublished on {address}")).collect::<String>();
        format!("{}, sender {sender}, is excluded{said}", visible(&claim.subject))
    });
    Ok(())
}

/// Members hear it without having heard of who says it: the root has signed it.
async fn publish(address: &Address, statement: &[u8]) -> Result<(), Failure> {
    let channel = Channel::new(EXCLUSION_CHANNEL).map_err(Failure::bug)?;
    let bus = Bus::join(*address).map_err(failed)?;
    for _ in 0..TIMES {
        bus.publish(channel, statement).await.map_err(failed)?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
