//! A bus of members, and the desks of their authority: replicas with guest links to members, and a
//! log that they share.

use crate::common::{Bus, Dice, HOST, NOW, person, player, store};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, Authority, AuthorityMessage, Command, Config, Event, GuestMessage, Input, LogRecord,
    Office, Output, WireGrounds,
};
use folkmoot_base::{Blob, Digest, GroupName, Instant, NodeId, Secret, StoreKey, UnixTime, codec};
use folkmoot_identity::{
    Central, CharterDraft, Dealer, Founder, Gmc, GmcBody, Grounds, Identity, Request, Scheme, SignedCharter,
    Verdict, VoteBody, VoteKind, VoteProof,
};
use folkmoot_transcript::Transcript;
use std::collections::{BTreeMap, BTreeSet};

/// One of an authority's nodes.
pub struct Desk {
    pub identity: Identity,
    pub transcript: Transcript,
    pub authority: Authority,
    pub config: Config,
    pub disk: BTreeMap<StoreKey, Bytes>,
    pub events: Vec<Event>,
    pub errors: Vec<AdmissionError>,
    /// What it said to members.
    pub told: Vec<(NodeId, AuthorityMessage)>,
    pub up: bool,
    /// Whether items reach it.
    pub hears: bool,
    /// How much of the log it has had.
    pub read: usize,
    /// By how much its clock is wrong, in seconds.
    pub ahead: i64,
}

pub struct Town {
    pub bus: Bus,
    pub desks: Vec<Desk>,
    /// Records that came to the log, in its order.
    pub log: Vec<Bytes>,
    /// Records that were handed in and wait.
    pub handed_in: Vec<Bytes>,
    /// Whether records come into the log by themselves.
    pub logs: bool,
    pub links: BTreeSet<(usize, usize)>,
}

/// How a town is founded.
pub struct Plan {
    pub scheme: Scheme,
    pub founders: u64,
    pub threshold: u32,
    pub dealer: Option<Dealer>,
    pub replicas: u64,
    /// How many members each desk is linked with.
    pub links: usize,
}

pub fn plan(scheme: Scheme) -> Plan {
    let dealer = scheme.shared().then_some(Dealer::Keeps);
    Plan { scheme, founders: 5, threshold: 2, dealer, replicas: 1, links: 2 }
}

pub fn office(scheme: Scheme) -> Office {
    let draw =
        |scheme| Office::draw("moot", scheme, UnixTime(NOW.0 - 1_000), &mut Dice(4_000_000_000)).unwrap();
    match scheme {
        // Safe primes take long to find: stored ones.
        Scheme::Shoup => Office { secret: Some(primes()), ..draw(Scheme::Plain) },
        _ => draw(scheme),
    }
}

/// Shoup's secret: version, bits, p, q, the larger prime first.
fn primes() -> Secret<Vec<u8>> {
    const PRIMES: &str = include_str!("../../../../../signing/tests/data/safe-primes.txt");
    let line = PRIMES.lines().find(|line| line.starts_with("2048 ")).unwrap();
    let byte = |text: &str, at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    let unhex = |text: &str| (0..text.len()).step_by(2).map(|at| byte(text, at)).collect();
    let mut words: Vec<Vec<u8>> = line.split(' ').skip(1).map(unhex).collect();
    words.sort();
    Secret::new([&[1, 8, 0], words[1].as_slice(), &words[0]].concat())
}

impl Town {
    /// Founded, and each desk linked with the first two members; nothing has happened yet.
    pub fn found(plan: &Plan, change: impl Fn(&mut CharterDraft)) -> Self {
        let founders: Vec<Identity> =
            (1..=plan.founders).map(|seed| person(&format!("founder{seed}"), seed)).collect();
        let nodes: Vec<Identity> =
            (0..plan.replicas).map(|which| person(&format!("desk{which}"), 3_000 + which)).collect();
        let office = office(plan.scheme);
        let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
        let name = GroupName::new("moot").unwrap();
        let mut draft = CharterDraft::new(name, plan.threshold, named, &mut Dice(77));
        draft.scheme = plan.scheme;
        draft.central = Some(Central {
            certificate: office.certificate.clone(),
            nodes: nodes.iter().map(Identity::member).collect(),
            dealer: plan.dealer,
        });
        change(&mut draft);
        let all: Vec<&Identity> = founders.iter().collect();
        let charter = SignedCharter::sign(&draft.to_toml(), &all).unwrap().der().to_vec();
        let mut bus = Bus::silent(Scheme::Plain, 1, 1);
        bus.players = founders.into_iter().map(|founder| player(founder, &charter)).collect();
        let config = Config { replicated: plan.replicas > 1, ..Config::default() };
        let desks = nodes.into_iter().map(|node| desk(node, &charter, &office, &config)).collect();
        let (log, handed_in, links) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut town = Self { bus, desks, log, handed_in, logs: true, links };
        for which in 0..town.desks.len() {
            (0..plan.links).for_each(|who| town.link(which, who));
        }
        town.pass(1);
        town
    }

    pub fn link(&mut self, which: usize, who: usize) {
        let (desk, player) = (self.desks[which].identity.node(), self.bus.players[who].identity.node());
        self.links.insert((which, who));
        let _ = self.bus.input(who, Input::LinkUp { node: desk, host: HOST });
        let _ = self.desk_input(which, Input::LinkUp { node: player, host: HOST });
    }

    pub fn unlink(&mut self, which: usize, who: usize) {
        let (desk, player) = (self.desks[which].identity.node(), self.bus.players[who].identity.node());
        self.links.remove(&(which, who));
        let _ = self.bus.input(who, Input::LinkDown(desk));
        let _ = self.desk_input(which, Input::LinkDown(player));
    }

    /// One input. What comes of it goes to disk, to the log, and to the members that are linked.
    pub fn desk_input(&mut self, which: usize, input: Input) -> Result<(), AdmissionError> {
        let desk = &mut self.desks[which];
        if !desk.up {
            return Ok(());
        }
        let (now, dice) = (self.bus.now, &mut self.bus.dice);
        let result = desk.authority.handle(now, input, &desk.transcript, &desk.identity, dice);
        self.drain(which);
        if let Err(error) = &result {
            self.desks[which].errors.push(error.clone());
        }
        result
    }

    /// What the authority's person orders.
    pub fn desk_order(&mut self, which: usize, command: Command) -> Result<(), AdmissionError> {
        let desk = &mut self.desks[which];
        if !desk.up {
            return Ok(());
        }
        let result = desk.authority.order(self.bus.now, command, &desk.transcript, &desk.identity);
        self.drain(which);
        result.map(drop)
    }

    fn drain(&mut self, which: usize) {
        let mut words = Vec::new();
        let desk = &mut self.desks[which];
        while let Some(output) = desk.authority.poll_output() {
            match output {
                Output::Persist(persist) => store(&mut desk.disk, persist),
                Output::Guest { to, payload } => words.push((to, payload)),
                Output::Event(event) => desk.events.push(event),
                Output::Log(record) => self.handed_in.push(record),
                Output::Trace(text) => self.bus.traces.push((100 + which, text)),
                Output::Multicast(_) | Output::Item(_) => panic!("an authority is no member"),
            }
        }
        let from = desk.identity.node();
        for (to, payload) in words {
            self.desks[which].told.push((to, codec::decode(&payload).unwrap()));
            let who = self.bus.players.iter().position(|player| player.identity.node() == to).unwrap();
            if self.links.contains(&(which, who)) {
                let _ = self.bus.input(who, Input::Guest { from, payload });
            }
        }
    }

    pub fn settle(&mut self) {
        loop {
            self.bus.settle();
            let mut still = !self.sync();
            if self.logs {
                self.keep_log();
            }
            still &= !self.deliver_log();
            for (from, to, payload) in core::mem::take(&mut self.bus.said) {
                let Some(which) = self.desks.iter().position(|desk| desk.identity.node() == to) else {
                    continue;
                };
                still = false;
                let _ = self.desk_input(which, Input::Guest { from, payload });
            }
            if still && self.handed_in.is_empty() | !self.logs {
                return;
            }
        }
    }

    /// As the replicas' log does (AUTH-07): one record for a request.
    fn keep_log(&mut self) {
        let request = |record: &Bytes| codec::decode::<LogRecord>(record).unwrap().request;
        for record in core::mem::take(&mut self.handed_in) {
            if self.log.iter().all(|logged| request(logged) != request(&record)) {
                self.log.push(record);
            }
        }
    }

    fn deliver_log(&mut self) -> bool {
        let mut any = false;
        for which in 0..self.desks.len() {
            while self.desks[which].up && self.desks[which].read < self.log.len() {
                let record = self.log[self.desks[which].read].clone();
                self.desks[which].read += 1;
                any = true;
                let _ = self.desk_input(which, Input::Logged(record));
            }
        }
        any
    }

    /// Desks that hear fetch the transcript.
    pub fn sync(&mut self) -> bool {
        let mut any = false;
        for which in 0..self.desks.len() {
            if !self.desks[which].up || !self.desks[which].hears {
                continue;
            }
            for who in self.contacts(which) {
                let (theirs, mine) = (&self.bus.players[who].transcript, &self.desks[which].transcript);
                for item in theirs.lacking(mine.state().head(), &mine.have(), usize::MAX) {
                    let taken = self.desks[which].transcript.take(&item, Some(self.bus.time));
                    // A member that lags has what counts no more.
                    if let Some(taken) = taken.ok().filter(|taken| taken.new) {
                        any = true;
                        let _ = self.desk_input(which, Input::Item { item, taken });
                    }
                }
            }
        }
        any
    }

    /// The member that a desk has its items from: the first that is up; if the bus is cut, all
    /// that the desk is linked with.
    fn contacts(&self, which: usize) -> Vec<usize> {
        let up = |who: &usize| self.bus.players[*who].up;
        let linked = self.links.iter().filter(|(desk, _)| *desk == which).map(|(_, who)| *who).filter(up);
        match self.bus.cut {
            Some(_) => linked.collect(),
            None => (0..self.bus.players.len()).find(up).into_iter().collect(),
        }
    }

    /// Lets time pass, a second at a time.
    pub fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.bus.pass(0);
            for which in 0..self.desks.len() {
                let time = self.bus.time.0.saturating_add_signed(self.desks[which].ahead);
                let _ = self.desk_input(which, Input::Clock(UnixTime(time)));
                if self.desks[which].authority.poll_timeout().is_some_and(|due| due <= self.bus.now) {
                    let _ = self.desk_input(which, Input::Timeout);
                }
            }
            self.settle();
            self.bus.now = Instant(self.bus.now.0 + 1_000_000);
            self.bus.time = UnixTime(self.bus.time.0 + 1);
        }
    }

    /// Stops a desk and starts it from its disk; its links come up again.
    pub fn restart(&mut self, which: usize) {
        let desk = &mut self.desks[which];
        let stored: Vec<(StoreKey, Bytes)> = desk.disk.clone().into_iter().collect();
        desk.authority = Authority::load(desk.config.clone(), &desk.transcript, &desk.identity, &stored)
            .unwrap()
            .expect("an office");
        desk.up = true;
        self.drain(which);
        let _ = self.desk_input(which, Input::Clock(self.bus.time));
        for (_, who) in self.links.clone().into_iter().filter(|(desk, _)| *desk == which) {
            self.link(which, who);
        }
    }

    pub fn command(&mut self, who: usize, command: Command) -> Result<(), AdmissionError> {
        let result = self.bus.order(who, command);
        self.settle();
        result.map(drop)
    }

    pub fn vote(&mut self, who: usize, which: usize, approve: bool) {
        let motion = self.bus.request_of(who, which).expect("request is open");
        self.command(who, Command::Vote { motion, approve }).unwrap();
    }

    pub fn stranger(&mut self, name: &str, seed: u64, contact: usize) -> usize {
        let which = self.bus.stranger(name, seed, contact);
        self.settle();
        which
    }

    /// A message of a member to a desk, and what the desk answers.
    pub fn say(
        &mut self,
        which: usize,
        who: usize,
        message: &AuthorityMessage,
    ) -> (Result<(), AdmissionError>, Vec<AuthorityMessage>) {
        let from = self.bus.players[who].identity.node();
        let before = self.desks[which].told.len();
        let result = self.desk_input(which, Input::Guest { from, payload: codec::encode(message).into() });
        let told = self.desks[which].told[before..].iter().filter(|(to, _)| *to == from);
        (result, told.map(|(_, message)| message.clone()).collect())
    }

    /// What a desk answers to these grounds.
    pub fn ask(&mut self, request: &Request, grounds: WireGrounds) -> Vec<AuthorityMessage> {
        self.say(0, 0, &grant(request, grounds)).1
    }

    pub fn transcript(&self) -> &Transcript {
        &self.bus.players[0].transcript
    }

    /// A request of someone who is not a stranger of the bus.
    pub fn request(&self, seed: u64, change: impl Fn(&mut GmcBody)) -> Request {
        let identity = person("guest", seed);
        let charter = self.transcript().roster().charter();
        let time = UnixTime(self.bus.time.0 - 10);
        let mut body = GmcBody::propose(charter, &identity, 5, time, &mut Dice(seed * 7_000_000))
            .over(self.transcript().state().head());
        change(&mut body);
        Request::sign(&identity, body).unwrap()
    }

    /// Approving votes of these founders on it, sorted.
    pub fn votes(&self, request: &Request, who: &[usize]) -> WireGrounds {
        WireGrounds::Votes(self.votes_on(request.digest(), who, UnixTime(self.bus.time.0 + 1_000)))
    }

    pub fn votes_on(&self, request: Digest, who: &[usize], expires: UnixTime) -> Vec<VoteProof> {
        let base = self.transcript().state().head();
        let vote = |who: &usize| {
            let identity = &self.bus.players[*who].identity;
            let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
            let group = self.transcript().group();
            let body = VoteBody { group, base, kind, subject: request, turn: 0, verdict, expires };
            VoteProof::of(identity.member(), &body, body.sign(identity.key()))
        };
        let mut votes: Vec<VoteProof> = who.iter().map(vote).collect();
        votes.sort_by_key(|vote| vote.voter);
        votes
    }

    /// The first member has the certificate ordered, and all have it.
    pub fn admit(&mut self, der: &[u8]) {
        let item = self.transcript().make_admit(der, &[]).unwrap();
        for player in &mut self.bus.players {
            player.transcript.take(&item, Some(self.bus.time)).unwrap();
        }
        self.settle();
    }

    /// Someone who is not a stranger of the bus sends this member this request.
    pub fn ask_at(&mut self, who: usize, request: &Request) {
        let from = request.member().node();
        let _ = self.bus.input(who, Input::LinkUp { node: from, host: HOST });
        let word = GuestMessage::Request {
            cms: Blob::from(request.der().to_vec()),
            voucher: None,
            endorsement: None,
        };
        let _ = self.bus.input(who, Input::Guest { from, payload: codec::encode(&word).into() });
        self.settle();
    }

    /// What such a guest was told.
    pub fn heard(&self, request: &Request) -> Vec<GuestMessage> {
        let told = self.bus.lost.iter().filter(|(to, _)| *to == request.member().node());
        told.map(|(_, payload)| codec::decode(payload).unwrap()).collect()
    }

    /// The certificates that such a guest was told.
    pub fn issued(&self, request: &Request) -> Vec<Bytes> {
        let told = self.heard(request).into_iter().filter_map(|word| match word {
            GuestMessage::Issued { der, .. } => Some(der.0),
            _ => None,
        });
        told.collect()
    }

    /// These founders say yes.
    pub fn approve(&mut self, request: &Request, who: &[usize]) {
        for who in who {
            self.command(*who, Command::Vote { motion: request.digest(), approve: true }).unwrap();
        }
    }

    /// A message of a desk to a member, whatever the desk would say itself.
    pub fn tell(&mut self, which: usize, who: usize, word: &AuthorityMessage) -> Result<(), AdmissionError> {
        let from = self.desks[which].identity.node();
        self.bus.input(who, Input::Guest { from, payload: codec::encode(word).into() })
    }

    pub fn issued_on_disk(&self, which: usize) -> BTreeMap<Bytes, Bytes> {
        let records =
            self.desks[which].disk.iter().filter(|(at, _)| at.table == "office" && at.key[0] == b'i');
        records.map(|(at, value)| (at.key.clone(), value.clone())).collect()
    }

    pub fn certificate(&self, which: usize) -> Gmc {
        let member = self.bus.strangers[which].identity.member();
        Gmc::from_der(&self.transcript().certificate_of(&member).unwrap()).unwrap()
    }
}

pub fn desk(identity: Identity, charter: &[u8], office: &Office, config: &Config) -> Desk {
    let transcript = Transcript::founded(charter).unwrap();
    let mut disk = BTreeMap::new();
    for persist in office.persists(&identity, &mut Dice(5_000_000_000)) {
        store(&mut disk, persist);
    }
    let stored: Vec<(StoreKey, Bytes)> = disk.clone().into_iter().collect();
    let authority =
        Authority::load(config.clone(), &transcript, &identity, &stored).unwrap().expect("an office");
    Desk {
        identity,
        transcript,
        authority,
        config: config.clone(),
        disk,
        events: Vec::new(),
        errors: Vec::new(),
        told: Vec::new(),
        up: true,
        hears: true,
        read: 0,
        ahead: 0,
    }
}

pub fn grant(request: &Request, grounds: WireGrounds) -> AuthorityMessage {
    AuthorityMessage::Grant { request: Blob::from(request.der().to_vec()), grounds }
}

/// The certificate in these answers, which is the only one.
pub fn granted(answers: &[AuthorityMessage]) -> Bytes {
    match answers {
        [AuthorityMessage::Granted { der, .. }] => der.0.clone(),
        other => panic!("{other:?}"),
    }
}

/// The reason in these answers, which is the only one.
pub fn denied(answers: &[AuthorityMessage]) -> folkmoot_admission::Reason {
    match answers {
        [AuthorityMessage::Denied { reason, .. }] => *reason,
        other => panic!("{other:?}"),
    }
}

/// The certificate for this request as this office would sign it, whatever it stands on.
pub fn forged(office: &Office, request: &Request, grounds: &Grounds) -> Gmc {
    let (body, key) = (request.body().on_grounds(grounds), office.certificate.key());
    let signature = office.key.sign_raw(&body.issued_tbs(key).unwrap()).to_paper();
    Gmc::issue_by_group(&body, key, &signature).unwrap()
}

pub fn named(request: &Request) -> Digest {
    request.digest()
}

/// All who are up have one sharing of the group's key, and nobody complained.
pub fn agreed(town: &Town) {
    let first = town.transcript().roster().sharing().cloned();
    assert!(first.is_some(), "no sharing: {:#?} {:?}", town.bus.traces, town.desks[0].errors);
    for player in town.bus.players.iter().filter(|player| player.up) {
        assert_eq!(player.transcript.roster().sharing().cloned(), first);
        assert!(player.errors.is_empty(), "{:?}", player.errors);
    }
    assert!(town.desks[0].errors.is_empty(), "{:?}", town.desks[0].errors);
}
