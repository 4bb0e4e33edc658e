//! What breaks multisignatures as published: carried out against weak builds that exist only here,
//! and in vain against ours.
//!
//! Each weak build differs from ours in one thing: it counts keys without proof, or tells R at
//! once. Hashes, messages and group are ours, so our own verifier judges a forgery against them.

use crate::asm_help::{
    CONTEXT, Club, Element, Hands, LABEL, MESSAGE, R, Scalar, announcement, challenge, commitment, number,
    public, put_together,
};
use crate::common::{Seed, member, run_id};
use folkmoot_base::MemberId;
use folkmoot_signing::asm::{AsmError, MultiSignature, SecretKey};
use folkmoot_signing::{Fault, FaultKind, Incoming, Next, PrimeGroup};
use std::collections::BTreeMap;

/// What nobody ever signs.
const FORGED: &[u8] = b"expel everybody";

fn sum<'a>(elements: impl IntoIterator<Item = &'a Element>) -> Element {
    elements.into_iter().fold(R::identity(), |sum, element| R::add(&sum, element))
}

/// The published verification: s·G = R + c·Y over keys as they were announced, whoever knows their
/// secrets.
fn published(keys: &[(MemberId, Element)], message: &[u8], element: &Element, answer: &Scalar) -> bool {
    let all = sum(keys.iter().map(|(_, key)| key));
    let c = challenge(keys, message, element);
    R::raise_generator(answer) == R::add(element, &R::raise(&all, &c))
}

#[test]
fn a_rogue_key_signs_in_its_victims_name_where_keys_need_no_proof() {
    let victim = SecretKey::<R>::generate(&mut Seed(1));
    let x = R::draw(&mut Seed(2));
    let rogue = R::add(&R::raise_generator(&x), &R::raise(&public(&victim, member(1)), &R::minus(R::one())));
    let keys = [(member(1), public(&victim, member(1))), (member(2), rogue)];
    let r = R::draw(&mut Seed(3));
    let element = R::raise_generator(&r);
    let answer = R::plus(r, R::times(challenge(&keys, FORGED, &element), x));
    assert!(published(&keys, FORGED, &element, &answer), "by the rogue alone");
}

#[test]
fn a_rogue_key_is_refused_where_keys_are_proven() {
    let victim = SecretKey::<R>::generate(&mut Seed(1));
    let announced = victim.announce(member(1), CONTEXT, &mut Seed(8));
    let victims = announced.encode();
    let x = R::draw(&mut Seed(2));
    let rogue = R::add(&R::raise_generator(&x), &R::raise(&public(&victim, member(1)), &R::minus(R::one())));
    let mut tries = Vec::new();
    // The proof of x, which is not the rogue key's secret.
    let honest = SecretKey::<R>::decode(&[&[1], &R::encode_scalar(&x)[..]].concat()).unwrap();
    let of_x = honest.announce(member(2), CONTEXT, &mut Seed(9)).encode();
    let read = |bytes: &[u8]| (R::decode(&bytes[33..65]).unwrap(), R::decode_scalar(&bytes[65..]).unwrap());
    let (element, answer) = read(&of_x);
    tries.push((rogue, element, answer));
    // The victim's proof, beside the rogue key and beside the victim's own, taken over whole.
    let (element, answer) = read(&victims);
    tries.push((rogue, element, answer));
    tries.push((public(&victim, member(1)), element, answer));
    // The two proofs together, as the keys are.
    let (first, second) = (read(&of_x), read(&victims));
    let minus = R::raise(&second.0, &R::minus(R::one()));
    tries.push((rogue, R::add(&first.0, &minus), R::plus(first.1, R::minus(second.1))));
    // The answer first, and R made to fit a guessed challenge.
    let mut seed = Seed(1 << 40);
    for _ in 0..200 {
        let (guess, answer) = (R::draw(&mut seed), R::draw(&mut seed));
        let element = R::raise_many(&[(answer, R::raise_generator(&R::one())), (R::minus(guess), rogue)]);
        tries.push((rogue, element, answer));
    }
    for (key, element, answer) in tries {
        let verdict = announcement(&key, &element, &answer).check(member(2), CONTEXT);
        assert_eq!(verdict.unwrap_err(), AsmError::PeerProof);
    }
    // So it stands in nobody's list of proven keys, and the forgery above does not get as far as
    // its equation.
    let proven = announced.check(member(1), CONTEXT).unwrap();
    let mut signers = [member(1), member(2)];
    signers.sort();
    let forged = put_together(&R::raise_generator(&x), &x, &signers);
    let known = |hand: &MemberId| (*hand == member(1)).then_some(proven);
    assert_eq!(forged.verify(LABEL, FORGED, known), Err(AsmError::PeerSigners));
}

/// ⌈log2 q⌉: so many open sessions suffice.
const SESSIONS: usize = 253;

/// An honest signer, in many sessions at once with the one other signer, who lies.
trait Door {
    /// Opens a session. The other signer has to say beforehand what it will show; some builds
    /// ignore it.
    fn open(&mut self, session: usize, promised: &Element) -> Element;
    /// What the honest signer answers, once, when the other shows `shown`.
    fn answer(&mut self, session: usize, shown: &Element) -> Result<Scalar, Fault>;
}

/// As published: R is told to anyone who asks.
struct TwoRounds {
    secret: Scalar,
    keys: Vec<(MemberId, Element)>,
    nonces: BTreeMap<usize, Scalar>,
}

impl Door for TwoRounds {
    fn open(&mut self, session: usize, _: &Element) -> Element {
        let nonce = R::draw(&mut Seed((session as u64 + 500) << 32));
        self.nonces.insert(session, nonce);
        R::raise_generator(&nonce)
    }

    fn answer(&mut self, session: usize, shown: &Element) -> Result<Scalar, Fault> {
        let nonce = self.nonces.remove(&session).expect("one answer for each nonce");
        let all = R::add(&R::raise_generator(&nonce), shown);
        Ok(R::plus(nonce, R::times(challenge(&self.keys, MESSAGE, &all), self.secret)))
    }
}

/// As built: the honest signers are ours.
struct ThreeRounds<'a> {
    club: &'a Club,
    honest: MemberId,
    liar: MemberId,
    tables: Vec<Hands>,
    shown: Vec<Element>,
}

impl ThreeRounds<'_> {
    /// One round: what the honest signer said before, and what the liar says now.
    fn hear(
        &mut self,
        session: usize,
        own: Vec<u8>,
        theirs: Vec<u8>,
    ) -> Result<Next<MultiSignature<R>>, Fault> {
        let to_all = BTreeMap::from([(self.honest, own), (self.liar, theirs)]);
        let run = self.tables[session].get_mut(&self.honest).unwrap();
        run.hear(Incoming { to_all, to_me: BTreeMap::new() }, &mut Seed(0))
    }
}

fn words(next: Next<MultiSignature<R>>) -> Vec<u8> {
    match next {
        Next::Say(said) => said.to_all,
        Next::Done(_) => panic!("not the last round"),
    }
}

impl Door for ThreeRounds<'_> {
    fn open(&mut self, session: usize, promised: &Element) -> Element {
        self.tables.push(self.club.hands(session as u64, MESSAGE));
        let run = self.tables[session].get_mut(&self.honest).unwrap();
        let own = words(run.start(&mut Seed((session as u64 + 500) << 32)));
        let signers = self.club.members();
        let promise = commitment(self.club, &signers, run_id(session as u64), MESSAGE, &self.liar, promised);
        let shown = R::decode(&words(self.hear(session, own, promise).unwrap())).unwrap();
        self.shown.push(shown);
        shown
    }

    fn answer(&mut self, session: usize, shown: &Element) -> Result<Scalar, Fault> {
        let own = R::encode(&self.shown[session]);
        let next = self.hear(session, own, R::encode(shown))?;
        Ok(R::decode_scalar(&words(next)).unwrap())
    }
}

/// The attack on ROS (Benhamouda, Lepoint, Loss, Orrù, Raykova, EUROCRYPT 2021), by the signer
/// `liar` against its one fellow.
///
/// In each open session i the liar can still choose between two elements, and so between challenges
/// c_i⁰ and c_i¹. The polynomial ρ(x_0, …) = Σ 2ⁱ (x_i − c_i⁰) / (c_i¹ − c_i⁰) is affine, takes
/// every value below 2^253 on such choices, and its linear part puts the honest R_i together to one
/// R* without a choice having been made. So: R*, then the challenge c* of the forged message, then
/// the choices for which the linear part comes to c*; with the answers the same sum gives the
/// honest signer's part of a signature with R*.
struct Ros {
    keys: Vec<(MemberId, Element)>,
    secret: Scalar,
    /// For each session: what the liar may show, and the challenge that follows.
    choices: Vec<[(Element, Scalar); 2]>,
    weights: Vec<Scalar>,
    /// R* and c*.
    target: (Element, Scalar),
}

impl Ros {
    fn open(door: &mut dyn Door, keys: Vec<(MemberId, Element)>, secret: Scalar, forged: &[u8]) -> Self {
        let mut seed = Seed(1 << 45);
        let (mut choices, mut terms) = (Vec::new(), Vec::new());
        let mut power = R::one();
        for session in 0..SESSIONS {
            let own = [R::draw(&mut seed), R::draw(&mut seed)].map(|number| R::raise_generator(&number));
            let shown = door.open(session, &own[0]);
            let pair = own.map(|own| (own, challenge(&keys, MESSAGE, &R::add(&shown, &own))));
            let apart = R::inverse(R::plus(pair[1].1, R::minus(pair[0].1))).unwrap();
            terms.push((R::times(power, apart), shown));
            choices.push(pair);
            power = R::plus(power, power);
        }
        let element = R::raise_many(&terms);
        let target = (element, challenge(&keys, forged, &element));
        Self { keys, secret, choices, weights: terms.iter().map(|(weight, _)| *weight).collect(), target }
    }

    /// Which of the two to show in each session, so that the weighted challenges come to c*.
    fn chosen(&self) -> Vec<usize> {
        let zeros = self.choices.iter().map(|pair| pair[0].1);
        let constant = self.weighted(zeros);
        let bits = R::encode_scalar(&R::plus(self.target.1, R::minus(constant)));
        (0..SESSIONS).map(|bit| usize::from(bits[bit / 8] >> (bit % 8) & 1)).collect()
    }

    fn weighted(&self, numbers: impl Iterator<Item = Scalar>) -> Scalar {
        let terms = self.weights.iter().zip(numbers);
        terms.fold(R::zero(), |sum, (weight, number)| R::plus(sum, R::times(*weight, number)))
    }

    /// The forgery: the weighted answers, and the liar's own part.
    fn forge(&self, answers: &[Scalar]) -> MultiSignature<R> {
        let own = R::times(self.target.1, self.secret);
        let answer = R::plus(self.weighted(answers.iter().copied()), own);
        let signers: Vec<MemberId> = self.keys.iter().map(|(signer, _)| *signer).collect();
        put_together(&self.target.0, &answer, &signers)
    }
}

/// Two members: the honest one, and the liar, whose key is properly proven.
fn pair() -> (Club, MemberId, MemberId) {
    let club = Club::new(2);
    let all = club.members();
    (club, all[0], all[1])
}

#[test]
fn many_open_runs_give_a_forgery_where_r_is_told_at_once() {
    let (club, honest, liar) = pair();
    let keys = club.public(&club.members());
    let secret = number(club.secret(&honest));
    let mut door = TwoRounds { secret, keys: keys.clone(), nonces: BTreeMap::new() };
    let ros = Ros::open(&mut door, keys, number(club.secret(&liar)), FORGED);
    let chosen = ros.chosen();
    let challenges = ros.choices.iter().zip(&chosen).map(|(pair, chosen)| pair[*chosen].1);
    assert!(ros.weighted(challenges) == ros.target.1, "the choices come to the forged challenge");
    let mut answers = Vec::new();
    for (session, chosen) in chosen.into_iter().enumerate() {
        answers.push(door.answer(session, &ros.choices[session][chosen].0).unwrap());
    }
    // The honest signer answered each session once, for MESSAGE. Our own verifier accepts a
    // signature that it never gave.
    assert_eq!(club.verify(FORGED, &ros.forge(&answers)), Ok(()));
}

/// The liar against our signers: it opens all runs, shows in each what `choose` says, and makes
/// what it can of the answers.
fn in_vain(choose: impl Fn(&Ros) -> Vec<usize>) -> (usize, usize) {
    let (club, honest, liar) = pair();
    let keys = club.public(&club.members());
    let mut door = ThreeRounds { club: &club, honest, liar, tables: Vec::new(), shown: Vec::new() };
    let ros = Ros::open(&mut door, keys, number(club.secret(&liar)), FORGED);
    let (mut answers, mut refused) = (Vec::new(), 0);
    for (session, chosen) in choose(&ros).into_iter().enumerate() {
        match door.answer(session, &ros.choices[session][chosen].0) {
            Ok(answer) => answers.push(answer),
            Err(fault) => {
                assert_eq!(fault, Fault { kind: FaultKind::PeerReveal, culprits: vec![liar] });
                assert_eq!(chosen, 1, "only what was not promised is refused");
                answers.push(R::zero());
                refused += 1;
            }
        }
    }
    assert_eq!(club.verify(FORGED, &ros.forge(&answers)), Err(AsmError::PeerSignature));
    // Nor another message with the same R*: its challenge is another, and the answers are what they
    // are.
    for other in 0_u32..200 {
        let message = format!("forgery {other}").into_bytes();
        let target = (ros.target.0, challenge(&ros.keys, &message, &ros.target.0));
        let other =
            Ros { target, keys: ros.keys.clone(), choices: Vec::new(), weights: ros.weights.clone(), ..ros };
        assert_eq!(club.verify(&message, &other.forge(&answers)), Err(AsmError::PeerSignature));
    }
    (SESSIONS - refused, refused)
}

#[test]
fn many_open_runs_give_no_forgery_where_r_is_committed_to() {
    let (answered, refused) = in_vain(Ros::chosen);
    assert!(refused > SESSIONS / 4, "about half of the choices break a promise: {refused}");
    assert!(answered > SESSIONS / 4, "about half keep it: {answered}");
    assert_eq!(in_vain(|_| vec![0; SESSIONS]), (SESSIONS, 0), "who keeps all promises has no choice left");
    assert_eq!(in_vain(|_| vec![1; SESSIONS]), (0, SESSIONS), "who keeps none has no answer");
}
