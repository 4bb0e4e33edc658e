//! The lines of decisions in a record, and whom those who were expelled have led astray.
//!
//! This judges by the history of the decisions that members' transcripts were seen to have: who
//! signed them, and what was decided before. It asks no transcript whether something counts.

use crate::record::{Disk, Entry, NEAR_SECONDS, Player, Ruling, What};
use std::collections::{BTreeMap, BTreeSet};

/// For so long somebody may judge what has run out: it had heard of it before.
const OVER_SECONDS: u64 = 60;

/// A clock that is so far behind the line is none.
const BEHIND_SECONDS: u64 = 86_400;

/// So far ahead of a clock is the time of no decision that its member has, and a little more.
const AHEAD_SECONDS: u64 = 86_400 + 60;

/// What is known of a decision.
#[derive(Debug, Clone, Default)]
struct Known {
    /// Whether former members alone have made it, or it follows one that they made.
    false_line: bool,
    /// Who was expelled up to here.
    removed: BTreeSet<Player>,
    /// The number of the decision that last changed each subject.
    stamps: BTreeMap<String, u64>,
    /// The number of the decision that last expelled each.
    gone: BTreeMap<Player, u64>,
    /// The number of the decision since which each voter has its vote.
    since: BTreeMap<Player, u64>,
    /// Its time.
    time: u64,
}

/// All lines of a record, as far as it was read.
#[derive(Debug, Default)]
pub struct Lines {
    stolen: BTreeSet<Player>,
    known: BTreeMap<String, Known>,
    /// The decisions that each player was seen to have, by number.
    at: BTreeMap<Player, BTreeMap<u64, String>>,
    /// Players whose disks were put back or copied: they may sign twice in good faith.
    put_back: BTreeSet<Player>,
    /// Voters whose programs lie.
    liars: BTreeSet<Player>,
    /// The decisions that somebody honest has judged, and what the clocks showed then.
    judged: BTreeMap<String, Vec<u64>>,
    /// Whom decisions expel that wait for the clocks of those who have them.
    hidden: BTreeMap<Player, BTreeSet<Player>>,
    /// Players whose clocks are behind, or who have none.
    behind: BTreeSet<Player>,
    /// Who was admitted again while its key was its own, after the expulsion with this number.
    returned: BTreeMap<Player, u64>,
    founding: Known,
}

impl Lines {
    /// Reads the next entry.
    ///
    /// # Errors
    /// What is wrong with a decision, in words.
    pub fn read(&mut self, entry: &Entry) -> Result<(), String> {
        let player = entry.process.player;
        if let What::Boot(_) = entry.what {
            self.hidden.remove(&player);
        }
        match &entry.what {
            What::Stolen => {
                self.stolen.insert(player);
            }
            What::Boot(Disk::Fresh | Disk::Old | Disk::Copied) => {
                self.at.remove(&player);
                if entry.what != What::Boot(Disk::Fresh) {
                    self.put_back.insert(player);
                }
            }
            What::Liar => {
                self.liars.insert(player);
            }
            What::Judged(decision, clock) if !self.liars.contains(&player) => {
                self.judged.entry(decision.clone()).or_default().push(*clock);
            }
            What::Clock(ahead) => {
                self.behind.remove(&player);
                if ahead.is_none_or(|ahead| ahead < -NEAR_SECONDS) {
                    self.behind.insert(player);
                }
            }
            What::Hidden(players) => {
                self.hidden.insert(player, players.clone());
            }
            What::Ruled(ruling) => return self.ruled(player, ruling),
            What::Roster(roster) => self.note_returned(player, roster),
            _ => {}
        }
        Ok(())
    }

    fn note_returned(&mut self, player: Player, roster: &BTreeSet<Player>) {
        let head = self.head(player);
        let own = |one: &Player| !head.false_line && !self.stolen.contains(one);
        let back = head.gone.iter().filter(|(one, _)| roster.contains(one) && own(one));
        let back: Vec<(Player, u64)> = back.map(|(one, number)| (*one, *number)).collect();
        for (one, number) in back {
            let last = self.returned.entry(one).or_default();
            *last = number.max(*last);
        }
    }

    /// Whether somebody was admitted again, while its key was its own, after the last expulsion
    /// that this player has heard of.
    pub fn has_returned(&self, player: Player, who: Player) -> bool {
        let expelled = self.head(player).gone.get(&who);
        expelled.is_some_and(|number| self.returned.get(&who).is_some_and(|last| last >= number))
    }

    /// Whether this player is on a line that former members alone have made.
    pub fn is_misled(&self, player: Player) -> bool {
        self.head(player).false_line
    }

    /// Whether former members alone have made this decision, or it follows one that they made.
    pub fn is_false(&self, decision: &str) -> bool {
        self.known.get(decision).is_some_and(|known| known.false_line)
    }

    /// Whether the attacker has this player's key.
    pub fn is_stolen(&self, player: Player) -> bool {
        self.stolen.contains(&player)
    }

    /// Whether the program of this player lies.
    pub fn is_liar(&self, player: Player) -> bool {
        self.liars.contains(&player)
    }

    /// The players whose programs lie.
    pub fn liars(&self) -> &BTreeSet<Player> {
        &self.liars
    }

    /// Whether the disk of this player was put back.
    pub fn is_put_back(&self, player: Player) -> bool {
        self.put_back.contains(&player)
    }

    /// Whether the clock of this player is far behind, or it has none: what ran out while it rested
    /// may let somebody in there.
    pub fn is_behind(&self, player: Player) -> bool {
        self.behind.contains(&player)
    }

    /// Who was expelled, as far as this player has heard.
    pub fn removed(&self, player: Player) -> &BTreeSet<Player> {
        &self.head(player).removed
    }

    /// Whether this player has a decision that expels somebody, and that waits for its clock.
    pub fn hides(&self, player: Player, who: Player) -> bool {
        self.hidden.get(&player).is_some_and(|players| players.contains(&who))
    }

    /// How many keys of the attacker may still have a vote, as far as this player has heard.
    pub fn still_trusted(&self, player: Player) -> usize {
        self.stolen.difference(self.removed(player)).count()
    }

    /// The number of the last decision that this player was seen to have.
    pub fn number(&self, player: Player) -> u64 {
        self.at.get(&player).and_then(|line| line.keys().last()).copied().unwrap_or_default()
    }

    fn head(&self, player: Player) -> &Known {
        let last = self.at.get(&player).and_then(|line| line.values().last());
        last.and_then(|name| self.known.get(name)).unwrap_or(&self.founding)
    }

    fn ruled(&mut self, player: Player, ruling: &Ruling) -> Result<(), String> {
        let judged = self.learn(ruling);
        let (number, name) = (ruling.number, &ruling.name);
        let before = self.at.entry(player).or_default().insert(number, name.clone());
        let first = before.is_none() && !self.put_back.contains(&player) && !self.behind.contains(&player);
        let last = self.known.get(&ruling.parent).map_or(0, |parent| parent.time);
        let late = |clock: u64| {
            let sound = clock.saturating_add(BEHIND_SECONDS) >= last;
            sound && ruling.time > clock.saturating_add(AHEAD_SECONDS)
        };
        match before.filter(|before| before != name) {
            Some(before) => Err(format!("it had decision {number} as {before}, and now as {name}")),
            None if first && ruling.clock.is_some_and(late) => Err(format!(
                "decision {number} {name} is of {}, more than a day ahead of its clock",
                ruling.time
            )),
            None => judged,
        }
    }

    /// Learns of a decision, and judges it the first time.
    fn learn(&mut self, ruling: &Ruling) -> Result<(), String> {
        if self.known.contains_key(&ruling.name) {
            return Ok(());
        }
        let parent = self.known.get(&ruling.parent).unwrap_or(&self.founding);
        let mine = |voter: &Option<Player>| voter.is_none_or(|voter| self.stolen.contains(&voter));
        let by_former = ruling.signers.iter().all(mine);
        let next = after(parent, ruling, by_former);
        let judged = judge(parent, ruling);
        let judged = if next.false_line { judged } else { judged.and_then(|()| self.in_time(ruling)) };
        self.known.insert(ruling.name.clone(), next);
        judged
    }
}

impl Lines {
    /// Whether somebody honest has judged a decision when its time was near, and nothing in it had
    /// run out, unless liars decide.
    fn in_time(&self, ruling: &Ruling) -> Result<(), String> {
        let Ruling { number, name, time, .. } = ruling;
        let ends = ruling.deeds.iter().flat_map(|deed| &deed.approvals).map(|(_, _, ends)| *ends);
        let first = ends.min().unwrap_or(u64::MAX);
        let near = |clock: &u64| {
            let counts = first.saturating_add(OVER_SECONDS) >= *clock;
            counts && clock.abs_diff(*time) <= NEAR_SECONDS.unsigned_abs()
        };
        let lies = |one: &&Option<Player>| {
            one.is_none_or(|one| self.liars.contains(&one) || self.stolen.contains(&one))
        };
        let liars: Vec<Option<Player>> = ruling.electors.iter().filter(lies).copied().collect();
        let judged = self.judged.get(name).is_some_and(|clocks| clocks.iter().any(near));
        if judged || is_quorum(&ruling.electors, &liars) {
            return Ok(());
        }
        Err(format!("decision {number} {name} of {time} stands, and nobody honest judged it right then"))
    }
}

/// What is known after a decision.
fn after(parent: &Known, ruling: &Ruling, by_former: bool) -> Known {
    let mut next = parent.clone();
    next.false_line |= by_former;
    next.time = ruling.time;
    for deed in &ruling.deeds {
        next.stamps.insert(deed.about.clone(), ruling.number);
        next.removed.extend(deed.removes);
        next.gone.extend(deed.removes.map(|player| (player, ruling.number)));
        if !deed.voters.is_empty() {
            // Whoever asked again and was admitted.
            next.removed.retain(|one| !deed.voters.contains(&Some(*one)));
            let before = |voter: &Player| ruling.electors.contains(&Some(*voter));
            next.since.retain(|voter, _| deed.voters.contains(&Some(*voter)));
            let fresh = deed.voters.iter().flatten().filter(|voter| !before(voter));
            next.since.extend(fresh.map(|voter| (*voter, ruling.number)));
        }
    }
    next
}

/// Whether some of an electorate decide.
pub(crate) fn is_quorum(electors: &[Option<Player>], some: &[Option<Player>]) -> bool {
    let (places, yes) = (electors.len(), some.len());
    let first = electors.first().is_some_and(|first| some.contains(first));
    2 * yes > places || (2 * yes == places && first)
}

/// Whether a decision may follow its parent: by who signed it, and what they had heard.
fn judge(parent: &Known, ruling: &Ruling) -> Result<(), String> {
    let Ruling { number, name, electors, signers, .. } = ruling;
    if !is_quorum(electors, signers) || !signers.iter().all(|signer| electors.contains(signer)) {
        return Err(format!("decision {number} {name} stands by {signers:?} of {electors:?}"));
    }
    let gone = |signer: &&Option<Player>| signer.is_some_and(|signer| parent.removed.contains(&signer));
    if let Some(signer) = signers.iter().find(gone) {
        return Err(format!("decision {number} {name} was signed by {signer:?}, who was expelled before"));
    }
    if !parent.false_line && signers.contains(&None) {
        return Err(format!("decision {number} {name} was signed by a stranger"));
    }
    for deed in &ruling.deeds {
        let named = deed.names.iter().filter_map(|player| parent.gone.get(player));
        let stamp = named.chain(parent.stamps.get(&deed.about)).max().copied().unwrap_or_default();
        for (voter, base, ends) in &deed.approvals {
            let since = voter.and_then(|voter| parent.since.get(&voter)).copied().unwrap_or_default();
            if *base < stamp.max(since) || *ends < ruling.time {
                let about = &deed.about;
                return Err(format!(
                    "decision {number} {name} about {about} rests on an approval over {base} by {voter:?}"
                ));
            }
        }
    }
    Ok(())
}
