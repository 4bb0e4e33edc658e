//! Initial View: everything is sent and delivered in some view.
//! Source: Survey §4, property 3.3.

use super::{Broken, Checker, Story};
use crate::record::Record;

pub(super) const CHECKER: Checker = Checker { name: "initial-view", source: "Survey, property 3.3", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    for (process, life) in &story.lives {
        if let Some(got) = life.stray.first() {
            return Err((
                *process,
                Some(got.entry),
                format!("{} was sent or delivered in no view", got.message),
            ));
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
    fn nothing_happens_outside_of_views() {
        Tale::default().first(4, &[0]).send(0, 0, Agreed, 4).get(0, m(0, 0), Agreed).holds(&CHECKER);
        Tale::default().send(0, 0, Agreed, 4).broken(&CHECKER);
        Tale::default().first(4, &[0]).left(0).get(0, m(0, 0), Agreed).broken(&CHECKER);
    }
}
