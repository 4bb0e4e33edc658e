//! The authority outside a measured group.

use super::group::dealers_secret;
use crate::people::GROUP;
use folkmoot::{StateFolder, UnixTime};
use folkmoot_authority::Office;
use folkmoot_base::Entropy;
use folkmoot_cli::exit::Failure;
use folkmoot_identity::{Central, Dealer, Identity};
use folkmoot_signing::Scheme;

/// Whose process it is, and what makes it the authority.
pub(super) struct Outside {
    pub(super) identity: Identity,
    office: Office,
    dealer: Option<Dealer>,
}

impl Outside {
    /// With keys of its own; a dealer keeps its secret. Shoup's primes are the stored ones: to find
    /// others takes longer than a case.
    pub(super) fn draw(
        scheme: Scheme,
        (from, to): (UnixTime, UnixTime),
        entropy: &mut dyn Entropy,
    ) -> Result<Self, Failure> {
        let identity = Identity::new("authority", entropy, from, to).map_err(Failure::bug)?;
        let stored = scheme == Scheme::Shoup;
        let drawn = if stored { Scheme::Plain } else { scheme };
        let mut office = Office::draw(GROUP, drawn, from, entropy).map_err(Failure::bug)?;
        if stored {
            office.secret = Some(dealers_secret()?);
        }
        Ok(Self { identity, office, dealer: scheme.shared().then_some(Dealer::Keeps) })
    }

    /// The charter's part on it.
    pub(super) fn central(&self) -> Central {
        let nodes = [self.identity.member()].into();
        Central { certificate: self.office.certificate.clone(), nodes, dealer: self.dealer }
    }

    /// Puts the office into its folder, which has its identity.
    pub(super) fn move_in(&self, folder: &StateFolder) -> Result<(), Failure> {
        folkmoot_authority::keep(folder, &self.identity, &self.office).map_err(Failure::from).map(drop)
    }
}
