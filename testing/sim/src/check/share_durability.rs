//! A member that votes for a sharing has its share of it on disk by then. Whatever dies after the
//! vote, the sharing that it decides can sign.
//! Source: docs/decisions/0021, "durable before dependent" (DECISIONS O4). Seen in attach, with the
//! disk as it is at that output.

use super::{Broken, Checker, Story};
use crate::record::{Record, What};

pub(super) const CHECKER: Checker =
    Checker { name: "share-durability", source: "decision 0021; DECISIONS O4", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    for (entry, line) in record.entries.iter().enumerate() {
        if let What::Backed { sharing, on_disk: false, .. } = &line.what {
            let what = format!("voted for {sharing} and has no share of it on disk");
            return Err((line.process, Some(entry), what));
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
    fn a_vote_before_the_share_is_bad() {
        let backed =
            |on_disk| Tale::default().add(0, What::Backed { sharing: "a".into(), on_disk, whole: false });
        backed(true).holds(&CHECKER);
        backed(false).broken(&CHECKER);
    }
}
