//! What one dealer deals: polynomials, its public commitments to them, and each holder's values.

use super::message::{Reader, Writer};
use crate::PrimeGroup;
use crate::base::{Entropy, MemberId};
use crate::polynomial::{Polynomial, committed};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroize;

/// The form of one dealt polynomial. The number is how many shares determine it: its degree plus
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Feldman (1987): each term times the generator. Tells the secret times the generator.
    Open(usize),
    /// Pedersen (1991): each term under a second generator too. Tells nothing of the secret.
    Hidden(usize),
    /// As `Hidden`, with zero as the secret: no commitment to the constant term, so that nothing
    /// else can be dealt.
    Zero(usize),
}

impl Form {
    /// Commitments to a polynomial of this form.
    pub(crate) fn commitments(self) -> usize {
        match self {
            Self::Open(shares) | Self::Hidden(shares) => shares,
            Self::Zero(shares) => shares.saturating_sub(1),
        }
    }

    /// Numbers that a holder gets.
    pub(crate) fn scalars(self) -> usize {
        if self.hides() { 2 } else { 1 }
    }

    pub(crate) fn hides(self) -> bool {
        !matches!(self, Self::Open(_))
    }

    fn degree(self) -> usize {
        match self {
            Self::Open(shares) | Self::Hidden(shares) | Self::Zero(shares) => shares.saturating_sub(1),
        }
    }

    /// What commitments of this form say about the numbers at `place`.
    pub(crate) fn public_at<G: PrimeGroup>(self, pledge: &[G::Element], place: G::Scalar) -> G::Element {
        match (self, pledge) {
            (_, []) => G::identity(),
            (Self::Zero(_), pledge) => G::raise(&committed::<G>(pledge, place), &place),
            (_, pledge) => committed::<G>(pledge, place),
        }
    }
}

/// A second generator: the first candidate of a hash that is an element, so that nobody knows its
/// logarithm to the first.
pub(crate) fn second_generator<G: PrimeGroup>() -> G::Element {
    let mut count = 0_u64;
    loop {
        let mut hash = Sha512::new();
        for part in [b"folkmoot second generator v1".as_slice(), &[0], G::NAME, &[0], &count.to_be_bytes()] {
            hash.update(part);
        }
        let candidate = hash.finalize();
        if let Some(element) = candidate.get(..G::ELEMENT_BYTES).and_then(G::decode) {
            return element;
        }
        count = count.wrapping_add(1);
    }
}

/// One polynomial of a dealer, and the one that blinds it.
pub(crate) struct Deal<G: PrimeGroup> {
    form: Form,
    secret: Polynomial<G>,
    blind: Option<Polynomial<G>>,
}

impl<G: PrimeGroup> Deal<G> {
    /// Draws a polynomial for each form; the first has `constant` at zero, if there is one.
    pub(crate) fn draw(forms: &[Form], constant: Option<G::Scalar>, entropy: &mut dyn Entropy) -> Vec<Self> {
        let mut constant = constant;
        let polynomial = |form: &Form, given: Option<G::Scalar>, entropy: &mut dyn Entropy| {
            let at_zero = match (form, given) {
                (Form::Zero(_), _) => G::zero(),
                (_, Some(given)) => given,
                (_, None) => G::draw(entropy),
            };
            Polynomial::random(at_zero, form.degree(), entropy)
        };
        let secrets: Vec<_> = forms.iter().map(|form| polynomial(form, constant.take(), entropy)).collect();
        let deal = |(form, secret): (&Form, Polynomial<G>)| {
            let blind = form.hides().then(|| polynomial(form, None, entropy));
            Self { form: *form, secret, blind }
        };
        forms.iter().zip(secrets).map(deal).collect()
    }

    /// The commitments.
    pub(crate) fn pledge(&self, second: &G::Element) -> Vec<G::Element> {
        let skipped = usize::from(matches!(self.form, Form::Zero(_)));
        let open = self.secret.commitments().into_iter().skip(skipped);
        match &self.blind {
            None => open.collect(),
            Some(blind) => {
                let veils = blind.commitments_under(second).into_iter().skip(skipped);
                open.zip(veils).map(|(open, veil)| G::add(&open, &veil)).collect()
            }
        }
    }

    /// The secret itself.
    pub(crate) fn constant(&self) -> G::Scalar {
        self.secret.at(G::zero())
    }

    /// What `holder` gets.
    pub(crate) fn piece(&self, holder: &MemberId) -> Piece<G> {
        let place = G::place(holder);
        let blind = self.blind.as_ref().map_or_else(G::zero, |blind| blind.at(place));
        Piece { value: self.secret.at(place), blind }
    }
}

/// A holder's number in one polynomial, and that of the blinding one (zero where there is none).
/// Erased when dropped.
#[derive(Clone)]
pub(crate) struct Piece<G: PrimeGroup> {
    pub(crate) value: G::Scalar,
    pub(crate) blind: G::Scalar,
}

impl<G: PrimeGroup> Piece<G> {
    /// Whether the commitments say that these are `holder`'s numbers.
    pub(crate) fn fits(
        &self,
        form: Form,
        pledge: &[G::Element],
        holder: &MemberId,
        second: &G::Element,
    ) -> bool {
        let open = G::raise_generator(&self.value);
        let said = if form.hides() { G::add(&open, &G::raise(second, &self.blind)) } else { open };
        said == form.public_at::<G>(pledge, G::place(holder))
    }

    /// The sum of both.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self { value: G::plus(self.value, other.value), blind: G::plus(self.blind, other.blind) }
    }

    pub(crate) fn write(&self, form: Form, writer: Writer) -> Writer {
        let writer = writer.scalar::<G>(&self.value);
        if form.hides() { writer.scalar::<G>(&self.blind) } else { writer }
    }

    pub(crate) fn read(form: Form, reader: &mut Reader<'_>) -> Option<Self> {
        let value = reader.scalar::<G>()?;
        let blind = if form.hides() { reader.scalar::<G>()? } else { G::zero() };
        Some(Self { value, blind })
    }

    /// The pieces of all forms, one after another.
    pub(crate) fn read_all(forms: &[Form], reader: &mut Reader<'_>) -> Option<Vec<Self>> {
        forms.iter().map(|form| Self::read(*form, reader)).collect()
    }
}

impl<G: PrimeGroup> Drop for Piece<G> {
    fn drop(&mut self) {
        self.value.zeroize();
        self.blind.zeroize();
    }
}
