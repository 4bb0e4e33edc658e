//! How it stands with the shares of the group's key, for people: in `status` and in `doctor`.

use crate::show::{Paint, harmless, paint};
use folkmoot::{ShareStatus, ShareWay};
use folkmoot_base::hex;
use serde_json::{Value, json};

/// As data. `asking`: the names of those who have lost theirs.
pub(crate) fn data(share: &ShareStatus, asking: &[String]) -> Value {
    json!({
        "epoch": hex(&share.epoch), "held": share.way == ShareWay::Held, "state": state(share.way),
        "number": share.number, "holders": share.holders, "threshold": share.threshold,
        "signers": share.signers, "asking": asking,
    })
}

fn state(way: ShareWay) -> &'static str {
    match way {
        ShareWay::Held => "held",
        ShareWay::Others => "asks-others",
        ShareWay::Authority => "asks-authority",
        ShareWay::Next => "next-sharing",
        ShareWay::Lost => "lost",
        ShareWay::NotOurs => "none",
    }
}

fn number(share: &Value, field: &str) -> u64 {
    share.get(field).and_then(Value::as_u64).unwrap_or_default()
}

/// Whether this member has its share; `None` if it is not to have one. `Err` says what gives it
/// one.
pub(crate) fn judged(status: &Value) -> Option<Result<String, String>> {
    let share = status.get("share").filter(|share| share.is_object())?;
    let (holders, threshold) = (number(share, "holders"), number(share, "threshold"));
    let (ours, signers) = (number(share, "number"), number(share, "signers"));
    let ours = format!("share {ours} of {holders} of the group's key");
    Some(match share.get("state").and_then(Value::as_str)? {
        "held" => Ok(format!("{ours} is here; {signers} of them sign")),
        "asks-others" => Err(format!(
            "{ours} is not here. It comes by itself once {threshold} others who have theirs are linked"
        )),
        "asks-authority" => {
            Err(format!("{ours} is not here. It comes by itself once the group's authority is reached"))
        }
        "next-sharing" => {
            Err("no share of the group's key is here yet: the next sharing has one for this member".into())
        }
        "lost" => Err(format!(
            "{ours} is lost for good: with shoup-rsa members cannot repair it, and the dealer has erased the secret. The group \
             signs as long as {signers} have theirs; found another group before they are fewer"
        )),
        _ => return None,
    })
}

/// The lines of `status`.
pub(crate) fn text(status: &Value) -> String {
    let mut text = match judged(status) {
        Some(Ok(here)) => format!("\n{here}"),
        Some(Err(why)) => format!("\n{}", paint(Paint::Red, &why)),
        None => String::new(),
    };
    let asking = status.get("share").and_then(|share| share.get("asking")).and_then(Value::as_array);
    for name in asking.into_iter().flatten().filter_map(Value::as_str) {
        text.push_str(&format!(
            "\n{} has lost its share of the group's key, and asks for it",
            harmless(name)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot::Digest;

    fn status(way: ShareWay, asking: &[String]) -> Value {
        let epoch: Digest = [7; 32];
        let share = ShareStatus {
            epoch,
            number: Some(3),
            holders: 5,
            threshold: 2,
            signers: 3,
            way,
            asking: Vec::new(),
        };
        json!({ "share": data(&share, asking) })
    }

    #[test]
    fn each_way_to_a_share_is_told_and_none_where_there_is_none() {
        assert_eq!(judged(&json!({ "share": null })), None);
        assert_eq!(judged(&status(ShareWay::NotOurs, &[])), None);
        let here = judged(&status(ShareWay::Held, &[]));
        assert_eq!(here, Some(Ok("share 3 of 5 of the group's key is here; 3 of them sign".into())));
        for (way, word) in [
            (ShareWay::Others, "once 2 others"),
            (ShareWay::Authority, "authority is reached"),
            (ShareWay::Next, "next sharing"),
            (ShareWay::Lost, "found another group"),
        ] {
            let told = judged(&status(way, &[]));
            assert!(
                told.as_ref().is_some_and(|told| told.as_ref().is_err_and(|why| why.contains(word))),
                "{told:?}"
            );
        }
        let told = text(&status(ShareWay::Held, &["ben".into()]));
        assert!(told.ends_with("ben has lost its share of the group's key, and asks for it"), "{told}");
    }
}
