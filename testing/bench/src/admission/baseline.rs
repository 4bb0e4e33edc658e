//! What a join is compared with: the cryptography of its longest way, its ordered messages one
//! after the other, the records that must be on disk before anything follows, and the newcomer's
//! own link. Everything is measured in the run that measures the join.
//!
//! ```text
//! newcomer   makes and signs the request; disk          --datagram--> contact
//! contact    verifies it; disk                          ==request===> members
//! members    verify it; disk; voters sign; disk         ==vote======> members, who verify it
//! signers    (not plain) call, ready, participants, the run's rounds: each one ordered message, signed, verified by whom it concerns
//! contact    verifies the group's signature             --datagram--> newcomer
//! newcomer   (not with a shared key) verifies, makes its certificate; disk
//!
//! contact    in place of the last two: --datagram--> authority, verifies request and votes; disk --datagram--> contact
//! contact    verifies the authority's signature      --datagram--> newcomer, which verifies it; disk
//! ```

use super::case::{Case, Joined};
use super::group::Group;
use super::single::{LABEL, MESSAGE};
use crate::people::{People, Rules, approval};
use crate::price::median;
use folkmoot::UnixTime;
use folkmoot::tools::{Store, wall_clock};
use folkmoot_agreement::ModuleName;
use folkmoot_base::sealing::{Classic, OpeningKey, seal};
use folkmoot_base::{Entropy, Persist};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::{Gmc, GmcBody, Identity, Request, Vote, VoteProof};
use folkmoot_signing::{KeyAlgorithm, Mode, Scheme};
use folkmoot_transcript::Transcript;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;

/// How often each signature and verification is made; medians count.
const TIMES: usize = 21;
/// Bytes of a record, about a vote's.
const RECORD_BYTES: usize = 700;
const DAY_SECONDS: u64 = 86_400;
/// Longest wait for a datagram.
const PATIENCE: Duration = Duration::from_secs(5);

/// What each paper of a join costs, whatever the scheme.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Papers {
    /// The newcomer makes its request and signs it.
    pub(crate) ask: Duration,
    /// A member verifies it.
    pub(crate) read: Duration,
    /// A voter signs its vote.
    pub(crate) vote: Duration,
    /// A member verifies it.
    pub(crate) count: Duration,
    /// The newcomer makes its certificate of so many votes, and verifies them.
    pub(crate) close: Duration,
    /// A signer signs a word.
    pub(crate) say: Duration,
    /// A signer verifies one.
    pub(crate) hear: Duration,
    /// A signer seals a word to another, which opens it.
    pub(crate) whisper: Duration,
}

/// How long it took, and what came of it.
fn timed<T>(mut act: impl FnMut() -> Result<T, Failure>) -> Result<(Duration, T), Failure> {
    let mut all = Vec::new();
    for _ in 1..TIMES {
        let began = Instant::now();
        act()?;
        all.push(began.elapsed());
    }
    act().map(|last| (median(all), last))
}

impl Papers {
    /// Of a group in which so many votes admit, of members with such keys.
    pub(super) fn measure(
        votes: u16,
        keys: KeyAlgorithm,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, Failure> {
        let (module, scheme) = (ModuleName::Ckd, Scheme::Plain);
        let rules = Rules { module: Some(module), scheme, votes: votes.into(), central: None, keys };
        let people = People::new(&rules, votes.into(), Duration::from_secs(4))?;
        let (charter, group) = (people.charter.charter(), people.charter.charter().group());
        let now = wall_clock();
        let later = UnixTime(now.0.saturating_add(DAY_SECONDS));
        let guest = Identity::draw(keys, "guest", entropy, UnixTime(0), later).map_err(Failure::bug)?;
        let (ask, request) = timed(|| {
            let body = GmcBody::propose(charter, &guest, 5, now, entropy);
            Request::sign(&guest, body).map_err(Failure::bug)
        })?;
        let (read, _) = timed(|| Request::from_der(request.der()).map_err(Failure::bug))?;
        let founded = Transcript::founded(people.charter.der()).map_err(Failure::bug)?;
        let content = approval(group, founded.state().head(), request.digest(), later);
        let voter = people.identities.first().ok_or_else(|| Failure::bug("the group has no founders"))?;
        let (vote, cast) = timed(|| Vote::sign(voter, content).map_err(Failure::bug))?;
        let (count, _) = timed(|| Vote::from_der(cast.der()).map_err(Failure::bug))?;
        let proofs = people.identities.iter().map(|one| Vote::sign(one, content).map(|vote| vote.proof()));
        let proofs: Vec<VoteProof> = proofs.collect::<Result<_, _>>().map_err(Failure::bug)?;
        let key = |voter: &_| {
            let one = people.identities.iter().find(|one| one.member() == *voter);
            one.map(|one| one.certificate().key())
        };
        let (close, _) = timed(|| {
            let made = Gmc::compose(request.body(), &proofs, &guest).map_err(Failure::bug)?;
            made.check_authority_of(charter, proofs.len(), key).map_err(Failure::bug)
        })?;
        let (say, hear) = words(&guest)?;
        Ok(Self { ask, read, vote, count, close, say, hear, whisper: whispers(entropy)? })
    }

    /// What stands one after the other on the longest way of a join by this scheme, without the run
    /// itself. All members are on this machine: what many of them do at once takes as long as its
    /// processors need for it.
    pub(super) fn of(&self, case: &Case, alone: &Group, processors: u32) -> Duration {
        let at_once = |many: u32, each: Duration| each * many.div_ceil(processors.max(1));
        let (members, votes) = (u32::from(case.members), u32::from(case.votes));
        let asked = self.ask + self.read + at_once(members.saturating_sub(1), self.read);
        let voted =
            at_once(votes, self.vote) + at_once(votes.saturating_mul(members.saturating_sub(1)), self.count);
        if case.scheme == Scheme::Plain {
            let made =
                if case.mode == Mode::Centralised { self.granted(self.hear * votes) } else { self.close };
            return asked + voted + made;
        }
        let signers = u32::try_from(alone.signers).unwrap_or(u32::MAX);
        // Nobody has to verify its own word; the leader has verified who is ready when it gives
        // participants.
        let others = signers.saturating_sub(1);
        let to_all = self.say + at_once(members.saturating_sub(1), self.hear);
        let called = to_all + at_once(signers, self.say) + self.hear * others;
        let seated = to_all + at_once(others.saturating_mul(others), self.hear);
        let round = at_once(signers, self.say) + at_once(signers.saturating_mul(others), self.hear);
        let whispers = u32::try_from(alone.played.to_one).unwrap_or(u32::MAX);
        // The contact verifies the group's signature, and its certificate is whole as it comes. The
        // parts of a multisignature were verified in the run; the newcomer verifies the whole, and
        // makes its certificate of it, where the authority does not.
        let made = match (case.mode, case.scheme.shared()) {
            (Mode::Centralised, true) => alone.verify + self.granted(alone.verify),
            (Mode::Centralised, false) => self.granted(alone.verify),
            (Mode::Decentralised, true) => alone.verify,
            (Mode::Decentralised, false) => alone.verify + self.say,
        };
        let ran = round * alone.played.rounds + at_once(whispers, self.whisper);
        asked + voted + called + seated + ran + made
    }

    /// The authority verifies the request, its grounds and what it signs of them; contact and
    /// newcomer verify that.
    fn granted(&self, grounds: Duration) -> Duration {
        self.read + grounds + self.say + self.hear * 3
    }
}

fn words(one: &Identity) -> Result<(Duration, Duration), Failure> {
    let (say, signature) = timed(|| Ok(one.key().sign_wire(LABEL, MESSAGE)))?;
    let key = one.key().verifying_key();
    let (hear, ()) = timed(|| key.verify_wire(LABEL, MESSAGE, &signature).map_err(Failure::bug))?;
    Ok((say, hear))
}

fn whispers(entropy: &mut dyn Entropy) -> Result<Duration, Failure> {
    let key = OpeningKey::<Classic>::draw(entropy);
    let (took, _) = timed(|| {
        let sealed = seal::<Classic>(key.public(), LABEL, MESSAGE, entropy);
        let opened = sealed.and_then(|sealed| key.open(LABEL, &sealed));
        opened.ok_or_else(|| Failure::bug("a sealed message does not open"))
    })?;
    Ok(took)
}

/// The ordered messages that follow one another until there is a certificate: request and vote;
/// where a signing session is held its call, the answers, the participants and the run's own
/// rounds.
pub(super) fn steps(case: &Case, alone: &Group) -> u32 {
    let table = if case.scheme == Scheme::Plain { 0 } else { alone.played.rounds.saturating_add(3) };
    table.saturating_add(2)
}

/// What a join takes that waits for nothing else, each round for a round trip: whoever speaks in
/// it, the token comes by all.
pub(super) fn expected(cryptography: Duration, steps: u32, joined: &Joined) -> Duration {
    one_way(cryptography, steps, joined) + joined.round_trip.saturating_mul(steps) / 2
}

/// The same, each round for half of a round trip: no ring does it in less.
pub(super) fn one_way(cryptography: Duration, steps: u32, joined: &Joined) -> Duration {
    let ordered = joined.round_trip.saturating_mul(steps) / 2;
    cryptography + joined.together + ordered + joined.disk + joined.datagram
}

/// Links beside the ring on the way, each there and back: the newcomer's, and the authority's.
pub(super) fn links(case: &Case) -> u32 {
    if case.mode == Mode::Centralised { 2 } else { 1 }
}

/// What a join writes, in the order in which it waits for it.
pub(super) struct Disks {
    stores: Vec<Store>,
    /// How many write at once, one time after the other.
    order: Vec<usize>,
    written: u64,
}

impl Disks {
    /// As many stores in this folder as there are members.
    pub(super) fn open(folder: &Path, case: &Case) -> Result<Self, Failure> {
        let open = |number: u16| Store::open(&folder.join(format!("baseline{number}.sqlite")));
        let stores = (0..case.members).map(open).collect::<Result<Vec<_>, _>>();
        let stores = stores.map_err(|error| Failure::from(folkmoot::Error::Store(error)))?;
        let authority = (case.mode == Mode::Centralised).then_some(1);
        let to_the_votes = [1, 1, case.members.into(), case.votes.into()];
        let order = to_the_votes.into_iter().chain(authority).chain([1]).collect();
        Ok(Self { stores, order, written: 0 })
    }

    /// The newcomer's request, the contact's copy, the members' copies all at once, the voters'
    /// votes at once, what the authority issued if there is one, the certificate: until the disk
    /// has the last of each, for no member hands the token on before it has its own. All are on one
    /// disk here, as the members of the measured group are.
    pub(super) fn write(&mut self) -> Result<Duration, Failure> {
        let order = self.order.clone();
        order.into_iter().try_fold(Duration::ZERO, |took, count| Ok(took + self.commit(count)?))
    }

    /// One record to each of so many stores at once, until all have it.
    fn commit(&mut self, at_once: usize) -> Result<Duration, Failure> {
        self.written += 1;
        let record = Persist::put("vote", self.written.to_be_bytes().to_vec(), vec![0x5a; RECORD_BYTES]);
        let began = Instant::now();
        let each = self.stores.iter_mut().take(at_once);
        std::thread::scope(|scope| {
            let record = &record;
            let commit = |store: &mut Store| store.commit(std::slice::from_ref(record));
            let all: Vec<_> = each.map(|store| scope.spawn(move || commit(store))).collect();
            all.into_iter().try_for_each(|one| {
                let done = one.join().map_err(|_| Failure::bug("the thread of a store has panicked"))?;
                done.map_err(|error| Failure::from(folkmoot::Error::Store(error)))
            })
        })?;
        Ok(began.elapsed())
    }
}

/// A datagram there and back, to who waits for it on a thread of its own, as every member does.
pub(super) async fn datagram() -> Result<Duration, Failure> {
    let broken = |error: std::io::Error| Failure::new(Exit::Unreachable, error.to_string());
    let here = UdpSocket::bind(("127.0.0.1", 0)).await.map_err(broken)?;
    let there = std::net::UdpSocket::bind(("127.0.0.1", 0)).map_err(broken)?;
    there.set_read_timeout(Some(PATIENCE)).map_err(broken)?;
    here.connect(there.local_addr().map_err(broken)?).await.map_err(broken)?;
    there.connect(here.local_addr().map_err(broken)?).map_err(broken)?;
    let echo = std::thread::spawn(move || {
        let mut room = [0; RECORD_BYTES];
        let heard = there.recv(&mut room)?;
        there.send(room.get(..heard).unwrap_or_default())
    });
    // It has come to where it waits.
    tokio::time::sleep(Duration::from_millis(2)).await;
    let mut room = [0; RECORD_BYTES];
    let began = Instant::now();
    here.send(&room).await.map_err(broken)?;
    tokio::time::timeout(PATIENCE, here.recv(&mut room)).await.map_err(Failure::bug)?.map_err(broken)?;
    let took = began.elapsed();
    echo.join().map_err(|_| Failure::bug("the thread of an echo has panicked"))?.map_err(broken)?;
    Ok(took)
}
