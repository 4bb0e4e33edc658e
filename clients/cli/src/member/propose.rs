//! Turns what a person wants to propose into a decision: names become keys, and rules get their one
//! spelling. Says what speaks against the proposal.

use super::decide::on_roster;
use super::find::{Choice, find};
use super::process::Process;
use super::times::needed;
use crate::exit::{Exit, Failure};
use crate::values::host_name;
use folkmoot::MemberId;
use folkmoot::tools::{Command, Machine, OsEntropy};
use folkmoot_base::{Blob, hex, whole};
use folkmoot_identity::{Rule, Threshold};
use folkmoot_transcript::{Change, Transcript, Unfit};
use serde_json::{Value, json};

/// Takes a field's value back.
const NONE: &str = "none";

impl Process {
    pub(super) async fn expel(&mut self, text: &str, force: bool) -> Result<Value, Failure> {
        let found = find(text, self.members().await?, "no member is called")?;
        let member = found.value;
        let answer = json!({ "member": found.id, "name": found.name });
        self.propose(Command::Expel { member }, force, answer).await
    }

    /// The member itself wants to go. Whatever speaks against its removal speaks against that.
    pub(super) async fn leave_for_good(&mut self, force: bool) -> Result<Value, Failure> {
        self.learn_names().await?;
        let me = self.moot.me();
        let answer = json!({ "member": me.hex(), "name": super::names::name(&self.names, &me) });
        self.propose(Command::LeaveForGood, force, answer).await
    }

    pub(super) async fn voters(&mut self, names: &[String], force: bool) -> Result<Value, Failure> {
        let members = self.members().await?;
        let find = |name: &String| find(name, members.clone(), "no member is called");
        let found = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let voters: Vec<MemberId> = found.iter().map(|one| one.value).collect();
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        let ids: Vec<String> = voters.iter().map(MemberId::hex).collect();
        let answer = json!({ "voters": ids, "names": names });
        self.propose(Command::Electorate { voters }, force, answer).await
    }

    pub(super) async fn change(&mut self, field: &str, value: &str, force: bool) -> Result<Value, Failure> {
        let value = self.spelled(field, value).await?;
        let answer = json!({ "field": field, "value": value });
        self.propose(Command::ChangeCharter { field: field.to_owned(), value }, force, answer).await
    }

    pub(super) async fn propose(
        &mut self,
        command: Command,
        force: bool,
        mut answer: Value,
    ) -> Result<Value, Failure> {
        let needed = self.needed_after(&command).await?;
        // As it is before: what one voter alone decides is done at once.
        let against = if force { self.against(&command).await? } else { None };
        let accepted = match force {
            true => self.moot.force(command).await?,
            false => self.moot.order(command).await?,
        };
        if let Some(fields) = answer.as_object_mut() {
            fields.extend(against.map(|error| ("warning".into(), whole(&error).into())));
            fields.extend(accepted.subject.map(|subject| ("subject".into(), hex(&subject).into())));
            fields.extend(Some(("all_needed".into(), needed)).filter(|(_, needed)| !needed.is_null()));
        }
        Ok(answer)
    }

    /// From when on no voter could be spared by what is proposed, if it is about who votes or how
    /// many votes it takes.
    async fn needed_after(&self, command: &Command) -> Result<Value, Failure> {
        let change = match command {
            Command::Electorate { voters } => Change::Electorate { voters: voters.clone() },
            Command::ChangeCharter { field, value } if field == "threshold" => {
                let blob = |text: &str| Blob::from(text.as_bytes().to_vec());
                Change::Charter { field: blob(field), value: blob(value) }
            }
            Command::Expel { member } => Change::Remove { member: *member },
            Command::LeaveForGood => Change::Remove { member: self.moot.me() },
            _ => return Ok(Value::Null),
        };
        let after = move |known: &Transcript| {
            let spares =
                matches!(&change, Change::Remove { member } if !known.state().voters().contains(member));
            let next = known.with_change(&change).filter(|_| !spares);
            next.and_then(|next| next.all_needed_from())
        };
        Ok(needed(self.with_transcript(after).await?))
    }

    /// Why what is wanted would not stand, unforced.
    async fn against(&self, command: &Command) -> Result<Option<Unfit>, Failure> {
        let (command, me) = (command.clone(), self.moot.me());
        self.with_transcript(move |transcript| {
            let blob = |text: String| Blob::from(text.into_bytes());
            let change = match command {
                Command::Expel { member } => Change::Remove { member },
                Command::LeaveForGood => Change::Remove { member: me },
                Command::ChangeCharter { field, value } => {
                    Change::Charter { field: blob(field), value: blob(value) }
                }
                Command::Electorate { voters } => Change::Electorate { voters },
                Command::Rejoin { head } => Change::Rejoin { head },
                Command::Retime => Change::Retime { head: transcript.state().head() },
                _ => return None,
            };
            transcript.would_stand(&change.into()).err()
        })
        .await
    }

    /// The value as a vote spells it.
    async fn spelled(&self, field: &str, value: &str) -> Result<String, Failure> {
        if value == NONE {
            return Ok(value.to_owned());
        }
        match field {
            "admit" | "remove" => {
                let rule = Rule::parse(value)
                    .map_err(|error| Failure::new(Exit::Usage, format!("{field}: {error}")))?;
                Ok(rule.to_string())
            }
            "threshold" if value.contains("% window ") => {
                let members = self.with_transcript(|transcript| transcript.roster().len()).await?;
                Ok(value.replace("% window ", &format!("% of {members} window ")))
            }
            "threshold" => Ok(Threshold::from_word(value).map_or(value.to_owned(), |word| word.to_string())),
            "contacts" => {
                let contact = |one: &str| match host_name(one)? {
                    Some(name) => Ok(name.locator().to_string()),
                    None => Ok(one.to_owned()),
                };
                let contacts: Result<Vec<String>, String> =
                    value.split(',').map(str::trim).map(contact).collect();
                let mut contacts = contacts.map_err(|why| Failure::new(Exit::Usage, why))?;
                contacts.sort_unstable();
                contacts.dedup();
                Ok(contacts.join(","))
            }
            _ if field.starts_with("roles.") || matches!(field, "list" | "decider") => self.keys(value).await,
            _ => Ok(value.to_owned()),
        }
    }

    /// Names and ids, with commas between, as sorted whole ids. Whole ids may be of people who are
    /// no members.
    async fn keys(&self, text: &str) -> Result<String, Failure> {
        let members = self.members().await?;
        let mut ids = Vec::new();
        for one in text.split(',').map(str::trim) {
            ids.push(match MemberId::from_hex(one) {
                Some(id) => id.hex(),
                None => find(one, members.clone(), "no member is called")?.id,
            });
        }
        ids.sort();
        ids.dedup();
        Ok(ids.join(","))
    }

    async fn members(&self) -> Result<Vec<Choice<MemberId>>, Failure> {
        let told = self.moot.names().await?;
        let people = self.moot.status().await?.people.into_iter().filter(on_roster);
        let choice = |person: folkmoot::Person| Choice {
            kind: "member".to_owned(),
            name: told.name(&person.member),
            id: person.member.hex(),
            value: person.member,
        };
        Ok(people.map(choice).collect())
    }

    /// Looks into the member's transcript.
    pub(super) async fn with_transcript<R: Send + 'static>(
        &self,
        look: impl FnOnce(&Transcript) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        let look = move |machine: &mut Machine, _, _: &mut OsEntropy| look(machine.upper.member.transcript());
        self.moot.handle().look(look).await.map_err(Failure::from)
    }
}
