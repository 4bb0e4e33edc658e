//! What people are told of a place in a secured group that is not what it seems.

use super::Sealed;
use crate::show::many_of;
use core::ops::RangeInclusive;
use folkmoot::UnixTime;
use folkmoot::tools::wall_clock;
use folkmoot_lcm::Keyed;
use folkmoot_pubsub::secured::SenderId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// What lasts is said again after so long.
const AGAIN: Duration = Duration::from_secs(86_400);
const DAY_SECONDS: u64 = 86_400;
/// A certificate ends soon if that is in so many days, and three quarters of its term are over.
const SOON_DAYS: u64 = 14;
/// So long somebody is heard and shares no key before that is said: agreements take less.
const APART: Duration = Duration::from_secs(15);
/// Whoever shares a key is silent after so long, times the members: of these one speaks every two
/// to three seconds for each key, and chance says who.
const SILENT: Duration = Duration::from_secs(15);
/// Messages that nobody here took, before that is said.
const REFUSED: u64 = 4;

/// One thing to say: for programs, what it is and about whom; for people, a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::lcm) struct Warning {
    pub(in crate::lcm) event: &'static str,
    pub(in crate::lcm) what: String,
    pub(in crate::lcm) words: String,
}

/// What was seen, and what was said of it.
#[derive(Debug, Default)]
pub(in crate::lcm) struct Watch {
    said: BTreeMap<(&'static str, String), Instant>,
    /// Who has shared a key, and who has been heard without, since when.
    with: BTreeMap<SenderId, Instant>,
    apart: BTreeMap<SenderId, Instant>,
    silent: BTreeSet<SenderId>,
}

impl Watch {
    /// What there is to say now.
    pub(in crate::lcm) fn look(&mut self, sealed: &Sealed) -> Vec<Warning> {
        let (now, keys, heard) = (Instant::now(), sealed.membership.keyed(), sealed.membership.heard());
        let mut all = ending(&sealed.term(), wall_clock(), sealed.sender);
        all.extend(of_state(&keys, sealed.sender));
        all.extend(of_strangers(&keys, &heard));
        all.extend(self.of_others(now, &keys, &heard, sealed.sender));
        all.retain(|warning| self.is_due(now, warning));
        all.extend(self.of_silence(now, &keys, &heard, sealed.sender));
        all
    }

    /// Who shares a key, and is not heard.
    pub(in crate::lcm) fn silent(&self) -> &BTreeSet<SenderId> {
        &self.silent
    }

    fn is_due(&mut self, now: Instant, warning: &Warning) -> bool {
        let name = (warning.event, warning.what.clone());
        let due = self.said.get(&name).is_none_or(|said| now.duration_since(*said) >= AGAIN);
        if due {
            self.said.insert(name, now);
        }
        due
    }

    /// Those who are heard, and share no key with this program.
    fn of_others(
        &mut self,
        now: Instant,
        keys: &[Keyed],
        heard: &BTreeMap<SenderId, Instant>,
        me: SenderId,
    ) -> Vec<Warning> {
        let group = keys.iter().find(|key| key.domain.is_of_names() && key.number.is_some());
        let Some(group) = group else { return Vec::new() };
        let apart = |(sender, at): &(&SenderId, &Instant)| {
            **sender != me && !group.members.contains(sender) && now.duration_since(**at) < APART
        };
        let apart: BTreeSet<SenderId> = heard.iter().filter(apart).map(|(sender, _)| *sender).collect();
        since(&mut self.apart, &apart, now);
        let long = self.apart.iter().filter(|(_, begun)| now.duration_since(**begun) >= APART);
        let warning = |sender: &SenderId| Warning {
            event: "apart",
            what: sender.to_string(),
            words: format!(
                "sender {sender} speaks here, and has shared no key with this program for {} s. It does not take this program's certificate: compare the clocks, the exclusions, and whether this state folder is the one that was used last",
                APART.as_secs()
            ),
        };
        long.map(|(sender, _)| warning(sender)).collect()
    }

    /// Members that are silent, and those that are heard again.
    fn of_silence(
        &mut self,
        now: Instant,
        keys: &[Keyed],
        heard: &BTreeMap<SenderId, Instant>,
        me: SenderId,
    ) -> Vec<Warning> {
        let members = keys.iter().flat_map(|key| &key.members).copied().filter(|member| *member != me);
        let members: BTreeSet<SenderId> = members.collect();
        since(&mut self.with, &members, now);
        self.silent.retain(|sender| members.contains(sender));
        let limit = SILENT * u32::try_from(members.len()).unwrap_or(u32::MAX).saturating_add(1);
        let mut all = Vec::new();
        for (sender, begun) in &self.with {
            let last = heard.get(sender).map_or(*begun, |last| *last.max(begun));
            let is = now.duration_since(last) >= limit;
            let what = sender.to_string();
            if is && self.silent.insert(*sender) {
                let words = format!(
                    "sender {sender} has not been heard for {} s. It counts as a member until the next agreement on keys",
                    limit.as_secs()
                );
                all.push(Warning { event: "silent", what, words });
            } else if !is && self.silent.remove(sender) {
                all.push(Warning { event: "heard", what, words: format!("sender {sender} is heard again") });
            }
        }
        all
    }
}

/// Keeps since when each of these is there.
fn since(known: &mut BTreeMap<SenderId, Instant>, there: &BTreeSet<SenderId>, now: Instant) {
    known.retain(|sender, _| there.contains(sender));
    there.iter().for_each(|sender| _ = known.entry(*sender).or_insert(now));
}

/// A certificate that ends soon.
fn ending(term: &RangeInclusive<UnixTime>, now: UnixTime, me: SenderId) -> Vec<Warning> {
    let left = term.end().0.saturating_sub(now.0);
    let whole = term.end().0.saturating_sub(term.start().0);
    if left == 0 || left > SOON_DAYS * DAY_SECONDS || left > whole / 4 {
        return Vec::new();
    }
    let days = match left / DAY_SECONDS {
        0 => "within a day".to_owned(),
        days => format!("in {}", many_of(days, "day")),
    };
    let what = term.end().to_string();
    let words = format!(
        "the certificate of sender {me} ends {days}, at {what}. Get a new one from whoever has the root before that"
    );
    vec![Warning { event: "ending", what, words }]
}

/// Why others refuse what this program says.
pub(super) fn behind(me: SenderId) -> String {
    format!(
        "other members have heard more of sender {me} than this state folder knows, and refuse what it says. The folder was lost, or is an older copy, or another program used the certificate. Get a new certificate from whoever has the root"
    )
}

fn of_state(keys: &[Keyed], me: SenderId) -> Vec<Warning> {
    let mut all = Vec::new();
    let mut warn =
        |event, sender: SenderId, words| all.push(Warning { event, what: sender.to_string(), words });
    if keys.iter().any(|key| key.twin) {
        let words = format!(
            "another program speaks under this certificate, as sender {me}, and has said more than this one. A certificate is for one program at a time. End the other one, or get a certificate for each from whoever has the root"
        );
        warn("twin", me, words);
    }
    if keys.iter().any(|key| key.behind) {
        warn("behind", me, behind(me));
    }
    if let Some(sender) = keys.iter().find_map(|key| key.duplicate) {
        warn("duplicate", sender, format!("two certificates have the number {sender}: exclude one of them"));
    }
    all
}

/// Somebody speaks about keys, and nothing of it counts.
fn of_strangers(keys: &[Keyed], heard: &BTreeMap<SenderId, Instant>) -> Option<Warning> {
    let refused = keys.iter().map(|key| key.refused).fold(0, u64::saturating_add);
    let group = keys.first().map(|key| key.domain.address().to_string())?;
    (refused >= REFUSED && heard.is_empty()).then(|| {
        let words = format!(
            "somebody speaks about keys on {group}, and nothing of it counts here: whoever it is has no certificate of this root, or is excluded, or its term has not begun or is over by this host's clock, which says {}",
            wall_clock()
        );
        Warning { event: "strangers", what: group, words }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_ends_soon_in_its_last_quarter_and_within_two_weeks() {
        let me = SenderId::new(4).unwrap();
        let days = |days: u64| UnixTime(days * DAY_SECONDS);
        let soon = |length, now| ending(&(days(0)..=days(length)), days(now), me).pop();
        assert!(soon(365, 350).is_none() && soon(8, 5).is_none() && soon(1, 1).is_none());
        let words = soon(365, 362).unwrap().words;
        assert!(words.contains("sender 4 ends in 3 days, at 1971-01-01T00:00:00Z"), "{words}");
        let today = ending(&(days(0)..=days(9)), UnixTime(9 * DAY_SECONDS - 1), me).pop();
        assert!(today.unwrap().words.contains("within a day"));
    }

    #[test]
    fn what_lasts_is_said_once_a_day() {
        let (mut watch, now) = (Watch::default(), Instant::now());
        let warning = Warning { event: "twin", what: "4".into(), words: String::new() };
        assert!(watch.is_due(now, &warning) && !watch.is_due(now + AGAIN / 2, &warning));
        assert!(watch.is_due(now + AGAIN, &warning));
    }
}
