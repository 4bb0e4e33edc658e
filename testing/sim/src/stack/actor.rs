//! One life of one player: the embedded stacks, driven by the world's inputs.

mod acknowledged;

use super::clerk::Clerk;
use super::company::Names;
use super::liar::Liar;
use super::parts::{change_in, failed, others, train};
use super::put_out::PutOut;
use super::scribe::{Scribe, sharing_name, short};
use super::slander;
use super::tap::{Desk, MARK, Seen, Silence, Tap, unmark};
use super::votes;
use crate::machine::{
    Command, Entrance, Input, Machine, Minutes, Mute, Output, Picture, Role, Signing, Spoils, Told, locator,
};
use crate::record::{MessageId, Player, Shown, What};
use crate::schedule::CHANGES;
use folkmoot_attach::{self as attach, Attached, Embedded, Ground as _, ToNode, Trace};
use folkmoot_base::{Digest, Entropy, GroupId, Instant, Party, Service, UnixTime};
use folkmoot_identity::Scheme;
use folkmoot_member::Event;
use folkmoot_node::Sync;
use folkmoot_transcript::Transcript;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// One life.
pub(crate) struct Actor {
    stack: Embedded<Tap, Attached<Desk>>,
    mute: Silence,
    first: Party,
    second: Option<Party>,
    names: Arc<Names>,
    home: GroupId,
    /// Members of a group of another charter, which is only there, and that group.
    others: Vec<(Party, GroupId)>,
    /// Asked to send, neither sealed nor refused yet; by the second program, too.
    asked: VecDeque<MessageId>,
    second_asked: VecDeque<MessageId>,
    /// What a vote on a player's request, or on its expulsion, names.
    requests: BTreeMap<Player, Digest>,
    proposals: BTreeMap<Player, Digest>,
    /// The request on which a vote was just given.
    voting: Option<Digest>,
    /// The transcript when the roster was last told.
    roster_mark: Option<Digest>,
    scribe: Scribe,
    clerk: Clerk,
    /// What it says besides, if its program can lie; and whether it does.
    pub(super) liar: Option<Liar>,
    /// Whose programs lie together with this one; empty if it does not.
    lies: BTreeSet<Player>,
    out: VecDeque<Output>,
    put_out: PutOut,
    /// Whose send was just handed in: the second program's, or the first's.
    sending: Option<bool>,
    /// The number that says when it started.
    started: Option<u64>,
    superseded: bool,
}

impl Actor {
    pub(super) fn new(
        mut stack: Embedded<Tap, Attached<Desk>>,
        entrance: &Entrance<'_>,
        (first, second): (Party, Option<Party>),
        names: Arc<Names>,
        entropy: &mut dyn Entropy,
    ) -> Self {
        let home = stack.upper.host().member.home();
        let commands = match entrance.role {
            Role::Stranger { .. } => vec![folkmoot_member::Command::Apply],
            Role::Founder | Role::Returner => Vec::new(),
        };
        stack.handle(Instant(0), attach::Input::Clock(entrance.clock), entropy);
        let join = || folkmoot_member::Command::Join { group: home };
        let of_first = commands.into_iter().chain([join()]).map(|command| (first, command));
        let others = others(&stack, first, second);
        let of_others =
            others.iter().map(|(party, group)| (*party, folkmoot_member::Command::Join { group: *group }));
        for command in of_first.chain(second.map(|second| (second, join()))).chain(of_others) {
            stack.handle(Instant(0), attach::Input::Command(command), entropy);
        }
        let mute = stack.upper.host().mute.clone();
        let mut actor = Self {
            stack,
            mute,
            first,
            second,
            names,
            home,
            others,
            asked: VecDeque::new(),
            second_asked: VecDeque::new(),
            requests: BTreeMap::new(),
            proposals: BTreeMap::new(),
            voting: None,
            roster_mark: None,
            scribe: Scribe::default(),
            clerk: Clerk::default(),
            liar: None,
            lies: BTreeSet::new(),
            out: VecDeque::new(),
            put_out: PutOut::default(),
            sending: None,
            started: None,
            superseded: false,
        };
        actor.collect();
        actor
    }

    /// What its member knows.
    pub(crate) fn transcript(&self) -> &Transcript {
        self.stack.upper.host().member.transcript()
    }

    /// Its node takes this as if its member said it.
    pub(crate) fn say(&mut self, now: Instant, word: ToNode, entropy: &mut dyn Entropy) {
        self.stack.ground.member(now, word, entropy);
    }

    /// Its node says this to every peer.
    pub(crate) fn say_to_nodes(&mut self, now: Instant, message: &Sync, entropy: &mut dyn Entropy) {
        self.stack.ground.node.danger_say(now, message, entropy);
    }

    /// A liar says what it has to, once a second.
    fn lie(&mut self, now: Instant, clock: UnixTime, entropy: &mut dyn Entropy) {
        let host = &self.stack.upper.host().member;
        let Some(liar) = self.liar.as_mut().filter(|_| !self.lies.is_empty()) else { return };
        let together = self.lies.iter().filter_map(|player| self.names.member(*player)).collect();
        let (party, group, service) = (self.first, self.home, Service::Agreed);
        for payload in liar.speak(host.transcript(), clock, &together) {
            self.stack.ground.member(now, ToNode::Send { party, group, service, payload }, entropy);
        }
        // It goes out now. With the next input, that one would be blamed for it.
        self.stack.handle(now, attach::Input::Timeout, entropy);
    }

    /// Who is only there says something once a second.
    fn others_speak(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        for (party, group) in self.others.clone() {
            let (service, payload) = (Service::Agreed, bytes::Bytes::from_static(b"elsewhere"));
            let send = folkmoot_member::Command::Send { group, service, payload, signed: false };
            if self.stack.upper.member(&party).is_some_and(|desk| desk.member.can_send(group)) {
                self.stack.handle(now, attach::Input::Command((party, send)), entropy);
            }
        }
    }

    /// Turns the embedding's outputs into the world's words.
    fn collect(&mut self) {
        use attach::Output::{Probe, Transmit};
        while let Some(output) = self.stack.poll_output() {
            match output {
                Transmit(to, bytes) | Probe(to, bytes) => self.out.push_back(Output::Transmit(to, bytes)),
                // Simulated networks have no multicast, and no host names.
                attach::Output::Together(_) | attach::Output::Resolve(_) => {}
                attach::Output::Persist(write) => {
                    self.started = self.started.or_else(|| slander::number(&write));
                    self.out.push_back(Output::Persist(write));
                }
                attach::Output::Trace(trace) if trace.layer == MARK => self.marked(&trace),
                attach::Output::Trace(trace) => self.out.push_back(Output::Trace(trace)),
                attach::Output::Event((party, event)) if party == self.first => {
                    self.put_out.hears(party, &event);
                    self.event(event);
                }
                attach::Output::Event((party, event)) if self.second == Some(party) => {
                    self.put_out.hears(party, &event);
                    self.second_event(&event);
                }
                attach::Output::Event(_) => {}
            }
        }
        let stops = self.stack.ground.node.superseded().filter(|_| !self.superseded);
        if let Some(by) = stops {
            self.superseded = true;
            self.tell(Told::Superseded(by));
        }
    }

    fn tell(&mut self, told: Told) {
        self.out.push_back(Output::Told(told));
    }

    fn marked(&mut self, line: &Trace) {
        match unmark(&self.stack.ground.board, line) {
            Some(Seen::Told(false, told)) => self.tell(told),
            Some(Seen::Told(true, told)) => self.out.push_back(Output::Second(told)),
            Some(Seen::Sealed(false)) => {
                if let Some(message) = self.asked.pop_front() {
                    self.tell(Told::Sent(message));
                }
            }
            Some(Seen::Sealed(true)) => {
                if let Some(message) = self.second_asked.pop_front() {
                    self.out.push_back(Output::Second(Told::Sent(message)));
                }
            }
            None => {}
        }
    }

    /// What a program of either kind hears of its group.
    fn heard(&self, event: &Event) -> Option<Told> {
        Some(match event {
            Event::View { id, members, transitional, epoch, .. } => {
                let members = self.names.seated(members);
                let transitional = self.names.seated(transitional);
                Told::View(Shown { id: *id, members, transitional, key: epoch.clone() })
            }
            Event::Message { payload, .. } => Told::Message(payload.clone()),
            Event::Transitional { .. } => Told::Signal,
            Event::Removed { cause, .. } => Told::Left(format!("{cause:?}").to_lowercase()),
            _ => return None,
        })
    }

    fn second_event(&mut self, event: &Event) {
        let told = match event {
            Event::SendFailed { error } => failed(&mut self.second_asked, self.sending == Some(true), error),
            event => self.heard(event),
        };
        self.out.extend(told.map(Output::Second));
    }

    fn event(&mut self, event: Event) {
        if let Some(told) = self.heard(&event) {
            return self.tell(told);
        }
        match event {
            Event::Request(petition) => {
                if let Some(player) = self.names.player(&petition.member) {
                    self.requests.insert(player, petition.subject);
                    self.tell(Told::Asked(player));
                }
            }
            Event::Proposal { subject, text, .. } => {
                let player =
                    text.strip_prefix("expel player").and_then(|player| player.parse::<Player>().ok());
                if let Some(player) = player.or_else(|| change_in(&text)) {
                    self.proposals.insert(player, subject);
                    self.tell(Told::Proposed(player));
                }
            }
            Event::Admitted { member, .. } => self.acknowledged("admitted", &member),
            Event::Expelled { member } => self.expelled(&member),
            Event::OtherLine { node, .. } => {
                if let Some(player) = self.names.at_node(&node) {
                    self.tell(Told::OtherLine(player));
                }
            }
            Event::SendFailed { error } => {
                if let Some(told) = failed(&mut self.asked, self.sending == Some(false), &error) {
                    self.tell(told);
                }
            }
            Event::Votes { subject, .. } => self.voted(subject),
            _ => {}
        }
    }

    /// Who is asked what.
    fn translate(&mut self, command: Command) -> Option<(Party, folkmoot_member::Command)> {
        let group = self.home;
        let Command::Second(command) = command else {
            return Some((self.first, self.translate_first(command)?));
        };
        let command = match *command {
            Command::Send(message, service, payload) => {
                self.second_asked.push_back(message);
                folkmoot_member::Command::Send { group, service, payload, signed: false }
            }
            Command::Leave => folkmoot_member::Command::Leave { group },
            Command::Join => folkmoot_member::Command::Join { group },
            _ => return None,
        };
        Some((self.second?, command))
    }

    fn translate_first(&mut self, command: Command) -> Option<folkmoot_member::Command> {
        let group = self.home;
        Some(match command {
            Command::Send(message, service, payload) => {
                self.asked.push_back(message);
                folkmoot_member::Command::Send { group, service, payload, signed: false }
            }
            Command::Leave => folkmoot_member::Command::Leave { group },
            Command::Join => folkmoot_member::Command::Join { group },
            Command::Approve(player) => {
                let subject = *self.requests.get(&player)?;
                self.voting = Some(subject);
                if self.stack.upper.host().member.transcript().roster().charter().scheme() != Scheme::Plain {
                    self.tell(Told::Approved(short(&subject)));
                }
                folkmoot_member::Command::Vote { subject, approve: true }
            }
            Command::Agree(player) => {
                folkmoot_member::Command::Vote { subject: *self.proposals.get(&player)?, approve: true }
            }
            Command::Reject(player) => {
                let member = &self.stack.upper.host().member;
                let open = member.petitions().into_iter().map(|petition| petition.subject);
                let open: Vec<Digest> =
                    open.chain(member.proposals().iter().map(|one| one.subject)).collect();
                let both = [self.requests.get(&player), self.proposals.get(&player)];
                let subject = both.into_iter().flatten().copied().find(|subject| open.contains(subject))?;
                folkmoot_member::Command::Vote { subject, approve: false }
            }
            Command::Change(what) => {
                let (field, value) = CHANGES.get(usize::from(what))?;
                let (field, value) = ((*field).to_owned(), (*value).to_owned());
                folkmoot_member::Command::ChangeCharter { field, value }
            }
            Command::Expel(player) => folkmoot_member::Command::Expel { member: self.names.member(player)? },
            Command::Electorate(players) => {
                let voters = players.iter().filter_map(|player| self.names.member(*player)).collect();
                folkmoot_member::Command::Electorate { voters }
            }
            Command::Apply => folkmoot_member::Command::Apply,
            Command::Date => {
                let member = &self.stack.upper.host().member;
                let head = member.transcript().state().head();
                member.times().date.map(|_| folkmoot_member::Command::Resolve { head })?
            }
            Command::Dial(player) => folkmoot_member::Command::Dial(locator(player)),
            Command::Mute(step) => {
                self.mute.set(step);
                return None;
            }
            Command::Lie(together) => {
                self.lies = together;
                self.mute.set(Some(Mute::Admission));
                return None;
            }
            Command::Crooked(how) => {
                self.stack.ground.crooked = how;
                return None;
            }
            Command::Slander(_) | Command::Second(_) => return None,
        })
    }
}

impl Machine for Actor {
    fn handle(&mut self, now: Instant, input: Input, entropy: &mut dyn Entropy) {
        self.sending = match &input {
            Input::Command(Command::Send(..)) => Some(false),
            Input::Command(Command::Second(command)) => {
                matches!(**command, Command::Send(..)).then_some(true)
            }
            _ => None,
        };
        let input = match input {
            Input::Datagrams(from, mut all) => match all.pop() {
                Some(bytes) if all.is_empty() => attach::Input::Datagram(from, bytes.into()),
                last => attach::Input::Train(from, train(all.into_iter().chain(last))),
            },
            Input::Clock(time) => attach::Input::Clock(time),
            Input::Timeout => attach::Input::Timeout,
            Input::Command(Command::Slander(how)) => {
                slander::slander(&mut self.stack.ground.node, now, how);
                attach::Input::Timeout
            }
            Input::Command(command) => match self.translate(command) {
                Some((party, command)) => {
                    self.put_out.asks(party, &command);
                    attach::Input::Command((party, command))
                }
                None => return,
            },
        };
        let clock = if let attach::Input::Clock(clock) = &input { Some(*clock) } else { None };
        self.stack.handle(now, input, entropy);
        if let Some(clock) = clock {
            self.lie(now, clock, entropy);
            self.others_speak(now, entropy);
        }
        self.collect();
        for party in self.put_out.back(&self.stack.upper.host().member) {
            let join = folkmoot_member::Command::Join { group: self.home };
            self.stack.handle(now, attach::Input::Command((party, join)), entropy);
            self.collect();
        }
        self.sending = None;
        self.voting = None;
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.stack.poll_timeout()
    }

    fn picture(&self) -> Picture {
        let roster = self.stack.upper.host().member.transcript().roster();
        let members: BTreeSet<Player> = self.names.players(roster.members().keys());
        let held = self.transcript().state().roster().iter();
        let held = held.filter_map(|(member, held)| Some((self.names.player(member)?, held.ends))).collect();
        let removed: BTreeSet<Player> = self.names.players(roster.formers().keys());
        let mut holds = BTreeSet::new();
        holds.extend(members.iter().chain(&removed).map(|player| format!("admitted player{player}")));
        let status = self.stack.upper.host().member.status(Instant(0));
        let ring = self.stack.ground.node.ring();
        let activity = format!("{}; ring {} of {}", status.activity, ring.phase, ring.members.len());
        let gathers = ring.phase != folkmoot_node::Phase::Operational;
        let ring = ring.members.iter().filter_map(|node| self.names.at_node(node)).collect();
        let mut lacks = votes::lacking(&self.stack.upper.host().member, &self.names);
        let inside =
            roster.members().iter().filter_map(|(member, held)| Some((self.names.player(member)?, held)));
        lacks.extend(
            inside.map(|(player, held)| format!("{} player{player}", votes::expelled(&held.request))),
        );
        Picture { roster: members, held, removed, holds, lacks, ring, gathers, activity }
    }

    fn roster_if_changed(&mut self) -> Option<BTreeSet<Player>> {
        let transcript = self.stack.upper.host().member.transcript();
        let mark = transcript.digest();
        if self.roster_mark.replace(mark) == Some(mark) {
            return None;
        }
        Some(self.names.players(transcript.roster().members().keys()))
    }

    fn minutes(&mut self) -> Minutes {
        let transcript = self.stack.upper.host().member.transcript();
        let minutes = self.scribe.read(transcript, &self.names);
        Minutes { minutes, in_use: transcript.roster().sharing().map(|now| sharing_name(&now.public)) }
    }

    fn transcript(&self) -> Option<&Transcript> {
        Some(self.stack.upper.host().member.transcript())
    }

    fn is_quorum(&self, players: &BTreeSet<Player>) -> bool {
        let members = players.iter().filter_map(|player| self.names.member(*player)).collect();
        self.transcript().state().is_quorum(&members)
    }

    fn line(&mut self) -> Vec<What> {
        self.clerk.read(self.stack.upper.host().member.transcript(), &self.names)
    }

    fn started(&self) -> Option<u64> {
        self.started
    }

    fn signing(&self, now: Instant) -> Option<Signing> {
        let member = &self.stack.upper.host().member;
        let (status, roster) = (member.signing(now)?, member.transcript().roster());
        let scheme = roster.charter().scheme();
        let sharing = roster.sharing().map(|sharing| &sharing.facts);
        let wants = sharing.is_none_or(|facts| {
            facts.threshold != roster.threshold() || !roster.leavers_with_shares().is_empty()
        });
        let ripe = member.petitions().into_iter().filter(|petition| petition.have >= petition.need);
        let ripe =
            ripe.filter_map(|one| Some((self.names.player(&one.member)?, self.names.players(&one.approved))));
        let approvals = status.approvals.iter().map(|approved| self.names.players(approved));
        Some(Signing {
            shared: scheme.shared(),
            still: u64::try_from(status.still.as_micros()).unwrap_or(u64::MAX),
            wants: wants && scheme.shared(),
            electorate: roster.electorate().iter().filter_map(|voter| self.names.player(voter)).collect(),
            voters: self.names.players(&roster.voters()),
            approvals: approvals.collect(),
            threshold: roster.threshold(),
            signers: scheme.signers(roster.threshold()),
            holders: self.names.players(sharing.map(|facts| facts.holders.as_slice()).unwrap_or_default()),
            givers: sharing.map_or(0, |facts| facts.threshold),
            holds: status.holds,
            ripe: ripe.collect(),
            guests: self.names.players(&status.guests),
        })
    }

    fn spoils(&self) -> Spoils {
        let kept = self.stack.upper.host().member.spoils();
        Spoils { secrets: kept.danger_keys().map(|key| key.to_vec()).collect(), kept: Some(kept.clone()) }
    }
}
