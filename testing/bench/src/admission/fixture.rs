//! A group of members in this process, each on a node of its own with its own folder, store, socket
//! and links, and the newcomers, whose contact is its first member; on UDP over loopback.

use super::case::Case;
use super::outside::Outside;
use crate::people::{FOUNDERS_MAX, People, Rules};
use folkmoot::tools::{
    Command, Instant as Tick, Machine, MemberHandle, OpenOptions, Opened, OsEntropy, Sending, prepare,
    wall_clock,
};
use folkmoot::{Bytes, Event, Locator, MemberId, Service, StateFolder, UnixTime};
use folkmoot_agreement::ModuleName;
use folkmoot_cli::children::Workshop;
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::Identity;
use folkmoot_signing::Mode;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Longest wait for anything here: a key of many signers takes that long to found.
const PATIENCE: Duration = Duration::from_secs(150);
/// What was begun before is over after this, and the token is held.
const QUIET: Duration = Duration::from_millis(80);
/// Sightings that wait to be looked at; nobody looks at most members', and theirs are dropped.
const SEEN_MAX: usize = 4_096;
const DAY_SECONDS: u64 = 86_400;
const THERE: &[u8] = b"there";
const BACK: &[u8] = b"back";

/// What a member saw.
#[derive(Debug, Clone)]
enum Seen {
    View(usize),
    Ring(usize),
    Link,
    /// When it had its certificate, on its disk.
    Certified(Instant),
    Admitted(MemberId),
    /// When the answer to its message came.
    Back(Instant),
}

/// Those who are to be let in are called so, with a number; nobody votes on anybody else.
const GUEST: &str = "guest";

/// How one came.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Came {
    /// From its node's start until it had a link to a member.
    pub(super) linked: Duration,
    /// From its request to its certificate.
    pub(super) took: Duration,
}

/// What a member has seen at its contact so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AtContact {
    pub(super) words: folkmoot_admission::Counters,
    pub(super) links: folkmoot_link::Counters,
    /// Open requests.
    pub(super) open: usize,
}

/// What a member's application does by itself.
#[derive(Debug, Clone, Default)]
struct Habits {
    /// Votes yes at once on every request of a guest of ours.
    votes: bool,
    /// Answers a message at once.
    answers: bool,
    /// Once it has its certificate, nothing comes from here nor goes there any more: the ring is
    /// not to gather with it.
    vanishes_from: Vec<Locator>,
}

/// One member on a node of its own.
struct Player {
    me: MemberId,
    at: Locator,
    handle: MemberHandle,
    seen: mpsc::Receiver<Seen>,
    /// Its thread goes on until this is gone.
    _stays: oneshot::Sender<()>,
}

/// The members, first the contact.
pub(super) struct Fixture {
    players: Vec<Player>,
    people: People,
    workshop: Workshop,
    guests: u32,
    /// How many members answer a message, after the contact.
    answers: usize,
    /// The authority, where there is one.
    outside: Option<Player>,
}

impl Fixture {
    /// Founds the group, and admits one after the other whoever is more than a charter takes; they
    /// do not vote.
    pub(super) async fn found(case: &Case) -> Result<Self, Failure> {
        let workshop = Workshop::open("bench-admission", false)?;
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let central = case.mode == Mode::Centralised;
        let outside = central.then(|| Outside::draw(case.scheme, term(), &mut entropy)).transpose()?;
        let (module, scheme) = (ModuleName::Ckd, case.scheme);
        let central = outside.as_ref().map(Outside::central);
        let rules =
            Rules { module: Some(module), scheme, votes: case.votes.into(), central, keys: case.keys };
        let founders = usize::from(case.members).min(FOUNDERS_MAX);
        let people = People::new(&rules, founders, Duration::from_secs(4))?;
        // In a round each signer speaks, the contact among them.
        let answers = case.scheme.signers(case.votes.into()).saturating_sub(1).max(1);
        let mut fixture = Self { players: Vec::new(), people, workshop, guests: 0, answers, outside: None };
        for (number, one) in fixture.people.identities.clone().iter().enumerate() {
            let (votes, answers) = (number < case.votes.into(), (1..=fixture.answers).contains(&number));
            let habits = Habits { votes, answers, ..Habits::default() };
            let seeds = fixture.players.iter().map(|player| player.at.clone()).collect();
            let player = fixture.hire(fixture.furnish(one)?, seeds, habits).await?;
            player
                .handle
                .command(Command::Join { group: fixture.people.charter.charter().group() })
                .await??;
            fixture.players.push(player);
        }
        for player in &mut fixture.players {
            player
                .until("a common view", |seen| matches!(seen, Seen::View(size) if *size == founders))
                .await?;
        }
        if let Some(outside) = outside {
            fixture.seat_outside(&outside).await?;
        }
        if case.scheme.shared() {
            fixture.key_is_shared().await?;
        }
        for _ in founders..case.members.into() {
            let (guest, _) = fixture.admit(&[0], false).await?;
            fixture.players.push(guest);
            let size = fixture.players.len();
            let ring = |seen: &Seen| matches!(seen, Seen::Ring(nodes) if *nodes == size);
            fixture.contact()?.until("the newcomer on the ring", ring).await?;
        }
        Ok(fixture)
    }

    pub(super) fn path(&self) -> &Path {
        self.workshop.path()
    }

    pub(super) fn charter(&self) -> &folkmoot_identity::Charter {
        self.people.charter.charter()
    }

    /// Where these members are.
    pub(super) fn contacts(&self, which: &[usize]) -> Vec<Locator> {
        which.iter().filter_map(|which| self.players.get(*which)).map(|player| player.at.clone()).collect()
    }

    pub(super) async fn look_at_contact(&self, which: usize) -> Result<AtContact, Failure> {
        let player = self.players.get(which).ok_or_else(|| Failure::bug("no such member"))?;
        let look = player.handle.look(|machine, _, _| {
            let member = &machine.upper.member;
            let (words, open) = (member.door_counters(), member.petitions().len());
            AtContact { words, links: machine.ground.counters().link, open }
        });
        Ok(look.await?)
    }

    fn contact(&mut self) -> Result<&mut Player, Failure> {
        self.players.first_mut().ok_or_else(|| Failure::bug("the group has no founders"))
    }

    /// The folder of one of this group.
    fn furnish(&self, one: &Identity) -> Result<StateFolder, Failure> {
        let folder = StateFolder::open(&self.workshop.path().join(one.member().hex()))?;
        let key = one.key_pem().map_err(Failure::bug)?;
        folder.write_identity(key.expose(), &one.certificate_pem())?;
        folder.write_charter(self.people.charter.der())?;
        Ok(folder)
    }

    /// The authority comes, until every founder has a link to it.
    async fn seat_outside(&mut self, outside: &Outside) -> Result<(), Failure> {
        let folder = self.furnish(&outside.identity)?;
        outside.move_in(&folder)?;
        let contacts = self.players.iter().map(|player| player.at.clone()).collect();
        self.outside = Some(self.hire(folder, contacts, Habits::default()).await?);
        self.each("no link to the authority in time", |machine, now| {
            let reach = machine.upper.member.status(now).authority;
            reach.is_some_and(|reach| !reach.linked.is_empty())
        })
        .await
    }

    /// A member on a thread of its own, as it would have a process of its own: what the system
    /// gives one, another does not wait for.
    async fn hire(
        &self,
        folder: StateFolder,
        seeds: Vec<Locator>,
        habits: Habits,
    ) -> Result<Player, Failure> {
        let options = OpenOptions {
            state: folder.path().to_owned(),
            identity: None,
            listen: ([127, 0, 0, 1], 0).into(),
            seeds,
            heads: Vec::new(),
            voucher: None,
            endorsement: None,
            carries: Vec::new(),
            replicated: false,
            multicast: false,
            clock_ahead: Duration::ZERO,
            danger_keep_keys: false,
        };
        let timing = crate::crew::timing(self.people.identities.len().saturating_mul(4));
        let (tell, seen) = mpsc::channel(SEEN_MAX);
        let ((stays, gone), (ready, opened)) = (oneshot::channel(), oneshot::channel());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::bug)?;
        let run = move || {
            runtime.block_on(async {
                let started = prepare(options, &[], timing);
                let started = started.and_then(|plan| plan.start(|node, all| (node, all.host)));
                let opened = match started {
                    Ok(opened) => opened,
                    // Whoever waits for it has gone, or hears why.
                    Err(error) => return drop(ready.send(Err(error))),
                };
                let known = (opened.me, opened.locator.clone(), opened.running.handle.clone());
                let _ = ready.send(Ok(known));
                tokio::select! {
                    () = live(opened, habits, tell) => {}
                    _ = gone => {}
                }
            });
        };
        std::thread::Builder::new().name("bench-member".into()).spawn(run).map_err(Failure::bug)?;
        let (me, at, handle) = opened.await.map_err(Failure::bug)??;
        Ok(Player { me, at, handle, seen, _stays: stays })
    }

    /// Until a decision of the voters has taken the sharing of the group's key into use, and every
    /// founder has a share of it: while one has none, all make new ones, and joins wait for
    /// processors.
    async fn key_is_shared(&mut self) -> Result<(), Failure> {
        self.each("the key was not shared in time", |machine, now| {
            machine.upper.member.signing(now).is_some_and(|signing| signing.holds)
        })
        .await
    }

    /// Until it is so at every member, one after the other.
    async fn each(&self, late: &str, is: fn(&mut Machine, Tick) -> bool) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        for player in &self.players {
            while !player.handle.look(move |machine, now, _| is(machine, now)).await? {
                if Instant::now() > end {
                    return Err(Failure::new(Exit::TimedOut, late));
                }
                tokio::time::sleep(QUIET).await;
            }
        }
        Ok(())
    }

    /// A newcomer that knows these members asks: it, and how it came.
    async fn admit(&mut self, knows: &[usize], vanishes: bool) -> Result<(Player, Came), Failure> {
        self.guests += 1;
        let one = self.people.called(&format!("{GUEST}{}", self.guests))?;
        let contacts = self.contacts(knows);
        let vanishes_from = if vanishes { contacts.clone() } else { Vec::new() };
        let began = Instant::now();
        let habits = Habits { vanishes_from, ..Habits::default() };
        let mut guest = self.hire(self.furnish(&one)?, contacts, habits).await?;
        guest.until("a link to a member", |seen| matches!(seen, Seen::Link)).await?;
        let linked = began.elapsed();
        // Its folder and its store are new: the disk shall be done with them.
        tokio::time::sleep(QUIET).await;
        self.contact()?.quiet().await;
        let began = Instant::now();
        guest.handle.command(Command::Apply).await??;
        let certified = guest.until("a certificate", |seen| matches!(seen, Seen::Certified(_))).await?;
        let Seen::Certified(at) = certified else { return Err(Failure::bug("something else was seen")) };
        let me = guest.me;
        let admitted = |seen: &Seen| matches!(seen, Seen::Admitted(who) if *who == me);
        self.contact()?.until("the entry", admitted).await?;
        Ok((guest, Came { linked, took: at - began }))
    }

    /// From a newcomer's request to its certificate. It is heard of no more afterwards: the ring
    /// stays as it is.
    pub(super) async fn join(&mut self) -> Result<Duration, Failure> {
        self.join_by(&[0]).await.map(|came| came.took)
    }

    /// The same of one that knows these members.
    pub(super) async fn join_by(&mut self, knows: &[usize]) -> Result<Came, Failure> {
        self.admit(knows, true).await.map(|(_, came)| came)
    }

    /// An ordered message from the contact, until the answers of as many as speak in a round of the
    /// scheme are back; over a ring that was idle before the first, as rounds follow one another:
    /// the mean of so many.
    pub(super) async fn trip(&mut self, rounds: u32) -> Result<Duration, Failure> {
        let (group, answers) = (self.people.charter.charter().group(), self.answers);
        let contact = self.contact()?;
        contact.quiet().await;
        let began = Instant::now();
        let mut last = began;
        for _ in 0..rounds {
            contact.handle.send(said(group, THERE)).await?;
            for _ in 0..answers {
                let back = contact.until("an answer", |seen| matches!(seen, Seen::Back(_))).await?;
                let Seen::Back(at) = back else { return Err(Failure::bug("something else was seen")) };
                last = at;
            }
        }
        Ok((last - began) / rounds.max(1))
    }
}

impl Player {
    async fn until(&mut self, what: &str, is: impl Fn(&Seen) -> bool) -> Result<Seen, Failure> {
        let wait = async {
            while let Some(seen) = self.seen.recv().await {
                if is(&seen) {
                    return Ok(seen);
                }
            }
            Err(Failure::new(Exit::Unreachable, "a node has stopped"))
        };
        let late =
            |_| Failure::new(Exit::TimedOut, format!("{what} did not come within {} s", PATIENCE.as_secs()));
        tokio::time::timeout(PATIENCE, wait).await.map_err(late)?
    }

    /// Lets what was begun come to its end, and forgets what was seen of it.
    async fn quiet(&mut self) {
        tokio::time::sleep(QUIET).await;
        while self.seen.try_recv().is_ok() {}
    }
}

/// Of a certificate that is good today.
fn term() -> (UnixTime, UnixTime) {
    let now = wall_clock().0;
    (UnixTime(now.saturating_sub(3_600)), UnixTime(now.saturating_add(DAY_SECONDS)))
}

fn said(group: folkmoot::GroupId, text: &'static [u8]) -> Sending {
    Sending { group, service: Service::Agreed, payload: Bytes::from_static(text), signed: false }
}

/// A member's application.
async fn live(opened: Opened, habits: Habits, tell: mpsc::Sender<Seen>) {
    let Opened { mut running, me, group, faults, lock, .. } = opened;
    let _lock = lock;
    while let Ok(Some(event)) = running.next().await {
        let now = Instant::now();
        let seen = match event {
            Event::View { members, .. } => Seen::View(members.len()),
            Event::Configuration { nodes } => Seen::Ring(nodes.len()),
            Event::LinkUp { .. } => Seen::Link,
            Event::Admitted { member, .. } => Seen::Admitted(member),
            Event::Certified { .. } => {
                if !habits.vanishes_from.is_empty() {
                    faults.cut(habits.vanishes_from.iter().cloned());
                }
                Seen::Certified(now)
            }
            Event::Message { sender, payload, .. } if sender.member != me && payload == BACK => {
                Seen::Back(now)
            }
            Event::Message { sender, payload, .. }
                if habits.answers && sender.member != me && payload == THERE =>
            {
                // Whoever has left hears so by its next event.
                let _ = running.handle.queue(said(group, BACK)).await;
                continue;
            }
            Event::Request(petition) if habits.votes && petition.name.starts_with(GUEST) => {
                let vote = Command::Vote { subject: petition.subject, approve: true };
                let _ = running.handle.command(vote).await;
                continue;
            }
            _ => continue,
        };
        // A full queue is one that nobody looks at.
        let _ = tell.try_send(seen);
    }
}
