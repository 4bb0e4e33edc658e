//! Hands in a CSR through the member, and finds the certificate that it was granted.

use super::names::stranger;
use super::process::Process;
use crate::exit::{Exit, Failure};
use folkmoot::tools::Command;
use folkmoot::{Accepted, MemberId, Petition};
use folkmoot_base::{hex, unhex, whole};
use folkmoot_identity::{Csr, Gmc};
use serde_json::{Value, json};

impl Process {
    /// Hands it in. What is open afterwards under its key is what people vote on.
    pub(super) async fn submit(&mut self, pem: &str) -> Result<Value, Failure> {
        let csr =
            Csr::read(pem.as_bytes()).map_err(|error| Failure::new(Exit::Configuration, whole(&error)))?;
        let accepted = self.moot.submit_csr(csr.to_pem()).await?;
        self.asked_for(&accepted).await
    }

    /// Asks for a new certificate for this member.
    pub(super) async fn renew(&mut self) -> Result<Value, Failure> {
        let accepted = self.moot.renew().await?;
        self.asked_for(&accepted).await
    }

    /// Another key for the member itself.
    pub(super) async fn rotate(&mut self, certificate: &str) -> Result<Value, Failure> {
        let wrong = || Failure::new(Exit::Usage, "the certificate is not in hexadecimal");
        let certificate = unhex(certificate).ok_or_else(wrong)?;
        let accepted = self.moot.order(Command::Rotate { certificate: certificate.into() }).await?;
        Ok(super::answer::subject(accepted))
    }

    async fn asked_for(&self, accepted: &Accepted) -> Result<Value, Failure> {
        let asked = |one: &Petition| Some(one.subject) == accepted.subject;
        let open = self.moot.petitions().await?.into_iter().find(asked);
        let open = open.ok_or_else(|| Failure::bug("the request was accepted, but no request is open"))?;
        Ok(json!({
            "request": hex(&open.subject), "member": open.member.hex(), "name": stranger(&self.names, &open.member, &open.name),
            "have": open.have, "need": open.need,
        }))
    }

    /// The certificate of this serial number by which it is a member; and whether a request of its
    /// key is open, asked first: what is closed by then has its certificate in the transcript, or
    /// never will.
    pub(super) async fn certificate(&self, member: &str, serial: &str) -> Result<Value, Failure> {
        let member = MemberId::from_hex(member);
        let member =
            member.ok_or_else(|| Failure::new(Exit::Usage, "a member's id has 64 hexadecimal digits"))?;
        let open = self.moot.petitions().await?.iter().any(|one| one.member == member);
        let held = self.with_transcript(move |transcript| transcript.certificate_of(&member)).await?;
        let granted = held.and_then(|der| Gmc::from_der(&der).ok());
        let granted = granted.filter(|granted| hex(&granted.body().serial) == serial);
        Ok(json!({ "certificate": granted.map(|granted| granted.to_pem()), "open": open }))
    }
}
