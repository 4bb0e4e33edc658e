//! Local Monotonicity: the ids of a process's views grow.
//! Source: Survey §4, property 3.2.

use super::{Broken, Checker, Story};
use crate::record::Record;

pub(super) const CHECKER: Checker =
    Checker { name: "local-monotonicity", source: "Survey, property 3.2", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    for (process, life) in &story.lives {
        for pair in life.segments.windows(2) {
            let [old, new] = pair else { continue };
            if (new.view.id.configuration.ring_seq, new.view.id.order)
                <= (old.view.id.configuration.ring_seq, old.view.id.order)
            {
                let what = format!("installed view {} after view {}", new.view.id, old.view.id);
                return Err((*process, Some(new.entry), what));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;

    #[test]
    fn ids_grow() {
        Tale::default().first(4, &[0]).next(8, &[0]).holds(&CHECKER);
        Tale::default().first(4, &[0]).next(4, &[0]).broken(&CHECKER);
        Tale::default().first(8, &[0]).next(4, &[0]).broken(&CHECKER);
    }
}
