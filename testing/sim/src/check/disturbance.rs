//! No disturbance: a frame that was forged, or that is replayed after it was taken, changes
//! nothing. It causes no event, no write and no change of the ring.
//! Source: DECISIONS D1; EVS §3 assumes authenticated channels.

use super::{Broken, Checker, Story};
use crate::record::{Record, What};

pub(super) const CHECKER: Checker =
    Checker { name: "no-disturbance", source: "DECISIONS D1; docs/THREATS.md, outsiders", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    for (entry, line) in record.entries.iter().enumerate() {
        match &line.what {
            What::Disturbed(effect) => {
                return Err((
                    line.process,
                    Some(entry),
                    format!("a forged or replayed frame had an effect: {effect}"),
                ));
            }
            What::Spinning => {
                return Err((line.process, Some(entry), "spins without the clock moving".into()));
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
    fn effects_of_forgeries_are_bad() {
        Tale::default().first(4, &[0]).holds(&CHECKER);
        Tale::default().add(0, What::Disturbed("delivered".into())).broken(&CHECKER);
        Tale::default().add(0, What::Spinning).broken(&CHECKER);
    }
}
