//! `folkmoot identity rotate`: another key for the member of this folder, by a vote.
//!
//! ```text
//! while the member runs   next/ is made: a new key and its certificate; the member proposes it
//! after the decision      no member runs: next/ takes the place of the folder's own key
//! ```
//! A stop at any place leaves either key in use, and the same command goes on from there.

use crate::control::{Control, Request as Order};
use crate::exit::{Exit, Failure};
use crate::export;
use crate::identity::{Origin, entropy, make, written};
use crate::keys::Keys;
use crate::show::{data, short};
use folkmoot::tools::{Store, wall_clock};
use folkmoot::{MemberId, StateFolder};
use folkmoot_base::{Persist, hex};
use folkmoot_identity::{Gmc, GmcBody, Identity, KeyAlgorithm, Request};
use folkmoot_transcript::Transcript;
use serde_json::json;
use std::path::Path;

/// What the old key said and promised as a voter, and its shares of the group's key, which are
/// sealed under it and of no use: the new key has said nothing yet, and gets shares of its own.
const FORGOTTEN: [&str; 2] = ["vote", "share"];

/// `folkmoot identity rotate`
pub(crate) async fn rotate(
    folder: &Path,
    keys: &Keys,
    algorithm: Option<KeyAlgorithm>,
    json: bool,
) -> Result<(), Failure> {
    StateFolder::at(folder).read_key()?;
    let next = StateFolder::at(&folder.join("next"));
    match Control::connect(folder).await {
        Ok(control) => propose(folder, &next, (keys, algorithm), control, json).await,
        Err(_) if next.has_identity() => take(folder, &next, json),
        Err(failure) => Err(failure),
    }
}

/// The member proposes the new key.
async fn propose(
    folder: &Path,
    next: &StateFolder,
    (keys, algorithm): (&Keys, Option<KeyAlgorithm>),
    mut control: Control,
    json: bool,
) -> Result<(), Failure> {
    let (identity, passphrase) = keys.opened(folder)?;
    // A stop came between the new key's use and the end of its own folder.
    if next.has_identity() && crate::files::me(next.path())? == identity.member() {
        std::fs::remove_dir_all(next.path()).map_err(|error| Failure::file(next.path(), &error))?;
    }
    if !next.has_identity() {
        let algorithm = algorithm.unwrap_or(identity.key().verifying_key().algorithm());
        takes(folder, algorithm)?;
        let made = make(identity.name(), Origin::Drawn(algorithm))?;
        let key = written(&made, passphrase.as_ref())?;
        StateFolder::open(next.path())?.write_identity(key.expose(), &made.certificate_pem())?;
    }
    let new = next.identity(passphrase.as_ref())?;
    let made = new.key().verifying_key().algorithm();
    if let Some(other) = algorithm.filter(|one| *one != made) {
        return Err(is_of_another(next, (made, other)));
    }
    let certificate = hex(&asks(folder, next, &new)?);
    control.ask(&Order::Rotate { certificate }).await?;
    let (old, new) = (identity.member().hex(), new.member().hex());
    let name = identity.name();
    data(json, &json!({ "member": old, "new": new }), || {
        format!(
            "proposed: the key {} in place of {}\nVote: folkmoot vote approve give {name}≈{} another key. Once it is decided, \
             stop this member and run: folkmoot --state {} identity rotate",
            short(&new),
            short(&old),
            // From now on there are two keys of this name, so it has a mark.
            short(&old),
            folder.display()
        )
    });
    Ok(())
}

/// Whether the charter names the algorithm that was chosen. No key is made in vain.
fn takes(folder: &Path, algorithm: KeyAlgorithm) -> Result<(), Failure> {
    let transcript = export::transcript(&StateFolder::at(folder))?;
    let named = transcript.roster().charter().algorithms();
    named.check_choice(algorithm).map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}

fn is_of_another(next: &StateFolder, (made, other): (KeyAlgorithm, KeyAlgorithm)) -> Failure {
    let (next, made, other) = (next.path().display(), made.name(), other.name());
    let why = format!(
        "the key in {next} is of {made}, and you asked for {other}. To go on with that key, leave out --algorithm. For one of \
         {other}, have its proposal rejected if there is one, remove {next}, and run this again"
    );
    Failure::new(Exit::Usage, why)
}

/// What the new key signs: its certificate where holders sign theirs, else its request for one. It
/// is over the newest decision that the member's store has, and kept, so that the same command
/// proposes the same key; once its base is too old, another is made.
fn asks(folder: &Path, next: &StateFolder, new: &Identity) -> Result<Vec<u8>, Failure> {
    let transcript = export::transcript(&StateFolder::at(folder))?;
    let roster = transcript.roster();
    let alone = roster.charter().holder_signs();
    let file = next.path().join(if alone { "certificate.der" } else { "request.cms" });
    let body = |der: &[u8]| match alone {
        true => Gmc::from_der(der).ok().map(|gmc| gmc.body().clone()),
        false => Request::from_der(der).ok().map(|request| request.body().clone()),
    };
    let fits = |body: GmcBody| {
        let timely = body.not_after > wall_clock() && transcript.state().has_on_line(&body.membership.base);
        timely && body.key.member_id() == new.member()
    };
    if let Some(kept) = std::fs::read(&file).ok().filter(|der| body(der).is_some_and(fits)) {
        return Ok(kept);
    }
    let size = u32::try_from(roster.len()).unwrap_or(u32::MAX);
    let body = GmcBody::propose(roster.charter(), new, size, wall_clock(), &mut entropy()?);
    let body = body.over(roster.head());
    let made = match alone {
        true => Gmc::compose_bare(&body, new, &mut entropy()?).map_err(Failure::bug)?.der().to_vec(),
        false => Request::sign(new, body).map_err(Failure::bug)?.der().to_vec(),
    };
    keep(&file, &made)?;
    Ok(made)
}

fn keep(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes).map_err(|error| Failure::file(file, &error))
}

/// The new key takes the place of the old one, if it was decided.
fn take(folder: &Path, next: &StateFolder, json: bool) -> Result<(), Failure> {
    let home = StateFolder::at(folder);
    let new = crate::files::me(next.path())?;
    let transcript = export::transcript(&home)?;
    decided(&transcript, &new, folder)?;
    forget(&home)?;
    home.take_key_of(next)?;
    data(json, &json!({ "member": new.hex() }), || {
        format!("the key of this folder is now {}: run the member as before", short(&new.hex()))
    });
    Ok(())
}

fn decided(transcript: &Transcript, new: &MemberId, folder: &Path) -> Result<(), Failure> {
    if transcript.roster().is_member(new) {
        return Ok(());
    }
    let why = format!(
        "the members have not decided on the new key yet, as far as this folder knows. Run the member, and let them vote. To \
         give it up, remove {}",
        folder.join("next").display()
    );
    Err(Failure::new(Exit::No, why))
}

/// What the old key said and promised as a voter.
fn forget(home: &StateFolder) -> Result<(), Failure> {
    let _lock = home.lock()?;
    let refuse = |error: folkmoot::StoreError| Failure::new(Exit::Configuration, error.to_string());
    let mut store = Store::open(&home.store_path()).map_err(refuse)?;
    let said = store.load().map_err(refuse)?.into_iter().filter(|(key, _)| FORGOTTEN.contains(&key.table));
    let rows: Vec<Persist> = said.map(|(key, _)| Persist { key, value: None }).collect();
    store.commit(&rows).map_err(refuse)
}
