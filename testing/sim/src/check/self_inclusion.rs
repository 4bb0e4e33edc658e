//! Self Inclusion: whoever installs a view is in it.
//! Source: Survey §4, property 3.1.

use super::{Broken, Checker, Story};
use crate::record::Record;

pub(super) const CHECKER: Checker = Checker { name: "self-inclusion", source: "Survey, property 3.1", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    for (process, segment) in story.segments() {
        if !segment.view.members.contains(&process.player) {
            return Err((process, Some(segment.entry), format!("is not in its view {}", segment.view.id)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;

    #[test]
    fn members_are_in_their_views() {
        Tale::default().first(4, &[0, 1]).holds(&CHECKER);
        Tale::default().view(0, 4, &[1], &[]).broken(&CHECKER);
    }
}
