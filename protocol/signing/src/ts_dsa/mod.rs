//! Threshold ECDSA: an ordinary signature of the group's key by 2t − 1 holders, no dealer (Gennaro,
//! Jarecki, Krawczyk, Rabin, Eurocrypt 1996 and Information and Computation 2001,
//! DSS-Thresh-Sig-2).
//!
//! ```text
//! deal      4 or 5 rounds of `sharing`'s dealing among the signers, all at once:
//!           k  hidden, t shares determine it       a  open, t shares determine it
//!           b  hidden, secret zero, 2t − 1 shares  c  likewise
//! product   all   v_i = k_i·a_i + b_i, proven      μ = k·a; R = (1/μ)·a·G = (1/k)·G; r = first coordinate of R
//! part      all   s_i = k_i·(h + r·x_i) + c_i, proven   s = k·(h + r·x)
//! ```
//! **Who may be corrupt.** At most τ = t − 1 of the signers: t know the key anyhow. Products of two
//! polynomials of degree τ lie on one of degree 2τ, so it takes 2t − 1 signers, all of whom must
//! finish. A signer that says something false is named, and the others, if they are 2t − 1 without
//! it, begin again. Its place can be taken away, so every lie costs one.
//!
//! **Nonces are hedged.** Every number that a signer draws is a hash of its share, fresh entropy
//! and what it is drawn for, as in [`crate::asm`]: bad entropy alone gives no share away.
//!
//! **k is used once.** A run that ends, well or not, is dropped with its k and a. A run takes one
//! digest, fixed before k is drawn, and the next run draws everything anew. Nothing of a run is
//! ever stored: after a crash there is only a new run.
//!
//! **Why k, b and c are committed with Pedersen's commitments, not Feldman's.** k·G must not become
//! known. R = (1/k)·G and s = k·(h + r·x) are public, so k·G = (s/r)·(1/(h/r + x))·G: every
//! signature would tell one (1/(x + e))·G for a known e. From d such elements one computes by
//! partial fractions an element P and x·P, .., x^d·P, from which x follows in about √(q/d) steps
//! instead of √q (Cheon 2006): a hundred million signatures would cost the key up to 13 bits. Also,
//! no simulator can make k·G of a signature (it is the inverse Diffie-Hellman problem), so nothing
//! would be proven. The same holds for b and c: from b_i·G one has k_i·a_i·G, from c_i·G k_i·(h +
//! r·x_i)·G, and with τ shares of a liar and two honest values k·G follows by linear algebra. a·G
//! is R times μ, so public anyhow: a stays open. The proofs of `proof` replace the lost checks.

mod group;
mod proof;

pub use group::DsaGroup;

use crate::P256;
use crate::base::{Digest, Entropy, MemberId, Secret};
use crate::hedge::Hedged;
use crate::plain::Signature;
use crate::polynomial::interpolate;
use crate::run::{Fault, FaultKind, Incoming, Next, Outgoing, Run, RunId, whole_round};
use crate::sharing::{
    Dealing, Dealt, Form, Kind, Piece, Plan, Share, Sharing, context, each, listed, own, said,
    second_generator, sorted, to_all, wrong_signers,
};
use crate::{Scheme, SigningError};
use core::fmt;
use proof::{Product, Scope, Statement};
use std::collections::BTreeMap;

/// A signature: r and s.
#[derive(Clone, Copy)]
pub struct Signed<G: DsaGroup> {
    /// The number of R.
    pub r: G::Scalar,
    /// k·(h + r·x), in its low form where the group has one.
    pub s: G::Scalar,
}

impl<G: DsaGroup> PartialEq for Signed<G> {
    fn eq(&self, other: &Self) -> bool {
        self.r == other.r && self.s == other.s
    }
}

impl<G: DsaGroup> fmt::Debug for Signed<G> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Signed(..)")
    }
}

impl<G: DsaGroup> Signed<G> {
    /// Whether it is `public`'s over `digest` (FIPS 186-5 §6.4.2).
    pub fn verifies(&self, public: &G::Element, digest: &Digest) -> bool {
        let Some(inverse) = G::inverse(self.s).filter(|_| self.r != G::zero()) else { return false };
        let generator = G::raise_generator(&G::one());
        let terms =
            [(G::times(G::message(digest), inverse), generator), (G::times(self.r, inverse), *public)];
        let element = G::raise_many(&terms);
        element != G::identity() && G::number(&element) == self.r
    }
}

impl Signed<P256> {
    /// As an ordinary signature, low s.
    ///
    /// # Errors
    /// [`SigningError::WireHighS`] for a signature that no run made.
    pub fn signature(&self) -> Result<Signature, SigningError> {
        use crate::PrimeGroup as _;
        Signature::from_bytes(&[P256::encode_scalar(&self.r), P256::encode_scalar(&self.s)].concat())
    }
}

/// The four polynomials that signers deal, in this order.
const FORMS: fn(usize) -> [Form; 4] = |threshold| {
    let products = Scheme::TsDsa.signers(threshold);
    [Form::Hidden(threshold), Form::Open(threshold), Form::Zero(products), Form::Zero(products)]
};

/// What the dealing left: this signer's pieces of k, a, b, c, and everybody's public values.
struct Drawn<G: DsaGroup> {
    pieces: [Piece<G>; 4],
    publics: BTreeMap<MemberId, [G::Element; 4]>,
    /// a times the generator.
    a: G::Element,
}

enum Stage<G: DsaGroup> {
    Deal,
    Products(Drawn<G>),
    Parts(Drawn<G>, G::Scalar),
    Over,
}

/// A signer of one digest.
pub struct Signing<G: DsaGroup> {
    context: Digest,
    me: MemberId,
    signers: Vec<MemberId>,
    sharing: Sharing<G>,
    share: Share<G>,
    digest: Digest,
    second: G::Element,
    dealing: Dealing<G>,
    stage: Stage<G>,
}

impl<G: DsaGroup> Signing<G> {
    /// `me` is one of `signers`, exactly 2t − 1 holders of `sharing`, and `share` is its own.
    /// `digest` is what is signed: SHA-256 of a TBSCertificate for X.509 ([`crate::base::digest`]),
    /// of label, zero byte and message for our own messages. All signers judge it before.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`]; [`FaultKind::LocalShare`] for a share that is not of `sharing`.
    pub fn new(
        run: RunId,
        me: MemberId,
        sharing: &Sharing<G>,
        share: &Share<G>,
        signers: &[MemberId],
        digest: Digest,
    ) -> Result<Self, Fault> {
        let signers = sorted(signers)?;
        let known = signers.iter().all(|signer| sharing.holders().contains(signer));
        if !known || signers.len() != Scheme::TsDsa.signers(sharing.threshold()) || !signers.contains(&me) {
            return Err(wrong_signers());
        }
        own(sharing, Some(share), &me)?;
        let parts: [&[u8]; 4] = [&run.0, &sharing.epoch(), &listed(&signers), &digest];
        let context = context::<G>(b"folkmoot threshold ecdsa v1", &parts);
        let plan = Plan {
            context,
            dealers: signers.clone(),
            holders: signers.clone(),
            forms: FORMS(sharing.threshold()).to_vec(),
            expected: BTreeMap::new(),
        };
        let dealing = Dealing::new(plan, me, None).hedged(G::HEDGES.then(|| share_bytes(share)));
        Ok(Self {
            context,
            me,
            signers,
            sharing: sharing.clone(),
            share: share.clone(),
            digest,
            second: second_generator::<G>(),
            dealing,
            stage: Stage::Deal,
        })
    }

    fn dealt(&self, dealt: Dealt<G>) -> Result<Drawn<G>, Fault> {
        let again = || Fault::of_nobody(FaultKind::Again);
        let pieces =
            dealt.pieces.and_then(|pieces| <[Piece<G>; 4]>::try_from(pieces).ok()).ok_or_else(again)?;
        let pledges: [Vec<G::Element>; 4] = dealt.pledges.try_into().map_err(|_| again())?;
        let [k, a, b, c] = FORMS(self.sharing.threshold());
        let public = |signer: &MemberId| {
            let place = G::place(signer);
            let [of_k, of_a, of_b, of_c] = &pledges;
            let at = |form: Form, pledge: &[G::Element]| form.public_at::<G>(pledge, place);
            (*signer, [at(k, of_k), at(a, of_a), at(b, of_b), at(c, of_c)])
        };
        let publics = self.signers.iter().map(public).collect();
        let [_, of_a, ..] = &pledges;
        Ok(Drawn { pieces, publics, a: of_a.first().copied().ok_or_else(again)? })
    }

    fn scope<'a>(&'a self, signer: &'a MemberId, kind: Kind) -> Scope<'a, G> {
        Scope { context: &self.context, second: &self.second, signer, kind }
    }

    /// This signer's v, proven.
    fn product(&self, drawn: &Drawn<G>, entropy: &mut dyn Entropy) -> Result<Outgoing, Fault> {
        let statement = statement_of_product(drawn, &self.me).ok_or_else(wrong_signers)?;
        let [k, a, b, _] = &drawn.pieces;
        let value = G::plus(G::times(k.value, a.value), b.value);
        let scope = self.scope(&self.me, Kind::Product);
        Ok(to_all(self.prove(scope, &statement, value, (k, b), entropy).encode(Kind::Product)))
    }

    /// r, of everybody's v.
    fn take_products(&self, heard: &Incoming, drawn: &Drawn<G>) -> Result<G::Scalar, Fault> {
        let values = self.values(heard, Kind::Product, |signer| statement_of_product(drawn, signer))?;
        let again = || Fault::of_nobody(FaultKind::Again);
        let product = interpolate::<G>(&values, G::zero()).ok_or_else(wrong_signers)?;
        let inverse = G::inverse(product).ok_or_else(again)?;
        let r = G::number(&G::raise(&drawn.a, &inverse));
        if r == G::zero() { Err(again()) } else { Ok(r) }
    }

    /// This signer's part of s, proven.
    fn part(&self, drawn: &Drawn<G>, r: G::Scalar, entropy: &mut dyn Entropy) -> Result<Outgoing, Fault> {
        let statement = self.statement_of_part(drawn, r, &self.me).ok_or_else(wrong_signers)?;
        let [k, _, _, c] = &drawn.pieces;
        let signed = Secret::new(G::plus(G::message(&self.digest), G::times(r, *self.share.value())));
        let value = G::plus(G::times(k.value, *signed.expose()), c.value);
        let scope = self.scope(&self.me, Kind::Signed);
        Ok(to_all(self.prove(scope, &statement, value, (k, c), entropy).encode(Kind::Signed)))
    }

    /// The proof of a product, its nonces drawn with the share behind them.
    fn prove(
        &self,
        scope: Scope<'_, G>,
        statement: &Statement<G>,
        value: G::Scalar,
        (factor, mask): (&Piece<G>, &Piece<G>),
        entropy: &mut dyn Entropy,
    ) -> Product<G> {
        if !G::HEDGES {
            return Product::prove(scope, statement, value, factor, mask, entropy);
        }
        let purpose = scope.purpose(statement, &value);
        let mut hedged = Hedged::new(share_bytes(&self.share), &[&purpose], entropy);
        Product::prove(scope, statement, value, factor, mask, &mut hedged)
    }

    fn statement_of_part(&self, drawn: &Drawn<G>, r: G::Scalar, signer: &MemberId) -> Option<Statement<G>> {
        let [factor, _, _, mask] = *drawn.publics.get(signer)?;
        let hashed = G::raise_generator(&G::message(&self.digest));
        let base = G::add(&hashed, &G::raise(&self.sharing.public_share(signer), &r));
        Some(Statement { factor, mask, base })
    }

    fn take_parts(&self, heard: &Incoming, drawn: &Drawn<G>, r: G::Scalar) -> Result<Signed<G>, Fault> {
        let values = self.values(heard, Kind::Signed, |signer| self.statement_of_part(drawn, r, signer))?;
        let s = interpolate::<G>(&values, G::zero()).ok_or_else(wrong_signers)?;
        if s == G::zero() {
            return Err(Fault::of_nobody(FaultKind::Again));
        }
        let signed = Signed { r, s: G::low(s) };
        let good = signed.verifies(&self.sharing.public(), &self.digest);
        if good { Ok(signed) } else { Err(Fault::of_nobody(FaultKind::Unattributable)) }
    }

    /// Everybody's value of a round, each with its proof checked.
    fn values(
        &self,
        heard: &Incoming,
        kind: Kind,
        statement: impl Fn(&MemberId) -> Option<Statement<G>>,
    ) -> Result<Vec<(MemberId, G::Scalar)>, Fault> {
        let values = each(self.signers.iter().copied(), |signer| {
            let product = Product::<G>::decode(said(heard, signer), kind).ok_or(FaultKind::PeerMalformed)?;
            let statement = statement(signer).ok_or(FaultKind::LocalSigners)?;
            let holds = product.holds(self.scope(signer, kind), &statement);
            if holds { Ok(product.value) } else { Err(FaultKind::PeerPart) }
        })?;
        Ok(values.into_iter().collect())
    }

    fn step(
        &mut self,
        stage: Stage<G>,
        heard: &Incoming,
        entropy: &mut dyn Entropy,
    ) -> Result<Next<Signed<G>>, Fault> {
        match stage {
            Stage::Deal => match self.dealing.hear(heard)? {
                Next::Say(said) => {
                    self.stage = Stage::Deal;
                    Ok(Next::Say(said))
                }
                Next::Done(dealt) => {
                    let drawn = self.dealt(dealt)?;
                    let said = self.product(&drawn, entropy)?;
                    self.stage = Stage::Products(drawn);
                    Ok(Next::Say(said))
                }
            },
            Stage::Products(drawn) => {
                let r = self.take_products(heard, &drawn)?;
                let said = self.part(&drawn, r, entropy)?;
                self.stage = Stage::Parts(drawn, r);
                Ok(Next::Say(said))
            }
            Stage::Parts(drawn, r) => Ok(Next::Done(self.take_parts(heard, &drawn, r)?)),
            Stage::Over => Err(Fault::of_nobody(FaultKind::LocalRound)),
        }
    }
}

/// What stands behind a signer's nonces.
fn share_bytes<G: DsaGroup>(share: &Share<G>) -> Secret<Vec<u8>> {
    Secret::new(G::encode_scalar(share.value()))
}

fn statement_of_product<G: DsaGroup>(drawn: &Drawn<G>, signer: &MemberId) -> Option<Statement<G>> {
    let [factor, base, mask, _] = *drawn.publics.get(signer)?;
    Some(Statement { factor, mask, base })
}

impl<G: DsaGroup> Run for Signing<G> {
    type Done = Signed<G>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Signed<G>> {
        Next::Say(self.dealing.begin(entropy))
    }

    fn awaited(&self) -> Vec<MemberId> {
        match self.stage {
            Stage::Deal => self.dealing.awaited(),
            Stage::Products(_) | Stage::Parts(..) => self.signers.clone(),
            Stage::Over => Vec::new(),
        }
    }

    fn hear(&mut self, heard: Incoming, entropy: &mut dyn Entropy) -> Result<Next<Signed<G>>, Fault> {
        let whole = whole_round(&heard, &self.awaited());
        // Whatever is refused ends the run, with its k and a.
        let stage = core::mem::replace(&mut self.stage, Stage::Over);
        let next = whole.and_then(|()| self.step(stage, &heard, entropy));
        if next.is_err() {
            self.dealing.end();
        }
        next
    }
}
