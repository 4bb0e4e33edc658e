//! Going over to another line, with real signatures and certificates.

use super::file::{charter, read};
use super::{Group, NOW, person};
use folkmoot_base::{Blob, Mutant};
use folkmoot_transcript::{Ballots, Change, Effect, Head, Item, ItemError, Standing, Transcript, Unproposed};

impl Group {
    /// The same people with the same keys, where nobody of this group hears them.
    pub(super) fn elsewhere(&self) -> Self {
        let people: Vec<_> = (0..u64::try_from(self.people.len()).unwrap()).map(person).collect();
        let ballots = people
            .iter()
            .zip(&self.transcripts)
            .map(|(one, transcript)| Ballots::new(one.member(), transcript.state(), None, Mutant::NONE))
            .collect();
        Self { people, clock: self.clock, transcripts: self.transcripts.clone(), ballots }
    }

    pub(super) fn change(&mut self, effect: &Effect) -> Standing {
        self.approve(effect, &[0, 1, 2]);
        match self.decide(&[0, 1, 2]).remove(0) {
            Item::Decision(standing) => standing,
            other => panic!("{other:?}"),
        }
    }
}

pub(super) fn hours(value: &str) -> Effect {
    let blob = |text: &str| Blob::from(text.as_bytes().to_vec());
    Change::Charter { field: blob("request_hours"), value: blob(value) }.into()
}

/// Two lines of three founders, one of which let a stranger in, and decides to go over.
fn parted() -> (Group, Group, Standing) {
    let mut one = Group::new(3, 2);
    let mut other = one.elsewhere();
    let stranger = person(10);
    let body = one.request(&stranger);
    let item = one.admit(&stranger, &body, &[0, 1]);
    assert!(one.all_take(&item).new);
    one.change(&hours("24"));
    let first = other.change(&hours("48"));
    (one, other, first)
}

fn rejoin(head: Head) -> Effect {
    Change::Rejoin { head }.into()
}

#[test]
fn evidence_comes_with_the_rejoin_that_names_it() {
    let (mut one, _, first) = parted();
    let before = one.first().clone();
    let taken = one.all_take(&Item::Decision(first.clone()));
    assert!(!taken.liars.is_empty());
    one.approve(&rejoin(first.head()), &[0, 1]);
    let mut late = before;
    for item in one.first().lacking(late.state().head(), &late.have(), 1_000_000) {
        late.take(&item, Some(NOW)).unwrap();
    }
    assert_eq!(late.line().forks().values().next().unwrap().theirs, first);
    assert_eq!(late.mark(), one.first().mark());
    assert!(one.first().lacking(late.state().head(), &late.have(), 1_000_000).is_empty());
}

/// What is shown of the other line is evidence: it stands in a section of its own.
#[test]
fn a_file_with_a_wanted_rejoin_reads_back() {
    let (mut one, _, first) = parted();
    one.all_take(&Item::Decision(first.clone()));
    one.approve(&rejoin(first.head()), &[0, 1]);
    let file = one.first().file();
    let read = read(&charter(&one), vec![one.first().state().head()], &file, 999).unwrap();
    assert_eq!(read.mark(), one.first().mark());
    assert_eq!(read.line().forks().values().next().unwrap().theirs, first);
    assert_eq!(read.file(), file);
}

#[test]
fn line_73_whoever_shows_a_line_shows_every_signature() {
    let (mut one, other, first) = parted();
    one.all_take(&Item::Decision(first.clone()));
    one.change(&rejoin(first.head()));
    let (decisions, last) = other.first().line().side_from(1).unwrap();
    assert_eq!((decisions.len(), &last), (0, &first));
    let state = other.first().state().encode();
    let meet = |to: &mut Transcript, last: &Standing| to.meet(&[], last, &state, None);
    let mut member = one.first().clone();
    let mut forged = last.clone();
    forged.commits[0].signature = forged.commits[1].signature.clone();
    let refused = meet(&mut member, &forged);
    assert!(matches!(refused, Err(ItemError::Decision(Unproposed::Signature(_)))));
    let short = member.meet(&[], &last, &state[1..], None);
    assert!(matches!(short, Err(ItemError::State(_))));
    assert_eq!(member.mark(), one.first().mark());
    let taken = meet(&mut member, &last).unwrap();
    assert!(taken.advanced && taken.went.is_empty());
    assert_eq!(member.state().head(), other.first().state().head());
    // Whom only the line that was left held is let in by the same approvals.
    let members = member.set().members(member.state());
    assert!(members.contains_key(&person(10).member()) && members.len() == 4);
    assert_eq!(member.set().admits().count(), 1);
}

#[test]
fn line_74_a_person_resolves_a_fork_for_itself() {
    let (mut one, other, first) = parted();
    let (decisions, last) = other.first().line().side_from(1).unwrap();
    let state = other.first().state().encode();
    let goes = |to: &mut Transcript, head| to.meet(&decisions, &last, &state, Some(head));
    let resolve = |to: &mut Transcript| goes(to, last.head());
    let mut member = one.first().clone();
    assert_eq!(resolve(&mut member), Err(ItemError::Decision(Unproposed::Unasked)));
    one.all_take(&Item::Decision(first));
    let mut member = one.first().clone();
    let own = member.state().head();
    assert_eq!(goes(&mut member, own), Err(ItemError::Decision(Unproposed::Unasked)));
    assert!(resolve(&mut member).unwrap().advanced);
    assert_eq!(member.state().digest(), other.first().state().digest());
}

/// Two lines send their members to each other. Whoever came tells those who wait.
#[test]
fn line_75_that_the_others_came_is_an_item() {
    let (one, other, _) = parted();
    let head = |group: &Group| group.first().state().head();
    let (mut low, mut high) =
        if head(&one).digest < head(&other).digest { (one, other) } else { (other, one) };
    let (lows, highs) = (head(&low), head(&high));
    let first = |group: &Group| group.first().line().decisions()[&1].clone();
    let (first_low, first_high) = (first(&low), first(&high));
    low.all_take(&Item::Decision(first_high));
    high.all_take(&Item::Decision(first_low));
    low.change(&rejoin(highs));
    high.change(&rejoin(lows));
    let (decisions, last) = low.first().line().side_from(1).unwrap();
    let state = low.first().state().encode();
    let mut came = high.first().clone();
    assert!(came.meet(&decisions, &last, &state, None).unwrap().advanced);
    let mut waits = low.first().clone();
    assert!(!waits.set().goes_on(waits.state()));
    let items = came.lacking(waits.state().head(), &waits.have(), 1_000_000);
    let coming = items.iter().find(|item| matches!(Item::decode(item), Ok(Item::Coming { .. }))).unwrap();
    let Ok(Item::Coming { mut decisions }) = Item::decode(coming) else { panic!() };
    decisions.last_mut().unwrap().commits[0].signature = folkmoot_base::SignatureBytes::NONE;
    assert!(waits.take(&Item::Coming { decisions }.encode(), Some(NOW)).is_err());
    assert!(waits.take(coming, Some(NOW)).unwrap().new);
    assert!(waits.set().goes_on(waits.state()));
    assert!(!waits.take(coming, Some(NOW)).unwrap().new);
}
