//! The further chapters of a group with an authority: the authority is killed, and members go on; a
//! certificate runs out, and is renewed.

use super::cast::{Office, Story};
use super::outside::{Failure, Request, Shared, shared, until};
use super::stage::{DELIVERY, JOURNAL, QUIET, VIEW, count_of, field, from, person, say, told, votes};
use super::tale::Tale;
use serde_json::{Value, json};

/// A little more than the year that certificates hold.
const YEAR_SECONDS: u64 = 370 * 86_400;

impl Story {
    /// All chapters that an authority adds.
    pub(super) async fn central(&mut self, tale: &mut Tale) -> Result<(), Failure> {
        let Some(mut office) = self.office.take() else { return Ok(()) };
        let result = async {
            self.without(tale, &mut office).await?;
            self.renew(tale, &mut office).await
        };
        let result = result.await;
        self.office = Some(office);
        result
    }

    /// The authority is gone for a while.
    async fn without(&mut self, tale: &mut Tale, office: &mut Office) -> Result<(), Failure> {
        tale.step("authority", "The authority is killed; members go on, and an admission waits for it");
        let pid = office.authority.pid().unwrap_or(0);
        office.authority.kill().await?;
        tale.say(&format!("SIGKILL to the authority (process {pid})"), json!({ "pid": pid }));
        for member in [&self.anna, &self.ben, &self.cleo] {
            member.mark().await?;
        }
        say(&self.anna, "we do not need it to talk").await?;
        for member in [&self.ben, &self.cleo] {
            until(member, &JOURNAL, DELIVERY, "anna's message", |journal| from(journal, &self.anna) == 1)
                .await?;
        }
        tale.check("members go on talking without it", true, "1 message each");
        let before = shared(&[&self.anna, &self.ben, &self.cleo], None, VIEW).await?;
        let known = [self.anna.locator.clone()];
        office.erin.start(&self.charter, &known, true).await?;
        self.vote_for(tale, "erin").await?;
        let waits =
            |status: &Value| person(status, "erin").is_some_and(|erin| field(erin, "awaits") == "authority");
        let status = until(&self.anna, &Request::Status, VIEW, "the wait for the authority", waits).await?;
        tokio::time::sleep(QUIET).await;
        let out = shared(&[&self.anna, &self.ben, &self.cleo], None, VIEW).await? == before;
        let why = person(&status, "erin").map(|erin| field(erin, "why")).unwrap_or_default();
        tale.check("erin has her votes, and waits", out && why.contains("waiting for the authority"), &why);
        let known = [self.anna.locator.clone()];
        office.open(tale, &self.charter, &known).await?;
        let four = [&self.anna, &self.ben, &self.cleo, &office.erin];
        let four = shared(&four, Some(&before), VIEW).await?;
        tale.check("it comes back, signs, and erin is in", true, &told(&four));
        let stands = office.authority.ask(&Request::Authority).await?;
        let issued = count_of(&stands, "issued");
        tale.check(
            "it signed one certificate for each who was admitted",
            issued == 2,
            &format!("{issued} issued"),
        );
        Ok(())
    }

    /// A year passes: Erin's certificate runs out.
    async fn renew(&mut self, tale: &mut Tale, office: &mut Office) -> Result<(), Failure> {
        tale.step("renew", "A year later a certificate has run out, and is renewed by vote");
        for member in [&mut self.anna, &mut self.ben, &mut self.cleo].into_iter().chain(office.all()) {
            member.stop().await;
            member.clock_ahead = YEAR_SECONDS;
        }
        self.judge(tale).await?;
        let mut known = Vec::new();
        for member in [&mut self.anna, &mut self.ben, &mut self.cleo] {
            member.start(&self.charter, &known, false).await?;
            known.push(member.locator.clone());
        }
        office.open(tale, &self.charter, &known).await?;
        let over =
            |status: &Value| person(status, "erin").is_some_and(|erin| field(erin, "state") == "expired");
        until(&self.anna, &Request::Status, VIEW, "the end of erin's term", over).await?;
        let three: Shared = shared(&[&self.anna, &self.ben, &self.cleo], None, VIEW).await?;
        tale.check("erin's certificate ended: a view without her", true, &told(&three));
        office.erin.start(&self.charter, &known, true).await?;
        self.vote_for(tale, "erin").await?;
        let four = [&self.anna, &self.ben, &self.cleo, &office.erin];
        let four = shared(&four, Some(&three), VIEW).await?;
        tale.check("she asks anew, and has a new certificate", true, &told(&four));
        Ok(())
    }

    /// What a member exports, by OpenSSL's word.
    async fn judge(&self, tale: &mut Tale) -> Result<(), Failure> {
        let folder = self.charter.with_file_name("evidence");
        self.ben.call(&["export", &folder.display().to_string()]).await?;
        let certificates = std::fs::read_dir(folder.join("certificates"));
        let names =
            certificates.into_iter().flatten().filter_map(|file| file.ok()?.file_name().into_string().ok());
        let erin = names.into_iter().find(|name| name.starts_with("erin") && name.ends_with(".pem"));
        let erin = folder.join("certificates").join(erin.unwrap_or_default());
        let mut openssl = tokio::process::Command::new("openssl");
        openssl.args(["verify", "-x509_strict", "-check_ss_sig", "-CAfile"]);
        openssl.arg(folder.join("authority.pem")).arg(&erin);
        match openssl.output().await {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                let last = said.rsplit('/').next().unwrap_or_default();
                tale.check(
                    "openssl verifies the certificate against the authority's",
                    output.status.success(),
                    last,
                );
            }
            Err(_) => {
                tale.say("openssl is not installed here, so it did not check the certificate", Value::Null)
            }
        }
        Ok(())
    }

    async fn vote_for(&self, tale: &Tale, who: &str) -> Result<(), Failure> {
        let asked = |list: &Value| votes(list, who).is_some();
        for voter in [&self.anna, &self.ben] {
            until(voter, &Request::Petitions, VIEW, "the request", asked).await?;
            voter.call(&["vote", "approve", who]).await?;
            tale.say(&format!("{} votes yes", voter.name), json!({ "voter": voter.id }));
        }
        Ok(())
    }
}
