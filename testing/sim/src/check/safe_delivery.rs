//! Safe Indication Prefix and Reliable Prefix: a safe message delivered before the signal, and
//! everything agreed before it, is delivered by every member that installs the view, unless it
//! crashes or leaves. Source: Survey §5, properties 6.1 and 6.2. For messages sent safe.

use super::{Broken, Checker, End, Segment, Story};
use crate::record::{MessageId, Process, Record};
use folkmoot_base::Service;
use std::collections::BTreeSet;

pub(super) const CHECKER: Checker =
    Checker { name: "safe-delivery", source: "Survey, properties 6.1 and 6.2", judge };

fn judge(record: &Record, story: &Story) -> Result<(), Broken> {
    for installed in story.installers().values() {
        for (process, segment) in installed {
            let Some(prefix) = prefix(segment) else { continue };
            for (other, theirs) in installed.iter().filter(|(other, _)| other != process) {
                let bound = match theirs.end {
                    End::Next => true,
                    End::Open => record.rests(other.player),
                    End::Crashed | End::Left => false,
                };
                let got: BTreeSet<MessageId> = theirs.messages();
                if let (true, Some((entry, message))) =
                    (bound, prefix.iter().find(|(_, message)| !got.contains(message)))
                {
                    return Err(broken(*process, *entry, *message, *other));
                }
            }
        }
    }
    Ok(())
}

/// Everything agreed or safe up to the last safe message before the signal.
fn prefix(segment: &Segment) -> Option<Vec<(usize, MessageId)>> {
    let safe = |got: &&super::Got| got.service == Service::Safe && segment.is_regular(got.entry);
    let last = segment.delivered.iter().rfind(safe)?.entry;
    let before = segment.delivered.iter().filter(|got| got.entry <= last && got.service >= Service::Agreed);
    Some(before.map(|got| (got.entry, got.message)).collect())
}

fn broken(process: Process, entry: usize, message: MessageId, other: Process) -> Broken {
    let what =
        format!("delivered {message} as safe before the signal, but {other}, who has the view, never did");
    (process, Some(entry), what)
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, m};
    use folkmoot_base::Service::Safe;

    #[test]
    fn all_of_the_view_have_it() {
        let sent = || Tale::default().first(4, &[0, 1]).send(0, 0, Safe, 4);
        sent().get(0, m(0, 0), Safe).get(1, m(0, 0), Safe).next(8, &[1]).holds(&CHECKER);
        sent().signal(0).get(0, m(0, 0), Safe).next(8, &[1]).holds(&CHECKER);
        sent().get(0, m(0, 0), Safe).crash(1).holds(&CHECKER);
        sent().get(0, m(0, 0), Safe).next(8, &[1]).broken(&CHECKER);
        sent().get(0, m(0, 0), Safe).settled().broken(&CHECKER);
    }
}
