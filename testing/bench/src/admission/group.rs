//! Several signers make one signature, and one verifier verifies it: the shape of Tables 5 and 7 of
//! Saxena, Tsudik and Yi (2003).

use super::play::{Played, Signer, play, play_together};
use super::single::{LABEL, MESSAGE, OneSigner};
use crate::meter::worked;
use crate::price::median;
use folkmoot::MemberId;
use folkmoot_base::{Digest, Entropy, Secret, digest, draw, unhex};
use folkmoot_cli::exit::Failure;
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::rsa::{EXPONENT, ModulusSize, RsaPublicKey};
use folkmoot_signing::shoup::{Dealer, DealerTerm, ShoupSign};
use folkmoot_signing::{
    Edwards, KeyAlgorithm, P256, PrimeGroup, Ristretto, RunId, Scheme, asm, frost, sharing, ts_dsa,
};
use folkmoot_study::ts_rsa::{Subject, TsRsaDealer, TsRsaSign, hashed_place};
use std::collections::BTreeMap;
use std::time::Duration;

/// Safe primes that are public, with the tests of threshold RSA: to find others takes minutes, and
/// these protect nothing.
const PRIMES: &str = include_str!("../../../../protocol/signing/tests/data/safe-primes.txt");

/// What signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    PlainRsa2048,
    PlainRsa3072,
    PlainEcdsa,
    TsRsa(ModulusSize),
    Shoup(ModulusSize),
    TsDsa,
    /// Over ristretto255, as 2003's Schnorr over its own group.
    Asm,
    /// Over P-256: by members' own keys, as charters have it.
    AsmP256,
    Frost,
}

impl Kind {
    /// Everything that is measured, in the order of the table.
    pub(crate) const ALL: [Self; 12] = [
        Self::PlainRsa2048,
        Self::PlainRsa3072,
        Self::PlainEcdsa,
        Self::TsRsa(ModulusSize::Bits1024(ForStudy)),
        Self::TsRsa(ModulusSize::Bits2048),
        Self::TsRsa(ModulusSize::Bits3072),
        Self::Shoup(ModulusSize::Bits1024(ForStudy)),
        Self::Shoup(ModulusSize::Bits2048),
        Self::Shoup(ModulusSize::Bits3072),
        Self::TsDsa,
        Self::Asm,
        Self::Frost,
    ];

    /// What a charter's scheme signs with here; none if no charter names it.
    pub(crate) fn of_charter(scheme: Scheme, keys: KeyAlgorithm) -> Option<Self> {
        match scheme {
            Scheme::Plain => match keys {
                KeyAlgorithm::P256 => Some(Self::PlainEcdsa),
                KeyAlgorithm::Rsa2048 => Some(Self::PlainRsa2048),
                KeyAlgorithm::Rsa3072 => Some(Self::PlainRsa3072),
                KeyAlgorithm::Ed25519 => None,
            },
            Scheme::TsDsa => Some(Self::TsDsa),
            Scheme::Frost => Some(Self::Frost),
            Scheme::Asm => Some(Self::AsmP256),
            Scheme::Shoup => Some(Self::Shoup(ModulusSize::Bits2048)),
            Scheme::TsRsa => None,
        }
    }

    pub(crate) fn scheme(self) -> Scheme {
        match self {
            Self::PlainRsa2048 | Self::PlainRsa3072 | Self::PlainEcdsa => Scheme::Plain,
            Self::TsRsa(_) => Scheme::TsRsa,
            Self::Shoup(_) => Scheme::Shoup,
            Self::TsDsa => Scheme::TsDsa,
            Self::Asm | Self::AsmP256 => Scheme::Asm,
            Self::Frost => Scheme::Frost,
        }
    }

    pub(crate) fn key(self) -> String {
        match self {
            Self::PlainRsa2048 => "RSA 2048".to_owned(),
            Self::PlainRsa3072 => "RSA 3072".to_owned(),
            Self::AsmP256 => "Schnorr P-256".to_owned(),
            Self::PlainEcdsa | Self::TsDsa => "ECDSA P-256".to_owned(),
            Self::TsRsa(size) | Self::Shoup(size) => format!("RSA {}", size.bits()),
            Self::Asm => "Schnorr ristretto255".to_owned(),
            Self::Frost => "Ed25519".to_owned(),
        }
    }
}

/// One row: medians of the times; counts are the same in every run.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    pub(crate) threshold: u16,
    pub(crate) signers: usize,
    pub(crate) played: Played,
    pub(crate) verify: Duration,
}

/// One run and one verification.
type Once = Box<dyn FnMut(&mut dyn Entropy) -> Result<(Played, Duration), Failure>>;
/// One run with all signers at once: wall time.
type AtOnce = Box<dyn FnMut(&mut dyn Entropy) -> Result<Duration, Failure>>;

/// What the signers of a charter's scheme work at once, each on a thread of its own; nothing where
/// each signs for itself.
pub(crate) fn together(scheme: Scheme, threshold: u16, entropy: &mut dyn Entropy) -> Result<AtOnce, Failure> {
    let signers = members(scheme.signers(usize::from(threshold)));
    match scheme {
        Scheme::Plain | Scheme::TsRsa => Ok(Box::new(|_| Ok(Duration::ZERO))),
        Scheme::Shoup => {
            let dealt = dealer(ModulusSize::Bits2048)?.deal(threshold, threshold, &signers, entropy);
            let dealt = dealt.map_err(Failure::bug)?;
            let (sharing, shares) = (dealt.sharing, dealt.shares);
            let shares: BTreeMap<MemberId, _> = signers.iter().copied().zip(shares).collect();
            Ok(Box::new(move |entropy| {
                let run = run(entropy);
                let sit = |me: &MemberId| {
                    seated(ShoupSign::new(&sharing, of(&shares, me)?, &signers, run, MESSAGE))
                };
                play_together(&signers, sit, entropy)
            }))
        }
        Scheme::TsDsa => {
            let hands_of = TsDsaSigners::deal(threshold, signers, entropy)?;
            let kept = hands_of.sharing.encode();
            Ok(Box::new(move |entropy| {
                let (run, message) = (run(entropy), digest(&[MESSAGE]));
                // As a member does, which keeps the sharing's bytes.
                let sit = |me: &MemberId| {
                    let sharing = sharing::Sharing::decode(&kept).map_err(Failure::bug)?;
                    hands_of.sit_with(&sharing, me, run, message)
                };
                play_together(&hands_of.signers, sit, entropy)
            }))
        }
        Scheme::Asm => {
            let hands_of = AsmSigners::<P256>::draw(signers, entropy)?;
            Ok(Box::new(move |entropy| {
                let run = run(entropy);
                play_together(&hands_of.signers, |me| hands_of.sit(me, run), entropy)
            }))
        }
        Scheme::Frost => {
            let dealt = frost::deal(&Edwards::draw(entropy), &signers, threshold.into(), entropy);
            let (sharing, shares) = dealt.map_err(Failure::bug)?;
            Ok(Box::new(move |entropy| {
                let run = run(entropy);
                let sit = |me: &MemberId| {
                    let sharing = frost::FrostSharing::decode(&sharing.encode()).map_err(Failure::bug)?;
                    seated(frost::Sign::new(run, &sharing, of(&shares, me)?, &signers, MESSAGE))
                };
                play_together(&signers, sit, entropy)
            }))
        }
    }
}

/// Those who share a P-256 key.
struct TsDsaSigners {
    signers: Vec<MemberId>,
    sharing: sharing::Sharing<P256>,
    shares: BTreeMap<MemberId, sharing::Share<P256>>,
}

impl TsDsaSigners {
    fn deal(threshold: u16, signers: Vec<MemberId>, entropy: &mut dyn Entropy) -> Result<Self, Failure> {
        let secret = P256::draw(entropy);
        let dealt = sharing::deal::<P256>(&secret, &signers, threshold.into(), entropy);
        let (sharing, shares) = dealt.map_err(Failure::bug)?;
        Ok(Self { signers, sharing, shares })
    }

    fn sit(
        &self,
        me: &MemberId,
        run: RunId,
        message: Digest,
    ) -> Result<Signer<<ts_dsa::Signing<P256> as folkmoot_signing::Run>::Done>, Failure> {
        self.sit_with(&self.sharing, me, run, message)
    }

    fn sit_with(
        &self,
        sharing: &sharing::Sharing<P256>,
        me: &MemberId,
        run: RunId,
        message: Digest,
    ) -> Result<Signer<<ts_dsa::Signing<P256> as folkmoot_signing::Run>::Done>, Failure> {
        seated(ts_dsa::Signing::new(run, *me, sharing, of(&self.shares, me)?, &self.signers, message))
    }
}

/// Those who sign each with its own key.
struct AsmSigners<G: PrimeGroup> {
    signers: Vec<MemberId>,
    secrets: BTreeMap<MemberId, asm::SecretKey<G>>,
    keys: BTreeMap<MemberId, asm::ProvenKey<G>>,
    all_keys: asm::Signers<G>,
}

impl<G: PrimeGroup> AsmSigners<G> {
    fn draw(signers: Vec<MemberId>, entropy: &mut dyn Entropy) -> Result<Self, Failure> {
        let (mut secrets, mut keys) = (BTreeMap::new(), BTreeMap::new());
        for signer in &signers {
            let secret = asm::SecretKey::<G>::generate(entropy);
            let announced = secret.announce(*signer, LABEL, entropy);
            keys.insert(*signer, announced.check(*signer, LABEL).map_err(Failure::bug)?);
            secrets.insert(*signer, secret);
        }
        let all_keys = asm::Signers::new(keys.values().copied().collect()).map_err(Failure::bug)?;
        Ok(Self { signers, secrets, keys, all_keys })
    }

    fn sit(
        &self,
        me: &MemberId,
        run: RunId,
    ) -> Result<Signer<<asm::Signing<G> as folkmoot_signing::Run>::Done>, Failure> {
        let secret = of(&self.secrets, me)?;
        seated(asm::Signing::new(run, *me, secret, self.all_keys.clone(), LABEL, MESSAGE))
    }
}

/// As many runs as asked for, after one that is not counted.
pub(crate) fn measure(
    kind: Kind,
    threshold: u16,
    runs: u16,
    entropy: &mut dyn Entropy,
) -> Result<Group, Failure> {
    let signers = members(kind.scheme().signers(usize::from(threshold)));
    let mut once = prepare(kind, threshold, &signers, entropy)?;
    let (first, _) = once(entropy)?;
    let all = (0..runs).map(|_| once(entropy)).collect::<Result<Vec<_>, Failure>>()?;
    let middle = |of: fn(&(Played, Duration)) -> Duration| median(all.iter().map(of).collect());
    let played = Played {
        all: middle(|(played, _)| played.all),
        busiest: middle(|(played, _)| played.busiest),
        ..first
    };
    Ok(Group { kind, threshold, signers: signers.len(), played, verify: middle(|(_, verify)| *verify) })
}

fn members(count: usize) -> Vec<MemberId> {
    let mut all: Vec<MemberId> =
        (0..count).map(|number| MemberId(digest(&[&number.to_be_bytes()]))).collect();
    all.sort_unstable();
    all
}

fn prepare(
    kind: Kind,
    threshold: u16,
    signers: &[MemberId],
    entropy: &mut dyn Entropy,
) -> Result<Once, Failure> {
    let signers = signers.to_vec();
    match kind {
        Kind::PlainRsa2048 => Ok(plain(OneSigner::rsa_2048()?, threshold)),
        Kind::PlainRsa3072 => Ok(plain(OneSigner::rsa_3072()?, threshold)),
        Kind::PlainEcdsa => Ok(plain(OneSigner::ecdsa(entropy), threshold)),
        Kind::TsRsa(size) => ts_rsa(size, threshold, signers, entropy),
        Kind::Shoup(size) => shoup(size, threshold, signers, entropy),
        Kind::TsDsa => ts_dsa(threshold, signers, entropy),
        Kind::Asm => asm::<Ristretto>(signers, entropy),
        Kind::AsmP256 => asm::<P256>(signers, entropy),
        Kind::Frost => frost(threshold, signers, entropy),
    }
}

/// Each signer signs for itself, once, and whoever verifies does so as often.
fn plain(signer: OneSigner, threshold: u16) -> Once {
    Box::new(move |_| {
        let mut played = Played { rounds: 1, to_all: threshold.into(), ..Played::default() };
        let mut verified = Duration::ZERO;
        for _ in 0..threshold {
            let (sign, verify) = signer.once()?;
            played = played.with(sign);
            verified += verify;
        }
        Ok((played, verified))
    })
}

fn ts_rsa(
    size: ModulusSize,
    threshold: u16,
    signers: Vec<MemberId>,
    entropy: &mut dyn Entropy,
) -> Result<Once, Failure> {
    let (p, q) = primes(size)?;
    let key = dealer(size)?.key().clone();
    let dealt = TsRsaDealer::new(&p, &q, EXPONENT, hashed_place, ForStudy)
        .and_then(|dealer| dealer.deal(threshold, &signers, entropy));
    let (sharing, shares) = dealt.ok_or_else(|| Failure::bug("a key cannot be dealt"))?;
    let shares: BTreeMap<MemberId, _> = signers.iter().copied().zip(shares).collect();
    Ok(Box::new(move |entropy| {
        let sit = |me: &MemberId| {
            let subject = Subject::Message(MESSAGE);
            let run = TsRsaSign::new(&sharing, of(&shares, me)?, *me, &signers, true, subject, ForStudy);
            seated(run)
        };
        let (played, offset) = play(&signers, sit, entropy)?;
        Ok((played, verified_rsa(&key, &offset.signature)?))
    }))
}

fn shoup(
    size: ModulusSize,
    threshold: u16,
    signers: Vec<MemberId>,
    entropy: &mut dyn Entropy,
) -> Result<Once, Failure> {
    let dealt = dealer(size)?.deal(threshold, threshold, &signers, entropy).map_err(Failure::bug)?;
    let shares: BTreeMap<MemberId, _> = signers.iter().copied().zip(dealt.shares).collect();
    let sharing = dealt.sharing;
    Ok(Box::new(move |entropy| {
        let run = run(entropy);
        let sit = |me: &MemberId| seated(ShoupSign::new(&sharing, of(&shares, me)?, &signers, run, MESSAGE));
        let (played, signature) = play(&signers, sit, entropy)?;
        Ok((played, verified_rsa(sharing.key(), &signature)?))
    }))
}

fn ts_dsa(threshold: u16, signers: Vec<MemberId>, entropy: &mut dyn Entropy) -> Result<Once, Failure> {
    let dealt = TsDsaSigners::deal(threshold, signers, entropy)?;
    let key = dealt.sharing.verifying_key().map_err(Failure::bug)?;
    Ok(Box::new(move |entropy| {
        let (run, message) = (run(entropy), digest(&[MESSAGE]));
        let (played, signed) = play(&dealt.signers, |me| dealt.sit(me, run, message), entropy)?;
        let signature = signed.signature().map_err(Failure::bug)?;
        let (verify, good) = worked(|| key.verify_raw(MESSAGE, &signature));
        good.map_err(Failure::bug).map(|()| (played, verify))
    }))
}

fn asm<G: PrimeGroup>(signers: Vec<MemberId>, entropy: &mut dyn Entropy) -> Result<Once, Failure> {
    let drawn = AsmSigners::<G>::draw(signers, entropy)?;
    Ok(Box::new(move |entropy| {
        let run = run(entropy);
        let (played, signature) = play(&drawn.signers, |me| drawn.sit(me, run), entropy)?;
        let keys = |member: &MemberId| drawn.keys.get(member).copied();
        let (verify, good) = worked(|| signature.verify(LABEL, MESSAGE, keys));
        good.map_err(Failure::bug).map(|()| (played, verify))
    }))
}

fn frost(threshold: u16, signers: Vec<MemberId>, entropy: &mut dyn Entropy) -> Result<Once, Failure> {
    let dealt = frost::deal(&Edwards::draw(entropy), &signers, threshold.into(), entropy);
    let (sharing, shares) = dealt.map_err(Failure::bug)?;
    let key = sharing.key().map_err(Failure::bug)?;
    Ok(Box::new(move |entropy| {
        let run = run(entropy);
        let sit =
            |me: &MemberId| seated(frost::Sign::new(run, &sharing, of(&shares, me)?, &signers, MESSAGE));
        let (played, signature) = play(&signers, sit, entropy)?;
        let (verify, good) = worked(|| key.verify_raw(MESSAGE, &signature));
        good.map_err(Failure::bug).map(|()| (played, verify))
    }))
}

fn seated<R: folkmoot_signing::Run + Send + 'static>(
    run: Result<R, folkmoot_signing::Fault>,
) -> Result<Signer<R::Done>, Failure> {
    Ok(Box::new(run.map_err(Failure::bug)?))
}

fn of<'a, T>(all: &'a BTreeMap<MemberId, T>, me: &MemberId) -> Result<&'a T, Failure> {
    all.get(me).ok_or_else(|| Failure::bug("a signer has no share"))
}

fn run(entropy: &mut dyn Entropy) -> RunId {
    RunId(draw(entropy))
}

fn verified_rsa(key: &RsaPublicKey, signature: &[u8]) -> Result<Duration, Failure> {
    let (verify, good) = worked(|| key.verify(MESSAGE, signature));
    good.map_err(Failure::bug).map(|()| verify)
}

fn dealer(size: ModulusSize) -> Result<Dealer, Failure> {
    let (p, q) = primes(size)?;
    Dealer::from_primes(size, DealerTerm::SetUp, &p, &q).map_err(Failure::bug)
}

/// What a dealer of Shoup's RSA keeps, of the stored primes.
pub(super) fn dealers_secret() -> Result<Secret<Vec<u8>>, Failure> {
    let size = ModulusSize::Bits2048;
    let (p, q) = primes(size)?;
    let dealer = Dealer::from_primes(size, DealerTerm::Standing, &p, &q);
    dealer.and_then(|dealer| dealer.encode()).map_err(Failure::bug)
}

/// The first stored pair of primes for moduli of this size.
fn primes(size: ModulusSize) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let bits = size.bits().to_string();
    let pair = PRIMES.lines().find_map(|line| {
        let mut words = line.split(' ');
        (words.next()? == bits).then_some(())?;
        Some((unhex(words.next()?)?, unhex(words.next()?)?))
    });
    pair.ok_or_else(|| Failure::bug("no stored primes of this size"))
}

#[cfg(test)]
mod tests {
    use super::{Kind, measure};
    use folkmoot::tools::OsEntropy;
    use folkmoot_signing::Scheme;

    /// Rounds and words as docs/protocol/signing.md has them; RSA of 1024 bits, for larger ones are
    /// slow in a debug build.
    #[test]
    fn runs_take_the_rounds_that_were_fixed_beforehand() {
        let mut entropy = OsEntropy::new().unwrap();
        // Scheme, signers, rounds, messages to all, messages to one.
        let expected = [
            (Kind::PlainEcdsa, 3, 1, 3, 0),
            (Kind::ALL[3], 3, 2, 6, 0),
            (Kind::ALL[6], 3, 1, 3, 0),
            (Kind::TsDsa, 5, 5, 25, 20),
            (Kind::Asm, 3, 3, 9, 0),
            (Kind::Frost, 3, 2, 6, 0),
        ];
        for (kind, signers, rounds, to_all, to_one) in expected {
            let group = measure(kind, 3, 1, &mut entropy).unwrap();
            assert_eq!(group.signers, signers, "{kind:?}");
            let played = group.played;
            assert_eq!((played.rounds, played.to_all, played.to_one), (rounds, to_all, to_one), "{kind:?}");
            assert!(played.busiest <= played.all && !played.busiest.is_zero(), "{kind:?}");
        }
    }

    #[test]
    fn what_charters_name_is_measured() {
        let named = Scheme::ALL
            .iter()
            .filter_map(|scheme| Kind::of_charter(*scheme, folkmoot_signing::KeyAlgorithm::P256));
        let named: Vec<&str> = named.map(|kind| kind.scheme().name()).collect();
        assert_eq!(named, ["plain", "shoup-rsa", "ts-dsa", "asm", "frost"]);
    }
}
