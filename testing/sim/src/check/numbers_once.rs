//! Numbers once: a name of a configuration is one configuration for ever, also over restarts; a nonce, an instance id
//! and whatever else may be used once is used once.
//! Source: DECISIONS N2, O4; key-agreement sheet §7.4 (what a counter in memory only re-opens).

use super::{Broken, Checker, Story};
use crate::record::{Process, Record, RingEvent, Seat, What};
use folkmoot_base::ConfigurationId;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker =
    Checker { name: "numbers-once", source: "DECISIONS N2, O4; issue: never reuses a number", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut used: BTreeMap<(&str, &[u8]), usize> = BTreeMap::new();
    let mut lists: BTreeMap<ConfigurationId, &BTreeSet<Seat>> = BTreeMap::new();
    let mut by: BTreeMap<(ConfigurationId, Seat), Process> = BTreeMap::new();
    for (entry, line) in record.entries.iter().enumerate() {
        let broken = |what: String| Err((line.process, Some(entry), what));
        match &line.what {
            What::Used(kind, value) => {
                if used.insert((kind, value), entry).is_some() {
                    return broken(format!("used a {kind} again"));
                }
            }
            What::Ring(RingEvent::Regular(id, nodes)) => {
                if *lists.entry(*id).or_insert(nodes) != nodes {
                    return broken(format!("configuration {} has two lists of members", id.ring_seq));
                }
                if *by.entry((*id, line.process.seat)).or_insert(line.process) != line.process {
                    return broken(format!("configuration {} came again after a restart", id.ring_seq));
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
    use crate::record::What;

    #[test]
    fn numbers_are_used_once() {
        let used = |value: u8| What::Used("nonce", vec![value]);
        Tale::default().add(0, used(1)).add(0, used(2)).holds(&CHECKER);
        Tale::default().add(0, used(1)).add(1, used(1)).broken(&CHECKER);
        Tale::default().ring(0, 4, &[0]).ring(1, 4, &[1]).broken(&CHECKER);
    }
}
