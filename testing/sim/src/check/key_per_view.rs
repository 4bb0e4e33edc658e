//! One key for each view: all who install a view have the same members and the same key, refreshed
//! in the same order; no two views share a key.
//! Source: Robust §4.6 invariants 1 and 5; key-agreement sheet §1, agreement and key independence.

use super::{Broken, Checker, Story};
use crate::record::{Process, Record, Shown, What};
use folkmoot_base::ViewId;
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker =
    Checker { name: "key-per-view", source: "Robust §4.6, invariants 1 and 5", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut shown: BTreeMap<ViewId, (&Shown, Process)> = BTreeMap::new();
    let mut view_of: BTreeMap<&str, ViewId> = BTreeMap::new();
    let mut refreshed: BTreeMap<(ViewId, usize), &str> = BTreeMap::new();
    let mut rounds: BTreeMap<(Process, ViewId), usize> = BTreeMap::new();
    for (entry, line) in record.entries.iter().enumerate() {
        let broken = |what: String| Err((line.process, Some(entry), what));
        let (view, key) = match &line.what {
            What::View(view) => {
                let (first, other) = *shown.entry(view.id).or_insert((view, line.process));
                if first.members != view.members || first.key != view.key {
                    return broken(format!(
                        "view {} has other members, or another key, than at {other}",
                        view.id
                    ));
                }
                (view.id, view.key.as_str())
            }
            What::Rekeyed(view, key) => {
                let round = rounds.entry((line.process, *view)).or_default();
                let first = *refreshed.entry((*view, *round)).or_insert(key);
                *round = round.saturating_add(1);
                if first != key {
                    return broken(format!("refreshed view {view} to another key than somebody else"));
                }
                (*view, key.as_str())
            }
            _ => continue,
        };
        let first = *view_of.entry(key).or_insert(view);
        if first != view {
            return broken(format!("key {key} serves view {view} and view {first}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, view};
    use crate::record::What;

    #[test]
    fn one_key_for_one_view() {
        Tale::default().first(4, &[0, 1]).next(8, &[0, 1]).holds(&CHECKER);
        let rekey = |player, key: &str| (player, What::Rekeyed(view(4), key.to_owned()));
        let tale = |steps: [(u8, What); 2]| {
            steps
                .into_iter()
                .fold(Tale::default().first(4, &[0, 1]), |tale, (player, what)| tale.add(player, what))
        };
        tale([rekey(0, "a"), rekey(1, "a")]).holds(&CHECKER);
        tale([rekey(0, "a"), rekey(1, "b")]).broken(&CHECKER);
    }

    #[test]
    fn two_keys_shared_keys_and_two_lists_are_bad() {
        Tale::default().keyed(0, 4, &[0, 1], &[0], "a").keyed(1, 4, &[0, 1], &[1], "b").broken(&CHECKER);
        Tale::default().keyed(0, 4, &[0], &[0], "a").keyed(0, 8, &[0], &[0], "a").broken(&CHECKER);
        Tale::default().keyed(0, 4, &[0, 1], &[0], "a").keyed(1, 4, &[1], &[1], "a").broken(&CHECKER);
    }
}
