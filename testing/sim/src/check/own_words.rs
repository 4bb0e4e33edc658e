//! Own words: what happens to a program for what it says, it said. Each word counts once, and the
//! last one stands. A carrier of the group can have words said again, or make them up.
//!
//! * A notice that somebody left or joined has a Leave, a Join of that program, and no other notice
//!   has the same one. One for a refresh follows the view that somebody wanted anew. One for
//!   complaints follows a complaint of that configuration.
//! * Whoever has a view heard of all its members that they are ready for it, with one transcript.
//!   Whoever has heard that, by what each said last, complains of nobody.
//!
//! Source: docs/protocol/group.md, GRP-20 to GRP-23; docs/protocol/flush.md, FLU-20, FLU-21.

use super::{Broken, Checker, Story};
use crate::machine::owner;
use crate::record::{Player, Process, Record, What};
use crate::word::{Notice, Ready, Word};
use folkmoot_base::{Cause, ConfigurationId, ViewId};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker = Checker { name: "own-words", source: "GRP-20 to 23, FLU-20, 21", judge };

/// What programs have said so far.
#[derive(Default)]
struct Book<'a> {
    joins: BTreeMap<Player, Told<'a>>,
    leaves: BTreeMap<Player, Told<'a>>,
    refreshes: BTreeSet<&'a ViewId>,
    complaints: BTreeSet<(&'a ConfigurationId, Player)>,
    ready: BTreeSet<(Player, &'a Ready)>,
    desks: BTreeMap<Process, Desk<'a>>,
}

/// How often a program said it, and the notices that this led to.
#[derive(Default)]
struct Told<'a> {
    said: usize,
    notices: BTreeSet<&'a ViewId>,
}

/// What a program has heard.
#[derive(Default)]
struct Desk<'a> {
    leaves: bool,
    has: Option<&'a ViewId>,
    newest: Option<&'a Notice>,
    /// What each player said last.
    ready: BTreeMap<&'a ViewId, BTreeMap<Player, &'a Ready>>,
}

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut book = Book::default();
    for (entry, line) in record.entries.iter().enumerate() {
        let at = line.process;
        match &line.what {
            // Its next notice does not follow the last one.
            What::Left(_) => book.desk(at).newest = None,
            What::Word(word) => book.take(at, word).map_err(|what| (at, Some(entry), what))?,
            _ => {}
        }
    }
    Ok(())
}

impl<'a> Book<'a> {
    fn desk(&mut self, at: Process) -> &mut Desk<'a> {
        self.desks.entry(at).or_default()
    }

    fn take(&mut self, at: Process, word: &'a Word) -> Result<(), String> {
        match word {
            Word::Joins => {
                self.joins.entry(at.player).or_default().said += 1;
                self.desk(at).leaves = false;
            }
            Word::Leaves => {
                self.leaves.entry(at.player).or_default().said += 1;
                self.desk(at).leaves = true;
            }
            Word::Refreshes(view) => _ = self.refreshes.insert(view),
            Word::Complains(configuration, view, suspect) => {
                self.complaints.insert((configuration, owner(*suspect)));
                return self.desk(at).complains(view, *suspect);
            }
            Word::Ready(ready) => _ = self.ready.insert((at.player, ready)),
            Word::Hears(from, ready) if self.ready.contains(&(*from, ready)) => {
                self.desk(at).hears(*from, ready)
            }
            Word::Hears(..) => {}
            Word::Has(view) => {
                let desk = self.desk(at);
                desk.has = Some(view);
                return desk.awaits(view).map_or(Ok(()), |of| Err(format!("has view {view} without {of}")));
            }
            Word::Noticed(notice) => return self.noticed(at, notice),
        }
        Ok(())
    }

    fn noticed(&mut self, at: Process, notice: &'a Notice) -> Result<(), String> {
        let desk = self.desk(at);
        desk.ready.retain(|view, _| **view >= notice.view);
        let before = desk.newest.replace(notice);
        match notice.cause {
            Cause::Leave => spend(&mut self.leaves, notice, "left", |player| notice.removed.contains(player)),
            Cause::Join => {
                let Some(before) = before else { return Ok(()) };
                let is_new = |player: &Player| {
                    let stayed = before.members.contains(player) && !notice.removed.contains(player);
                    notice.members.contains(player) && !stayed
                };
                spend(&mut self.joins, notice, "joined", is_new)
            }
            Cause::Refresh if before.is_some_and(|before| !self.refreshes.contains(&before.view)) => {
                Err(format!("view {} is anew, which nobody wanted", notice.view))
            }
            Cause::Complaint => {
                let configuration = &notice.view.configuration;
                let named = |player: &&Player| self.complaints.contains(&(configuration, owner(**player)));
                let unnamed = notice.removed.iter().find(|player| !named(player));
                unnamed.map_or(Ok(()), |player| {
                    Err(format!("player{player} is set aside in {}, and nobody complained", notice.view))
                })
            }
            _ => Ok(()),
        }
    }
}

/// Each of those who did this in the notice's view said so, once for each such view.
fn spend<'a>(
    words: &mut BTreeMap<Player, Told<'a>>,
    notice: &'a Notice,
    did: &str,
    is_one: impl Fn(&Player) -> bool,
) -> Result<(), String> {
    let all: BTreeSet<Player> = notice.members.union(&notice.removed).copied().filter(is_one).collect();
    for player in all {
        let told = words.entry(player).or_default();
        told.notices.insert(&notice.view);
        if told.notices.len() > told.said {
            return Err(format!("player{player} {did} before {}, and never said so", notice.view));
        }
    }
    Ok(())
}

impl<'a> Desk<'a> {
    fn hears(&mut self, from: Player, ready: &'a Ready) {
        let last = self.ready.entry(&ready.view).or_default().entry(from).or_insert(ready);
        if last.number < ready.number {
            *last = ready;
        }
    }

    /// What is missing for `view`, if it is the newest that this program has heard of: by what each
    /// said last.
    fn awaits(&self, view: &ViewId) -> Option<String> {
        let members = &self.newest.filter(|newest| newest.view == *view)?.members;
        let ready = self.ready.get(view);
        let silent = members.iter().find(|player| !ready.is_some_and(|ready| ready.contains_key(player)));
        if let Some(player) = silent {
            return Some(format!("player{player}"));
        }
        let mut heads = ready.into_iter().flatten().map(|(_, ready)| ready.heads);
        let first = heads.next();
        (!heads.all(|other| Some(other) == first)).then(|| "one transcript".to_owned())
    }

    fn complains(&self, view: &ViewId, suspect: Player) -> Result<(), String> {
        let waits = self.newest.is_some_and(|newest| newest.view == *view) && self.has != Some(view);
        if self.leaves || !waits || self.awaits(view).is_some() {
            return Ok(());
        }
        Err(format!("complains of player{suspect}, though all of {view} are ready, with one transcript"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tale::{Tale, configuration, view};

    fn notice(
        tale: Tale,
        at: Player,
        (number, cause): (u64, Cause),
        members: &[Player],
        removed: &[Player],
    ) -> Tale {
        let (members, removed) = (members.iter().copied().collect(), removed.iter().copied().collect());
        let notice = Notice { view: view(number), cause, members, removed };
        tale.add(at, What::Word(Word::Noticed(notice)))
    }

    fn says(tale: Tale, at: Player, word: Word) -> Tale {
        tale.add(at, What::Word(word))
    }

    /// Player 1 joins, leaves, and joins again.
    fn back() -> Tale {
        let mut tale = notice(Tale::default(), 0, (1, Cause::Network), &[0], &[]);
        for number in [2, 4] {
            tale = says(tale, 1, Word::Joins);
            tale = notice(tale, 0, (number, Cause::Join), &[0, 1], &[]);
            if number == 2 {
                tale = says(tale, 1, Word::Leaves);
                tale = notice(tale, 0, (3, Cause::Leave), &[0], &[1]);
            }
        }
        tale
    }

    #[test]
    fn each_join_and_each_leave_was_said() {
        back().holds(&CHECKER);
        notice(back(), 0, (5, Cause::Leave), &[0], &[1]).broken(&CHECKER);
        let left = says(back(), 1, Word::Leaves);
        let left = || notice(left.clone(), 0, (5, Cause::Leave), &[0], &[1]);
        // All hear of it.
        notice(left(), 2, (5, Cause::Leave), &[0], &[1]).holds(&CHECKER);
        notice(left(), 0, (6, Cause::Join), &[0, 1], &[]).broken(&CHECKER);
        notice(left(), 0, (6, Cause::Network), &[0, 1], &[]).holds(&CHECKER);
        // Whoever was away does not know what changed.
        notice(left().left(0), 0, (6, Cause::Join), &[0, 1], &[]).holds(&CHECKER);
    }

    #[test]
    fn each_refresh_was_wanted_and_each_complaint_made() {
        let wanted = |number| says(back(), 1, Word::Refreshes(view(number)));
        notice(wanted(4), 0, (5, Cause::Refresh), &[0, 1], &[]).holds(&CHECKER);
        notice(wanted(3), 0, (5, Cause::Refresh), &[0, 1], &[]).broken(&CHECKER);
        let complains = |number| says(back(), 0, Word::Complains(configuration(number), view(4), 1));
        notice(complains(5), 0, (5, Cause::Complaint), &[0], &[1]).holds(&CHECKER);
        notice(complains(4), 0, (5, Cause::Complaint), &[0], &[1]).broken(&CHECKER);
    }

    fn ready(number: u32, heads: u8) -> Ready {
        Ready { view: view(4), number, heads: [heads; 32] }
    }

    /// All are told of view 4, and both programs say these, one after the other; player 0 hears
    /// them.
    fn flushed(all: &[(Player, Ready)]) -> Tale {
        let mut tale = back();
        for (of, ready) in all {
            tale = says(says(tale, *of, Word::Ready(*ready)), 0, Word::Hears(*of, *ready));
        }
        tale
    }

    #[test]
    fn a_view_comes_of_what_all_said_last() {
        let has = |all: &[(Player, Ready)]| says(flushed(all), 0, Word::Has(view(4)));
        has(&[(0, ready(1, 1)), (1, ready(1, 1))]).holds(&CHECKER);
        has(&[(0, ready(1, 1)), (1, ready(1, 0)), (1, ready(2, 1))]).holds(&CHECKER);
        has(&[(0, ready(1, 1))]).broken(&CHECKER);
        has(&[(0, ready(1, 1)), (1, ready(1, 0))]).broken(&CHECKER);
        has(&[(0, ready(1, 1)), (1, ready(2, 0)), (1, ready(1, 1))]).broken(&CHECKER);
        // What player 1 never said.
        let forged = says(flushed(&[(0, ready(1, 1))]), 0, Word::Hears(1, ready(1, 1)));
        says(forged, 0, Word::Has(view(4))).broken(&CHECKER);
    }

    #[test]
    fn whoever_is_ready_last_is_not_complained_of() {
        let complain = Word::Complains(configuration(4), view(4), 1);
        let complains = |all: &[(Player, Ready)]| says(flushed(all), 0, complain.clone());
        let both = [(0, ready(1, 1)), (1, ready(1, 0)), (1, ready(2, 1)), (1, ready(1, 0))];
        complains(&both).broken(&CHECKER);
        complains(&both[..2]).holds(&CHECKER);
        complains(&both[1..]).holds(&CHECKER);
        // The next step's complaint.
        says(says(flushed(&both), 0, Word::Has(view(4))), 0, complain.clone()).holds(&CHECKER);
        says(says(flushed(&both), 0, Word::Leaves), 0, complain).holds(&CHECKER);
    }
}
