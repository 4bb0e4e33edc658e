//! `folkmoot-bench chart`: pictures of the results that the repository keeps.

use crate::bench;
use std::path::{Path, PathBuf};

/// What `--json` printed once, and is kept.
fn evidence(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence").join(name).display().to_string()
}

fn out(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.svg", std::process::id()))
}

#[test]
fn a_saved_result_becomes_an_svg_with_a_line_for_each_scheme_or_module() {
    for (name, lines, words) in [
        ("joins", 6, ["votes, 20 members", "frost", "from request to certificate", "10 ms"]),
        ("keying", 9, ["merge of halves", "dutta-barua", "processor time of all members", "512"]),
        ("compare", 3, ["throughput", "corosync aes256", "reference", "8192"]),
    ] {
        let file = out(name);
        let told =
            bench(&format!("chart {} --out {}", evidence(&format!("{name}-bench.json")), file.display()));
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let text = std::fs::read_to_string(&file).unwrap();
        let picture = roxmltree::Document::parse(&text).unwrap();
        let root = picture.root_element();
        assert_eq!(root.tag_name().name(), "svg");
        let named = |name: &'static str| root.descendants().filter(move |node| node.has_tag_name(name));
        let texts: Vec<String> =
            named("text").map(|node| node.text().unwrap_or_default().trim().into()).collect();
        assert!(words.iter().all(|word| texts.iter().any(|text| text == word)), "{texts:?}");
        // Each in the legend once, and with points in a panel.
        assert!(named("polyline").filter(|line| line.attribute("points").is_some()).count() >= 2 * lines);
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn what_is_no_result_or_of_two_benches_is_refused() {
    let file = out("none");
    let line = |files: &str| format!("chart {files} --out {}", file.display());
    let both = format!("{} {}", evidence("joins-bench.json"), evidence("keying-bench.json"));
    assert_eq!(bench(&line(&both)).status.code(), Some(2));
    assert_eq!(bench(&line(&evidence("flood-bench.json"))).status.code(), Some(2), "no joins in it");
    assert_eq!(bench(&line(&evidence("fuzz.tsv"))).status.code(), Some(3));
    assert!(!file.exists());
}
