//! Key confirmation: a view is installed only after each of its members has said that it has the
//! key. So nobody seals under a key that somebody of the view never got.
//! Source: key-agreement sheet §1, key confirmation; DECISIONS K2. Seen in attach, where the
//! members say it.

use super::{Broken, Checker, Story};
use crate::record::{Player, Record, What};
use folkmoot_base::ViewId;
use std::collections::BTreeSet;

pub(super) const CHECKER: Checker =
    Checker { name: "key-confirmation", source: "key-agreement sheet §1; DECISIONS K2", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut said: BTreeSet<(ViewId, Player)> = BTreeSet::new();
    for (entry, line) in record.entries.iter().enumerate() {
        match &line.what {
            What::Confirmed(view) => {
                said.insert((*view, line.process.player));
            }
            // Alone there is nobody to say it to.
            What::View(view) if view.members.len() > 1 => {
                let silent = |player: &&Player| !said.contains(&(view.id, **player));
                if let Some(player) = view.members.iter().find(silent) {
                    let what = format!(
                        "installed view {} before player {player} had said that it has the key",
                        view.id
                    );
                    return Err((line.process, Some(entry), what));
                }
            }
            _ => {}
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
    fn all_say_so_before_anybody_installs() {
        let said = |tale: Tale, player| tale.add(player, What::Confirmed(view(4)));
        said(said(Tale::default(), 0), 1).first(4, &[0, 1]).holds(&CHECKER);
        Tale::default().first(4, &[0]).holds(&CHECKER);
        said(Tale::default(), 0).first(4, &[0, 1]).broken(&CHECKER);
        said(said(Tale::default(), 0).view(0, 4, &[0, 1], &[0]), 1).broken(&CHECKER);
        let other = said(Tale::default(), 0).add(1, What::Confirmed(view(8)));
        other.first(4, &[0, 1]).broken(&CHECKER);
    }
}
