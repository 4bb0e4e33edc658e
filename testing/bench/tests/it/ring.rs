//! `folkmoot-bench ring`: its members are this program, told to act as `folkmoot`, and all have one
//! order.

use crate::bench;
use serde_json::Value;

#[test]
fn members_of_its_own_deliver_in_one_order() {
    let output = bench("ring --nodes 2 --senders 1 --seconds 1 --bytes 100 --json");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let steps: Vec<&str> = told.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert!(steps.iter().any(|line| line.starts_with("progress: 3 of 3 steps")), "{told}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["same_order"], true);
    assert!(report["sent"].as_u64() > Some(0) && report["receivers"].as_array().unwrap().len() == 2);
}

#[test]
fn there_are_nodes_for_all_senders() {
    for wrong in ["ring --nodes 2 --senders 3", "ring --nodes 0", "frobnicate"] {
        assert_eq!(bench(wrong).status.code(), Some(2), "{wrong}");
    }
}
