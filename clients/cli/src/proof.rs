//! Proofs of who said what: `folkmoot proof` takes one from the running member. `folkmoot verify
//! FILE --charter CHARTER` checks it offline, by the charter alone, or by the group's transcript as
//! well.

use crate::args::{Proof, Verify};
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::files::{read_small, read_start};
use crate::member::render::view_text;
use crate::show::{Paint, data, harmless, paint, said, short, words};
use crate::verify::load;
use folkmoot_base::{GroupId, GroupName, MemberId, hex, unhex, whole};
use folkmoot_identity::names::told;
use folkmoot_identity::{
    Charter, MessageError, SIGNED_MESSAGE_BYTES_MAX, SignedCharter, SignedMessage, Stamp,
};
use folkmoot_transcript::{Ending, Transcript};
use serde_json::{Value, json};
use std::path::Path;

/// `folkmoot proof`
pub(crate) async fn save(folder: &Path, proof: Proof, json: bool) -> Result<(), Failure> {
    let Proof { number, out, unsigned } = proof;
    let answer = Control::connect(folder).await?.ask(&Request::Proof { number, unsigned }).await?;
    let text = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default();
    let number = answer.get("number").and_then(Value::as_u64).unwrap_or_default();
    let signed = answer.get("signed").and_then(Value::as_bool).unwrap_or_default();
    let bytes = unhex(text("file")).ok_or_else(|| Failure::bug("the proof is not hexadecimal"))?;
    let ending = if signed { "cms" } else { "record" };
    let out = out.unwrap_or_else(|| format!("message-{number}.{ending}").into());
    std::fs::write(&out, bytes).map_err(|error| Failure::file(&out, &error))?;
    let value = json!({ "number": number, "file": crate::show::path(&out), "signed": signed, "sender": text("sender") });
    data(json, &value, || {
        let name = harmless(text("name"));
        let what = if signed {
            format!(
                "signed by {name}; anyone can check it: folkmoot verify {0} --charter FILE",
                out.display()
            )
        } else {
            format!("said by {name}, not signed: it proves nothing")
        };
        format!("{}  message {number}, {what}", out.display())
    });
    Ok(())
}

/// Whether `folkmoot verify` is to judge a message: so it was said, or so the file looks.
pub(crate) fn is_message(verify: &Verify) -> bool {
    let named = verify.charter.is_some() || verify.transcript.is_some();
    named || verify.file.as_ref().is_some_and(|file| read(file).is_ok_and(|bytes| looks_like(&bytes)))
}

fn looks_like(bytes: &[u8]) -> bool {
    SignedMessage::from_der(bytes).is_ok() || Stamp::from_record(bytes).is_ok()
}

/// `folkmoot verify FILE --charter CHARTER [--transcript FILE]`
pub(crate) fn verify(folder: &Path, verify: &Verify, json: bool) -> Result<(), Failure> {
    let file = verify.file.as_ref().ok_or_else(|| Failure::new(Exit::Usage, "name the file to verify"))?;
    let charter = crate::files::given_or_kept(verify.charter.clone(), folder)?;
    let charter = read_small(&charter)
        .and_then(|der| SignedCharter::complete_from_der(&der).map_err(|error| no(&charter, &error)))?;
    let bytes = read(file)?;
    if Stamp::from_record(&bytes).is_ok() {
        return Err(Failure::new(
            Exit::No,
            format!(
                "{} is not signed. It proves nothing: every member of its view could have made it, because all share the key",
                file.display()
            ),
        ));
    }
    let message = SignedMessage::from_der(&bytes).map_err(|error| no(file, &error))?;
    let transcript = verify.transcript.as_deref().map(|file| load(&charter, file)).transpose()?;
    let charter = charter.charter();
    let named = said_in(&message, charter, verify.group.as_deref())?;
    let standing = match &transcript {
        Some(transcript) => {
            let known = transcript.check_sender(&message, named.as_ref());
            known.map(|()| now(transcript, &message)).or_else(|error| {
                // A file does not remember everybody who was a member once.
                let by_charter =
                    message.check_charter(charter, named.as_ref()).map(|()| by_charter(&message));
                by_charter.map(|how| format!("{how}, and no member by this transcript")).map_err(|_| error)
            })
        }
        None => message.check_charter(charter, named.as_ref()).map(|()| by_charter(&message)),
    };
    let standing = standing.map_err(|error| no_member(file, &error))?;
    tell(&message, (charter, named.as_ref()), &standing, json);
    Ok(())
}

/// The name of the group in which it was said, if that is not the charter's own: as told, or one
/// that the charter names.
fn said_in(
    message: &SignedMessage,
    charter: &Charter,
    told: Option<&str>,
) -> Result<Option<GroupName>, Failure> {
    if let Some(told) = told {
        let name = GroupName::new(told);
        return name.map(Some).map_err(|error| Failure::new(Exit::Usage, format!("{told:?}: {error}")));
    }
    let is_it = |name: &GroupName| GroupId::of_name(&charter.group(), name) == message.stamp().view.group;
    Ok(charter.named_groups().find(is_it))
}

fn tell(
    message: &SignedMessage,
    (charter, named): (&Charter, Option<&GroupName>),
    standing: &str,
    json: bool,
) {
    let stamp = message.stamp();
    let founders = charter.founders().iter().map(|one| (one.key.member_id(), one.name.as_str()));
    let own = (stamp.sender.member, message.certificate().name());
    let name = told(founders.chain([own])).remove(&stamp.sender.member).unwrap_or_default();
    let group = named.unwrap_or(charter.name()).as_str();
    let text = words(message.text());
    let value = json!({
        "stands": true, "signed_by": name, "member": stamp.sender.member.hex(), "port": stamp.sender.port, "standing": standing, "name": group,
        "group": stamp.view.group.hex(), "view": view_text(&stamp.view), "epoch": hex(&stamp.epoch),
        "number": stamp.number, "service": format!("{:?}", stamp.service).to_lowercase(),
        "text": text, "payload": hex(message.text()),
    });
    data(json, &value, || {
        let said = said(message.text());
        let who = format!("{} ({})", stamp.sender.of(&name), short(&stamp.sender.member.hex()));
        let verdict = paint(Paint::Green, &format!("valid: signed by {who}, {standing}"));
        let view = view_text(&stamp.view);
        format!(
            "{said}\n{verdict}\nin {} ({}), view {view}, message {} under key {}",
            harmless(group),
            short(&stamp.view.group.hex()),
            stamp.number,
            short(&hex(&stamp.epoch)),
        )
    });
}

fn by_charter(message: &SignedMessage) -> String {
    use folkmoot_identity::SignerCertificate::{Admitted, Founder};
    match message.certificate() {
        Founder(_) => "a founder".into(),
        Admitted(gmc) => format!("admitted by {} of the founders", gmc.approvals().len()),
    }
}

const REPLACED: &str = "a former key of a member, which has another since";

/// How the sender stands by the transcript's last decision.
fn now(transcript: &Transcript, message: &SignedMessage) -> String {
    let sender: &MemberId = &message.stamp().sender.member;
    match transcript.roster().former(sender).map(|former| former.ending) {
        None if transcript.roster().is_member(sender) => "a member".into(),
        None if transcript.state().replaced().contains_key(sender) => REPLACED.into(),
        None => "a former member, whose key was removed since".into(),
        Some(Ending::Replaced { .. }) => REPLACED.into(),
        Some(Ending::Expelled { .. }) => "a former member, expelled since".into(),
        Some(Ending::Expired { .. }) => "a former member, whose certificate has ended".into(),
        Some(Ending::Late) => "a former member, whose admission no decision has held".into(),
    }
}

/// A file, as far as any that is judged here may go.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    read_start(file, SIGNED_MESSAGE_BYTES_MAX + 1)
}

fn no(file: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::new(Exit::No, format!("{} is not valid: {}", file.display(), whole(error)))
}

/// A member that the founding charter alone cannot show may be shown by the transcript.
fn no_member(file: &Path, error: &MessageError) -> Failure {
    let mut failure = no(file, error);
    if matches!(error, MessageError::Certificate(_)) {
        failure.text.push_str(
            ". If the group has changed its charter or its voters since it was founded, let a member run: \
             folkmoot export DIR; then add --transcript DIR/transcript.moot",
        );
    }
    if matches!(error, MessageError::PeerOtherGroup) {
        failure.text.push_str(". If it was sent in a named group under this one, add --group NAME");
    }
    failure
}
