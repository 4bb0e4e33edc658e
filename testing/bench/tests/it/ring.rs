//! `folkmoot-bench ring`, `reference` and `compare`: members are processes of this program, all
//! have one order, and every change is followed.

use crate::bench;
use serde_json::Value;

fn report(line: &str) -> Value {
    let output = bench(line);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn members_of_its_own_deliver_in_one_order() {
    let output = bench("ring --nodes 2 --senders 1 --seconds 1 --bytes 100 --json");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let steps: Vec<&str> = told.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert!(steps.iter().any(|line| line.starts_with("progress: 3 of 3 steps")), "{told}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["same_order"], true);
    let receivers = report["receivers"].as_array().unwrap();
    assert_eq!(receivers.len(), 2);
    assert!(report["sent"].as_u64() > Some(0));
    assert!(receivers.iter().all(|one| one["delivered"] == report["sent"]), "{report}");
}

#[test]
fn what_the_layers_do_is_counted() {
    let report = report("ring --nodes 2 --seconds 1 --window 8 --service safe --threads 1 --json");
    assert_eq!((&report["service"], &report["threads"]), (&Value::from("safe"), &Value::from(1)));
    for receiver in report["receivers"].as_array().unwrap() {
        let count = |name: &str| receiver["counts"][name].as_u64().unwrap_or_else(|| panic!("{name}"));
        for name in
            ["cpu_ns", "turns", "wakes", "token_visits", "packets_numbered", "send_calls", "receive_calls"]
        {
            assert!(count(name) > 0, "{name}: {receiver}");
        }
        assert!(count("wakes") <= count("turns") && count("wakes") <= count("datagrams_received"));
        // Own messages come back without being opened.
        let delivered = receiver["delivered"].as_u64().unwrap();
        assert!(count("session_seals") > 0 && count("session_openings") > 0, "{receiver}");
        assert!(count("session_openings") < delivered, "{receiver}");
        // Every datagram sent was sealed, but what a handshake sends; a message is copied at least
        // into its seal.
        assert!(count("link_seals") > 0 && count("copied_bytes") >= 1_350 * count("session_seals"));
    }
    assert!(report["cpu_us_per_message"].as_f64() > Some(0.0), "{report}");
}

#[test]
fn messages_go_by_a_timetable_or_alone() {
    let by_clock = report("ring --nodes 2 --seconds 1 --rate 100 --json");
    // Two senders, for 2.1 s.
    assert_eq!((&by_clock["sent"], &by_clock["rate"]), (&Value::from(420), &Value::from(100.0)));
    let alone = report("ring --nodes 2 --seconds 1 --mode latency --json");
    assert_eq!((&alone["senders"], &alone["same_order"]), (&Value::from(1), &Value::from(true)));
    assert!(alone["sent"].as_u64() > Some(0));
    let second = report("ring --nodes 2 --seconds 1 --mode latency --from 2 --service fifo --json");
    assert_eq!((&second["from"], &second["senders"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(second["same_order"], true);
}

#[test]
fn changes_are_followed_and_told_with_what_was_waited_for() {
    for (mode, waits) in [
        ("kill", &["others_have_ring", "others_have_view", "back_after_start"][..]),
        ("heal", &["both_sides_have_view", "one_view"]),
        ("join", &["leave", "join", "stop", "start_and_join"]),
        ("admit", &["start_ask_and_join"]),
    ] {
        let report = report(&format!("ring --nodes 3 --mode {mode} --times 1 --json"));
        assert_eq!(report["mode"], mode);
        let runs = report["runs_ms"].as_array().unwrap();
        assert!(runs.len() == 1 && waits.iter().all(|wait| runs[0][wait].as_f64() > Some(0.0)), "{report}");
        assert!(waits.iter().all(|wait| report["median_ms"][wait] == runs[0][wait]), "{report}");
        assert!(report["configurations"][0].as_u64() >= Some(1), "{report}");
    }
}

#[test]
fn groups_are_formed_one_after_another() {
    let report = report("ring --nodes 2 --mode form --times 2 --json");
    let runs = report["runs_ms"].as_array().unwrap();
    let took = |run: &serde_json::Value, what: &str| run[what].as_f64().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let (ring, view) = (took(run, "one_ring"), took(run, "view_of_all"));
        assert!(0.0 < ring && ring <= view, "{report}");
    }
}

#[test]
fn members_that_send_nothing_are_counted() {
    let report = report("ring --nodes 2 --mode idle --seconds 1 --json");
    for cost in ["cpu_percent", "packets_per_second"] {
        let (mean, most) = (report[cost]["mean"].as_f64(), report[cost]["most"].as_f64());
        assert!(mean > Some(0.0) && most >= mean, "{report}");
    }
    assert_eq!(report["configurations"], 0);
}

#[test]
fn members_that_are_disturbed_go_on() {
    for (options, fields) in
        [("--mode pause --times 1 --pause 50", "times"), ("--mode busy --busy 1", "busy")]
    {
        let report = report(&format!("ring --nodes 2 {options} --seconds 1 --json"));
        assert_eq!((&report[fields], &report["configurations"]), (&Value::from(1), &Value::from(0)));
        assert!(report["sent"].as_u64() > Some(50), "{report}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for wrong in [
        "ring --nodes 2 --senders 3",
        "ring --nodes 0",
        "ring --nodes 1 --mode kill",
        "ring --mode sideways",
        "ring --rate 0",
        "ring --rate NaN",
        "ring --rate 5 --window 5",
        "ring --mode pause --pause 0",
        "ring --bytes 23",
        "ring --service loud",
        "ring --namespaces a/b,c",
        "ring --namespaces fm1,fm2 --nodes 2",
        "ring --namespaces fmsw",
        "ring --namespaces fm1,fm2 --mode admit",
        "ring --nodes 60 --mode admit --times 5",
        "reference --namespaces fm1",
        "reference --namespaces fm1,fm2 --senders 3",
        "compare --nodes 1",
        "compare --nodes 2 --senders 3",
        "compare --bytes 70000",
        "compare --rounds 0",
        "ring --nodes 2 --from 3",
        "ring --nodes 2 --from 1 --senders 1",
        "reference --namespaces fm1,fm2 --lone 3",
        "reference --namespaces fm1,fm2 --lone 1 --bytes 1401",
        "compare --mode latency --bytes 1401",
        "compare --mode services --chart x.svg",
        "frobnicate",
    ] {
        assert_eq!(bench(wrong).status.code(), Some(2), "{wrong}");
    }
}
