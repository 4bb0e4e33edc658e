//! No Duplication: nobody delivers a message twice.
//! Source: Survey §4, property 4.2.

use super::{Broken, Checker, Story};
use crate::record::{Record, What};
use std::collections::BTreeSet;

pub(super) const CHECKER: Checker = Checker { name: "no-duplication", source: "Survey, property 4.2", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut seen = BTreeSet::new();
    for (entry, line) in record.entries.iter().enumerate() {
        let What::Delivered(message, _) = &line.what else { continue };
        if !seen.insert((line.process, *message)) {
            return Err((line.process, Some(entry), format!("{message} was delivered twice")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, m};
    use folkmoot_base::Service::Agreed;

    #[test]
    fn once_is_enough() {
        let once = || Tale::default().first(4, &[0, 1]).send(0, 0, Agreed, 4).get(1, m(0, 0), Agreed);
        once().get(0, m(0, 0), Agreed).holds(&CHECKER);
        once().get(1, m(0, 0), Agreed).broken(&CHECKER);
    }
}
