//! What decides a view is safe: if anybody installs a view, each member of it that stays alive in
//! the group hears all the confirmations of its key, if only after its own signal.
//! Source: key-agreement sheet §9.3, "every surviving member of an installed secure view holds its
//! key list"; the confirmations decide since DECISIONS K2. Seen in attach.

use super::{Broken, Checker, Story};
use crate::record::{Player, Process, Record, What};
use folkmoot_base::ViewId;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker =
    Checker { name: "key-decision", source: "key-agreement sheet §9.3; DECISIONS K2", judge };

/// The view whose key a process has said to have, and of whom it has heard the same.
type Run = (ViewId, BTreeSet<Player>);

/// Runs as they stand, and those that are over.
#[derive(Default)]
struct Runs {
    open: BTreeMap<Process, Run>,
    over: Vec<(Process, Run)>,
}

impl Runs {
    fn end(&mut self, process: Process) {
        self.over.extend(self.open.remove(&process).map(|run| (process, run)));
    }
}

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut runs = Runs::default();
    let mut installed: BTreeMap<ViewId, (&BTreeSet<Player>, usize)> = BTreeMap::new();
    for (entry, line) in record.entries.iter().enumerate() {
        let process = line.process;
        let here = runs.open.get(&process).map(|(view, _)| *view);
        match &line.what {
            What::Confirmed(view) if here != Some(*view) => {
                runs.end(process);
                runs.open.insert(process, (*view, BTreeSet::new()));
            }
            What::Heard(view, player) => {
                let run = runs.open.get_mut(&process).filter(|(open, _)| open == view);
                run.into_iter().for_each(|(_, heard)| {
                    heard.insert(*player);
                });
            }
            What::View(view) => {
                installed.entry(view.id).or_insert((&view.members, entry));
                if here != Some(view.id) {
                    runs.end(process);
                }
            }
            // Whoever is out hears nothing more, and owes nothing.
            What::Left(_) | What::Crash(_) => {
                runs.open.remove(&process);
            }
            _ => {}
        }
    }
    let resting: Vec<Process> =
        runs.open.keys().copied().filter(|process| record.rests(process.player)).collect();
    resting.into_iter().for_each(|process| runs.end(process));
    verdict(&runs, &installed)
}

fn verdict(runs: &Runs, installed: &BTreeMap<ViewId, (&BTreeSet<Player>, usize)>) -> Result<(), Broken> {
    for (process, (view, heard)) in &runs.over {
        let Some((members, entry)) = installed.get(view) else { continue };
        if let Some(player) = members.difference(heard).next() {
            let what = format!("lived on after view {view}, and never heard player {player} confirm its key");
            return Err((*process, Some(*entry), what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, view};
    use crate::record::What;

    /// Both have the key, and player 0 knows it and installs the view.
    fn installed() -> Tale {
        let said = |tale: Tale, player| tale.add(player, What::Confirmed(view(4)));
        heard(heard(said(said(Tale::default(), 0), 1), 0, 0), 0, 1).view(0, 4, &[0, 1], &[0])
    }

    fn heard(tale: Tale, at: u8, of: u8) -> Tale {
        tale.add(at, What::Heard(view(4), of))
    }

    #[test]
    fn who_lives_on_has_what_decided() {
        heard(heard(installed(), 1, 0), 1, 1).next(8, &[1]).holds(&CHECKER);
        heard(heard(installed().signal(1), 1, 0), 1, 1).next(8, &[1]).holds(&CHECKER);
        heard(installed(), 1, 0).crash(1).holds(&CHECKER);
        heard(installed(), 1, 0).left(1).next(8, &[1]).holds(&CHECKER);
        heard(installed(), 1, 0).next(8, &[1]).broken(&CHECKER);
        heard(installed(), 1, 0).settled().broken(&CHECKER);
        heard(installed(), 1, 0).add(1, What::Confirmed(view(8))).broken(&CHECKER);
        let nobody = Tale::default().add(1, What::Confirmed(view(4))).next(8, &[1]);
        nobody.holds(&CHECKER);
    }
}
