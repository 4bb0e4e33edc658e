//! Endorsements: certificates by others that say who a newcomer is. `folkmoot charter new
//! --recognise` names whose, `folkmoot join --endorsement` shows one.

use crate::exit::{Exit, Failure};
use crate::files;
use crate::show::visible;
use folkmoot::StateFolder;
use folkmoot::tools::wall_clock;
use folkmoot_base::whole;
use folkmoot_identity::{Endorsement, EndorsementError, Recognised, authority_of, certificate_from_pem};
use std::path::{Path, PathBuf};

/// Seconds by which clocks may differ.
const SKEW: u64 = 60;

/// Whom a new charter recognises: the names and keys in these certificates.
pub(crate) fn recognised(files: &[PathBuf]) -> Result<Recognised, Failure> {
    let mut all = Recognised::default();
    for file in files {
        let usage = |why: &str| Failure::new(Exit::Usage, format!("{}: {why}", file.display()));
        let (name, key) = authority_of(&der(file)?).map_err(usage)?;
        if all.iter().any(|(other, _)| other == name) {
            return Err(usage("another one of these has the same name"));
        }
        all.insert(name, key);
    }
    Ok(all)
}

/// The endorsement in a file, and what the newcomer is told of it. What no voter of any group would
/// see is refused here; whom the charter recognises may have changed since the founding.
pub(crate) fn read(folder: &Path, file: &Path) -> Result<(Vec<u8>, String), Failure> {
    let state = StateFolder::at(folder);
    let (der, charter) = (der(file)?, files::founded(&state.charter_path())?);
    let me = files::certificate(&state.certificate_path())?;
    let checked = Endorsement::read(&der, charter.charter()).and_then(|endorsement| {
        endorsement.check((&me.member(), me.name()), wall_clock(), SKEW)?;
        Ok(endorsement)
    });
    let note = match checked {
        Ok(endorsement) => format!(
            "the voters see that {} has signed who you are, until {}",
            visible(endorsement.by()),
            endorsement.not_after()
        ),
        Err(EndorsementError::PeerIssuer) => format!(
            "warning: the founding charter recognises nobody who has signed {}. Unless the group has \
             decided otherwise since, the voters do not see it",
            file.display()
        ),
        Err(error) => {
            return Err(Failure::new(Exit::Refused, format!("{}: {}", file.display(), whole(&error))));
        }
    };
    Ok((der, note))
}

fn der(file: &Path) -> Result<Vec<u8>, Failure> {
    certificate_from_pem(&files::read_text(file)?)
        .map_err(|error| Failure::new(Exit::Configuration, format!("{}: {error}", file.display())))
}
