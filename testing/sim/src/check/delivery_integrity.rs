//! Delivery Integrity: what is delivered was sent before, byte for byte.
//! Source: Survey §4, property 4.1.

use super::{Broken, Checker, Story};
use crate::record::{Record, What};
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker =
    Checker { name: "delivery-integrity", source: "Survey, property 4.1", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    let mut asked = BTreeMap::new();
    for (entry, line) in record.entries.iter().enumerate() {
        let broken = |what: String| Err((line.process, Some(entry), what));
        match &line.what {
            What::Asked(message, service) => {
                asked.insert(*message, *service);
            }
            What::Delivered(message, service) if asked.get(message) != Some(service) => {
                return broken(format!("{message} was delivered, but never sent like that"));
            }
            What::Garbled(bytes) => return broken(format!("{bytes} bytes were delivered that nobody sent")),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, m};
    use crate::record::What;
    use folkmoot_base::Service::{Agreed, Safe};

    #[test]
    fn only_what_was_sent_is_delivered() {
        let sent = || Tale::default().first(4, &[0, 1]).send(0, 0, Agreed, 4);
        sent().get(1, m(0, 0), Agreed).holds(&CHECKER);
        sent().get(1, m(0, 0), Safe).broken(&CHECKER);
        sent().get(1, m(0, 1), Agreed).broken(&CHECKER);
        sent().add(1, What::Garbled(9)).broken(&CHECKER);
    }
}
