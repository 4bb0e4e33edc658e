//! A newcomer that knows a head follows no other line (LINE-88).

use super::rejoin::hours;
use super::{Group, NOW};
use folkmoot_base::{Head, Persist};
use folkmoot_transcript::{Item, ItemError, KnownHead, Standing, Transcript, await_head};

/// Two lines that part after their first decision: that decision, and each line's second.
struct Lines {
    ours: Group,
    theirs: Group,
    first: Standing,
    seconds: [Standing; 2],
}

fn lines() -> Lines {
    let mut ours = Group::new(3, 2);
    let first = ours.change(&hours("24"));
    let mut theirs = ours.elsewhere();
    let seconds = [ours.change(&hours("36")), theirs.change(&hours("48"))];
    Lines { ours, theirs, first, seconds }
}

fn newcomer(group: &Group) -> Transcript {
    Transcript::founded(group.first().signed_charter().der()).unwrap()
}

fn waits_for(group: &Group, head: Head) -> Transcript {
    let mut newcomer = newcomer(group);
    newcomer.await_head(KnownHead::from(head)).unwrap();
    newcomer
}

fn take(to: &mut Transcript, standing: &Standing) -> Result<bool, ItemError> {
    to.take(&Item::Decision(standing.clone()).encode(), Some(NOW)).map(|taken| taken.advanced)
}

#[test]
fn line_88_only_a_line_with_the_head_that_was_named_leads_on() {
    let Lines { ours, first, seconds: [second, other], .. } = lines();
    let known = KnownHead::from(second.head());
    let mut newcomer = waits_for(&ours, second.head());
    assert_eq!(take(&mut newcomer, &first), Ok(true));
    assert_eq!(newcomer.awaits(), Some(&known));
    assert_eq!(take(&mut newcomer, &other), Err(ItemError::OtherHead(known)));
    assert_eq!(newcomer.state().head(), first.head());
    assert_eq!(take(&mut newcomer, &second), Ok(true));
    assert_eq!(newcomer.awaits(), None);
}

/// Who names no head believes whoever comes first.
#[test]
fn without_a_head_the_first_line_is_believed() {
    let Lines { ours, first, seconds: [_, other], .. } = lines();
    let mut newcomer = newcomer(&ours);
    assert_eq!((take(&mut newcomer, &first), take(&mut newcomer, &other)), (Ok(true), Ok(true)));
}

#[test]
fn line_88_a_package_leads_to_the_head_that_was_named_or_nowhere() {
    let Lines { ours, theirs, first, seconds: [second, _] } = lines();
    for (known, leads) in [(first.head(), true), (second.head(), false)] {
        let mut newcomer = waits_for(&theirs, known);
        let package = theirs.first().package(&newcomer.state().head()).unwrap();
        let before = newcomer.mark();
        assert_eq!(newcomer.take_package(&package, None, Some(NOW)).is_ok(), leads);
        assert_eq!(newcomer.mark() == before, !leads);
    }
    let mut newcomer = waits_for(&ours, second.head());
    let package = ours.first().package(&newcomer.state().head()).unwrap();
    assert!(newcomer.take_package(&package, None, Some(NOW)).unwrap().advanced);
    assert_eq!(newcomer.awaits(), None);
}

/// What a newcomer awaits outlasts a restart, and is checked against what the store has.
#[test]
fn line_88_a_store_keeps_the_head_that_was_named() {
    let Lines { ours, first, seconds: [second, other], .. } = lines();
    let row = |head: Head| {
        let Persist { key, value } = await_head(&KnownHead::from(head));
        (key, value.unwrap())
    };
    let mut restored = newcomer(&ours).restore(&[row(second.head())]).unwrap();
    assert_eq!(take(&mut restored, &first), Ok(true));
    assert!(take(&mut restored, &other).is_err());
    let mut line = ours.first().clone();
    assert_eq!(line.await_head(KnownHead::from(second.head())), Ok(()));
    let refused = line.await_head(KnownHead::from(other.head()));
    assert_eq!(refused, Err(ItemError::OtherHead(KnownHead::from(other.head()))));
}
