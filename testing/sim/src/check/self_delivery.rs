//! Self Delivery: a member that sends in a view, and goes on from it or stays in it, delivers its
//! own message there.
//! Source: Survey §4, property 4.7. For messages sent reliable or stronger.

use super::{Broken, Checker, End, Story};
use crate::record::Record;
use folkmoot_base::Service;

pub(super) const CHECKER: Checker = Checker { name: "self-delivery", source: "Survey, property 4.7", judge };

fn judge(record: &Record, story: &Story) -> Result<(), Broken> {
    for (process, segment) in story.segments() {
        let bound = segment.end == End::Next || segment.end == End::Open && record.rests(process.player);
        if !bound {
            continue;
        }
        let got = segment.messages();
        let reliable = segment.sent.iter().filter(|sent| sent.service >= Service::Reliable);
        if let Some(sent) = reliable.into_iter().find(|sent| !got.contains(&sent.message)) {
            let what =
                format!("sent {} in view {} and never delivered it there", sent.message, segment.view.id);
            return Err((process, Some(sent.entry), what));
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
    fn senders_hear_themselves() {
        let sent = || Tale::default().first(4, &[0]).send(0, 0, Agreed, 4);
        sent().get(0, m(0, 0), Agreed).next(8, &[0]).holds(&CHECKER);
        sent().crash(0).holds(&CHECKER);
        sent().next(8, &[0]).broken(&CHECKER);
        sent().settled().broken(&CHECKER);
    }
}
