//! A charter is TOML 1.0.

use crate::common::World;
use folkmoot_identity::{Charter, CharterError, SignedCharter};

/// Whatever reads TOML reads a charter: what came with TOML 1.1 is refused, when it is made and
/// when it is read, and says so with its line.
#[test]
fn id_31_a_charter_is_toml_1_0() {
    let world = World::new();
    let toml = std::str::from_utf8(world.charter().bytes()).unwrap();
    let all: Vec<_> = world.founders.iter().collect();
    let with = |from: &str, to: &str| {
        let changed = toml.replacen(from, to, 1);
        assert_ne!(changed, toml, "{from}");
        changed
    };
    let threshold = |value: &str| with("threshold = 2", &format!("threshold = {value}"));
    let timeouts = |rest: &str| with("format = 2", &format!("format = 2\ntimeouts = {rest}"));
    for (good, bad) in [
        (threshold("{ ratio = \"30%\", window = 5 }"), threshold("{ ratio = \"30%\", window = 5, }")),
        (threshold("{ ratio = \"30%\", window = 5 }"), threshold("{ ratio = \"30%\",\n window = 5 }")),
        (timeouts("{ step_ms = 3000 }"), timeouts("{ # of a step\n step_ms = 3000 }")),
        (timeouts("{ step_ms = 3000 }"), timeouts("{ step_ms = 3000\r\n}")),
        (timeouts("{ step_ms = 3000 }"), timeouts("{ step_ms = 3000 , }")),
        (with("\"book club\"", "\"book\\u001bclub\""), with("\"book club\"", "\"book\\eclub\"")),
        (with("\"plain\"", "\"pl\\u0061in\""), with("\"plain\"", "\"pl\\x61in\"")),
        (with("\"plain\"", "\"\"\"\\\n plain\"\"\""), with("\"plain\"", "\"\"\"\\\n pl\\x61in\"\"\"")),
        (with("scheme =", "\"sch\\u0065me\" ="), with("scheme =", "\"sch\\x65me\" =")),
        (with("\"plain\"", "'plain'"), format!("\u{feff}{toml}")),
    ] {
        // Names have no control characters, whatever spells them.
        assert!(good.contains("u001b") || Charter::from_toml(&good).is_ok(), "{good}");
        for refused in [Charter::from_toml(&bad).map(drop), SignedCharter::sign(&bad, &all).map(drop)] {
            let Err(CharterError::WireMalformed(why)) = refused else { panic!("{refused:?}: {bad}") };
            assert!(why.starts_with("line ") && why.ends_with(", which TOML 1.0 does not allow"), "{why}");
        }
    }
    // Allowed in both: in arrays, and in values that are allowed to have line breaks.
    for good in [
        with("format = 2", "format = 2\nlist = [\n # nobody\n]\ncontacts = [ \"udp/192.0.2.7:4803\",\n ]"),
        with("format = 2", "format = 2\nroles = { a = [\n'7', ] }"),
        threshold("{ ratio = \"\"\"\n30%\"\"\", window = 5 }"),
        with("\"plain\"", "'pl\\x61in'"),
        with("\"plain\"", "\"\\\\x61\""),
    ] {
        let why = Charter::from_toml(&good).err().map(|error| error.to_string());
        assert!(why.as_ref().is_none_or(|why| !why.contains("TOML")), "{why:?}: {good}");
    }
    let refused = Charter::from_toml(&with("format = 2", "\nformat = 2\ntimeouts = { step_ms = 1, }"));
    assert!(refused.unwrap_err().to_string().contains("line 4 has a comma"));
    // No charter has a time, so one without seconds is none.
    for time in ["07:32", "1979-05-27T07:32Z", "07:32:00"] {
        for at in ["not_after", "name", "timeouts", "threshold", "colour"] {
            let line = format!("{at} = {time}\n");
            let text: String =
                toml.lines().filter(|one| !one.starts_with(at)).map(|one| format!("{one}\n")).collect();
            assert!(Charter::from_toml(&(line + &text)).is_err(), "{at}: {time}");
        }
    }
}
