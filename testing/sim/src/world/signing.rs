//! What the world sees of signing sessions: what transcripts say, which shares lie on disks, and
//! what is still due at the end.

use super::{Chair, World};
use crate::machine::{Minutes, Signing};
use crate::record::{Player, What};
use crate::standings::standings;
use folkmoot_base::{Instant, StoreKey};
use std::collections::{BTreeMap, BTreeSet};

/// How long a signing session may stand still before everybody drops it, and a little more for the
/// timer, in microseconds.
const STILL_MICROS: u64 = 5_500_000;
/// So far apart may the clocks of a contact and its guest be (ADM-05), less a little, in seconds.
const CONTACT_SECONDS: i64 = 55;

impl World {
    /// After a batch: records what the transcript has new, and the shares on disk if they changed
    /// or others are in use.
    pub(super) fn look_at_signing(&mut self, player: Player) {
        if !self.signing {
            return;
        }
        let now = self.now;
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let Some(machine) = chair.machine.as_mut() else { return };
        let Minutes { minutes, in_use } = machine.minutes();
        let on_disk: BTreeSet<String> = chair
            .disk
            .contents()
            .keys()
            .filter(|key| key.table == "share")
            .map(|key| key.key.iter().take(6).map(|byte| format!("{byte:02x}")).collect())
            .collect();
        let process = chair.process();
        for minute in minutes {
            self.record.push(now, process, What::Minute(minute));
        }
        let shares = (in_use, on_disk);
        if chair.shares.as_ref() != Some(&shares) {
            let (in_use, on_disk) = shares.clone();
            chair.shares = Some(shares);
            self.record.push(now, process, What::Shares { in_use, on_disk });
        }
    }

    /// Whether this share is on the disk of `player` now.
    pub(super) fn has_share(&self, player: Player, sharing: &str) -> bool {
        let hex =
            |bytes: &[u8]| -> String { bytes.iter().take(6).map(|byte| format!("{byte:02x}")).collect() };
        let disk = self.chair(player).map(|chair| chair.disk.contents());
        disk.is_some_and(|disk| disk.keys().any(|key| key.table == "share" && hex(&key.key) == sharing))
    }

    /// Whether this player's program asks to be admitted: not an attacker with its key. Where the
    /// disk was put back, what was asked since is forgotten, until its person asks again.
    fn asks(&self, player: Player) -> bool {
        let own = |key: &StoreKey| key.table == "request" && key.key == b"own"[..];
        let chair = self.chair(self.place_of(player)).filter(|chair| chair.machine.is_some());
        chair.is_some_and(|chair| !chair.lost || chair.disk.contents().keys().any(own))
    }

    /// Whether the clocks of a contact and its guest are as near as a contact asks for.
    fn share_time(&self, contact: Player, guest: Player) -> bool {
        let skew = |player| self.chair(self.place_of(player)).and_then(Chair::skew);
        skew(contact).zip(skew(guest)).is_some_and(|(one, other)| (one - other).abs() <= CONTACT_SECONDS)
    }

    /// How the signing sessions of `player` stand.
    fn signing_of(&self, player: Player) -> Option<Signing> {
        let chair = self.chair(player)?;
        chair.machine.as_ref()?.signing(Instant(self.now.saturating_sub(chair.boot_at)))
    }

    /// Where holders are gone for good in one moment, or lose their disks, and as many are left as
    /// sign who lost nothing: whether fewer hold their shares.
    fn ended(&self, here: &BTreeMap<Player, Signing>) -> Option<String> {
        let signing = here.values().find(|signing| self.bereft && signing.shared)?;
        let whole = |player: &&Player| {
            let chair = self.chair(self.place_of(**player));
            here.contains_key(player) && chair.is_some_and(|chair| !chair.lost)
        };
        let whole = signing.holders.iter().filter(whole).count();
        let hold = holders(here, signing);
        let ended = whole >= signing.signers && hold < signing.signers;
        ended.then(|| {
            let signers = signing.signers;
            format!(
                "{whole} holders are here who never lost a disk, and {hold} hold their shares; {signers} sign"
            )
        })
    }

    /// How it stands with those who are to be in the view. A member does its part at its first
    /// program (MEM-11): where that has left the group, the others do nothing of it.
    fn signing_here(&self) -> BTreeMap<Player, Signing> {
        let expected = standings(self).into_iter().filter(|one| one.expected);
        let places = expected.map(|one| (one.process.player, self.place_of(one.process.player)));
        let firsts = places.filter(|(player, place)| {
            self.chair(*place).is_some_and(|chair| chair.process().player == *player)
        });
        firsts.filter_map(|(player, place)| Some((player, self.signing_of(place)?))).collect()
    }

    /// What is still to be done by the machines alone, now that all who are there are in one view;
    /// `None`: nothing.
    pub fn undone(&self) -> Option<String> {
        let here = self.signing_here();
        if let Some(ended) = self.ended(&here) {
            return Some(ended);
        }
        if let Some((player, _)) = here.iter().find(|(_, signing)| signing.still > STILL_MICROS) {
            return Some(format!("a signing session at m{player} stands still and is not over"));
        }
        for (player, signing) in &here {
            if wants(&here, signing) && can_share(&here, signing) {
                let said =
                    format!("of the voters {:?} these approve: {:?}", signing.voters, signing.approvals);
                return Some(format!("m{player} wants another sharing, and a quorum is here; {said}"));
            }
            if lacks_share(&here, *player, signing) {
                return Some(format!("m{player} has no share of the sharing in use, and enough are here"));
            }
            for (guest, approvers) in &signing.ripe {
                // One that knows nobody but who was expelled since, say, has no contact.
                let hears = |player: &Player| self.share_time(*player, *guest);
                let linked = here.iter().any(|(player, one)| hears(player) && one.guests.contains(guest));
                if linked && self.asks(*guest) && can_sign(&here, signing, approvers) {
                    return Some(format!("the request of player {guest} has enough votes at m{player}"));
                }
            }
        }
        None
    }
}

/// Whether another sharing is wanted, and by one who is here: who is away asks for its share when
/// it is back.
fn wants(here: &BTreeMap<Player, Signing>, signing: &Signing) -> bool {
    let lacks = |player: &&Player| here.contains_key(player) && !signing.holders.contains(player);
    signing.wants || (signing.shared && signing.voters.iter().any(|player| lacks(&player)))
}

/// Whether a holder that votes has no share, although as many others as it takes to repair it are
/// here.
fn lacks_share(here: &BTreeMap<Player, Signing>, player: Player, signing: &Signing) -> bool {
    let due = signing.shared && signing.holders.contains(&player) && signing.voters.contains(&player);
    due && !signing.holds && !wants(here, signing) && holders(here, signing) >= signing.givers
}

/// Whether those here could make and decide a sharing.
fn can_share(here: &BTreeMap<Player, Signing>, signing: &Signing) -> bool {
    let voters: BTreeSet<Player> =
        signing.voters.iter().copied().filter(|player| here.contains_key(player)).collect();
    is_quorum(signing, &voters)
        && voters.len() >= signing.signers
        && voters.len() >= signing.threshold
        && holders(here, signing) >= signing.givers
}

/// More than half of the electorate, or half of it with the first.
fn is_quorum(signing: &Signing, voters: &BTreeSet<Player>) -> bool {
    let (some, all) = (2 * voters.len(), signing.electorate.len());
    some > all || (some == all && signing.electorate.first().is_some_and(|first| voters.contains(first)))
}

/// Whether those here could sign for a request that these approved.
fn can_sign(here: &BTreeMap<Player, Signing>, signing: &Signing, approvers: &BTreeSet<Player>) -> bool {
    if !signing.shared {
        let yes = approvers.iter().filter(|player| here.contains_key(player)).count();
        return yes >= signing.threshold;
    }
    !wants(here, signing) && signing.givers > 0 && holders(here, signing) >= signing.signers
}

fn holders(here: &BTreeMap<Player, Signing>, signing: &Signing) -> usize {
    signing.holders.iter().filter(|player| here.get(player).is_some_and(|one| one.holds)).count()
}
