//! Transitional Set, three clauses: (1) it lies in the old view and in the new, and has the process
//! itself; (2) a process that is in it and installs the new view comes from the same old view; (3)
//! it is mutual, but for those whose clocks have been far from the true time.
//! Source: Survey §4, property 4.6; Robust §4.6 invariant 1.

use super::{Broken, Checker, Segment, Story};
use crate::machine::owner;
use crate::record::{Process, Record};
use folkmoot_base::ViewId;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const INTERSECTION: Checker =
    Checker { name: "transitional-set-1", source: "Survey, property 4.6, clause 1", judge: intersection };
pub(super) const PREVIOUS: Checker =
    Checker { name: "transitional-set-2", source: "Survey, property 4.6, clause 2", judge: previous };
pub(super) const SYMMETRY: Checker =
    Checker { name: "transitional-set-3", source: "Survey, property 4.6, clause 3", judge: symmetry };

type Step<'a> = (Process, Option<&'a Segment>, &'a Segment);

/// Every installation: process, the view before it in the same stay in the group, the view.
fn installations(story: &Story) -> BTreeMap<ViewId, Vec<Step<'_>>> {
    let mut out: BTreeMap<ViewId, Vec<Step<'_>>> = BTreeMap::new();
    for (process, life) in &story.lives {
        let mut before: Option<&Segment> = None;
        for segment in &life.segments {
            let old = before.filter(|old| old.end == super::End::Next);
            out.entry(segment.view.id).or_default().push((*process, old, segment));
            before = Some(segment);
        }
    }
    out
}

fn intersection(_: &Record, story: &Story) -> Result<(), Broken> {
    for (process, old, new) in installations(story).into_values().flatten() {
        let with = &new.view.transitional;
        let alone = BTreeSet::from([process.player]);
        let old = old.map_or(&alone, |old| &old.view.members);
        if !with.contains(&process.player) || !with.is_subset(old) || !with.is_subset(&new.view.members) {
            let what = format!("{with:?} came along into {:?} from {old:?}", new.view.members);
            return Err((process, Some(new.entry), what));
        }
    }
    Ok(())
}

fn previous(_: &Record, story: &Story) -> Result<(), Broken> {
    each_pair(story, |process, (old, new), (other, their_old, _)| {
        let claims = new.view.transitional.contains(&other.player);
        let before = |old: Option<&Segment>| old.map(|old| old.view.id);
        if claims && before(old) != before(their_old) {
            return Err((process, Some(new.entry), format!("{other} did not come from the same view")));
        }
        Ok(())
    })
}

fn symmetry(record: &Record, story: &Story) -> Result<(), Broken> {
    let erring = record.erring();
    each_pair(story, |process, (old, new), (other, their_old, their_new)| {
        // Whoever has cut others off by a wrong clock came along with none of them.
        if [process, other].iter().any(|one| erring.contains(&owner(one.player))) {
            return Ok(());
        }
        let same = old.map(|old| old.view.id) == their_old.map(|old| old.view.id) && old.is_some();
        let mine = new.view.transitional.contains(&other.player);
        let theirs = their_new.view.transitional.contains(&process.player);
        if same && mine != theirs {
            return Err((
                process,
                Some(new.entry),
                format!("came along with {other} by the word of one of them only"),
            ));
        }
        Ok(())
    })
}

fn each_pair(
    story: &Story,
    judge: impl Fn(Process, (Option<&Segment>, &Segment), Step<'_>) -> Result<(), Broken>,
) -> Result<(), Broken> {
    for installed in installations(story).values() {
        for (process, old, new) in installed {
            for step in installed.iter().filter(|(other, _, _)| other != process) {
                judge(*process, (*old, new), *step)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{INTERSECTION, PREVIOUS, SYMMETRY};
    use crate::check::tale::Tale;
    use crate::record::What;

    #[test]
    fn those_who_came_along_are_good() {
        let tale = || Tale::default().first(4, &[0, 1]).first(5, &[2]).view(2, 8, &[0, 1, 2], &[2]);
        let merged = || tale().view(0, 8, &[0, 1, 2], &[0, 1]).view(1, 8, &[0, 1, 2], &[0, 1]);
        merged().holds(&INTERSECTION);
        merged().holds(&PREVIOUS);
        merged().holds(&SYMMETRY);
    }

    #[test]
    fn clause_1_outside_of_the_views_or_without_itself_is_bad() {
        Tale::default().first(4, &[0]).view(0, 8, &[0, 1], &[0, 1]).broken(&INTERSECTION);
        Tale::default().first(4, &[0]).view(0, 8, &[0, 1], &[]).broken(&INTERSECTION);
        Tale::default().view(0, 8, &[0, 1], &[0, 1]).broken(&INTERSECTION);
    }

    #[test]
    fn clause_2_another_view_before_is_bad() {
        let tale = Tale::default().view(0, 4, &[0, 1], &[0]).view(1, 5, &[1], &[1]);
        tale.view(0, 8, &[0, 1], &[0, 1]).view(1, 8, &[0, 1], &[1]).broken(&PREVIOUS);
    }

    #[test]
    fn clause_3_one_sided_is_bad() {
        let sides = |tale: Tale| tale.view(0, 8, &[0, 1], &[0, 1]).view(1, 8, &[0, 1], &[1]);
        let tale = || Tale::default().first(4, &[0, 1]);
        sides(tale()).broken(&SYMMETRY);
        sides(tale().add(0, What::Clock(Some(140)))).broken(&SYMMETRY);
        sides(tale().add(0, What::Clock(Some(400 * 86_400)))).holds(&SYMMETRY);
    }
}
