//! Once there is peace, every request with enough votes is admitted. A sharing that is wanted comes
//! if those who can make and decide it are there. No signing session stands still for longer than
//! its patience.
//! Source: docs/protocol/admission.md, ADM-46 and "Signing sessions"; the bound is `SIGNING_MICROS`
//! in play.rs.

use super::{Broken, Checker, Story};
use crate::record::{Process, Record};

pub(super) const CHECKER: Checker =
    Checker { name: "signing-liveness", source: "ADM-46; decision 0021", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let first = record.standings.first().map_or(Process { player: 0, life: 0 }, |one| one.process);
    match &record.undone {
        Some(undone) => Err((first, None, undone.clone())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;

    #[test]
    fn what_was_not_done_is_bad() {
        Tale::default().holds(&CHECKER);
        let mut tale = Tale::default();
        tale.0.undone = Some("a signing session".into());
        tale.broken(&CHECKER);
    }
}
