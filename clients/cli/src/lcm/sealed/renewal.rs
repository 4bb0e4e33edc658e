//! A certificate that is put in the place of the one before, while the program runs: of a later
//! term, or for other channels.

use super::{Sealed, Warning};
use crate::lcm::papers::{CERTIFICATE, read_certificate};
use crate::show::visible;
use bytes::Bytes;
use core::ops::RangeInclusive;
use folkmoot::UnixTime;
use folkmoot::tools::wall_clock;
use folkmoot_pubsub::secured::{Domain, Permit, Root};
use folkmoot_pubsub::{Channel, Pattern};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the file is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// What a certificate is for, and until when.
pub(super) struct Rights {
    /// Single channels, and those that patterns name.
    channels: BTreeSet<Channel>,
    patterns: Vec<Pattern>,
    pub(super) term: RangeInclusive<UnixTime>,
}

impl Rights {
    /// Those in this group.
    pub(super) fn of(permit: &Permit, group: &Domain) -> Self {
        let here = permit.rights().iter().map(|right| right.domain);
        let here: Vec<Domain> = here.filter(|one| one.of_group() == *group).collect();
        let channels = here.iter().filter_map(Domain::channel).copied().collect();
        let patterns = here.iter().filter_map(Domain::pattern).collect();
        Self { channels, patterns, term: permit.begins()..=permit.ends() }
    }

    pub(super) fn may(&self, channel: &Channel) -> bool {
        self.channels.contains(channel) || self.patterns.iter().any(|pattern| pattern.covers(channel))
    }
}

/// The certificate's file, and what was last seen in it.
pub(super) struct Renewal {
    file: PathBuf,
    root: Root,
    seen: Vec<u8>,
    looked: Instant,
}

impl Renewal {
    pub(super) fn of(folder: &std::path::Path, root: Root, seen: Vec<u8>) -> Self {
        Self { file: folder.join(CERTIFICATE), root, seen, looked: Instant::now() }
    }

    /// What lies there now, if it is another one than before.
    fn fresh(&mut self) -> Option<Vec<u8>> {
        if self.looked.elapsed() < LOOK {
            return None;
        }
        self.looked = Instant::now();
        // A file that is being written is whole at another look.
        let read = read_certificate(&self.file).ok().filter(|read| *read != self.seen)?;
        self.seen.clone_from(&read);
        Some(read)
    }
}

impl Sealed {
    /// Takes the certificate that lies in the folder, if it is another one than before; what people
    /// are told about that.
    pub(in crate::lcm) async fn renewed(&self) -> Option<Warning> {
        let (der, root, file) = {
            let mut renewal = super::lock(&self.renewal);
            (renewal.fresh()?, renewal.root.clone(), renewal.file.clone())
        };
        let file = file.display();
        let refused = |why: String| Warning {
            event: "not_renewed",
            what: why.clone(),
            words: format!(
                "{file} was changed, and is not used: {why}. This program goes on with the one before"
            ),
        };
        let permit = match root.permit(&der, wall_clock(), 0) {
            Ok(permit) => permit,
            Err(error) => return Some(refused(error.to_string())),
        };
        let group = Domain::group(self.address.group.into()).ok()?;
        let Some(damaged) = self.membership.renew(Bytes::from(der)).await else {
            let why = "it is of another key or sender, or begins before the one that is used";
            return Some(refused(why.to_owned()));
        };
        let rights = Rights::of(&permit, &group);
        let (what, ends) = (permit.ends().to_string(), permit.ends());
        *super::lock(&self.rights) = rights;
        let words = format!("{file} is used from now on, until {ends}{}", without_keys(&damaged));
        Some(Warning { event: "renewed", what, words })
    }
}

/// Where a new certificate does not help.
fn without_keys(damaged: &[Domain]) -> String {
    if damaged.is_empty() {
        return String::new();
    }
    let all: Vec<String> = damaged.iter().map(|domain| visible(&domain.to_string())).collect();
    format!(
        ". But for {} what lies in the state folder cannot be read, so there are no keys for that. Start this program again, and it says which file that is",
        all.join(", ")
    )
}
