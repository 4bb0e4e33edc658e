//! `folkmoot leave`: for a while, or for good.

use crate::commands::{ask, propose, text};
use crate::control::Request;
use crate::exit::Failure;
use crate::show::{data, harmless};
use serde_json::json;
use std::path::Path;

/// `folkmoot leave`
pub(crate) async fn run(folder: &Path, for_good: bool, force: bool, json: bool) -> Result<(), Failure> {
    if for_good { give_up(folder, force, json).await } else { stop(folder, json).await }
}

/// The process leaves before it ends.
async fn stop(folder: &Path, json: bool) -> Result<(), Failure> {
    ask(folder, Request::Stop).await?;
    data(json, &json!({ "left": "for-now" }), || {
        "left: the member has stopped. When it starts again, it comes back without a vote".to_owned()
    });
    Ok(())
}

/// Nobody can be struck from the roster by one word: the others decide it, as any removal. The
/// member's signature tells it from one.
async fn give_up(folder: &Path, force: bool, json: bool) -> Result<(), Failure> {
    let request = |weigh| Request::LeaveForGood { force, weigh };
    let answer = propose(folder, request, force).await?;
    let name = harmless(text(&answer, "name"));
    data(json, &answer, || {
        format!(
            "asked to leave for good. This member is in the group until the others have decided so: folkmoot vote \
             approve release {name}. To leave at once, and stay a member: folkmoot leave"
        )
    });
    Ok(())
}
