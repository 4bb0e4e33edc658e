//! Membership Precision, the half that needs no waiting: if nobody is silent, nobody is set aside.
//! As long as nothing fails, a member leaves a view by its own wish or by vote, never by complaint.
//! (An agreement that deadlocks shows here: the complaints that end it name members that did
//! nothing wrong.)
//! Source: Survey §7, property 8.1; DECISIONS K4; Robust §4.7.

use super::{Broken, Checker, Story};
use crate::record::{Record, What};

pub(super) const CHECKER: Checker =
    Checker { name: "membership-precision", source: "Survey, property 8.1; DECISIONS K4", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    if !record.calm {
        return Ok(());
    }
    for (entry, line) in record.entries.iter().enumerate() {
        let What::Left(reason) = &line.what else { continue };
        if !matches!(reason.as_str(), "leave" | "left" | "expelled" | "late") {
            return Err((
                line.process,
                Some(entry),
                format!("left its group though nothing failed: {reason}"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::What;

    #[test]
    fn nobody_is_set_aside_while_nothing_fails() {
        let complaint = || Tale::default().add(0, What::Left("complaint".into()));
        complaint().holds(&CHECKER);
        let mut calm = complaint();
        calm.0.calm = true;
        calm.broken(&CHECKER);
        let mut calm = Tale::default().left(0);
        calm.0.calm = true;
        calm.holds(&CHECKER);
    }
}
