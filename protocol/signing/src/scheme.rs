//! The schemes that a charter can name, and what each needs and provides.

/// Who issues: the authority, or the members by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// An authority deals, issues and counts.
    Centralised,
    /// Members alone.
    Decentralised,
}

impl Mode {
    /// The name in charters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Centralised => "centralised",
            Self::Decentralised => "decentralised",
        }
    }
}

/// A way in which several participants make one signature of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// As many signatures as the threshold, side by side ([`crate::plain`]).
    Plain,
    /// Threshold RSA over Z_N as published (Kong et al. 2001), for study: it leaks the key and
    /// cannot say who lied.
    TsRsa,
    /// Shoup's threshold RSA (2000): an ordinary RSA signature; shares are proven; needs a dealer.
    Shoup,
    /// Threshold DSA over P-256 (Gennaro, Jarecki, Krawczyk, Rabin 1996): an ordinary ECDSA
    /// signature, no dealer.
    TsDsa,
    /// Accountable subgroup multisignatures (Micali, Ohta, Reyzin 2001), in three rounds and with
    /// proofs of possession.
    Asm,
    /// FROST (RFC 9591) over Ed25519: an ordinary Ed25519 signature, no dealer.
    Frost,
}

impl Scheme {
    /// Every scheme that there is.
    pub const ALL: &[Self] = &[Self::Plain, Self::TsRsa, Self::Shoup, Self::TsDsa, Self::Asm, Self::Frost];

    /// The name in charters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::TsRsa => "ts-rsa",
            Self::Shoup => "shoup-rsa",
            Self::TsDsa => "ts-dsa",
            Self::Asm => "asm",
            Self::Frost => "frost",
        }
    }

    /// Reads what [`Self::name`] writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scheme| scheme.name() == name)
    }

    /// How many must sign if `threshold` shares determine the secret. Product shares lie on
    /// polynomials of twice the degree, so threshold DSA takes 2t − 1 (Gennaro et al. 1996);
    /// everything else takes t.
    pub fn signers(self, threshold: usize) -> usize {
        match self {
            Self::TsDsa => threshold.saturating_mul(2).saturating_sub(1),
            Self::Plain | Self::TsRsa | Self::Shoup | Self::Asm | Self::Frost => threshold,
        }
    }

    /// How many of its holders must have stored a sharing before it may take another's place: as
    /// many as sign, and a margin of one less than `threshold`, so that enough are left whatever
    /// those who may be corrupt have said; one at least, and never more than there are holders.
    pub fn keepers(self, threshold: usize, holders: usize) -> usize {
        let margin = threshold.saturating_sub(1).max(1);
        self.signers(threshold).saturating_add(margin).min(holders)
    }

    /// Whether holders can give one that has lost its share the same share again.
    pub fn repairs(self) -> bool {
        matches!(self, Self::TsDsa | Self::Frost)
    }

    /// Whether members hold shares of one key, which makes an ordinary signature of that key.
    pub fn shared(self) -> bool {
        !matches!(self, Self::Plain | Self::Asm)
    }

    /// Whether somebody must know the whole secret at the beginning.
    pub fn needs_dealer(self) -> bool {
        matches!(self, Self::TsRsa | Self::Shoup)
    }

    /// Whether a participant's step takes many milliseconds, longer than a message takes to reach
    /// everybody. If it does, the caller sends what was said before it takes the next step;
    /// otherwise the participants would work one after the other.
    pub fn takes_long(self) -> bool {
        matches!(self, Self::TsRsa | Self::Shoup | Self::TsDsa)
    }
}
