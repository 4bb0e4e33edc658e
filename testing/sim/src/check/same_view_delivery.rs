//! Same View Delivery: all who deliver a message deliver it in the same view.
//! Source: Survey §4, property 4.3.

use super::{Broken, Checker, Story};
use crate::record::Record;
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker =
    Checker { name: "same-view-delivery", source: "Survey, property 4.3", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    let mut delivered_in = BTreeMap::new();
    for (process, segment) in story.segments() {
        for got in &segment.delivered {
            let first = *delivered_in.entry(got.message).or_insert(segment.view.id);
            if first != segment.view.id {
                let what =
                    format!("{} was delivered in view {} and in view {first}", got.message, segment.view.id);
                return Err((process, Some(got.entry), what));
            }
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
    fn one_message_one_view() {
        let sent = || Tale::default().first(4, &[0, 1]).send(0, 0, Agreed, 4).get(0, m(0, 0), Agreed);
        sent().get(1, m(0, 0), Agreed).holds(&CHECKER);
        sent().next(8, &[0, 1]).get(1, m(0, 0), Agreed).broken(&CHECKER);
    }
}
