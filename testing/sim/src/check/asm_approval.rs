//! Nobody signs for a request that its person did not approve. Every member that is named in a
//! multisignature that admits said yes to that very request, in this life or an earlier one.
//! Source: docs/protocol/admission.md, ADM-49; accountability of Micali, Ohta, Reyzin (2001).

use super::{Broken, Checker, Story};
use crate::record::{Minute, Record, What};
use std::collections::BTreeSet;

pub(super) const CHECKER: Checker =
    Checker { name: "asm-approval", source: "ADM-49; Micali, Ohta, Reyzin 2001", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut said_yes = BTreeSet::new();
    for (entry, line) in record.entries.iter().enumerate() {
        match &line.what {
            What::Approved(request) => {
                said_yes.insert((line.process.player, request));
            }
            What::Minute(Minute::Admitted { who, request, signers, .. }) => {
                let unasked = signers.iter().find(|signer| !said_yes.contains(&(**signer, request)));
                if let Some(signer) = unasked {
                    let what = format!("player {signer} signed for player {who} and never said yes");
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
    use crate::check::tale::Tale;
    use crate::record::{Minute, What};

    #[test]
    fn who_did_not_say_yes_must_not_be_named() {
        let admitted = |tale: Tale| {
            tale.add(
                2,
                What::Minute(Minute::Admitted {
                    who: 3,
                    request: "r".into(),
                    names: None,
                    past: None,
                    verifies: false,
                    signers: [0, 1].into(),
                }),
            )
        };
        let yes = |tale: Tale, player, request: &str| tale.add(player, What::Approved(request.into()));
        admitted(yes(yes(Tale::default(), 0, "r"), 1, "r")).holds(&CHECKER);
        admitted(yes(yes(Tale::default(), 0, "r"), 1, "s")).broken(&CHECKER);
    }
}
