//! Runs the checks with the full numbers of the issues. The log names commit, seeds, counts and
//! durations, and is committed as evidence.

use crate::run::{capture, capture_apart, root};
use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

/// The modules besides the one that a charter gets for so few: that one is in every other line.
pub(crate) const MODULES: [&str; 6] = ["tgdh", "str", "bd", "ckd", "dutta-barua", "mls"];

/// Runs the long versions of the checks and writes docs/evidence/release-COMMIT.log.
pub(crate) fn release(
    schedules: u32,
    fuzz_seconds: u32,
    issues: &[u32],
    only: &[String],
) -> Result<(), String> {
    let (_, commit) = capture("git rev-parse --short=12 HEAD")?;
    let commit = commit.trim().to_owned();
    let mut failed = Vec::new();
    let folder = root().join("docs/evidence");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let path = folder.join(format!("release-{commit}.log"));
    // A run with --only adds to what earlier ones of this commit found.
    let earlier = fs::read_to_string(&path).ok();
    let mut log = earlier.unwrap_or_else(|| format!("commit {commit}\n"));
    let wanted = |of: &[u32]| issues.is_empty() || of.iter().any(|issue| issues.contains(issue));
    let chosen = |line: &String| only.is_empty() || only.iter().any(|text| line.contains(text));
    let lines = lines(schedules, fuzz_seconds).into_iter();
    for (_, line) in lines.filter(|(of, line)| wanted(of) && chosen(line)) {
        eprintln!("$ {line}");
        let start = Instant::now();
        let (good, said, aside) = capture_apart(&line)?;
        let word = if good { "ok" } else { "FAILED" };
        eprintln!("  {word} after {:.0} s", start.elapsed().as_secs_f64());
        writeln!(
            log,
            "\n$ {line}\n{}{}{word} after {:.1} s",
            last_lines(&said, 60),
            last_lines(&aside, 12),
            start.elapsed().as_secs_f64()
        )
        .map_err(|error| error.to_string())?;
        // After each line: hours of evidence do not depend on the last minute.
        fs::write(&path, &log).map_err(|error| error.to_string())?;
        if !good {
            failed.push(line);
        }
    }
    eprintln!("wrote docs/evidence/release-{commit}.log");
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join("; "))) }
}

/// Each with the issues whose numbers it shows.
fn lines(schedules: u32, fuzz_seconds: u32) -> Vec<(&'static [u32], String)> {
    // What needs a quiet machine comes first.
    let mut all = node_floor();
    let more: [(&'static [u32], String); 24] = [
        (&[2, 3], "cargo test --workspace --quiet".into()),
        (&[2, 3, 4], "cargo install cargo-deny --locked --debug --quiet".into()),
        (&[2, 3, 4], "cargo deny check bans licenses sources".into()),
        (&[2, 3, 16, 17], format!("{SIM} --schedules {schedules} --seed 3 --json")),
        (&[2, 3, 4, 15, 16, 17, 18], format!("{SIM} --mutants")),
        (&[16], format!("{SIM} --aim twice --schedules {} --seed 1 --json", schedules.min(2_500))),
        (&[16], format!("{SIM} --aim readers --schedules {} --seed 1 --json", schedules.min(2_500))),
        (&[2], format!("{SIM} --schedules 100 --seed 1 --digest")),
        (&[15], format!("{SIM} --aim takeover --schedules {schedules} --seed 1 --json")),
        (&[15], format!("{DECISIONS} --runs 1000000 --json")),
        (&[15], format!("{DECISIONS} --runs 40000 --steps 120 --mutants --json")),
        (&[15], format!("{BENCH} transcript --json")),
        (&[15], format!("{SIM} --flood 600 --json")),
        (&[15], "python3 testing/verify/agree.py --transcripts 200 --mutations 10000".into()),
        (
            &[21],
            "env FOLKMOOT_VOTE_SEQUENCES=200 cargo test -p folkmoot-cli --test it drawn:: -- --nocapture"
                .into(),
        ),
        (
            &[20],
            "env FOLKMOOT_CRASH_MOMENTS=200 cargo test -p folkmoot-cli --test it kills:: -- --nocapture"
                .into(),
        ),
        (&[20], format!("{SIM} --aim shares --schedules {} --seed 1 --json", schedules.clamp(1, 2_000))),
        (&[20], format!("{SIM} --mutants --only signing-liveness")),
        (&[19], "python3 testing/lcm/check.py".into()),
        (&[19], "python3 testing/lcm/changes.py --changes 1000".into()),
        (&[19], format!("{SIM} lcm --schedules {schedules} --json")),
        (&[19], format!("{SIM} lcm --mutants --json")),
        (&[19], format!("{SIM} lcm --table --runs 200 --json")),
        (&[19], format!("{SIM} lcm --churn-hours 24 --json")),
    ];
    all.extend(more);
    all.extend(key_agreement(schedules).into_iter().map(|line| (ISSUE_3, line)));
    all.extend(SCHEMES.map(|scheme| {
        (ISSUE_4, format!("{SIM} --scheme {scheme} --schedules {} --seed 1 --json", schedules.clamp(1, 300)))
    }));
    all.extend(["asm", "frost"].map(|scheme| {
        let some = schedules.clamp(1, 300);
        (ISSUE_15, format!("{SIM} --aim takeover --scheme {scheme} --schedules {some} --seed 1 --json"))
    }));
    let rest = [
        "env FOLKMOOT_CRASH_MOMENTS=50 cargo test -p folkmoot-cli --test it crash:: -- --nocapture".into(),
        "cargo run --release -- demo --json".into(),
        "cargo run --release -- demo --scenario robots --json".into(),
        format!("{BENCH} ring --nodes 3 --senders 3 --bytes 1350 --service agreed --seconds 3 --json"),
        format!("cargo xtask fuzz --seconds {fuzz_seconds} --jobs 2 --resume"),
        "cat docs/evidence/fuzz.tsv".into(),
    ];
    all.extend(rest.into_iter().map(|line| (ISSUE_2, line)));
    all.extend(signatures().into_iter().map(|line| (ISSUE_4, line)));
    all.extend(identity_keys().into_iter().map(|line| (ISSUE_20, line)));
    all
}

/// What the node floor's second edition is measured by: rates beside corosync's, the reference's
/// and those of the commit before it, large groups, changes, and distant or busy nodes.
fn node_floor() -> Vec<(&'static [u32], String)> {
    let large = |members| format!("--namespaces {} --senders 4 --bytes 1350", names(members));
    let ring = |what: &str| format!("{BENCH} ring {what} --json");
    let compare = |what: &str| format!("{BENCH} compare {what} --json");
    let mut all: Vec<(&'static [u32], String)> = vec![
        (&[16], format!("git worktree add --force --detach {BEFORE} 67c65e0ad98f")),
        (
            &[16],
            format!(
                "cargo build --release --config profile.release.lto=true -p folkmoot-bench --manifest-path {BEFORE}/Cargo.toml --target-dir {BEFORE}/target"
            ),
        ),
        (
            &[16],
            compare(&format!("--before {BEFORE}/target/release/folkmoot-bench --multicast auto --rounds 3")),
        ),
        (&[16], format!("git worktree remove --force {BEFORE}")),
        (&[18], compare("--realtime")),
        (&[18], compare("--realtime --nodes 5 --rounds 3")),
        (&[17], compare("--realtime --mode latency --seconds 4 --rounds 9")),
        (&[17], compare("--mode services --rounds 9")),
        // Of all services FIFO comes closest to its aim, and differs most from run to run.
        (&[17], compare("--mode services --service fifo --bytes 1350 --rounds 61")),
        (&[16], format!("{BENCH} stacks --json")),
        (&[16, 18], ring(&large(16))),
        (&[16], ring(&large(32))),
        (&[16], ring("--nodes 32 --mode form --times 5")),
        (&[16], ring("--nodes 32 --mode kill --times 3")),
        (&[16], ring("--nodes 32 --mode idle --seconds 30")),
        (&[16], ring("--nodes 32 --mode admit --times 8")),
        (&[18], ring("--nodes 3 --mode kill --times 20")),
        (&[18], ring("--nodes 5 --mode kill --times 20")),
        (&[18], ring("--nodes 3 --mode heal --times 20")),
        (&[18], ring("--nodes 3 --mode pause --times 20")),
        (&[18], ring("--nodes 3 --mode busy --seconds 600")),
        (&[19], format!("{LCM_BENCH} echo --pinned --realtime")),
        (&[19], format!("{LCM_BENCH} echo --pinned --realtime --loopback")),
        (&[19], format!("{LCM_BENCH} throughput --pinned --realtime")),
        (&[19], format!("{LCM_BENCH} flood --pinned --realtime")),
        (&[19], format!("{LCM_BENCH} across")),
        (&[19], format!("{LCM_BENCH} start")),
        (&[50], format!("{LCM_BENCH} junk --rounds 5")),
        (&[50], format!("{LCM_BENCH} bridge")),
        (&[18], "cargo run --release -p folkmoot-net -- --json".into()),
        (&[51], "cargo run --release -p folkmoot-sim -- away --schedules 100".into()),
        (&[51], "cargo xtask outside".into()),
        (&[51], "cargo xtask package".into()),
        (&[18], "env FOLKMOOT_STARTS=200 cargo test -p folkmoot-sim --test it distant::".into()),
    ];
    all.extend(
        [50, 200, 600, 1_000]
            .map(|trip| (ISSUE_18, ring(&format!("--nodes 3 --mode kill --trip {trip} --times 5")))),
    );
    let away = |seed| format!("cargo run --release -p folkmoot-net -- --only away --jobs 1 --seed {seed}");
    all.extend((1..=5).map(|seed| (ISSUE_51, away(seed))));
    let model = "cargo run --release -p folkmoot-model --";
    all.push((&[17], format!("{model} --changes 3 --messages 1")));
    all.extend(["rule-h", "k1"].map(|rule| (ISSUE_17, format!("{model} --changes 3 --without {rule}"))));
    let early = ["prior", "early-held", "removed-named", "named-awaited", "freeze"];
    all.extend(early.map(|rule| (ISSUE_17, format!("{model} --messages 1 --without {rule}"))));
    all.extend([5, 20].map(|loss| {
        (ISSUE_18, ring(&format!("--nodes 3 --mode busy --busy 0 --trip 50 --loss {loss} --seconds 60")))
    }));
    all
}

/// Where the commit before the node floor's second edition is built.
const BEFORE: &str = "target/before";

/// Network namespaces, one for each member.
fn names(members: u32) -> String {
    (1..=members).map(|number| format!("fm{number}")).collect::<Vec<_>>().join(",")
}

const SIM: &str = "cargo run --release -p folkmoot-sim --";
const DECISIONS: &str = "cargo run --release -p folkmoot-decisions --";
const BENCH: &str = "cargo run --profile dist -p folkmoot-bench --";
const LCM_BENCH: &str = "cargo run --release -p folkmoot-lcm-bench --";
const ISSUE_2: &[u32] = &[2];
const ISSUE_3: &[u32] = &[3];
const ISSUE_4: &[u32] = &[4];
const ISSUE_15: &[u32] = &[15];
const ISSUE_17: &[u32] = &[17];
const ISSUE_18: &[u32] = &[18];
const ISSUE_51: &[u32] = &[51];
const ISSUE_20: &[u32] = &[20];
/// In which voters sign together.
const SCHEMES: [&str; 3] = ["asm", "ts-dsa", "frost"];

/// Every scheme with an authority and without, fixed and following the size, in real processes;
/// authority and voters killed at many moments; the papers of each, read by other software; the
/// story of each.
fn signatures() -> Vec<String> {
    let mut all = vec![
        "env FOLKMOOT_MATRIX=all cargo test -p folkmoot-cli --test it matrix:: -- --nocapture".to_owned(),
        "env FOLKMOOT_KILLS=20 cargo test -p folkmoot-cli --test it authority:: -- --nocapture".to_owned(),
        "env FOLKMOOT_KILLS=40 cargo test -p folkmoot-cli --test it replicas:: -- --nocapture".to_owned(),
    ];
    // The tables; joins of the usual case, by the members alone and through an authority; by votes
    // and by size, seldom where a join takes seconds; joins in a flood.
    let usual = "joins --times 30 --votes 0 --sizes 2 --series 1";
    let series = "joins --times 0 --votes 10 --members 20 --sizes 10,20,30,40,50";
    let parts = [
        "tables".to_owned(),
        usual.to_owned(),
        format!("{usual} --mode centralised"),
        format!("{series} --series 3 --scheme plain --scheme asm --scheme frost"),
        format!("{series} --series 3 --scheme shoup-rsa"),
        format!("{series} --series 1 --runs 3 --scheme ts-dsa"),
        "flood".to_owned(),
    ];
    all.extend(parts.map(|part| format!("{BENCH} admission --part {part} --json")));
    for scheme in ["plain", "asm", "ts-dsa", "frost", "shoup-rsa"] {
        all.push(format!("cargo run --release -- demo --scheme {scheme} --mode centralised --json"));
    }
    for scheme in SCHEMES {
        all.push(format!("cargo run --release -- demo --scheme {scheme} --json"));
    }
    all
}

/// Papers of groups with keys of all algorithms, and of those with keys of one, read by other
/// software; the story of each scheme that takes mixed keys; joins by RSA.
fn identity_keys() -> Vec<String> {
    let demo = "cargo run --release -- demo --identities mixed --json";
    let mut all = vec!["python3 testing/papers/check.py".to_owned()];
    all.extend(["plain", "ts-dsa", "frost"].map(|scheme| format!("{demo} --scheme {scheme}")));
    all.extend(
        ["plain", "ts-dsa", "frost", "shoup-rsa"]
            .map(|scheme| format!("{demo} --scheme {scheme} --mode centralised")),
    );
    all.push(format!(
        "{BENCH} admission --part joins --times 30 --votes 0 --sizes 2 --series 1 --scheme plain --json"
    ));
    all
}

/// Every module in schedules, hybrid forms, votes on modules and ciphers; the model; known keys;
/// what it all costs. The module that a charter gets for so few members is in the line without a
/// name.
fn key_agreement(schedules: u32) -> Vec<String> {
    let model = "cargo run --release -p folkmoot-model -- --changes 3";
    let simulated = MODULES
        .iter()
        .map(|module| format!("{SIM} --keying {module} --schedules {schedules} --seed 1 --json"));
    let hybrid = ["ckd", "mls"].map(|module| {
        format!("{SIM} --keying {module} --hybrid --schedules {} --seed 1 --json", schedules.div_ceil(10))
    });
    let charter = format!("{SIM} --aim charter --schedules {schedules} --seed 1 --json");
    let modelled = ["", " --every-order", " --messages 1", " --without rule-h", " --without k1"]
        .map(|rule| format!("{model}{rule}"));
    let tests = ["folkmoot-agreement", "folkmoot-keying"]
        .map(|of| format!("cargo test -p {of} --test it known_keys::"));
    let sizes = ["env FOLKMOOT_SIZES=all cargo test -p folkmoot-agreement --test it".to_owned()];
    let costs = [
        "keying --counts",
        "keying --sizes 3 --module gdh --times 30 --json",
        "keying --sizes 15 --module gdh --times 10 --json",
        "links --times 200 --json",
    ]
    .map(|what| format!("{BENCH} {what}"));
    simulated.chain(hybrid).chain([charter]).chain(modelled).chain(tests).chain(sizes).chain(costs).collect()
}

/// The last lines, but for what cargo says of its building, and tests of where they are: that names
/// folders of this machine.
fn last_lines(text: &str, count: usize) -> String {
    const CARGO: [&str; 6] = ["Compiling", "Finished", "Running", "Downloaded", "Downloading", "Updating"];
    let is_cargo =
        |line: &&str| line.starts_with('/') || CARGO.iter().any(|word| line.trim_start().starts_with(word));
    let all: Vec<&str> = text.lines().filter(|line| !is_cargo(line) && !line.is_empty()).collect();
    let last = all.get(all.len().saturating_sub(count)..).unwrap_or_default();
    last.iter().map(|line| format!("{line}\n")).collect()
}
