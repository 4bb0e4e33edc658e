//! Sending View Delivery: a message is delivered in the view in which it was sent (sealed:
//! DECISIONS K5). Source: Survey §4, property 4.4; Robust §4.6 invariant 2.

use super::{Broken, Checker, Story};
use crate::record::Record;

pub(super) const CHECKER: Checker =
    Checker { name: "sending-view-delivery", source: "Survey, property 4.4", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    for (process, segment) in story.segments() {
        for got in &segment.delivered {
            // The sender may have died between sealing and saying so: then its view is not known.
            let Some(sent) = story.sent_in.get(&got.message) else { continue };
            if *sent != Some(segment.view.id) {
                let sent = sent.map_or("no view".to_owned(), |view| format!("view {view}"));
                let what =
                    format!("{} was sent in {sent}, delivered in view {}", got.message, segment.view.id);
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
    fn delivered_where_it_was_sent() {
        let sent = || Tale::default().first(4, &[0, 1]).send(0, 0, Agreed, 4);
        sent().get(1, m(0, 0), Agreed).holds(&CHECKER);
        sent().next(8, &[0, 1]).get(0, m(0, 0), Agreed).broken(&CHECKER);
    }
}
