//! A dealer, for each scheme whose members hold shares of one key: its secret as it is stored, and
//! what it sends.
//!
//! ```text
//! input of a check = scheme u8, length u16 of the public part, public part, share
//! ```

use crate::script::{Dice, script, steps};
use crate::world::world;
use folkmoot_base::Secret;
use folkmoot_signing::Scheme;
use folkmoot_signing::shared::{self, Dealt};
use std::sync::OnceLock;

const SCHEMES: [Scheme; 3] = [Scheme::TsDsa, Scheme::Frost, Scheme::Shoup];
const PRIMES: &str = include_str!("../../../protocol/signing/tests/data/safe-primes.txt");

fn secrets() -> &'static [Secret<Vec<u8>>; 3] {
    static SECRETS: OnceLock<[Secret<Vec<u8>>; 3]> = OnceLock::new();
    SECRETS.get_or_init(|| {
        let drawn = |scheme| shared::draw_secret(scheme, &mut Dice(21)).expect("a scheme with a dealer");
        [drawn(Scheme::TsDsa), drawn(Scheme::Frost), primes()]
    })
}

/// Shoup's secret: version, bits, p, q, the larger prime first.
fn primes() -> Secret<Vec<u8>> {
    let line = PRIMES.lines().find(|line| line.starts_with("2048 ")).expect("a stored key");
    let unhex = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
    };
    let mut words: Vec<Vec<u8>> = line.split(' ').skip(1).map(unhex).collect();
    words.sort();
    Secret::new([&[1, 8, 0], words[1].as_slice(), &words[0]].concat())
}

/// 2 of 3 founders.
fn dealt() -> &'static [Dealt; 3] {
    static DEALT: OnceLock<[Dealt; 3]> = OnceLock::new();
    DEALT.get_or_init(|| {
        [0, 1, 2].map(|at| {
            let members = world().members();
            shared::deal(SCHEMES[at], &secrets()[at], 2, &members, &mut Dice(22)).expect("two of three")
        })
    })
}

/// Signing: what a dealer keeps. A secret that is read deals shares that fit, of its key.
pub fn dealer_secret(data: &[u8]) {
    let secret = Secret::new(data.to_vec());
    let members = world().members();
    for (at, scheme) in SCHEMES.into_iter().enumerate() {
        let Ok(key) = shared::public_key(scheme, &secret) else {
            assert!(
                shared::deal(scheme, &secret, 2, &members, &mut Dice(23)).is_err(),
                "a secret without a key"
            );
            continue;
        };
        assert_eq!(key == shared::public_key(scheme, &secrets()[at]).expect("ours"), secret == secrets()[at]);
        let dealt = shared::deal(scheme, &secret, 2, &members, &mut Dice(23)).expect("two of three");
        assert_eq!(shared::facts(scheme, &dealt.public).expect("a sharing").key, key);
        for (holder, share) in &dealt.shares {
            assert_eq!(shared::check_share(scheme, &dealt.public, holder, share), Ok(()));
        }
    }
}

/// Signing: what a holder is sent. In the true sharing no share but its own passes; what passes in
/// another one is of a sharing that names it.
pub fn dealer_share(data: &[u8]) {
    let me = world().members()[0];
    let mut words = steps(data);
    let (Some((scheme, public)), Some((_, share))) = (words.next(), words.next()) else { return };
    let at = usize::from(scheme) % 3;
    let (scheme, ours) = (SCHEMES[at], &dealt()[at]);
    let share = Secret::new(share.to_vec());
    let own = ours.shares.iter().find(|(holder, _)| *holder == me).expect("a founder");
    assert_eq!(shared::check_share(scheme, &ours.public, &me, &share).is_ok(), share == own.1);
    let facts = shared::facts(scheme, public);
    if shared::check_share(scheme, public, &me, &share).is_ok() {
        assert!(facts.expect("what a share fits is a sharing").holders.contains(&me));
    }
}

/// Seeds: each secret; each sharing with a share of it, and with another's.
pub(crate) fn dealer_seeds() -> [Vec<Vec<u8>>; 2] {
    let kept = secrets().iter().map(|secret| secret.expose().clone()).collect();
    let mut sent = Vec::new();
    for (scheme, dealt) in (0_u8..).zip(dealt()) {
        for (_, share) in &dealt.shares[..2] {
            sent.push(script([(scheme, &dealt.public), (0, share.expose())]));
        }
    }
    [kept, sent]
}
