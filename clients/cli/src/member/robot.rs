//! A robot beside its member: it publishes its pose by LCM, under keys of those whom the group has
//! voted in, and hears the others' poses. For the demo.
//!
//! What it saw stands in a file in its folder, written anew ten times a second.

use crate::exit::{Exit, Failure};
use folkmoot::lcm::{Capacity, Heard, Membership, Options, Pattern, RosterPapers};
use folkmoot::tools::MemberHandle;
use folkmoot::{Folkmoot, MemberId};
use folkmoot_identity::Identity;
use folkmoot_pubsub::secured::{Domain, Grants};
use folkmoot_pubsub::{Address, Channel};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

/// Where poses are published.
const CHANNEL: &str = "POSE";
/// How often the file is written.
const REPORT: Duration = Duration::from_millis(100);
/// How often the transcript is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Latencies in microseconds: eight buckets for each doubling.
const BUCKETS: usize = 8 * 32;

/// What a robot saw.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Its number.
    pub(crate) sender: u16,
    /// Poses that it published.
    pub(crate) published: u64,
    /// By sender: how many came, and when the last of them was sent, in microseconds since 1970.
    pub(crate) heard: BTreeMap<u16, (u64, u64)>,
    /// Poses that were sent and did not come.
    pub(crate) missing: u64,
    /// Datagrams under keys that are not here.
    pub(crate) strange: u64,
    /// Who has the keys of group and channel, and since when.
    pub(crate) keys: Vec<(Vec<u16>, u64)>,
    /// How many poses took so long.
    pub(crate) latencies: Vec<u64>,
}

impl Report {
    fn note(&mut self, heard: &Heard) {
        let Some((sender, sent)) = heard.sender.zip(sent_at(&heard.payload)) else { return };
        let (count, last) = self.heard.entry(sender.get()).or_default();
        (*count, *last) = (count.saturating_add(1), sent.max(*last));
        self.missing = self.missing.saturating_add(heard.missing.into());
        let took = u64::try_from(heard.time).unwrap_or_default().saturating_sub(sent);
        self.latencies.resize(BUCKETS, 0);
        if let Some(bucket) = self.latencies.get_mut(bucket_of(took)) {
            *bucket = bucket.saturating_add(1);
        }
    }

    fn note_keys(&mut self, membership: &Membership) {
        let keyed = membership.keyed();
        let before = std::mem::take(&mut self.keys);
        for (place, one) in keyed.iter().enumerate() {
            let members: Vec<u16> = one.members.iter().map(|sender| sender.get()).collect();
            let same = before.get(place).filter(|(had, _)| *had == members);
            self.keys.push(same.cloned().unwrap_or_else(|| (members, now())));
        }
    }

    /// What a robot wrote in its folder.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path(folder)).ok()?).ok()
    }

    fn write(&self, folder: &Path) {
        let draft = path(folder).with_extension("new");
        let written = serde_json::to_vec(self).ok().and_then(|json| std::fs::write(&draft, json).ok());
        if written.is_none() || std::fs::rename(&draft, path(folder)).is_err() {
            tracing::warn!("the robot's report is not written");
        }
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join("robot.json")
}

/// The bucket of a latency.
fn bucket_of(micros: u64) -> usize {
    (8.0 * (micros.max(1) as f64).log2()) as usize
}

/// Where a bucket begins, in microseconds.
pub(crate) fn begin_of(bucket: usize) -> f64 {
    (bucket as f64 / 8.0).exp2()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A pose: when it is sent, then x, y and heading.
fn pose(number: u64) -> Vec<u8> {
    let (turn, sent) = (number as f64 / 1_000.0, now().to_be_bytes());
    let place = [turn.cos(), turn.sin(), turn].map(f64::to_be_bytes);
    [&sent[..], place.as_flattened()].concat()
}

fn sent_at(pose: &[u8]) -> Option<u64> {
    pose.first_chunk().map(|sent| u64::from_be_bytes(*sent))
}

/// Starts the robot; it goes on until it is told to stop.
pub(super) fn start(
    moot: &Folkmoot,
    identity: Identity,
    folder: &Path,
    address: Address,
    rate: u32,
) -> JoinHandle<()> {
    let (handle, me, folder) = (moot.handle(), moot.me(), folder.to_owned());
    tokio::spawn(async move {
        if let Err(failure) = live(handle, me, &identity, &folder, address, rate).await {
            eprintln!("the robot stops: {}", failure.text);
        }
    })
}

async fn live(
    moot: MemberHandle,
    me: MemberId,
    identity: &Identity,
    folder: &Path,
    address: Address,
    rate: u32,
) -> Result<(), Failure> {
    let channel = Channel::new(CHANNEL).map_err(Failure::bug)?;
    let group = Domain::group(address.group.into()).map_err(Failure::bug)?;
    let key = identity.key().as_p256().cloned().ok_or_else(|| {
        let what = identity.key().verifying_key().algorithm().name();
        Failure::new(
            Exit::Configuration,
            format!("topics take keys of p256 alone, and this identity's is of {what}"),
        )
    })?;
    for attempt in 0.. {
        let papers = loop {
            let grants = Grants::new(group).to_all(channel);
            match RosterPapers::of(moot.clone(), me, grants, key.clone(), attempt).await? {
                Some(papers) => break papers,
                None => tokio::time::sleep(LOOK).await,
            }
        };
        let options = Options::new(folder.join("lcm"));
        let membership = Membership::join(address, papers.clone(), options).await.map_err(Failure::bug)?;
        drive(&membership, &papers, channel, folder, rate).await?;
        // Another robot has the same number.
        membership.leave().await;
    }
    Ok(())
}

/// Publishes and hears, until another robot turns out to have the same number.
async fn drive(
    membership: &Membership,
    papers: &RosterPapers,
    channel: Channel,
    folder: &Path,
    rate: u32,
) -> Result<(), Failure> {
    let pattern = Pattern::new(CHANNEL).map_err(Failure::bug)?;
    let mut heard = membership.bus().subscribe(pattern, Capacity::default()).map_err(Failure::bug)?;
    let mut report = Report { sender: papers.sender().get(), ..Report::default() };
    let every = |period| {
        let mut interval = tokio::time::interval(period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
        interval
    };
    let (mut reports, mut looks) = (every(REPORT), every(LOOK));
    let mut publishes = tokio::time::interval(Duration::from_secs(1) / rate.max(1));
    loop {
        tokio::select! {
            Some(pose) = heard.next() => report.note(&pose),
            _ = publishes.tick() => {
                // Before the first key, and once it is out, it has nothing to seal with.
                if membership.bus().publish(channel, &pose(report.published)).await.is_ok() {
                    report.published = report.published.saturating_add(1);
                }
            }
            _ = looks.tick() => {
                if papers.refresh().await? {
                    membership.look_again().await;
                }
                report.note_keys(membership);
                if membership.keyed().iter().any(|one| one.duplicate == Some(papers.sender())) {
                    return Ok(());
                }
            }
            _ = reports.tick() => {
                report.strange = membership.bus().refused().epochs;
                report.write(folder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_counted_within_a_tenth() {
        for micros in [1, 2, 7, 100, 1_000, 65_000, 3_000_000_000] {
            let bucket = bucket_of(micros);
            assert!(begin_of(bucket) <= micros as f64 && (micros as f64) < begin_of(bucket + 1) * 1.000_001);
        }
        assert!(begin_of(9) / begin_of(8) < 1.1 && bucket_of(u64::from(u32::MAX)) < BUCKETS);
    }
}
