//! The toy group of the published vectors, a scripted entropy, and helpers.

use folkmoot_agreement::PrimeGroup;
use folkmoot_agreement::gdh::{Context, Token};
use folkmoot_base::{Entropy, MemberId, Party, digest, draw};

/// Order 509 inside the integers modulo 1019, generator 4.
#[derive(Debug, Clone, Copy)]
pub struct Toy;

pub const P: u32 = 1019;
pub const Q: u32 = 509;

/// The sizes at which costs are counted, from `least` to 64. All small ones, and those about powers
/// of two, where trees change their shape; with FOLKMOOT_SIZES=all, as `cargo xtask release` has
/// it, every one.
pub fn sizes(least: u16) -> impl Iterator<Item = u16> {
    let all = std::env::var_os("FOLKMOOT_SIZES").is_some_and(|value| value == "all");
    (least..=64).filter(move |size| all || *size <= 18 || matches!(size, 31..=34 | 47 | 48 | 62..=64))
}

pub fn power(base: u32, exponent: u32, modulus: u32) -> u32 {
    (0..exponent).fold(1, |value, _| value * base % modulus)
}

impl PrimeGroup for Toy {
    type Element = u32;
    type Scalar = u32;
    const SCALAR_BYTES: usize = 2;
    const ELEMENT_BYTES: usize = 2;
    const NAME: &'static [u8] = b"toy";

    fn plus(left: u32, right: u32) -> u32 {
        (left + right) % Q
    }
    fn minus(scalar: u32) -> u32 {
        (Q - scalar) % Q
    }
    fn times(left: u32, right: u32) -> u32 {
        left * right % Q
    }
    fn inverse(scalar: u32) -> Option<u32> {
        (scalar != 0).then(|| power(scalar, Q - 2, Q))
    }
    fn zero() -> u32 {
        0
    }
    fn one() -> u32 {
        1
    }
    fn draw(entropy: &mut dyn Entropy) -> u32 {
        let scalar = u32::from(u16::from_be_bytes(draw(entropy))) % Q;
        if scalar == 0 { 1 } else { scalar }
    }
    fn from_wide(bytes: &[u8; 64]) -> u32 {
        bytes.iter().fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % Q)
    }
    fn to_scalar(label: &[u8], element: &u32) -> u32 {
        let scalar = match label {
            b"folkmoot element to exponent v1" => element % Q,
            _ => {
                let hash = digest(&[&Self::encode(element)]);
                hash.iter().fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % Q)
            }
        };
        if scalar == 0 { 1 } else { scalar }
    }
    fn encode_scalar(scalar: &u32) -> Vec<u8> {
        u16::try_from(*scalar).unwrap().to_be_bytes().to_vec()
    }
    fn decode_scalar(bytes: &[u8]) -> Option<u32> {
        let scalar = u32::from(u16::from_be_bytes(bytes.try_into().ok()?));
        (scalar < Q).then_some(scalar)
    }
    fn generator() -> u32 {
        4
    }
    fn raise(element: &u32, scalar: &u32) -> u32 {
        power(*element, *scalar, P)
    }
    fn add(left: &u32, right: &u32) -> u32 {
        left * right % P
    }
    fn negate(element: &u32) -> u32 {
        power(*element, P - 2, P)
    }
    fn identity() -> u32 {
        1
    }
    fn encode(element: &u32) -> Vec<u8> {
        u16::try_from(*element).unwrap().to_be_bytes().to_vec()
    }
    fn decode_any(bytes: &[u8]) -> Option<u32> {
        let element = u32::from(u16::from_be_bytes(bytes.try_into().ok()?));
        (element > 0 && element < P && power(element, Q, P) == 1).then_some(element)
    }
}

/// Hands out these shares, two bytes each.
pub struct Script(pub Vec<u16>);

impl Entropy for Script {
    fn fill(&mut self, out: &mut [u8]) {
        assert_eq!(out.len(), 2, "the toy group draws two bytes");
        out.copy_from_slice(&self.0.remove(0).to_be_bytes());
    }
}

pub fn share(value: u16) -> Script {
    Script(vec![value])
}

/// A seeded stream (splitmix64): no security, only repeatable.
pub struct Seeded(pub u64);

impl Seeded {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

impl Entropy for Seeded {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let bytes = self.next().to_be_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

/// A party for each number, in the order of the numbers. Two and two are of one member: whatever
/// tells participants apart by the member alone fails in every test.
pub fn member(number: u16) -> Party {
    let mut id = [0; 32];
    id[..2].copy_from_slice(&(number / 2).to_be_bytes());
    Party::new(MemberId(id), number % 2)
}

/// The toy values of a token.
pub fn values(token: &Token) -> Vec<u16> {
    token.values.iter().map(|value| u16::from_be_bytes(value.as_ref().try_into().unwrap())).collect()
}

pub fn toy_key(context: &Context<Toy>) -> u16 {
    u16::from_be_bytes(context.key().unwrap().expose().as_slice().try_into().unwrap())
}

/// A whole group, driven by the published operations.
pub struct Group<G: PrimeGroup> {
    pub contexts: Vec<Context<G>>,
    pub transcript: Vec<Token>,
}

impl<G: PrimeGroup> Group<G> {
    pub fn members(&self) -> Vec<Party> {
        self.contexts.last().unwrap().members().to_vec()
    }

    pub fn at(&mut self, member: Party) -> &mut Context<G> {
        self.contexts.iter_mut().find(|context| context.name() == member).unwrap()
    }

    pub fn update(&mut self, token: &Token) {
        let from = *token.members.last().unwrap();
        self.transcript.push(token.clone());
        for context in &mut self.contexts {
            context.update(from, token, &token.members).unwrap();
        }
    }

    pub fn one(first: Party, entropy: &mut dyn Entropy) -> Self {
        Self { contexts: vec![Context::first_member(first, entropy)], transcript: Vec::new() }
    }

    pub fn join(&mut self, joiner: Party, entropy: &mut dyn Entropy) {
        let mut members = self.members();
        let controller = *members.last().unwrap();
        let token = self.at(controller).process_join(joiner, entropy).unwrap();
        self.transcript.push(token.clone());
        members.push(joiner);
        let mut context = Context::new_member(joiner);
        let answer = context.join(controller, &token, &members, entropy).unwrap();
        self.contexts.push(context);
        self.update(&answer);
    }

    pub fn leave(&mut self, leavers: &[Party], entropy: &mut dyn Entropy) -> Vec<Context<G>> {
        let (gone, kept) = std::mem::take(&mut self.contexts)
            .into_iter()
            .partition(|context| leavers.contains(&context.name()));
        self.contexts = kept;
        let tokens: Vec<_> =
            self.contexts.iter_mut().filter_map(|context| context.leave(leavers, entropy).unwrap()).collect();
        assert_eq!(tokens.len(), 1, "only the controller has a token");
        self.update(&tokens[0]);
        gone
    }

    pub fn refresh(&mut self, entropy: &mut dyn Entropy) {
        let controller = *self.members().last().unwrap();
        let token = self.at(controller).refresh(entropy).unwrap();
        self.update(&token);
    }

    pub fn merge(&mut self, newcomers: &[Party], entropy: &mut dyn Entropy) {
        let controller = *self.members().last().unwrap();
        for context in &mut self.contexts {
            if context.name() != controller {
                context.merge_expect(newcomers).unwrap();
            }
        }
        let mut token = self.at(controller).merge_start(newcomers, entropy).unwrap();
        let members = token.members.clone();
        let mut from = controller;
        for newcomer in newcomers {
            self.transcript.push(token.clone());
            let mut context = Context::new_member(*newcomer);
            token = context.mass_join(from, &token, &members, entropy).unwrap();
            self.contexts.push(context);
            from = *newcomer;
        }
        self.finish_merge(&token, from);
    }

    pub fn initial_merge_pattern(members: &[Party], entropy: &mut dyn Entropy) -> Self {
        let mut first = Context::new_member(members[0]);
        let mut token = first.mass_join_first(members, entropy).unwrap();
        let mut group = Self { contexts: vec![first], transcript: Vec::new() };
        let mut from = members[0];
        for member in &members[1..] {
            group.transcript.push(token.clone());
            let mut context = Context::new_member(*member);
            token = context.mass_join(from, &token, members, entropy).unwrap();
            group.contexts.push(context);
            from = *member;
        }
        group.finish_merge(&token, from);
        group
    }

    fn finish_merge(&mut self, token: &Token, last: Party) {
        self.transcript.push(token.clone());
        let members = token.members.clone();
        let mut list = None;
        for member in &members[..members.len() - 1] {
            let out = self.at(*member).factor_out(last, token).unwrap();
            self.transcript.push(out.clone());
            list = self.at(last).collect(*member, &out).unwrap();
        }
        self.update(&list.unwrap());
    }

    pub fn keys_equal(&self) -> Vec<u8> {
        let keys: Vec<_> =
            self.contexts.iter().map(|context| context.key().unwrap().expose().clone()).collect();
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "members differ on the key");
        keys[0].clone()
    }
}
