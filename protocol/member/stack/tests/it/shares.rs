//! Shares of the group's key on the disk of an expelled member: they are erased when it learns of
//! its expulsion, or when it starts, if it was stopped between the two. Method: real members on one
//! perfect order, each with a disk; decisions are made with everybody's keys.

use crate::common::people::{self, Dice, NOW, PEOPLE, decide, expulsion, id};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_attach::{ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{GroupName, Indication, Instant, StoreKey, UnixTime};
use folkmoot_identity::{CharterDraft, Founder, Identity, Scheme, SignedCharter};
use folkmoot_member::{Command, Config, Member};
use folkmoot_transcript::Transcript;
use std::collections::BTreeMap;

const SEATS: usize = 4;
/// Long enough to found a key and to share it again.
const SECONDS: u64 = 12;

struct Town {
    charter: Bytes,
    transcript: Transcript,
    /// `None`: stopped.
    members: Vec<Option<Member>>,
    disks: Vec<BTreeMap<StoreKey, Bytes>>,
    now: u64,
    time: UnixTime,
    dice: Dice,
}

impl Town {
    /// Four founders; the key that two of them sign with is shared.
    fn founded(scheme: Scheme) -> Self {
        let founders: Vec<&Identity> = PEOPLE[..SEATS].iter().collect();
        let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
        let mut draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, named, &mut Dice(7));
        draft.scheme = scheme;
        let charter: Bytes = SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec().into();
        let mut town = Self {
            transcript: Transcript::founded(&charter).unwrap(),
            charter,
            members: (0..SEATS).map(|_| None).collect(),
            disks: vec![BTreeMap::new(); SEATS],
            now: 0,
            time: NOW,
            dice: Dice(88_000),
        };
        (0..SEATS).for_each(|who| town.start(who));
        town.pass(SECONDS);
        assert!((0..SEATS).all(|who| town.shares(who) == 1), "no shares");
        town
    }

    /// Started from its disk, with what its node knows of the transcript by now.
    fn start(&mut self, who: usize) {
        let config = Config::new(PEOPLE[who].clone(), self.charter.clone());
        let stored: Vec<(StoreKey, Bytes)> = self.disks[who].clone().into_iter().collect();
        let member = Member::with_transcript(config, self.transcript.clone(), &stored).unwrap();
        self.members[who] = Some(member);
        self.settle();
        // What starts hears first, from its node's configuration on.
        let nodes = (0..SEATS).map(|seat| id(seat).node()).collect();
        let word = ToMember::Configuration { id: people::CONFIGURATION, nodes, patience: Duration::ZERO };
        self.members[who].as_mut().unwrap().node(Instant(self.now), word, &mut self.dice);
        self.settle();
    }

    fn shares(&self, who: usize) -> usize {
        self.disks[who].keys().filter(|key| key.table == "share").count()
    }

    fn pass(&mut self, seconds: u64) {
        for tenth in 0..seconds * 10 {
            self.now += 100_000;
            self.time = UnixTime(self.time.0 + u64::from(tenth % 10 == 9));
            let (now, time) = (Instant(self.now), self.time);
            for member in self.members.iter_mut().flatten() {
                if tenth % 10 == 0 {
                    member.clock(now, time, &mut self.dice);
                }
                if member.poll_timeout().is_some_and(|due| due <= now) {
                    member.timeout(now, &mut self.dice);
                }
            }
            self.settle();
        }
    }

    /// Delivers everything that is sent to all running members.
    fn settle(&mut self) {
        loop {
            let next = self.members.iter_mut().enumerate().find_map(|(who, member)| {
                let output = member.as_mut()?.poll_output()?;
                Some((who, output))
            });
            let Some((who, output)) = next else { return };
            match output {
                UpperOutput::Persist(persist) => {
                    match persist.value {
                        Some(value) => self.disks[who].insert(persist.key, value),
                        None => self.disks[who].remove(&persist.key),
                    };
                }
                UpperOutput::Node(ToNode::Send { party, group, service, payload }) => {
                    self.all(&ToMember::Group(Indication::Deliver {
                        group,
                        sender: party,
                        service,
                        payload: payload.into(),
                    }));
                }
                UpperOutput::Node(ToNode::Item(_, item)) => self.enter(&item),
                _ => {}
            }
        }
    }

    fn all(&mut self, word: &ToMember) {
        for member in self.members.iter_mut().flatten() {
            member.node(Instant(self.now), word.clone(), &mut self.dice);
        }
    }

    fn enter(&mut self, item: &Bytes) {
        if self.transcript.take(item, Some(self.time)).is_ok_and(|taken| taken.new) {
            self.all(&ToMember::Item(item.clone()));
        }
    }

    fn order(&mut self, who: usize, command: Command) {
        self.members[who].as_mut().unwrap().command(Instant(self.now), command, &mut self.dice).unwrap();
        self.settle();
    }

    fn expel(&mut self, gone: usize) {
        let item = decide(&self.transcript, &expulsion(gone), &[0, 1, 2]);
        self.enter(&item);
        self.settle();
    }
}

#[test]
fn the_expelled_erase_their_shares_when_they_hear_of_it() {
    for scheme in [Scheme::Frost, Scheme::TsDsa] {
        let mut town = Town::founded(scheme);
        let before = town.disks[0].clone();
        town.expel(3);
        assert_eq!(town.shares(3), 0);
        town.pass(SECONDS);
        let roster = town.transcript.roster();
        assert!(!roster.is_member(&id(3)) && roster.leavers_with_shares().is_empty(), "{scheme:?}");
        assert_eq!([0, 1, 2, 3].map(|who| town.shares(who)), [1, 1, 1, 0]);
        let share = |disk: &BTreeMap<StoreKey, Bytes>| disk.keys().find(|key| key.table == "share").cloned();
        assert_ne!(share(&town.disks[0]), share(&before), "another sharing");
    }
}

/// Its node has the item; the member was stopped before it acted on it. It makes no difference
/// that an older copy of its disk comes back.
#[test]
fn the_expelled_erase_their_shares_when_they_start() {
    let mut town = Town::founded(Scheme::Frost);
    let old = town.disks[3].clone();
    town.members[3] = None;
    town.expel(3);
    assert_eq!(town.shares(3), 1);
    town.start(3);
    assert_eq!(town.shares(3), 0);
    town.members[3] = None;
    town.disks[3] = old;
    town.start(3);
    assert_eq!(town.shares(3), 0);
}

/// People vote, one changes its mind twice, and the programs decide. What the group's key needs
/// then, new shares, the programs propose and approve by themselves.
#[test]
fn what_enough_voters_approve_the_programs_decide() {
    let mut town = Town::founded(Scheme::Frost);
    let before = town.transcript.state().head().number;
    assert_eq!(town.transcript.roster().electorate().first(), Some(&id(0)));
    town.order(1, Command::Expel { member: id(3) });
    let proposals = |town: &Town, who: usize| town.members[who].as_ref().unwrap().proposals();
    let subject = proposals(&town, 0).first().expect("a proposal").subject;
    for approve in [true, false, true] {
        town.order(2, Command::Vote { subject, approve });
        town.pass(2);
        assert_eq!(proposals(&town, 0)[0].have, 1 + u32::from(approve));
    }
    assert!(town.transcript.roster().is_member(&id(3)), "half without the first is no quorum");
    assert_eq!(town.transcript.state().head().number, before);
    town.order(0, Command::Vote { subject, approve: true });
    town.pass(SECONDS);
    for who in 0..SEATS {
        let transcript = town.members[who].as_ref().unwrap().transcript();
        assert_eq!(transcript.mark(), town.transcript.mark());
        assert!(!transcript.roster().is_member(&id(3)) && transcript.line().forks().is_empty());
        assert!(proposals(&town, who).is_empty());
    }
    assert_eq!([0, 1, 2, 3].map(|who| town.shares(who)), [1, 1, 1, 0]);
    assert_eq!(town.transcript.roster().sharing().unwrap().facts.holders.len(), 3);
}
