//! A group of real members in this process, on UDP over loopback: what `folkmoot bench keying` measures.

use crate::children::Workshop;
use crate::exit::{Exit, Failure};
use folkmoot::tools::{Command, MemberHandle, OsEntropy, wall_clock};
use folkmoot::{
    Event, Faults, Folkmoot, GroupName, Locator, MemberId, Options, Service, Session, StateFolder, UnixTime,
};
use folkmoot_agreement::ModuleName;
use folkmoot_base::Keying;
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Longest wait for one change.
const LIMIT: Duration = Duration::from_secs(60);
/// What was begun before is over after this.
const QUIET: Duration = Duration::from_millis(30);
/// Most sightings that wait to be looked at.
const SEEN_MAX: usize = 4_096;
const DAY_SECONDS: u64 = 86_400;

/// What a member saw.
enum Seen {
    View(BTreeSet<MemberId>),
    Heard,
}

/// One member: its event loop runs in a task, orders go by its handle.
struct Hand {
    id: MemberId,
    at: Locator,
    session: Session,
    handle: MemberHandle,
    faults: Faults,
}

/// The members of one group, oldest in the group first.
pub(crate) struct Crew {
    hands: Vec<Hand>,
    seen: mpsc::Receiver<(MemberId, Seen)>,
    #[expect(dead_code, reason = "held as long as the members run")]
    workshop: Workshop,
}

impl Crew {
    /// `size` founders of a group with this module, all in one view.
    pub(crate) async fn found(module: ModuleName, size: usize) -> Result<Self, Failure> {
        let workshop = Workshop::open("bench-keying", false)?;
        let people = identities(size)?;
        let charter = charter(module, &people)?;
        let (tell, seen) = mpsc::channel(SEEN_MAX);
        let mut hands: Vec<Hand> = Vec::new();
        for person in &people {
            let path = workshop.path().join(person.name());
            let folder = StateFolder::open(&path)?;
            let key = person.key_pem().map_err(Failure::bug)?;
            folder.write_identity(key.expose(), &person.certificate_pem())?;
            folder.write_charter(charter.der())?;
            let mut options = Options::new(path).listen(([127, 0, 0, 1], 0));
            options.seeds = hands.iter().map(|hand| hand.at).collect();
            hands.push(hire(Folkmoot::open_with(options).await?, tell.clone()).await?);
        }
        let mut crew = Self { hands, seen, workshop };
        crew.hands.sort_by_key(|hand| hand.id);
        let all = crew.ids(0..size);
        crew.expect(&all, &all).await?;
        Ok(crew)
    }

    fn ids(&self, places: std::ops::Range<usize>) -> BTreeSet<MemberId> {
        self.hands.get(places).unwrap_or_default().iter().map(|hand| hand.id).collect()
    }

    pub(crate) fn size(&self) -> usize {
        self.hands.len()
    }

    /// Until each of `who` has seen a view of exactly `members`.
    async fn expect(
        &mut self,
        members: &BTreeSet<MemberId>,
        who: &BTreeSet<MemberId>,
    ) -> Result<(), Failure> {
        let mut missing = who.clone();
        while !missing.is_empty() {
            if let (one, Seen::View(view)) = self.next().await?
                && view == *members
            {
                missing.remove(&one);
            }
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<(MemberId, Seen), Failure> {
        let late = |_| Failure::new(Exit::TimedOut, format!("no answer within {} s", LIMIT.as_secs()));
        let next = tokio::time::timeout(LIMIT, self.seen.recv()).await.map_err(late)?;
        next.ok_or_else(|| Failure::new(Exit::Unreachable, "a member has stopped"))
    }

    /// Lets what was begun come to its end, and forgets what was seen of it.
    async fn quiet(&mut self) {
        tokio::time::sleep(QUIET).await;
        while self.seen.try_recv().is_ok() {}
    }

    /// The member at `place` by age leaves; until the others have their view.
    pub(crate) async fn leave(&mut self, place: usize) -> Result<Duration, Failure> {
        self.quiet().await;
        let hand = self.hands.get(place).ok_or_else(|| Failure::bug("no such member"))?;
        let mut rest = self.ids(0..self.size());
        rest.remove(&hand.id);
        let began = Instant::now();
        hand.session.leave().await?;
        self.expect(&rest, &rest).await?;
        Ok(began.elapsed())
    }

    /// The member at `place`, which has left, comes back, and is the newest from then on.
    pub(crate) async fn join(&mut self, place: usize) -> Result<Duration, Failure> {
        self.quiet().await;
        let hand = self.hands.remove(place);
        let order = Command::Join { group: hand.session.group() };
        let handle = hand.handle.clone();
        self.hands.push(hand);
        let all = self.ids(0..self.size());
        let began = Instant::now();
        handle.command(order).await?;
        self.expect(&all, &all).await?;
        Ok(began.elapsed())
    }

    /// A new key in the same view; until all have it.
    pub(crate) async fn refresh(&mut self) -> Result<Duration, Failure> {
        self.quiet().await;
        let before = self.epochs().await?;
        let began = Instant::now();
        if let Some(hand) = self.hands.first() {
            hand.session.refresh().await?;
        }
        while !self.epochs().await?.is_disjoint(&before) {
            if began.elapsed() > LIMIT {
                return Err(Failure::new(Exit::TimedOut, "the key was not renewed"));
            }
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        Ok(began.elapsed())
    }

    async fn epochs(&self) -> Result<BTreeSet<Option<String>>, Failure> {
        let mut epochs = BTreeSet::new();
        for hand in &self.hands {
            let status = hand.handle.look(|machine, now, _| machine.upper.member.status(now)).await?;
            epochs.insert(status.epoch);
        }
        Ok(epochs)
    }

    /// Two halves are cut apart and have views of their own; from the end of the cut to one view.
    pub(crate) async fn merge(&mut self) -> Result<Duration, Failure> {
        self.quiet().await;
        let (half, size) = (self.size().div_ceil(2), self.size());
        let (left, right) = self.hands.split_at(half);
        for (here, there) in [(left, right), (right, left)] {
            let there: Vec<Locator> = there.iter().map(|hand| hand.at).collect();
            here.iter().for_each(|hand| hand.faults.cut(there.iter().copied()));
        }
        let (one, other) = (self.ids(0..half), self.ids(half..size));
        // Views of both sides come mixed: each counts for its own.
        let mut missing: BTreeSet<MemberId> = self.ids(0..size);
        while !missing.is_empty() {
            if let (member, Seen::View(view)) = self.next().await?
                && (view == one || view == other)
            {
                missing.remove(&member);
            }
        }
        self.quiet().await;
        let (all, began) = (self.ids(0..size), Instant::now());
        self.hands.iter().for_each(|hand| hand.faults.heal());
        self.expect(&all, &all).await?;
        Ok(began.elapsed())
    }

    /// From sending one message to hearing it oneself, with nothing else on the ring.
    pub(crate) async fn echo(&mut self, service: Service) -> Result<Duration, Failure> {
        self.quiet().await;
        let Some(hand) = self.hands.first() else { return Ok(Duration::ZERO) };
        let (id, session, began) = (hand.id, hand.session.clone(), Instant::now());
        session.send(service, "echo").await?;
        loop {
            if let (one, Seen::Heard) = self.next().await?
                && one == id
            {
                return Ok(began.elapsed());
            }
        }
    }
}

/// Starts the member's event loop.
async fn hire(mut moot: Folkmoot, tell: mpsc::Sender<(MemberId, Seen)>) -> Result<Hand, Failure> {
    let session = moot.join().await?;
    let (id, at, handle, faults) = (moot.me(), moot.locator(), moot.handle(), moot.faults());
    tokio::spawn(async move {
        while let Ok(Some(event)) = moot.next().await {
            let seen = match event {
                Event::View { members, .. } => Seen::View(members.into_iter().collect()),
                Event::Message { .. } => Seen::Heard,
                _ => continue,
            };
            if tell.send((id, seen)).await.is_err() {
                return;
            }
        }
    });
    Ok(Hand { id, at, session, handle, faults })
}

fn identities(size: usize) -> Result<Vec<Identity>, Failure> {
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let now = wall_clock().0;
    let (from, to) = (UnixTime(now.saturating_sub(3_600)), UnixTime(now.saturating_add(DAY_SECONDS)));
    (0..size)
        .map(|number| Identity::new(&format!("n{number}"), &mut entropy, from, to).map_err(Failure::bug))
        .collect()
}

fn charter(module: ModuleName, people: &[Identity]) -> Result<SignedCharter, Failure> {
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let name = GroupName::new("bench").map_err(Failure::bug)?;
    let classical = match module {
        ModuleName::CkdHybrid => ModuleName::Ckd,
        ModuleName::MlsHybrid => ModuleName::Mls,
        other => other,
    };
    let draft = CharterDraft {
        keying: Keying::Module(classical),
        hybrid: module.is_hybrid(),
        ..CharterDraft::new(name, 1, founders, &mut entropy)
    };
    SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>()).map_err(Failure::bug)
}
