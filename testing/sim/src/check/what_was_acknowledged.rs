//! What was acknowledged survives: if a process said that a control step was done, it is there
//! after any crash, as long as the disk has what was committed.
//! Source: DECISIONS O4; issue: kill -9 loses nothing that was acknowledged.

use super::{Broken, Checker, Story};
use crate::record::{Record, What};

pub(super) const CHECKER: Checker = Checker { name: "acknowledged-survives", source: "DECISIONS O4", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    for (entry, line) in record.entries.iter().enumerate() {
        if let What::Forgot(step) = &line.what {
            return Err((line.process, Some(entry), format!("acknowledged and then forgot: {step}")));
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
    fn forgetting_is_bad() {
        Tale::default().add(0, What::Acknowledged("vote".into())).holds(&CHECKER);
        Tale::default().add(0, What::Forgot("vote".into())).broken(&CHECKER);
    }
}
