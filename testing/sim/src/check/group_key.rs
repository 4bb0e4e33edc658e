//! The group's key never changes. Every certificate that admits verifies under it and names the
//! share-epoch of its past.
//! Source: line.md, LINE-27 and LINE-47; docs/decisions/0021. Read from transcripts; the past
//! is counted again here.

use super::{Broken, Checker, Story};
use crate::record::{Minute, Record, What};

pub(super) const CHECKER: Checker = Checker { name: "group-key", source: "LINE-27, LINE-47", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut group = None;
    for (entry, line) in record.entries.iter().enumerate() {
        let what = match &line.what {
            What::Minute(Minute::Shared { key, .. }) if *group.get_or_insert(key) != key => {
                "the group's key is another one".to_owned()
            }
            What::Minute(Minute::Admitted { who, names, past, verifies, .. })
                if names != past || (past.is_some() && !verifies) =>
            {
                format!("player {who} came in by a certificate under {names:?}, where {past:?} was in use")
            }
            _ => continue,
        };
        return Err((line.process, Some(entry), what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{Minute, What};
    use std::collections::BTreeSet;

    fn shared(serial: u64, key: &str) -> What {
        What::Minute(Minute::Shared {
            serial,
            name: format!("n{serial}"),
            epoch: format!("e{serial}"),
            threshold: 2,
            key: key.into(),
        })
    }

    fn admitted(names: &str, past: &str, verifies: bool) -> What {
        What::Minute(Minute::Admitted {
            who: 3,
            request: "r".into(),
            names: Some(names.into()),
            past: Some(past.into()),
            verifies,
            signers: BTreeSet::new(),
        })
    }

    #[test]
    fn another_key_or_epoch_is_bad() {
        let tale = || Tale::default().add(0, shared(0, "k")).add(1, shared(1, "k"));
        tale().add(0, admitted("e1", "e1", true)).holds(&CHECKER);
        tale().add(0, admitted("e0", "e1", true)).broken(&CHECKER);
        tale().add(0, admitted("e1", "e1", false)).broken(&CHECKER);
        tale().add(1, shared(2, "l")).broken(&CHECKER);
    }
}
