//! Votes and proposals: finds by name what a person means, and gives the order to the member.

use super::find::{Choice, find, spelled};
use super::names::stranger;
use super::outcome::Ballot;
use super::process::Process;
use super::{concerns, matters};
use crate::exit::Failure;
use folkmoot::tools::{Machine, OsEntropy};
use folkmoot::{Absence, Digest, Person, Presence};
use folkmoot_base::hex;
use serde_json::Value;

/// Ends of proposals; what comes before them names them, too.
const ENDS: [&str; 2] = [" in the charter", ", who asks to leave for good"];

/// What is voted on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matter {
    /// "request", "renewal" or "proposal".
    pub(super) kind: &'static str,
    pub(super) subject: Digest,
}

/// What a person means by this: a name or digits, or a proposal by its short form. Whatever else
/// is called so makes it unclear.
fn find_matter(text: &str, mut matters: Vec<Choice<Matter>>) -> Result<Choice<Matter>, Failure> {
    let (said, whole) = (spelled(text), matters.clone());
    let meant = |one: &&mut Choice<Matter>| one.value.kind == "proposal" && is_short(&said, &one.name);
    matters.iter_mut().filter(meant).for_each(|one| text.clone_into(&mut one.name));
    let mut found = find(text, matters, "no open request or proposal is called")?;
    if let Some(one) = whole.into_iter().find(|one| one.id == found.id) {
        found.name = one.name;
    }
    Ok(found)
}

/// Whether these words stand for the proposal: all but its end, or the field that it changes.
fn is_short(said: &str, proposal: &str) -> bool {
    let field = proposal.strip_prefix("set ").and_then(|rest| rest.split_once(" = ")).map(|(field, _)| field);
    field == Some(said) || ENDS.iter().any(|end| proposal.strip_suffix(end) == Some(said))
}

impl Process {
    /// A name alone is a request's: nobody shall vote for an expulsion by naming the one who is to
    /// go.
    pub(super) async fn vote(
        &mut self,
        text: &str,
        approve: bool,
        wait: Option<u64>,
    ) -> Result<Value, Failure> {
        self.learn_names().await?;
        let Choice { kind, name, id, value } = self.matter(text).await?;
        self.moot.vote(value.subject, approve).await?;
        let mut answer = self.outcome(&value, Ballot { approve, wait }).await?;
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("subject".into(), id.into());
            fields.insert("approve".into(), approve.into());
            fields.insert("kind".into(), kind.into());
            fields.insert("about".into(), name.into());
        }
        Ok(answer)
    }

    /// What somebody means by this, of what is open.
    pub(super) async fn matter(&self, text: &str) -> Result<Choice<Matter>, Failure> {
        find_matter(text, self.matters().await?)
    }

    async fn matters(&self) -> Result<Vec<Choice<Matter>>, Failure> {
        let (petitions, proposals) = (self.moot.petitions().await?, self.moot.proposals().await?);
        let requests = petitions.into_iter().map(|one| {
            let kind = matters::kind(&one);
            let name = stranger(&self.names, &one.member, &one.name);
            (name, Matter { kind, subject: one.subject })
        });
        let proposals =
            proposals.into_iter().map(|one| (one.text, Matter { kind: "proposal", subject: one.subject }));
        let choice = |(name, matter): (String, Matter)| Choice {
            kind: matter.kind.to_owned(),
            name,
            id: hex(&matter.subject),
            value: matter,
        };
        Ok(requests.chain(proposals).map(choice).collect())
    }

    /// What is voted on under `subject`, as long as it is open.
    pub(super) async fn about(&self, subject: &Digest) -> Result<Option<String>, Failure> {
        let found = self.matters().await?.into_iter().find(|one| one.value.subject == *subject);
        Ok(found.map(|one| one.name))
    }

    /// Open requests and proposals.
    pub(super) async fn petitions(&mut self) -> Result<Value, Failure> {
        self.learn_names().await?;
        let (petitions, proposals) = (self.moot.petitions().await?, self.moot.proposals().await?);
        let requests = petitions.iter().map(|petition| matters::petition_json(petition, &self.names));
        let concerns = self.concerns(proposals.iter().map(|one| one.subject).collect()).await?;
        let proposals = proposals
            .iter()
            .zip(concerns)
            .map(|(proposal, concerns)| matters::proposal_json(proposal, concerns, &self.names));
        Ok(requests.chain(proposals).collect::<Vec<_>>().into())
    }

    /// Whom the proposals on these subjects are about, in order.
    pub(super) async fn concerns(&self, subjects: Vec<Digest>) -> Result<Vec<Vec<Value>>, Failure> {
        let names = self.names.clone();
        let look = move |machine: &mut Machine, _, _: &mut OsEntropy| {
            let member = &machine.upper.member;
            let (known, keys) = (member.transcript(), member.new_keys());
            subjects.iter().map(|subject| concerns::of_proposal(subject, known, &keys, &names)).collect()
        };
        self.moot.handle().look(look).await.map_err(Failure::from)
    }
}

/// Whether somebody holds a valid certificate.
pub(super) fn on_roster(person: &Person) -> bool {
    let outside = |why: &Absence| {
        matches!(
            why,
            Absence::AwaitingVotes { .. }
                | Absence::AwaitingAuthority { .. }
                | Absence::Expelled
                | Absence::Replaced { .. }
                | Absence::Late
                | Absence::Expired(_)
        )
    };
    !matches!(&person.presence, Presence::Absent(why) if outside(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    fn open(kind: &'static str, name: &str, byte: u8) -> Choice<Matter> {
        let subject = [byte; 32];
        Choice { kind: kind.into(), name: name.into(), id: hex(&subject), value: Matter { kind, subject } }
    }

    #[test]
    fn a_proposal_is_meant_by_the_field_that_it_changes_however_its_letters_are_spelled() {
        let all = [
            open("proposal", "set letters = true in the charter", 1),
            open("proposal", "set threshold = 2 in the charter", 2),
            open("proposal", "set threshold = 3 in the charter", 3),
            open("proposal", "set roles.zo\u{eb} = none in the charter", 4),
            open("proposal", "release zo\u{eb}, who asks to leave for good", 5),
            open("proposal", "expel dora", 6),
        ];
        let look = |text: &str| find_matter(text, all.to_vec()).map(|found| found.name);
        for (text, at) in [
            ("letters", 0),
            ("set letters = true", 0),
            ("set threshold = 3", 2),
            ("roles.zoe\u{308}", 3),
            ("set roles.zoe\u{308} = none", 3),
            ("release zoe\u{308}", 4),
        ] {
            assert_eq!(look(text).as_ref(), Ok(&all[at].name), "{text}");
        }
        assert_eq!(look("threshold").unwrap_err().exit, Exit::Usage, "two change it");
        assert_eq!(look("dora").unwrap_err().exit, Exit::No, "nobody expels by a name alone");
        // Whoever is called like a field gets no vote that was meant for the proposal.
        let called = [open("request", "letters", 7), all[0].clone()];
        assert_eq!(find_matter("letters", called.to_vec()).unwrap_err().exit, Exit::Usage);
        assert_eq!(
            find_matter("letters", vec![called[0].clone()]).map(|found| found.kind),
            Ok("request".into())
        );
    }
}
