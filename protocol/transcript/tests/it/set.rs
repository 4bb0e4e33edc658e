//! The set: a union whatever the order, and never larger than its bounds.

use crate::group::{DAY, Group, draft, field, key, remove, signature};
use folkmoot_base::{Danger, MemberId, UnixTime, digest};
use folkmoot_identity::{Adopt, CharterDraft, Policies, Verdict, VoteKind};
use folkmoot_transcript::{
    APPROVALS_MAX, Admit, Approval, Effect, LATE_MAX, REFUSALS_OF_VOTER_MAX, Refusal, SPONSORED_BYTES,
    SPONSORED_MAX, Signed, Subject, Uncounted, admission,
};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Item {
    Admit(Box<Admit>),
    Approval(Approval),
    Effect(Effect),
    Refusal(Refusal),
    Past(UnixTime),
}

/// A group after some decisions, so that bases differ, and requests and effects to speak of.
fn group(objections: u32) -> (Group, Vec<Item>, Vec<Subject>) {
    let policies = Policies { objections: Some(objections), ..Policies::default() };
    let mut group = Group::of(&CharterDraft { policies, ..draft(4, 2) });
    let mut items = Vec::new();
    let mut subjects = Vec::new();
    for round in 0..3 {
        for person in [5 + round, 3] {
            let serial = [round as u8; 16];
            let admit = Admit { csr: Some(serial), issued: Some([1; 16]), ..group.ask(person) };
            let ends = UnixTime(group.now + 86_400 * (1 + round as u64));
            let admit = if person == 3 { Admit { csr: None, issued: None, ends, ..admit } } else { admit };
            subjects.push(admission(admit.request));
            items.push(Item::Refusal(Refusal { request: admit.request, csr: admit.csr }));
            items.push(Item::Past(UnixTime(admit.ends.0 + 1)));
            items.push(Item::Admit(Box::new(admit)));
        }
        let effect =
            Effect::from(if round == 0 { remove(3) } else { field("request_hours", &round.to_string()) });
        subjects.push(effect.subject());
        items.push(Item::Effect(effect.clone()));
        if round == 0 {
            group.pass(effect, &[0, 1, 2]);
        } else {
            group.pass(field("certificate_days", &(100 + round).to_string()), &[0, 1, 2]);
        }
    }
    (group, items, subjects)
}

fn take(group: &mut Group, item: &Item) {
    let clock = UnixTime(group.now + 2 * DAY);
    let (state, set) = group.line.set_mut();
    match item {
        Item::Admit(admit) => set.take_admit(state, Admit::clone(admit)),
        Item::Approval(approval) => {
            set.take_approval(state, Signed { approval: *approval, signature: Some(signature()) })
        }
        Item::Effect(effect) => set.take_effect(state, effect.clone()),
        Item::Refusal(refusal) => set.take_refusal(state, *refusal),
        Item::Past(past) => set.take_past(state, *past, clock),
    };
}

/// In this order; then again, as members do that hear everything twice.
fn taken(group: &Group, items: &[&Item]) -> Group {
    let mut group = group.another();
    for _ in 0..2 {
        items.iter().for_each(|item| take(&mut group, item));
    }
    group
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn two_members_with_the_same_have_the_same_roster(
        said in prop::collection::vec((0..5_usize, 0..9_usize, 0..4_u64, 0..3_u32, any::<bool>()), 0..40),
        objections in 1..3_u32,
        order in Just((0..61_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let (group, mut items, subjects) = group(objections);
        for (voter, subject, base, turn, yes) in said {
            let base = group.state().decision_at(base).unwrap();
            let verdict = if yes { Verdict::Approve } else { Verdict::Reject };
            let approval = group.yes(voter, subjects[subject]);
            items.push(Item::Approval(Approval { base, turn, verdict, ..approval }));
        }
        let shuffled: Vec<&Item> = order.iter().filter_map(|place| items.get(*place)).collect();
        let one = taken(&group, &items.iter().collect::<Vec<_>>());
        let other = taken(&group, &shuffled);
        prop_assert_eq!(shuffled.len(), items.len());
        prop_assert_eq!(parts(&one), parts(&other));
        prop_assert_eq!(one.line.mark(), other.line.mark());
        let members = |group: &Group| group.set().members(group.state());
        prop_assert_eq!(members(&one), members(&other));
        let late = |group: &Group| group.set().late().map(|(admit, _)| admit.request).collect::<Vec<_>>();
        prop_assert_eq!(late(&one), late(&other));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// One member takes an approval at one head, another at another. Bases run out of their time on
    /// the way, and ends pass.
    #[test]
    fn approvals_make_one_set_before_a_decision_or_after_it(
        said in prop::collection::vec(
            (0..3_usize, 0..2_usize, 0..4_usize, 0..3_u32, any::<bool>(), 20..140_u64, [0..5_usize, 0..5]),
            0..40,
        ),
    ) {
        let [one, other] = [0, 1].map(|who| at_their_heads(&said, who, None));
        prop_assert_eq!(parts(&one), parts(&other));
        prop_assert_eq!(one.line.mark(), other.line.mark());
    }
}

/// Voter, admission, base, turn, whether it is a yes, end, and at which head each of two takes it.
type Said = (usize, usize, usize, u32, bool, u64, [usize; 2]);

/// What one of the two has in the end.
fn at_their_heads(said: &[Said], who: usize, danger: Option<Danger>) -> Group {
    let mut group = Group::new(4, 2).without(danger);
    let admits = [5, 6].map(|person| group.ask(person));
    assert!(admits.iter().all(|admit| group.take_admit(admit)));
    let (founded, mut bases) = (group.now, vec![group.head()]);
    let next = |group: &mut Group, days: u64| {
        group.now += days * DAY;
        let number = 400 + group.head().number;
        group.pass(field("certificate_days", &number.to_string()), &[0, 1, 2]);
    };
    for _ in 0..3 {
        next(&mut group, 10);
        bases.push(group.head());
    }
    group.now += 60 * DAY;
    for stage in 0..5 {
        next(&mut group, 9);
        for (voter, admit, base, turn, yes, days, _) in said.iter().filter(|one| one.6[who] == stage) {
            let verdict = if *yes { Verdict::Approve } else { Verdict::Reject };
            let expires = UnixTime(founded + days * DAY);
            let yes = group.yes(*voter, admission(admits[*admit].request));
            // By now some bases are forgotten: what is over them is refused.
            group.take(Approval { base: bases[*base], turn: *turn, verdict, expires, ..yes });
        }
    }
    group
}

#[test]
fn heads_matter_where_whatever_comes_last_stands() {
    let said = [(0, 0, 3, 1, false, 130, [0, 4]), (0, 0, 3, 0, true, 130, [1, 3])];
    let differ = |danger| {
        let [one, other] = [0, 1].map(|who| at_their_heads(&said, who, danger));
        parts(&one) != parts(&other)
    };
    assert!(differ(Some(Danger::LineNoTurns)));
    assert!(!differ(None));
}

/// What the set has, in a few words.
fn parts(group: &Group) -> Vec<String> {
    let set = group.set();
    let short = |digest: &[u8; 32]| format!("{:02x}{:02x}", digest[0], digest[1]);
    let admits = set.admits().map(|admit| format!("admit {}", short(&admit.request)));
    let approvals = set.approvals().map(|signed| {
        let approval = signed.approval;
        let (subject, yes) = (short(&approval.subject.digest), approval.is_yes());
        format!("{} on {subject}: {yes} turn {} base {}", approval.voter, approval.turn, approval.base)
    });
    let effects = set.effects().map(|effect| format!("effect {}", short(&effect.subject().digest)));
    let refusals = set.refusals().map(|refusal| format!("refusal {}", short(&refusal.request)));
    let past = Some(format!("past {}", set.past()));
    admits.chain(approvals).chain(effects).chain(refusals).chain(past).collect()
}

fn invented(number: u64, group: &Group) -> Admit {
    Admit {
        request: digest(&[b"flood", &number.to_be_bytes()]),
        member: MemberId(digest(&[b"nobody", &number.to_be_bytes()])),
        key: key(15).verifying_key().clone(),
        ..group.another().ask(5)
    }
}

/// One voter writes whatever it likes; the others want it out.
fn flooded(danger: Option<Danger>) -> Group {
    let mut group = Group::new(4, 2).without(danger);
    let wanted = group.ask(6);
    group.welcome(&wanted, &[0, 1]);
    for number in 0..(APPROVALS_MAX as u64 + 20) {
        let digest = digest(&[b"subject", &number.to_be_bytes()]);
        let approval = group.yes(3, Subject { kind: VoteKind::Hold, digest });
        group.take(approval);
    }
    for number in 0..(LATE_MAX as u64 + 20) {
        let admit = invented(number, &group);
        group.take_admit(&admit);
    }
    for number in 0..40 {
        group.want(&Effect::from(field("request_hours", &(1 + number).to_string())), &[3]);
    }
    group.want(&Effect::from(remove(3)), &[0, 1, 2]);
    group
}

#[test]
fn a_flood_stays_within_its_bounds_and_blocks_no_expulsion() {
    let group = flooded(None);
    let set = group.set();
    assert_eq!(
        set.approvals().filter(|signed| signed.approval.voter == crate::group::member(3)).count(),
        APPROVALS_MAX
    );
    assert_eq!(set.admits().count(), LATE_MAX + 1);
    assert!(set.effects().count() <= SPONSORED_MAX + 1);
    assert!(group.is_member(6), "those that count stay");
    let ready = set.approved(group.state(), UnixTime(group.now));
    assert!(ready.iter().any(|one| one.effect == Effect::from(remove(3))));
}

#[test]
fn without_bounds_a_flood_fills_the_set() {
    let group = flooded(Some(Danger::LineNoBounds));
    let set = group.set();
    assert!(set.approvals().count() > APPROVALS_MAX + 20 && set.admits().count() > LATE_MAX + 1);
    assert!(set.effects().count() > SPONSORED_MAX + 1);
}

/// What a voter wants held, refused or decided stays, whatever strangers and another voter bring.
#[test]
fn a_flood_drives_out_nothing_that_another_voter_wants() {
    let mut group = Group::of(&draft(4, 3));
    let wanted: Vec<Admit> = (0..3).map(|number| invented(9_000 + number, &group)).collect();
    for admit in &wanted {
        group.welcome(admit, &[0]);
    }
    for number in 0..(3 * LATE_MAX as u64) {
        let admit = invented(number, &group);
        let liar: &[usize] = if number.is_multiple_of(2) { &[3] } else { &[] };
        group.welcome(&admit, liar);
    }
    let late: Vec<_> = group.set().late().map(|(admit, _)| admit.request).collect();
    assert!(wanted.iter().all(|admit| late.contains(&admit.request)));
    assert_eq!(late.len(), wanted.len() + 2 * LATE_MAX);
}

/// Nor does a voter drive out what nobody else approves by approving it.
#[test]
fn a_yes_drives_nothing_out() {
    let mut group = Group::of(&draft(4, 3));
    let mut admits: Vec<Admit> = (0..=LATE_MAX as u64).map(|number| invented(number, &group)).collect();
    admits.sort_by_key(|admit| admit.request);
    let last = admits.pop().unwrap();
    for admit in &admits {
        group.welcome(admit, &[3]);
    }
    group.take_admit(&last);
    let yes = group.yes(3, admission(last.request));
    group.take(yes);
    assert!(group.set().admit(&last.request).is_some());
}

#[test]
fn long_effects_of_one_voter_are_few() {
    let mut group = Group::new(4, 2);
    let long =
        |number: u8| Effect::from(field("text", &char::from(b'a' + number).to_string().repeat(100_000)));
    for number in 0..SPONSORED_MAX as u8 {
        group.want(&long(number), &[3]);
    }
    group.want(&long(20), &[1]);
    group.want(&Effect::from(remove(3)), &[0]);
    let of_liar = group.set().effects().count() - 2;
    assert!((SPONSORED_BYTES / 100_000..=SPONSORED_BYTES / 100_000 + 1).contains(&of_liar), "{of_liar}");
    assert!(group.set().effect(&long(20).subject()).is_some());
}

#[test]
fn refusals_of_one_voter_are_few() {
    let policies = Policies { objections: Some(2), ..Policies::default() };
    let mut group = Group::of(&CharterDraft { policies, ..draft(4, 2) });
    let mut refuse = |number: u64, voter: usize| {
        let request = digest(&[b"refused", &number.to_be_bytes()]);
        let no = group.no(voter, admission(request));
        group.take(no);
        let (state, set) = group.line.set_mut();
        set.take_refusal(state, Refusal { request, csr: Some([1; 16]) });
        set.refusals().count()
    };
    assert_eq!(refuse(9_999, 0), 1);
    let last = (0..REFUSALS_OF_VOTER_MAX as u64 + 20).map(|number| refuse(number, 3)).last();
    assert_eq!(last, Some(REFUSALS_OF_VOTER_MAX + 1));
}

/// Whoever comes first does not decide what a subject means: a second form of it changes nothing.
#[test]
fn an_effect_is_not_replaced_by_another_form_of_it() {
    let mut group = Group::new(4, 2);
    let new = group.ask(5);
    group.take_admit(&new);
    let rotate = |byte: u8| {
        let bytes = vec![byte].into();
        let signature = folkmoot_transcript::SignatureBytes { bytes, ..signature() };
        Effect::from(folkmoot_transcript::Change::Rotate {
            member: crate::group::member(3),
            request: new.request,
            signature,
        })
    };
    group.want(&rotate(1), &[0, 1, 2]);
    let (state, set) = group.line.set_mut();
    assert!(!set.take_effect(state, rotate(2)));
    assert_eq!(set.effect(&rotate(2).subject()), Some(&rotate(1)));
}

fn holdable(group: &Group) -> usize {
    group.set().holdable(group.state(), UnixTime(group.now)).len()
}

/// What programs may adopt although its approvals ran out still needs room.
#[test]
fn line_29_programs_adopt_no_second_serial_number() {
    let mut group = Group::of(&CharterDraft { adopt: Adopt::Auto, ..draft(4, 2) });
    let admits = [5, 6].map(|person| Admit { issued: Some([9; 16]), ..group.ask(person) });
    for admit in &admits {
        group.welcome(admit, &[0, 1]);
    }
    assert_eq!(holdable(&group), 1);
    let ran_out = group.ask(7);
    group.welcome(&ran_out, &[0, 1]);
    group.now += 40 * 86_400;
    group.follow(group.decide(group.batch()).unwrap());
    let late: Vec<_> = group.set().late().map(|(_, why)| why.clone()).collect();
    assert!(late.iter().all(|why| matches!(why, Uncounted::Expired(_))), "{late:?}");
    assert_eq!(holdable(&group), 2, "one of the two, and the third");
    let mut asks = Group::new(4, 2);
    let admit = asks.ask(5);
    asks.welcome(&admit, &[0, 1]);
    asks.now += 40 * 86_400;
    asks.follow(asks.decide(asks.batch()).unwrap());
    assert_eq!(holdable(&asks), 0, "unless the charter leaves it to people");
}
