//! `folkmoot-bench keying` with more members than nodes and than founders: every event is measured,
//! and every part is accounted for.

use crate::bench;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

fn keying(args: &str) -> Output {
    bench(&format!("keying --json {args}"))
}

#[test]
fn parts_of_the_processor_time_add_up_for_every_event() {
    let chart = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{}.svg", std::process::id()));
    let args = format!("--sizes 5,34 --nodes 3 --module tgdh --times 1 --chart {}", chart.display());
    let output = keying(&args);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("tgdh with 34 members on 3 nodes: refresh"), "{told}");
    // Two groups, five changes each, in the stack and by keying alone.
    let steps =
        told.lines().filter(|line| line.starts_with("progress: ") && line.ends_with(" of 20 changes"));
    assert_eq!(steps.count(), 21, "{told}");
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = all["rows"].as_array().unwrap();
    let events = ["leave", "join", "controller leave", "refresh", "merge of halves"];
    let named: Vec<_> =
        rows.iter().map(|row| (row["members"].as_u64().unwrap(), row["event"].as_str().unwrap())).collect();
    assert_eq!(
        named,
        [5, 34].into_iter().flat_map(|size| events.map(|event| (size, event))).collect::<Vec<_>>()
    );
    for row in rows {
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} of {row}"));
        let parts = ["group_ms", "signatures_ms", "keying_ms", "flush_ms", "ring_ms", "io_ms"].map(number);
        assert!((parts.iter().sum::<f64>() - number("cpu_ms")).abs() < 0.1, "{row}");
        assert!(number("wall_ms") > 0.0 && number("signatures_ms") > 0.0 && number("ring_ms") > 0.0, "{row}");
        assert!((0.0..=1.0).contains(&number("keying_share")) && number("rounds") >= 1.0, "{row}");
        assert_eq!(row["nodes"], 3);
    }
    let drawn = std::fs::read_to_string(chart).unwrap();
    assert!(events.iter().all(|event| drawn.contains(event)) && drawn.contains("\n34\n"));
}

#[test]
fn sizes_are_two_to_five_hundred_and_twelve() {
    for wrong in ["--sizes 1", "--sizes 513", "--sizes 4 --nodes 65", "--counts --nodes 3"] {
        assert_eq!(keying(wrong).status.code(), Some(2), "{wrong}");
    }
}
