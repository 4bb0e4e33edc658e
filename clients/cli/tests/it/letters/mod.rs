//! Who is no member writes to a group of real processes and receives an answer, both private and
//! signed.
//!
//! ```text
//! dora, a stranger     folkmoot write          anna, ben     folkmoot letters, folkmoot answer
//! a charter that takes no letters              refused, exit code 5; so is a member who writes
//! nobody at the locator                        exit code 4; nobody answers: 6
//! ```

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, program};
use serde_json::{Value, json};
use std::process::{Output, Stdio};

/// `folkmoot write`, as somebody with this folder, through the members at these places.
fn write(who: &Actor, place: &Place, at: &[&str], text: &str, seconds: &str) -> std::process::Child {
    let charter = place.signed();
    let mut command = program(&who.state);
    command.arg("write").arg(charter).args([text, "--timeout", seconds, "--listen", "127.0.0.1:0"]);
    command.args(at.iter().flat_map(|at| ["--at", at]));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn says(letters: &Value, text: &str) -> bool {
    letters.as_array().is_some_and(|all| all.iter().any(|one| one["text"] == text))
}

#[test]
fn a_stranger_writes_to_the_group_and_is_answered() {
    let place = Place::new("letters");
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");
    let dora = Actor::new(&place, "dora");

    // As founded, nobody may.
    let refused = write(&dora, &place, &[&anna.locator], "let me in", "60").wait_with_output().unwrap();
    assert_eq!(code(&refused), 5, "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(complaint(&refused).contains("does not allow letters"), "{}", complaint(&refused));
    anna.good(&["charter", "change", "letters", "true"]);
    ben.until(&["vote", "approve", "set letters = true"], |told| !told.is_null());

    let text = "May I bring my own spoon? I have three.";
    let first = loop {
        // The vote takes effect a moment later.
        let mut writing = write(&dora, &place, &[&anna.locator], text, "60");
        let soon = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let heard = loop {
            if says(&ben.good(&["letters"]), text) {
                break true;
            }
            if writing.try_wait().unwrap().is_some() || std::time::Instant::now() > soon {
                break false;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        if heard {
            break writing;
        }
        let _ = writing.kill();
        let output = writing.wait_with_output().unwrap();
        assert!(String::from_utf8_lossy(&output.stderr).contains("does not allow letters"), "{output:?}");
    };
    // Not through her contact: through the group.
    ben.good(&["answer", "dora", "Bring all of them."]);
    let output = first.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let told = lines(&output);
    let answer = told.last().unwrap();
    assert_eq!((&answer["name"], &answer["text"]), (&json!("ben"), &json!("Bring all of them.")));
    assert_eq!(answer["by"], ben.id.as_str());
    assert!(told.iter().any(|event| event["standing"] == "delivered"), "{told:?}");
    for member in [&anna, &ben] {
        let letters = member.until(&["letters"], |letters| letters[0]["answers"][0]["text"].is_string());
        assert_eq!(letters[0]["writer"], dora.id.as_str());
        assert_eq!(letters[0]["answers"], json!([{ "by": "ben", "text": "Bring all of them." }]));
    }
    assert!(nothing_is_left(&dora), "of a letter that was answered");

    those_who_get_no_answer_hear_why(&place, &anna, &dora);
    nothing_of_it_is_in_a_log(&[&anna, &ben], &["own spoon", "all of them"]);
}

fn nothing_is_left(writer: &Actor) -> bool {
    let mut all = std::fs::read_dir(&writer.state).unwrap();
    all.all(|one| !one.unwrap().file_name().to_string_lossy().starts_with("letter-"))
}

fn those_who_get_no_answer_hear_why(place: &Place, anna: &Actor, dora: &Actor) {
    let silent = write(dora, place, &[&anna.locator], "anybody?", "4").wait_with_output().unwrap();
    assert_eq!(code(&silent), 6, "{}", String::from_utf8_lossy(&silent.stderr));
    let mut given_up = write(dora, place, &[&anna.locator], "on second thought", "60");
    let mut begun = std::io::BufReader::new(given_up.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut begun, &mut String::new()).unwrap();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &given_up.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let given_up = given_up.wait_with_output().unwrap();
    assert_eq!((code(&given_up), complaint(&given_up).as_str()), (6, "stopped before an answer came"));
    assert!(nothing_is_left(dora), "of a letter that was given up");
    assert!(complaint(&silent).contains("nobody answered"), "{}", complaint(&silent));
    let nobody = write(dora, place, &["udp/127.0.0.1:9"], "anybody?", "2").wait_with_output().unwrap();
    assert_eq!(code(&nobody), 4, "{}", String::from_utf8_lossy(&nobody.stderr));
    let empty = write(dora, place, &[&anna.locator], "", "2").wait_with_output().unwrap();
    assert_eq!(code(&empty), 2, "{}", String::from_utf8_lossy(&empty.stderr));
    let stranger = call(&anna.state, &["answer", "nobody", "to whom?"]);
    assert_eq!(code(&stranger), 1, "{}", complaint(&stranger));
    let long = "x".repeat(8_193);
    assert_eq!(code(&anna.run(&["answer", "dora", &long])), 5);
}

fn nothing_of_it_is_in_a_log(who: &[&Actor], texts: &[&str]) {
    for one in who {
        let log = std::fs::read_to_string(one.state.join("log")).unwrap_or_default();
        assert!(texts.iter().all(|text| !log.contains(text)), "{}", one.state.display());
    }
}
