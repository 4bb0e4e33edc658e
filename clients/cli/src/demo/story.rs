//! The chapters of the demo. Anna, Ben and Cleo found the group; Dora comes, and is expelled; Cleo
//! crashes, and returns.

use super::cast::Story;
use super::outside::{
    Failure, Faulty, Identities, Member, PossibleView, Request, Sealed, Shared, found, many_of, shared,
    short, until,
};
use super::stage::{
    AFTER, DELIVERY, GROUP, JOURNAL, QUIET, VIEW, attempt, burst, count, cut, field, from, proposal, say,
    tapped, told, votes,
};
use super::tale::Tale;
use folkmoot_identity::KeyAlgorithm;
use serde_json::{Value, json};
use std::time::Instant;

impl Story {
    /// The whole story.
    pub(super) async fn play(&mut self, tale: &mut Tale) -> Result<(), Failure> {
        let founders = self.found(tale).await?;
        let four = self.admit(tale, &founders).await?;
        self.order(tale).await?;
        let three = self.crash(tale, &four).await?;
        let sides = self.split(tale, &three).await?;
        let healed = self.heal(tale, &sides).await?;
        let two = self.expel(tale, &healed).await?;
        self.come_back(tale, &two).await?;
        self.central(tale).await
    }

    async fn found(&mut self, tale: &mut Tale) -> Result<Shared, Failure> {
        tale.step("found", "Three founders sign a charter and form a group");
        let central =
            self.office.as_ref().map(|office| office.words(self.scheme.shared())).unwrap_or_default();
        let mut more = vec!["--scheme", self.scheme.name()];
        more.extend(central.iter().map(String::as_str));
        if self.identities == Identities::Mixed {
            KeyAlgorithm::ALL.iter().for_each(|one| more.extend(["--algorithm", one.name()]));
        }
        let founders = [&self.anna, &self.ben, &self.cleo];
        let text = self.charter.with_extension("toml");
        found(&founders, &text, (GROUP, 2), &more).await?;
        for founder in founders {
            tale.say(
                &format!("{} ({}) signs the charter", founder.name, short(&founder.id)),
                json!({ "member": founder.id }),
            );
        }
        let signed = self.charter.display().to_string();
        let verified = self.anna.call(&["charter", "verify", &signed]).await?;
        tale.check(
            "the charter is signed by all three",
            verified.get("stands") == Some(&Value::Bool(true)),
            "2 votes admit",
        );
        let mut known: Vec<String> = Vec::new();
        for founder in [&mut self.anna, &mut self.ben, &mut self.cleo] {
            founder.start(&self.charter, &known, false).await?;
            let text = format!(
                "{} runs as process {} at {}",
                founder.name,
                founder.pid().unwrap_or(0),
                founder.locator
            );
            tale.say(&text, json!({ "pid": founder.pid(), "locator": founder.locator }));
            known.push(founder.locator.clone());
        }
        if let Some(office) = &mut self.office {
            office.open(tale, &self.charter, &known).await?;
        }
        let one = shared(&[&self.anna, &self.ben, &self.cleo], None, VIEW).await?;
        tale.check("three founders share one view and one key", true, &told(&one));
        Ok(one)
    }

    async fn admit(&mut self, tale: &mut Tale, before: &Shared) -> Result<Shared, Failure> {
        tale.step("admit", "A stranger asks, and is voted in");
        let contacts = [self.anna.locator.clone(), self.ben.locator.clone()];
        self.dora.start(&self.charter, &contacts, true).await?;
        tale.say("dora has the charter and an address, and asks", json!({ "pid": self.dora.pid() }));
        let asked = |answer: &Value| votes(answer, "dora").is_some();
        for member in [&self.anna, &self.ben] {
            until(member, &Request::Petitions, VIEW, "dora's request", asked).await?;
        }
        let (code, _, complaint) = self.dora.call_raw(&["send", "let me in", "--timeout", "1"]).await?;
        let complaint: Value = serde_json::from_str(complaint.trim()).unwrap_or(Value::Null);
        tale.check(
            "without votes she is refused",
            code != Some(0) && self.outside().await?,
            &field(&complaint, "error"),
        );
        self.vote(tale, &self.anna).await?;
        tokio::time::sleep(QUIET).await;
        tale.check("one vote is not enough", self.outside().await?, &self.why("dora").await?);
        self.vote(tale, &self.ben).await?;
        let begun = Instant::now();
        let four = shared(&[&self.anna, &self.ben, &self.cleo, &self.dora], Some(before), VIEW).await?;
        let detail = format!("{}, {} ms after the second vote", told(&four), begun.elapsed().as_millis());
        tale.check("two votes: a certificate, one view of four, a new key", true, &detail);
        self.keep_words().await?;
        Ok(four)
    }

    /// A message of the first view of four, still sealed, for the attempt after the expulsion.
    async fn keep_words(&mut self) -> Result<(), Failure> {
        let all = [&self.anna, &self.ben, &self.cleo, &self.dora];
        for member in all {
            member.mark().await?;
        }
        self.anna.ask(&Request::Tap { withhold: false }).await?;
        say(&self.anna, "welcome, dora").await?;
        for member in all {
            until(member, &JOURNAL, DELIVERY, "the welcome", |journal| count(journal) == 1).await?;
        }
        self.keepsake = tapped(&self.anna).await?;
        Ok(())
    }

    async fn vote(&self, tale: &Tale, voter: &Member) -> Result<(), Failure> {
        voter.call(&["vote", "approve", "dora"]).await?;
        tale.say(&format!("{} votes yes", voter.name), json!({ "voter": voter.id }));
        Ok(())
    }

    /// Whether Dora has no view, and nobody has one with her.
    async fn outside(&self) -> Result<bool, Failure> {
        let (inside, own) = (self.anna.ask(&Request::View).await?, self.dora.ask(&Request::View).await?);
        let members = inside.get("members").and_then(Value::as_array).cloned().unwrap_or_default();
        Ok(own.get("view").is_none_or(Value::is_null) && !members.contains(&self.dora.id.clone().into()))
    }

    async fn why(&self, who: &str) -> Result<String, Failure> {
        let (_, out, _) = self.anna.call_raw(&["why", who]).await?;
        let person: Value = serde_json::from_str(out.trim()).unwrap_or(Value::Null);
        Ok(person.get("why").and_then(Value::as_str).unwrap_or("nothing is known").to_owned())
    }

    async fn order(&mut self, tale: &mut Tale) -> Result<(), Failure> {
        tale.step("order", "All four talk at once, and all hear the same");
        let all = [&self.anna, &self.ben, &self.cleo, &self.dora];
        for member in all {
            member.mark().await?;
        }
        let begun = Instant::now();
        burst(&all, self.messages).await?;
        let total = self.messages * 4;
        let mut digests = Vec::new();
        for member in all {
            let journal =
                until(member, &JOURNAL, DELIVERY, "delivery of all", |journal| count(journal) >= total)
                    .await?;
            let digest = field(&journal, "digest");
            tale.say(
                &format!(
                    "{} heard {}, log {}",
                    member.name,
                    many_of(count(&journal), "message"),
                    short(&digest)
                ),
                journal,
            );
            digests.push((digest, count(&member.ask(&JOURNAL).await?)));
        }
        let same = digests.windows(2).all(|pair| pair.first() == pair.last());
        let exact = digests.iter().all(|(_, heard)| *heard == total);
        let (digest, _) = digests.first().cloned().unwrap_or_default();
        let detail = format!(
            "{} in {} ms, order digest {}",
            many_of(total, "message"),
            begun.elapsed().as_millis(),
            digest.get(..16).unwrap_or_default()
        );
        tale.check("four delivery logs are equal", same && exact, &detail);
        Ok(())
    }

    async fn crash(&mut self, tale: &mut Tale, before: &Shared) -> Result<Shared, Failure> {
        tale.step("crash", "One process is killed");
        let pid = self.cleo.pid().unwrap_or(0);
        let begun = Instant::now();
        self.cleo.kill().await?;
        tale.say(&format!("SIGKILL to cleo (process {pid})"), json!({ "pid": pid }));
        let three = shared(&[&self.anna, &self.ben, &self.dora], Some(before), VIEW).await?;
        let millis = begun.elapsed().as_millis();
        tale.say(
            &format!("the new key is in use {millis} ms after the kill"),
            json!({ "new_key_ms": millis }),
        );
        tale.check(
            "the other three have a new view and a new key",
            true,
            &format!("{}, {millis} ms", told(&three)),
        );
        Ok(three)
    }

    async fn split(&mut self, tale: &mut Tale, before: &Shared) -> Result<[Shared; 2], Failure> {
        tale.step("split", "The network splits; each side goes on under its own key");
        cut(&self.dora, &[&self.anna, &self.ben]).await?;
        cut(&self.anna, &[&self.dora]).await?;
        cut(&self.ben, &[&self.dora]).await?;
        tale.say("the network between {anna, ben} and {dora} is cut", Value::Null);
        let west = shared(&[&self.anna, &self.ben], Some(before), VIEW).await?;
        let east = shared(&[&self.dora], Some(before), VIEW).await?;
        let detail = format!("{{anna, ben}} {}; {{dora}} {}", told(&west), told(&east));
        tale.check(
            "each side has its own view and its own key",
            west.view != east.view && west.epoch != east.epoch,
            &detail,
        );
        for member in [&self.anna, &self.ben, &self.dora] {
            member.mark().await?;
        }
        say(&self.anna, "is anybody there?").await?;
        say(&self.dora, "only me").await?;
        for member in [&self.anna, &self.ben, &self.dora] {
            until(member, &JOURNAL, DELIVERY, "delivery within the side", |journal| count(journal) >= 1)
                .await?;
        }
        tokio::time::sleep(QUIET).await;
        let mut heard = Vec::new();
        for (member, speaker) in [(&self.anna, &self.anna), (&self.ben, &self.anna), (&self.dora, &self.dora)]
        {
            let journal = member.ask(&JOURNAL).await?;
            heard.push(count(&journal) == 1 && from(&journal, speaker) == 1);
        }
        tale.check(
            "each side hears itself and nothing of the other",
            heard.iter().all(|one| *one),
            "one message on each side",
        );
        Ok([west, east])
    }

    async fn heal(&mut self, tale: &mut Tale, sides: &[Shared; 2]) -> Result<Shared, Failure> {
        tale.step("heal", "The network is whole again");
        let begun = Instant::now();
        for member in [&self.anna, &self.ben, &self.dora] {
            member.ask(&Request::Fault(Faulty { heal: true, ..Faulty::default() })).await?;
        }
        let [west, east] = sides;
        let one = shared(&[&self.anna, &self.ben, &self.dora], Some(west), VIEW).await?;
        let new = one.epoch != east.epoch && one.view != east.view;
        let detail = format!("{}, {} ms", told(&one), begun.elapsed().as_millis());
        tale.check("one view, one key, and neither side's old one", new, &detail);
        Ok(one)
    }

    async fn expel(&mut self, tale: &mut Tale, before: &Shared) -> Result<Shared, Failure> {
        tale.step("expel", "A member is expelled by vote, keeps its old keys, and reads nothing more");
        self.dora.ask(&Request::IgnoreChanges).await?;
        tale.say("dora's process is told to ignore its removal and keep every key it has", Value::Null);
        let old = self.withheld(tale).await?;
        self.anna.call(&["expel", "dora"]).await?;
        tale.say("anna proposes to expel dora, and votes yes", Value::Null);
        self.agree_to_expel(tale).await?;
        let two = shared(&[&self.anna, &self.ben], Some(before), VIEW).await?;
        tale.check("two votes of three: a view and a key without her", true, &told(&two));
        let why = self.why("dora").await?;
        tale.check("folkmoot why says why dora is out", why.contains("expelled"), &why);
        self.try_old_keys(tale, old).await?;
        self.dora.stop().await;
        Ok(two)
    }

    /// The test of the test: sealed messages withheld from Dora while she is a member do open when
    /// they are fed to her the way the later ones will be.
    async fn withheld(&self, tale: &mut Tale) -> Result<Vec<Sealed>, Failure> {
        for member in [&self.anna, &self.ben, &self.dora] {
            member.mark().await?;
        }
        self.dora.ask(&Request::Tap { withhold: true }).await?;
        say(&self.anna, "dora, this is for you too").await?;
        say(&self.ben, "and this").await?;
        for member in [&self.anna, &self.ben] {
            until(member, &JOURNAL, DELIVERY, "delivery of both", |journal| count(journal) == 2).await?;
        }
        tokio::time::sleep(QUIET).await;
        let unheard = count(&self.dora.ask(&JOURNAL).await?) == 0;
        let sealed = tapped(&self.dora).await?;
        self.dora.ask(&Request::Feed { payloads: sealed.clone() }).await?;
        let heard = until(&self.dora, &JOURNAL, DELIVERY, "opening", |journal| count(journal) == 2).await;
        let detail = format!("{} withheld from her, opened once fed", sealed.len());
        tale.check("before the vote, sealed messages fed to her do open", unheard && heard.is_ok(), &detail);
        Ok(sealed)
    }

    async fn agree_to_expel(&self, tale: &Tale) -> Result<(), Failure> {
        let proposed = |list: &Value| proposal(list).is_some();
        let list = until(&self.ben, &Request::Petitions, VIEW, "the proposal", proposed).await?;
        let subject = proposal(&list).ok_or_else(|| Failure::bug("the proposal has disappeared"))?;
        self.ben.call(&["vote", "approve", &subject]).await?;
        tale.say("ben votes yes", json!({ "subject": subject }));
        Ok(())
    }

    /// Hands Dora what the others seal after her removal, as if she had tapped every wire: to her
    /// process as it is, and to every key she ever held, with the true header, view and members, so
    /// that only the key is missing. The same attempt on what was sealed while she was a member
    /// shows that it would succeed if it could.
    async fn try_old_keys(&self, tale: &mut Tale, mut old: Vec<Sealed>) -> Result<(), Failure> {
        for member in [&self.anna, &self.ben, &self.dora] {
            member.mark().await?;
        }
        self.anna.ask(&Request::Tap { withhold: false }).await?;
        burst(&[&self.anna, &self.ben], AFTER).await?;
        until(&self.anna, &JOURNAL, DELIVERY, "delivery of all", |journal| count(journal) >= 2 * AFTER)
            .await?;
        let new = tapped(&self.anna).await?;
        let view = self.anna.ask(&Request::View).await?;
        let views = vec![serde_json::from_value::<PossibleView>(view).map_err(Failure::bug)?];
        old.extend(self.keepsake.iter().cloned());
        let control = attempt(&self.dora, old, &views).await?;
        tale.check(
            "every message sealed while she was a member opens to the keys she kept",
            control.sealed >= 3 && control.opened == control.sealed,
            &format!(
                "{} of {} opened, also those of her first view; {} keys",
                control.opened, control.sealed, control.keys
            ),
        );
        self.dora.ask(&Request::Feed { payloads: new.clone() }).await?;
        let later = attempt(&self.dora, new, &views).await?;
        tokio::time::sleep(QUIET).await;
        let heard = count(&self.dora.ask(&JOURNAL).await?);
        tale.check(
            "she decrypts nothing sealed after that",
            // Texts that are sent together share a seal: each of the two has sealed at least once.
            later.sealed >= 2 && later.opened == 0 && heard == 0 && later.tries >= later.sealed,
            &format!(
                "{} texts in {} seals, {} keys, {} tries, {} opened; true header and view",
                2 * AFTER,
                later.sealed,
                later.keys,
                later.tries,
                later.opened
            ),
        );
        Ok(())
    }

    async fn come_back(&mut self, tale: &mut Tale, before: &Shared) -> Result<(), Failure> {
        tale.step("return", "The killed member restarts from its disk");
        let begun = Instant::now();
        let known = [self.anna.locator.clone()];
        self.cleo.start(&self.charter, &known, false).await?;
        tale.say(
            &format!("cleo runs again as process {}", self.cleo.pid().unwrap_or(0)),
            json!({ "pid": self.cleo.pid() }),
        );
        let three = shared(&[&self.anna, &self.ben, &self.cleo], Some(before), VIEW).await?;
        let detail = format!("{}, {} ms after the start", told(&three), begun.elapsed().as_millis());
        tale.check("cleo is back in one view, under a new key, without any vote", true, &detail);
        let (_, out, _) = self.cleo.call_raw(&["why", "dora"]).await?;
        tale.check(
            "cleo has learnt that dora was expelled",
            out.contains("expelled"),
            "from the transcript, verified",
        );
        for member in [&self.anna, &self.ben] {
            member.mark().await?;
        }
        say(&self.cleo, "what did I miss?").await?;
        for member in [&self.anna, &self.ben] {
            until(member, &JOURNAL, DELIVERY, "cleo's message", |journal| from(journal, &self.cleo) == 1)
                .await?;
        }
        tale.check("the others hear cleo again", true, "1 message each");
        Ok(())
    }
}
