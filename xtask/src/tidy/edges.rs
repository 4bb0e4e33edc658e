//! Which crate may depend on which: the graph of packages is the one in docs/ARCHITECTURE.md.

use super::Source;

/// Package → the project's packages that it may name under `[dependencies]`.
const MAY: &[(&str, &[&str])] = &[
    ("folkmoot-base", &[]),
    ("folkmoot-groups", &["folkmoot-base"]),
    ("folkmoot-signing", &["folkmoot-base", "folkmoot-groups"]),
    ("folkmoot-agreement", &["folkmoot-base", "folkmoot-groups"]),
    ("folkmoot-attach", &["folkmoot-base"]),
    ("folkmoot-pubsub", &["folkmoot-base", "folkmoot-agreement", "folkmoot-signing"]),
    ("folkmoot-identity", &["folkmoot-base", "folkmoot-signing"]),
    ("folkmoot-transcript", &["folkmoot-base", "folkmoot-identity", "folkmoot-signing"]),
    ("folkmoot-link", &["folkmoot-base", "folkmoot-identity", "folkmoot-signing"]),
    ("folkmoot-ring", &["folkmoot-base"]),
    ("folkmoot-group", &["folkmoot-base"]),
    ("folkmoot-flush", &["folkmoot-base"]),
    ("folkmoot-keying", &["folkmoot-base", "folkmoot-agreement"]),
    ("folkmoot-session", &["folkmoot-base", "folkmoot-identity"]),
    ("folkmoot-letters", &["folkmoot-base", "folkmoot-identity", "folkmoot-transcript"]),
    (
        "folkmoot-admission",
        &["folkmoot-base", "folkmoot-identity", "folkmoot-signing", "folkmoot-transcript"],
    ),
    (
        "folkmoot-node",
        &[
            "folkmoot-base",
            "folkmoot-identity",
            "folkmoot-transcript",
            "folkmoot-attach",
            "folkmoot-link",
            "folkmoot-ring",
            "folkmoot-group",
        ],
    ),
    (
        "folkmoot-member",
        &[
            "folkmoot-base",
            "folkmoot-identity",
            "folkmoot-transcript",
            "folkmoot-attach",
            "folkmoot-flush",
            "folkmoot-keying",
            "folkmoot-session",
            "folkmoot-admission",
            "folkmoot-letters",
        ],
    ),
    ("folkmoot-system", &["folkmoot-base"]),
    ("folkmoot-control", &["folkmoot-base"]),
    ("folkmoot-transport", &["folkmoot-base"]),
    (
        "folkmoot-runtime",
        &[
            "folkmoot-base",
            "folkmoot-identity",
            "folkmoot-attach",
            "folkmoot-transcript",
            "folkmoot-node",
            "folkmoot-member",
            "folkmoot-system",
            "folkmoot-transport",
        ],
    ),
    (
        "folkmoot-lcm",
        &["folkmoot-base", "folkmoot-signing", "folkmoot-pubsub", "folkmoot-system", "folkmoot-transport"],
    ),
    // Reads files and writes text: it has no part in any protocol.
    ("folkmoot-lcm-gen", &[]),
    ("folkmoot-authority", &["folkmoot-base", "folkmoot-identity", "folkmoot-admission", "folkmoot-runtime"]),
    (
        "folkmoot",
        &[
            "folkmoot-base",
            "folkmoot-admission",
            "folkmoot-attach",
            "folkmoot-identity",
            "folkmoot-lcm",
            "folkmoot-member",
            "folkmoot-pubsub",
            "folkmoot-runtime",
            "folkmoot-system",
            "folkmoot-signing",
            "folkmoot-transcript",
            "folkmoot-transport",
        ],
    ),
    // The commands need no protocol crate but the nouns, the judges of papers and lines, and the
    // forms of LCM.
    (
        "folkmoot-cli",
        &[
            "folkmoot",
            "folkmoot-base",
            "folkmoot-authority",
            "folkmoot-control",
            "folkmoot-identity",
            "folkmoot-lcm",
            "folkmoot-lcm-gen",
            "folkmoot-pubsub",
            "folkmoot-transcript",
        ],
    ),
    // The bench needs the cli for the members that it measures. It needs admission, agreement,
    // keying, link, signing and transcript to count what modules, handshakes, signing schemes and
    // files cost, what keying adds, and what strangers' requests do.
    ("folkmoot-libfuzzer", &["folkmoot-fuzz"]),
    ("outside", &["folkmoot"]),
    (
        "folkmoot-bench",
        &[
            "folkmoot",
            "folkmoot-base",
            "folkmoot-admission",
            "folkmoot-agreement",
            "folkmoot-attach",
            "folkmoot-authority",
            "folkmoot-cli",
            "folkmoot-identity",
            "folkmoot-keying",
            "folkmoot-link",
            "folkmoot-member",
            "folkmoot-node",
            "folkmoot-signing",
            "folkmoot-study",
            "folkmoot-transcript",
        ],
    ),
    // Admission and signing for what it reads of votes and sharings between the stacks and in
    // transcripts; link for the nodes of an attacker; group and flush for the words of a carrier
    // that forges.
    (
        "folkmoot-sim",
        &[
            "folkmoot-base",
            "folkmoot-signing",
            "folkmoot-identity",
            "folkmoot-transcript",
            "folkmoot-attach",
            "folkmoot-link",
            "folkmoot-node",
            "folkmoot-group",
            "folkmoot-flush",
            "folkmoot-admission",
            "folkmoot-agreement",
            "folkmoot-member",
            "folkmoot-pubsub",
        ],
    ),
    // The node for the state of its ring.
    (
        "folkmoot-net",
        &[
            "folkmoot",
            "folkmoot-base",
            "folkmoot-attach",
            "folkmoot-identity",
            "folkmoot-node",
            "folkmoot-sim",
        ],
    ),
    ("folkmoot-study", &["folkmoot-base", "folkmoot-agreement", "folkmoot-signing"]),
    ("folkmoot-types", &["folkmoot-pubsub"]),
    (
        "folkmoot-lcm-bench",
        &["folkmoot-base", "folkmoot-lcm", "folkmoot-pubsub", "folkmoot-signing", "folkmoot-system"],
    ),
    // Of itself: its tests alone drive the real layers beside it.
    ("folkmoot-model", &[]),
    // Of a protocol that has no code yet.
    ("folkmoot-order", &[]),
    (
        "folkmoot-decisions",
        &["folkmoot-base", "folkmoot-signing", "folkmoot-identity", "folkmoot-transcript"],
    ),
    (
        "folkmoot-transcripts",
        &["folkmoot-base", "folkmoot-signing", "folkmoot-identity", "folkmoot-transcript"],
    ),
    (
        "folkmoot-fuzz",
        &[
            "folkmoot-base",
            "folkmoot-signing",
            "folkmoot-study",
            "folkmoot-agreement",
            "folkmoot-identity",
            "folkmoot-transcript",
            "folkmoot-attach",
            "folkmoot-pubsub",
            "folkmoot-lcm-gen",
            "folkmoot-types",
            "folkmoot-link",
            "folkmoot-ring",
            "folkmoot-group",
            "folkmoot-node",
            "folkmoot-flush",
            "folkmoot-keying",
            "folkmoot-session",
            "folkmoot-admission",
            "folkmoot-letters",
            "folkmoot-member",
            "folkmoot-authority",
        ],
    ),
];

/// Lists the edges that are not allowed.
pub(super) fn check(manifests: &[Source]) -> Vec<String> {
    manifests.iter().flat_map(of).collect()
}

fn of(manifest: &Source) -> Vec<String> {
    let Some(package) = package(&manifest.text) else { return Vec::new() };
    let Some((_, may)) = MAY.iter().find(|(name, _)| *name == package) else {
        return vec![format!("{}: package {package} has no line in xtask/src/tidy/edges.rs", manifest.path)];
    };
    dependencies(&manifest.text)
        .filter(|name| !may.contains(&name.as_str()))
        .map(|name| format!("{}: {package} may not depend on {name}", manifest.path))
        .collect()
}

fn package(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

fn dependencies(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .skip_while(|line| line.trim() != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', '=', ' ']).next().map(str::to_owned))
        .filter(|name| name.starts_with("folkmoot"))
}
