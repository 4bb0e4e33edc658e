//! `folkmoot leave`: for a while, or for good.

use crate::commands::{ask, on_roster, propose, text};
use crate::control::Request;
use crate::exit::Failure;
use crate::show::{data, harmless};
use serde_json::{Value, json};
use std::path::Path;

/// `folkmoot leave`
pub(crate) async fn run(folder: &Path, for_good: bool, force: bool, json: bool) -> Result<(), Failure> {
    if for_good { give_up(folder, force, json).await } else { stop(folder, json).await }
}

/// The process leaves before it ends.
async fn stop(folder: &Path, json: bool) -> Result<(), Failure> {
    let state = own_state(&ask(folder, Request::Status).await?);
    ask(folder, Request::Stop).await?;
    data(json, &json!({ "left": "for-now", "member": on_roster(&state) }), || match on_roster(&state) {
        true => {
            "left: the member has stopped. When it starts again, it comes back without a vote, until its \
                 certificate ends or the others decide otherwise"
                .to_owned()
        }
        false => format!("stopped. It was in the group no more, or not yet ({state})"),
    });
    Ok(())
}

/// What the member's own program says of it.
fn own_state(status: &Value) -> String {
    let people = status.get("people").and_then(Value::as_array).into_iter().flatten();
    let own = people.into_iter().find(|person| person.get("member") == status.get("me"));
    own.map_or("unknown", |own| text(own, "state")).to_owned()
}

/// Nobody can be struck from the roster by one word: the others decide it, as any removal. The
/// member's signature tells it from one.
async fn give_up(folder: &Path, force: bool, json: bool) -> Result<(), Failure> {
    let answer = propose(folder, Request::LeaveForGood { force }).await?;
    let name = harmless(text(&answer, "name"));
    data(json, &answer, || {
        format!(
            "asked to leave for good. This member is in the group until the others have decided so: folkmoot vote \
             approve release {name}. To leave at once, and stay a member: folkmoot leave"
        )
    });
    Ok(())
}
