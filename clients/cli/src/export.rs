//! `folkmoot export`: everything signed that carries the group, as files that OpenSSL reads
//! (docs/protocol/identity.md).
//!
//! ```text
//! DIR/charter.cms                       the founding rules, signed by the founders
//! DIR/identities.pem                    identity certificates: the CAfile
//! DIR/authority.pem                     the certificate of the authority's key, or of the group's own, where it has one: the CAfile
//! DIR/revoked.crl, .pem                 which of these hold no more, signed by that key (X.509 CRL); none if none was revoked
//! DIR/certificates/NAME-ID.der, .pem    membership certificates, votes inside
//! DIR/votes/SUBJECT-NAME-ID.cms         each vote as its voter signed it
//! DIR/transcript.moot                   the transcript: for `folkmoot verify CHARTER TRANSCRIPT`
//! ```

use crate::exit::{Exit, Failure};
use crate::show::{data, many, short};
use crate::{verify, words};
use bytes::Bytes;
use folkmoot::StateFolder;
use folkmoot::tools::Store;
use folkmoot_base::hex;
use folkmoot_identity::{IdentityCertificate, REVOKED_TABLE, RevocationList, identities_pem};
use folkmoot_transcript::{SignedVotes, Transcript};
use serde_json::json;
use std::path::Path;

/// `folkmoot export`
pub(crate) fn export(folder: &Path, to: &Path, json: bool) -> Result<(), Failure> {
    let folder = StateFolder::at(folder);
    let (transcript, revoked) = read(&folder)?;
    let signed = transcript.signed_charter();
    let own = IdentityCertificate::from_pem(&String::from_utf8_lossy(&folder.read_certificate()?)).ok();
    let people: Vec<IdentityCertificate> = own.into_iter().collect();
    let others = people.iter().filter(|one| signed.charter().founder(&one.member()).is_none());
    let pem = identities_pem(signed.certificates().chain(others));
    write(&to.join("charter.cms"), signed.der())?;
    write(&to.join("identities.pem"), pem.as_bytes())?;
    if let Some(authority) = transcript.roster().issuer().map_err(Failure::bug)? {
        write(&to.join("authority.pem"), authority.to_pem().as_bytes())?;
        // One that the key has not signed is as good as none: the group makes it again.
        if let Some(list) = revoked.and_then(|der| RevocationList::from_der(&der, &authority).ok()) {
            write(&to.join("revoked.crl"), list.der())?;
            write(&to.join("revoked.pem"), list.to_pem().as_bytes())?;
        }
    }
    write_transcript(&to.join(verify::FILE_NAME), &transcript)?;
    let (mut votes, mut certificates, mut unnamed) = (0, 0, Vec::new());
    for evidence in transcript.signed_votes(&people) {
        certificates += usize::from(evidence.certificate.is_some());
        votes += evidence.votes.len();
        unnamed.extend(evidence.unnamed.iter().map(|voter| voter.hex()));
        write_evidence(to, &evidence)?;
    }
    let words = words::of_head(&transcript.state().head());
    let head = transcript.state().head().whole();
    let value = json!({
        "folder": crate::show::path(to), "votes": votes, "certificates": certificates, "left_out": unnamed, "head": head,
        "head_words": words,
        "date": transcript.state().time().0,
    });
    data(json, &value, || {
        let left_out = match unnamed.len() {
            0 => String::new(),
            count => {
                format!("; left out {} by voters whose identity certificate is not here", many(count, "vote"))
            }
        };
        let (certificates, votes) = (many(certificates, "certificate"), many(votes, "vote"));
        format!(
            "{}: charter, transcript, {certificates}, {votes}{left_out}\nhead {head}\nin words: {words}",
            to.display()
        )
    });
    Ok(())
}

/// The transcript in the folder, and the revocation list if one is kept. Nobody else may have it
/// open meanwhile.
fn read(folder: &StateFolder) -> Result<(Transcript, Option<Bytes>), Failure> {
    if !folder.store_path().exists() {
        let hint = format!("no member has run on {} yet: nothing to export", folder.path().display());
        return Err(Failure::new(Exit::Configuration, hint));
    }
    let _lock = folder.lock()?;
    restored(folder)
}

/// The transcript in the folder, also while a member runs there.
pub(crate) fn transcript(folder: &StateFolder) -> Result<Transcript, Failure> {
    restored(folder).map(|(transcript, _)| transcript)
}

fn restored(folder: &StateFolder) -> Result<(Transcript, Option<Bytes>), Failure> {
    let refuse = |error: folkmoot::StoreError| Failure::new(Exit::Configuration, error.to_string());
    let stored = Store::open(&folder.store_path()).and_then(|store| store.load()).map_err(refuse)?;
    let revoked = stored.iter().find(|(key, _)| key.table == REVOKED_TABLE).map(|(_, value)| value.clone());
    let refuse = |error: String| Failure::new(Exit::Configuration, error);
    let founded = Transcript::founded(&folder.read_charter()?).map_err(|error| refuse(error.to_string()))?;
    let transcript = founded.restore(&stored).map_err(|error| refuse(error.to_string()))?;
    Ok((transcript, revoked))
}

fn write_transcript(file: &Path, transcript: &Transcript) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| Failure::file(file, &error);
    std::fs::write(file, transcript.file()).map_err(wrong)
}

fn write_evidence(to: &Path, evidence: &SignedVotes) -> Result<(), Failure> {
    let entry = hex(&evidence.name);
    for vote in &evidence.votes {
        let name = file_name(vote.certificate().name(), &vote.voter().hex());
        write(&to.join("votes").join(format!("{}-{name}.cms", short(&entry))), vote.der())?;
    }
    if let Some(certificate) = &evidence.certificate {
        let name = file_name(certificate.name(), &certificate.member().hex());
        let file = to.join("certificates").join(format!("{name}-{}", short(&entry)));
        write(&file.with_extension("der"), certificate.der())?;
        write(&file.with_extension("pem"), certificate.to_pem().as_bytes())?;
    }
    Ok(())
}

/// A name that somebody else chose, as part of a file's name.
fn file_name(name: &str, id: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).take(20).collect();
    format!("{plain}-{}", short(id))
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(file);
    std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
    std::fs::write(file, bytes).map_err(|error| Failure::file(file, &error))
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_strangers_name_leads_to_no_other_folder() {
        assert_eq!(file_name("../../etc/passwd", "0123456789"), "etcpasswd-01234567");
        assert_eq!(file_name("☕", "0123456789"), "-01234567");
    }
}
