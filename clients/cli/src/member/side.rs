//! What a side of a split may do.

use folkmoot::Side;
use serde_json::{Value, json};

pub(super) fn json(side: &Side) -> Value {
    json!({
        "whole": side.whole, "may_send": side.may_send, "may_admit": side.may_admit, "voters": side.voters,
        "of_voters": side.of_voters,
    })
}

/// For people: that these are a minority, and what they may not do therefore. Nothing of a side
/// that may do everything.
pub(crate) fn text(side: Option<&Value>) -> Option<String> {
    let is = |field: &str| side.and_then(|side| side.get(field)).and_then(Value::as_bool);
    let number =
        |field: &str| side.and_then(|side| side.get(field)).and_then(Value::as_u64).unwrap_or_default();
    let not = match (is("may_send")?, is("may_admit")?) {
        (true, true) => return None,
        (true, false) => "it admits nobody",
        (false, true) => "the charter does not let it send",
        (false, false) => "the charter does not let it send, and it admits nobody",
    };
    let (here, all) = (number("voters"), number("of_voters"));
    Some(format!("a minority, {here} of {all} voters, which are no quorum: {not}"))
}

/// For `doctor`: whether it may do everything.
pub(crate) fn judged(status: &Value) -> Option<Result<String, String>> {
    let side = status.get("side").filter(|side| side.is_object())?;
    let whole = side.get("whole").and_then(Value::as_bool)?;
    Some(match (text(Some(side)), whole) {
        (Some(text), _) => {
            Err(format!("this side is {text}, until it meets the others: see folkmoot status"))
        }
        (None, true) => Ok("a quorum of the voters is in the view".into()),
        (None, false) => Ok("no quorum is in the view, and the charter lets a minority go on".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minority_is_told_with_what_it_may_do() {
        let side = |whole, may_send, may_admit| Side { whole, may_send, may_admit, voters: 1, of_voters: 3 };
        let say = |side: Side| text(Some(&json(&side)));
        assert_eq!(say(side(true, true, true)), None);
        assert_eq!(say(side(false, true, true)), None, "it goes on as before");
        let stops = say(side(false, false, false)).unwrap();
        assert!(stops.contains("1 of 3 voters") && stops.contains("does not let it send"), "{stops}");
        assert!(stops.ends_with("admits nobody"), "{stops}");
        let status = |side: Side| json!({ "side": json(&side) });
        assert!(judged(&status(side(true, true, true))).unwrap().is_ok());
        assert!(judged(&status(side(false, true, true))).unwrap().is_ok());
        assert!(judged(&status(side(false, false, true))).unwrap().is_err());
        assert_eq!((text(None), judged(&json!({}))), (None, None));
    }
}
