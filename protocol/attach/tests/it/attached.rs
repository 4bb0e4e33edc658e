//! Several parties on one node, two of them of one member: each hears what is meant for it, and no
//! two write to the same key of the store.

use bytes::Bytes;
use folkmoot_attach::{Attached, ToMember, ToNode, Upper, UpperOutput, stored_for};
use folkmoot_base::{
    Cause, Entropy, GroupId, Head, Indication, Instant, Locator, MemberId, NodeId, Party, Persist, Service,
    StoreKey, UnixTime,
};
use proptest::prelude::*;
use std::collections::VecDeque;

const GROUP: GroupId = GroupId([9; 32]);
const HOST: Party = Party { member: MemberId([5; 32]), port: 0 };
/// Another program of the host's member.
const LOW: Party = Party { member: MemberId([5; 32]), port: 4 };
const HIGH: Party = Party { member: MemberId([8; 32]), port: 0 };

struct Nothing;

impl Entropy for Nothing {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(0);
    }
}

/// Tells the application every message it hears, and answers a message with one of its own.
#[derive(Debug)]
struct Scribe {
    me: Party,
    wakes: Option<Instant>,
    out: VecDeque<UpperOutput<String>>,
}

impl Scribe {
    fn new(me: Party) -> (Party, Self) {
        (
            me,
            Self {
                me,
                wakes: None,
                out: [UpperOutput::Node(ToNode::Attach { party: me, charter: GROUP })].into(),
            },
        )
    }
    fn say(&mut self, word: String) {
        self.out.push_back(UpperOutput::Event(word));
    }
}

impl Upper for Scribe {
    type Command = Persist;
    type Answer = ();
    type Event = String;
    fn node(&mut self, _now: Instant, message: ToMember, _entropy: &mut dyn Entropy) {
        match message {
            ToMember::Group(Indication::Deliver { group, sender, service, payload }) => {
                let (party, payload) = (self.me, payload.freeze());
                if sender != party {
                    self.out.push_back(UpperOutput::Node(ToNode::Send { party, group, service, payload }));
                }
                self.say("deliver".into());
            }
            ToMember::Group(Indication::Removed { .. }) => self.say("removed".into()),
            ToMember::Guest { .. } => self.say("guest".into()),
            ToMember::LinkUp { rostered, .. } => self.say(format!("link {rostered}")),
            other => self.say(format!("{other:?}")),
        }
    }
    fn command(&mut self, now: Instant, command: Persist, _entropy: &mut dyn Entropy) {
        self.wakes = Some(
            now + core::time::Duration::from_secs(u64::from(self.me.member.0[0]) - u64::from(self.me.port)),
        );
        self.out.push_back(UpperOutput::Persist(command));
    }
    fn clock(&mut self, _now: Instant, time: UnixTime, _entropy: &mut dyn Entropy) {
        self.say(format!("clock {}", time.0));
    }
    fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {
        self.wakes = None;
        self.say("timeout".into());
    }
    fn poll_output(&mut self) -> Option<UpperOutput<String>> {
        self.out.pop_front()
    }
    fn poll_timeout(&self) -> Option<Instant> {
        self.wakes
    }
}

fn three() -> Attached<Scribe> {
    let mut all = Attached::new(Scribe::new(HOST), [Scribe::new(HIGH), Scribe::new(LOW)]);
    let attached: Vec<Party> = core::iter::from_fn(|| all.poll_output())
        .map(|output| match output {
            UpperOutput::Node(ToNode::Attach { party, charter: GROUP }) => party,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(attached, [HOST, LOW, HIGH], "the host first");
    all
}

fn heard(all: &mut Attached<Scribe>) -> Vec<(Party, String)> {
    let mut heard = Vec::new();
    while let Some(output) = all.poll_output() {
        if let UpperOutput::Event(event) = output {
            heard.push(event);
        }
    }
    heard
}

fn each(word: &str) -> Vec<(Party, String)> {
    [HOST, LOW, HIGH].map(|member| (member, word.to_owned())).to_vec()
}

#[test]
fn a_word_to_one_is_heard_by_one_and_a_word_to_all_by_all() {
    let mut all = three();
    let removed = ToMember::Group(Indication::Removed { group: GROUP, cause: Cause::Leave });
    all.node_to(Instant(0), LOW, removed.clone(), &mut Nothing);
    assert_eq!(heard(&mut all), [(LOW, "removed".to_owned())]);
    all.node_to(Instant(0), MemberId([77; 32]).into(), removed, &mut Nothing);
    assert!(heard(&mut all).is_empty(), "nobody of that name lives here");

    all.clock(Instant(0), UnixTime(7), &mut Nothing);
    assert_eq!(heard(&mut all), each("clock 7"));
    let (node, at) = (NodeId([3; 32]), Locator::memory(1));
    all.node(Instant(0), ToMember::LinkUp { node, rostered: true, at }, &mut Nothing);
    assert_eq!(heard(&mut all), each("link true"));
    all.node(Instant(0), ToMember::Item(Bytes::from_static(b"item")), &mut Nothing);
    assert_eq!(heard(&mut all), each("Item(b\"item\")"));
    let head = |number| Head { number, digest: [7; 32] };
    all.node(Instant(0), ToMember::OtherLine { node, theirs: head(2), ours: head(3) }, &mut Nothing);
    let said = heard(&mut all);
    assert_eq!(said.len(), 3, "all are told of a fork: {said:?}");
    assert!(said.iter().all(|(_, word)| word.starts_with("OtherLine")));
}

#[test]
fn what_a_stranger_says_at_the_door_is_for_the_host() {
    let mut all = three();
    let (node, at) = (NodeId([3; 32]), Locator::memory(1));
    all.node(Instant(0), ToMember::LinkUp { node, rostered: false, at }, &mut Nothing);
    all.node(Instant(0), ToMember::Guest { from: node, payload: Bytes::new() }, &mut Nothing);
    assert_eq!(heard(&mut all), [(HOST, "link false".to_owned()), (HOST, "guest".to_owned())]);
}

#[test]
fn each_answers_for_itself_and_in_the_order_it_was_asked() {
    let mut all = three();
    let payload = Bytes::from_static(b"hello");
    for to in [LOW, HIGH] {
        let deliver = ToMember::Group(Indication::Deliver {
            group: GROUP,
            sender: HIGH,
            service: Service::Agreed,
            payload: payload.clone().into(),
        });
        all.node_to(Instant(0), to, deliver, &mut Nothing);
    }
    let mut answers = Vec::new();
    while let Some(output) = all.poll_output() {
        if let UpperOutput::Node(ToNode::Send { party, .. }) = output {
            answers.push(party);
        }
    }
    assert_eq!(answers, [LOW], "and not the sender");
}

#[test]
fn who_is_due_is_woken_and_nobody_else() {
    let mut all = three();
    assert_eq!(all.poll_timeout(), None);
    for member in [HIGH, LOW] {
        all.command(Instant(0), (member, Persist::put("vote", vec![1], vec![2])), &mut Nothing);
    }
    let _ = heard(&mut all);
    assert_eq!(all.poll_timeout(), Some(Instant(1_000_000)));
    all.timeout(Instant(1_000_000), &mut Nothing);
    assert_eq!(heard(&mut all), [(LOW, "timeout".to_owned())]);
    assert_eq!(all.poll_timeout(), Some(Instant(8_000_000)));
}

#[test]
fn what_the_host_keeps_stands_as_if_it_lived_alone() {
    let mut all = three();
    let kept = Persist::put("keying", vec![9; 32], vec![1]);
    all.command(Instant(0), (HOST, kept.clone()), &mut Nothing);
    assert!(matches!(all.poll_output(), Some(UpperOutput::Persist(persist)) if persist == kept));
}

#[test]
fn pairs_of_no_known_table_or_form_are_passed_over() {
    let stored = |key: Vec<u8>| (StoreKey { table: "attached", key: key.into() }, Bytes::new());
    let odd = [
        Vec::new(),
        LOW.to_bytes().to_vec(),
        [&LOW.to_bytes()[..], &[200, 1]].concat(),
        [&LOW.to_bytes()[..], b"\x04room\x01"].concat(),
    ];
    let odd: Vec<_> = odd.into_iter().map(stored).collect();
    assert!(stored_for(&LOW, &odd).is_empty());
    let elsewhere = (
        StoreKey { table: "vote", key: [&LOW.to_bytes()[..], b"\x04vote\x01"].concat().into() },
        Bytes::new(),
    );
    assert!(stored_for(&LOW, &[elsewhere]).is_empty());
}

proptest! {
    /// Whatever two members keep, and under whatever keys, each finds its own again and nothing
    /// else.
    #[test]
    fn each_finds_its_own_again(
        pairs in prop::collection::vec((any::<bool>(), 0_usize..6, prop::collection::vec(any::<u8>(), 0..64)), 0..20),
    ) {
        let mut all = three();
        let mut disk: Vec<(StoreKey, Bytes)> = Vec::new();
        let mut wanted = [Vec::new(), Vec::new()];
        for (number, (high, table, key)) in pairs.into_iter().enumerate() {
            let (table, value) = (folkmoot_base::store::TABLES[table], Bytes::from(number.to_be_bytes().to_vec()));
            let member = if high { HIGH } else { LOW };
            all.command(Instant(0), (member, Persist::put(table, key.clone(), value.clone())), &mut Nothing);
            let place = StoreKey { table, key: key.into() };
            wanted[usize::from(high)].retain(|(known, _)| *known != place);
            wanted[usize::from(high)].push((place, value));
            while let Some(output) = all.poll_output() {
                let UpperOutput::Persist(Persist { key, value: Some(value) }) = output else { continue };
                prop_assert!(key.key.len() <= 128);
                disk.retain(|(known, _)| *known != key);
                disk.push((key, value));
            }
        }
        prop_assert_eq!(stored_for(&LOW, &disk), wanted[0].clone());
        prop_assert_eq!(stored_for(&HIGH, &disk), wanted[1].clone());
        prop_assert!(stored_for(&HOST, &disk).is_empty());
    }
}
