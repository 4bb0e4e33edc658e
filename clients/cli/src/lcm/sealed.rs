//! A command's place in a secured group, by the papers in a folder.

mod renewal;
mod warnings;

use renewal::{Renewal, Rights};
use warnings::Warning;
pub(super) use warnings::Watch;

use super::failed;
use super::meeting::Meeting;
use super::papers::{
    CERTIFICATE, EXCLUDED, KEY, ROOT_CERTIFICATE, read_certificate, read_key, statements_in, wrong,
};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::show::visible;
use core::net::{SocketAddr, SocketAddrV4};
use core::ops::RangeInclusive;
use folkmoot::UnixTime;
use folkmoot::tools::wall_clock;
use folkmoot_lcm::{Keyed, Membership, MembershipError, Options};
use folkmoot_pubsub::secured::{Certificates, Claim, Domain, Permit, PermitError, Root, SenderId, Signing};
use folkmoot_pubsub::{Address, Channel};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a command waits for its keys. A lone member has keys of its own much sooner.
const PATIENCE: Duration = Duration::from_secs(30);

/// The others have a key a moment later than this program, and seal under the one before for a
/// moment more.
const SETTLE: Duration = Duration::from_millis(100);

/// A member whose clock is ahead by so much can prove that a certificate has ended.
const SKEW_SECONDS: u64 = 5;

/// How often a program looks at its keys.
pub(super) const LOOK: Duration = Duration::from_millis(300);

/// One program's place in a secured group.
pub(super) struct Sealed {
    pub(super) membership: Membership,
    pub(super) address: Address,
    /// As which sender.
    pub(super) sender: SenderId,
    rights: Mutex<Rights>,
    renewal: Mutex<Renewal>,
}

impl Sealed {
    /// Joins by the papers in `folder`. The keys come later.
    pub(super) async fn join(folder: &Path, at: Meeting, signed: &[Channel]) -> Result<Self, Failure> {
        let [root, own, key] = [ROOT_CERTIFICATE, CERTIFICATE, KEY].map(|name| folder.join(name));
        let (root_der, own_der) = (read_certificate(&root)?, read_certificate(&own)?);
        let judge = Root::from_der(&root_der).map_err(|error| wrong(&root, &error))?;
        let claim = Claim::from_der(&own_der).map_err(|error| wrong(&own, &error))?;
        let of_root = Claim::from_der(&root_der).map_err(|error| wrong(&root, &error))?.term;
        let permit = judge.permit(&own_der, wall_clock(), 0);
        let permit = permit.map_err(|error| untimely(&own, &root, &of_root, error))?;
        let address = address(at, &claim, &own)?;
        let domain = Domain::group(address.group.into());
        let domain = domain.map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let sender = permit.sender(&domain).ok_or_else(|| Failure::bug("the certificate lost its group"))?;
        are_signed(&permit, signed, &own)?;
        let credentials =
            Certificates::new(&root_der, &own_der, read_key(&key)?).map_err(|error| wrong(&key, &error))?;
        counted_in(&judge, &permit, &folder.join(EXCLUDED))?;
        let mut options = Options::new(folder.join("state"));
        options.exclusions = Some(folder.join(EXCLUDED));
        options.signing = signed.iter().map(|channel| (*channel, Signing::Each)).collect();
        let membership = Membership::join(address, credentials, options).await.map_err(refused)?;
        let rights = Mutex::new(Rights::of(&permit, &domain));
        let renewal = Mutex::new(Renewal::of(folder, judge, own_der));
        Ok(Self { membership, address, sender, rights, renewal })
    }

    /// Waits until all keys are there.
    pub(super) async fn keys(&self, json: bool) -> Result<(), Failure> {
        let progress = Progress::wait(&format!("waiting for the keys of {}", self.address.group), json);
        let ready = progress.during(tokio::time::timeout(PATIENCE, self.membership.ready())).await;
        drop(progress);
        let keys = self.membership.keyed();
        if let Some(failure) = self.is_out() {
            return Err(failure);
        }
        if ready.is_err() {
            return Err(lacks(&keys));
        }
        tokio::time::sleep(SETTLE).await;
        if !json {
            eprintln!("{}", words(&keys, self.sender));
        }
        Ok(())
    }
}

impl Sealed {
    /// Whether the certificate is for this channel.
    pub(super) fn may(&self, channel: &Channel) -> bool {
        lock(&self.rights).may(channel)
    }

    /// From when to when its certificate counts.
    fn term(&self) -> RangeInclusive<UnixTime> {
        lock(&self.rights).term.clone()
    }

    /// Waits until this program is out, and warns meanwhile.
    pub(super) async fn out(&self) {
        let mut watch = Watch::default();
        while self.is_out().is_none() {
            let renewed = self.renewed().await;
            watch.look(self).iter().chain(&renewed).for_each(|warning| eprintln!("{}", warning.words));
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Says that this program is out, and why, if it is.
    pub(super) fn is_out(&self) -> Option<Failure> {
        let keys = self.membership.keyed();
        let out = keys.iter().find(|key| key.out)?;
        let term = self.term();
        let (now, [begins, ends]) = (wall_clock(), [term.start(), term.end()]);
        let why = match () {
            () if out.behind => warnings::behind(self.sender),
            () if ends.0 <= now.0.saturating_add(SKEW_SECONDS) => {
                format!("its certificate ended at {ends}. Get a new one from whoever has the root")
            }
            () if now < *begins => {
                format!("its certificate begins at {begins}, and this host's clock says {now}. Set the clock")
            }
            () => "its certificate is excluded. Get a new one from whoever has the root".to_owned(),
        };
        let text = format!("this program no longer takes part in {}: {why}", name(out));
        Some(Failure::new(Exit::Refused, text))
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in there is whole at any time.
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a certificate does not count: beside its term, what this host's clock says.
fn untimely(own: &Path, root: &Path, of_root: &RangeInclusive<UnixTime>, error: PermitError) -> Failure {
    let now = wall_clock();
    let (limit, whose, what, exit) = match error {
        PermitError::PeerNotYet(begins) => {
            (begins, of_root.start(), "Wait until then, or set the clock", Exit::Configuration)
        }
        PermitError::PeerEnded(ends) => {
            let what = "Get a new one from whoever has the root, or set the clock if it is wrong";
            (ends, of_root.end(), what, Exit::Refused)
        }
        error => return wrong(own, &error),
    };
    let file = if limit == *whose { root } else { own }.display();
    let text = format!("{file}: {error}, and this host's clock says {now}. {what}");
    Failure::new(exit, text)
}

/// Signatures are of a key, and there is a key for each right.
fn are_signed(permit: &Permit, signed: &[Channel], file: &Path) -> Result<(), Failure> {
    let is = |channel: &Channel, one: &Domain| {
        one.channel() == Some(channel) || one.pattern_text() == Some(channel.text())
    };
    let has = |channel: &&Channel| permit.rights().iter().any(|right| is(channel, &right.domain));
    let Some(other) = signed.iter().find(|channel| !has(channel)) else {
        return Ok(());
    };
    let text = format!(
        "{} has no right {}, so nothing on it can be signed. Give --signed a channel or a pattern of the certificate as it stands there",
        file.display(),
        visible(&other.text())
    );
    Err(Failure::new(Exit::Configuration, text))
}

/// Refuses to begin if what lies in the folder of exclusions is none, or names this certificate.
fn counted_in(root: &Root, own: &Permit, folder: &Path) -> Result<(), Failure> {
    for (path, statement) in statements_in(folder)? {
        let path = path.display();
        match root.excluded(&statement) {
            None => {
                let text = format!(
                    "{path} is no exclusion by the root of this folder. If the root's owner gave it to you, ask for it \
                     anew (folkmoot lcm exclude --again writes it); else move it away"
                );
                return Err(Failure::new(Exit::Configuration, text));
            }
            Some(out) if out.holder == *own.holder() => {
                let text = format!(
                    "this certificate is excluded, says {path}. Get a new one from whoever has the root"
                );
                return Err(Failure::new(Exit::Refused, text));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Why a program that waited has no keys.
fn lacks(keys: &[Keyed]) -> Failure {
    let lack = keys.iter().filter(|key| key.number.is_none()).map(name).collect::<Vec<_>>().join(", ");
    let duplicate = keys.iter().find_map(|key| key.duplicate);
    let why = duplicate.map_or_else(
        || {
            "Other members answer and do not agree: compare their root.crt and their clocks with this one's"
                .into()
        },
        |sender| format!("Two certificates have the number {sender}: exclude one of them"),
    );
    let seconds = PATIENCE.as_secs();
    Failure::new(Exit::TimedOut, format!("after {seconds} s there is no key for {lack}. {why}"))
}

/// The groups of IPv4 that a certificate names.
pub(super) fn groups(claim: &Claim) -> impl Iterator<Item = SocketAddrV4> {
    let all: BTreeSet<SocketAddr> = claim.rights.iter().map(|right| right.domain.address()).collect();
    all.into_iter().filter_map(|group| match group {
        SocketAddr::V4(group) => Some(group),
        SocketAddr::V6(_) => None,
    })
}

/// Where the certificate lets this program be: where it was told to, or in its one group.
fn address(at: Meeting, claim: &Claim, file: &Path) -> Result<Address, Failure> {
    let named: Vec<SocketAddrV4> = groups(claim).collect();
    let list = || named.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let file = file.display();
    match (at.url, named.as_slice()) {
        (Some(url), named) if named.contains(&url.group) => Ok(at.on(url)),
        (Some(url), _) => {
            let text = format!("{file} is for {}, not for {}", list(), url.group);
            Err(Failure::new(Exit::Configuration, text))
        }
        (None, [group]) => Ok(at.home(*group)),
        (None, _) => {
            let text = format!("{file} is for several groups: {}. Name one by its URL", list());
            Err(Failure::new(Exit::Usage, text))
        }
    }
}

fn name(key: &Keyed) -> String {
    let named = key.domain.channel().map(Channel::text).or_else(|| key.domain.pattern_text());
    named.map_or_else(|| key.domain.to_string(), |name| visible(&name))
}

/// After a key whose member took no further exclusion.
const FULL: &str = " (an exclusion was not taken: there are as many as a member keeps. Make a new root)";

/// Who has which key.
pub(super) fn words(keys: &[Keyed], me: SenderId) -> String {
    let one = |key: &Keyed| {
        let others = key.members.iter().filter(|member| **member != me).map(ToString::to_string);
        let others: Vec<String> = others.collect();
        let who = match (key.number.is_none(), others.is_empty()) {
            (true, _) => "no key yet".into(),
            (_, true) => "alone".into(),
            _ => format!("with {}", others.join(", ")),
        };
        let full = if key.full { FULL } else { "" };
        format!("{}: {who}{full}", name(key))
    };
    format!("keys of sender {me}: {}", keys.iter().map(one).collect::<Vec<_>>().join("; "))
}

/// The same for programs.
pub(super) fn value(keys: &[Keyed]) -> Value {
    let one = |key: &Keyed| {
        json!({
            "group": key.domain.address().to_string(),
            "channel": key.domain.channel().map(Channel::text),
            "pattern": key.domain.pattern_text(),
            "epoch": key.number,
            "members": key.members.iter().map(|member| member.get()).collect::<Vec<_>>(),
            "full": key.full,
            "behind": key.behind,
            "twin": key.twin,
            "duplicate": key.duplicate.map(SenderId::get),
        })
    };
    Value::Array(keys.iter().map(one).collect())
}

fn refused(error: MembershipError) -> Failure {
    match error {
        MembershipError::LocalBus(error) => failed(error),
        error => Failure::new(Exit::Configuration, error.to_string()),
    }
}
