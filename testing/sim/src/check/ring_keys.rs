//! Ring keys: a node has the keys of the ring that is installed, and of one attempt at the next.
//! Those of the ring before go when the next is installed, and those of an attempt when it fails.
//! Source: docs/protocol/link.md, LINK-30; docs/decisions/0037-ring-key.md.

use super::{Broken, Checker, Story};
use crate::record::{Record, RingEvent, What};

pub(super) const CHECKER: Checker =
    Checker { name: "ring-keys", source: "LINK-30; docs/decisions/0037-ring-key.md", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    for (entry, line) in record.entries.iter().enumerate() {
        let What::Ring(RingEvent::Keys(kept, attempt)) = &line.what else { continue };
        if *kept > 1 + usize::from(*attempt) {
            let when = if *attempt { "in an attempt" } else { "after one" };
            return Err((line.process, Some(entry), format!("keeps keys of {kept} rings {when}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{RingEvent, What};

    #[test]
    fn keys_of_one_ring_and_of_one_attempt_are_kept() {
        let keys = |kept, attempt| Tale::default().add(0, What::Ring(RingEvent::Keys(kept, attempt)));
        keys(2, true).holds(&CHECKER);
        keys(1, false).holds(&CHECKER);
        keys(3, true).broken(&CHECKER);
        keys(2, false).broken(&CHECKER);
    }
}
