//! What CI runs, in the order in which a failure is found most cheaply.

use crate::outside::named;
use crate::plan::{Plan, Step};
use crate::run::{capture, has, root, run};
use crate::tidy::tidy;
use std::num::NonZero;
use std::path::Path;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// So many digits of a commit's id make a seed.
const SEED_DIGITS: usize = 6;

/// Checks and tests everything; changes no file of the project.
pub(crate) fn verify(keep_going: bool) -> Result<(), String> {
    needs()?;
    Plan::new("verify", full()).run(keep_going, &mut std::io::stderr())
}

/// What finds most faults in a few minutes: for use between commits.
pub(crate) fn quick(keep_going: bool) -> Result<(), String> {
    needs()?;
    Plan::new("verify --quick", short()).run(keep_going, &mut std::io::stderr())
}

/// Formats, and applies what clippy can repair.
pub(crate) fn fix() -> Result<(), String> {
    run("cargo fmt --all")?;
    run("cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged")?;
    Ok(())
}

/// Real processes in network namespaces, each change watched for as long as the issues ask for. A
/// machine that cannot make namespaces fails here.
pub(crate) fn net() -> Result<(), String> {
    needs()?;
    run("cargo run -p folkmoot-net").map(drop)
}

fn full() -> Vec<Step> {
    let mut steps = cheap();
    steps.extend([
        Step::new("dependencies", 5, dependencies),
        // Also builds the programs that the later steps run, so that nothing is compiled twice.
        Step::new("build tests and programs", 480, || run("cargo test --workspace --no-run").map(drop)),
        Step::new("tests, and the model beside them", 240, tests_and_model),
        Step::new("library: every type of its pages can be named", 10, named),
        Step::new("simulator: 200 schedules", 30, || simulate("--schedules 200")),
        Step::new("simulator: every other module", 60, modules),
        Step::new("simulator: voters who sign together, 100 schedules of each scheme", 120, schemes),
        Step::new("line of decisions: 4,000 runs, and every rule left out", 30, decisions),
        Step::new("second reader of transcripts: 5 drawn, 200 changed", 15, second_reader),
        Step::new("real processes in network namespaces", 50, namespaces),
        Step::new("plain LCM with liblcm and PyPI's lcm", 120, plain_lcm),
        Step::new("papers of every scheme, read by other software", 120, papers),
        Step::new("demo", 10, || run(&format!("{} demo", built("folkmoot"))).map(drop)),
        Step::new("demo with robots", 15, || {
            run(&format!("{} demo --scenario robots --rate 20", built("folkmoot"))).map(drop)
        }),
    ]);
    steps
}

fn short() -> Vec<Step> {
    let mut steps = cheap();
    steps.extend([
        Step::new("tests", 200, || {
            run("cargo test --workspace --exclude folkmoot-cli --quiet --no-fail-fast").map(drop)
        }),
        Step::new("simulator: 30 schedules", 5, || simulate("--schedules 30")),
    ]);
    steps
}

/// What needs no test program.
fn cheap() -> Vec<Step> {
    vec![
        Step::new("tidy", 3, tidy),
        Step::new("format", 3, || run("cargo fmt --all --check").map(drop)),
        Step::new("lints", 120, || run("cargo clippy --workspace --all-targets -- -D warnings").map(drop)),
    ]
}

/// A program of the build of the tests, wherever cargo was told to put that: this program lies
/// beside it.
fn built(program: &str) -> String {
    let here = std::env::current_exe().unwrap_or_default();
    let target = here.ancestors().nth(1).map_or_else(|| root().join("target/debug"), Path::to_path_buf);
    target.join(program).display().to_string()
}

fn simulate(options: &str) -> Result<(), String> {
    simulate_from(1, options)
}

fn simulate_from(seed: u64, options: &str) -> Result<(), String> {
    run(&format!("{} --seed {seed} {options}", built("folkmoot-sim"))).map(drop)
}

/// A seed that is another for each commit, so that in time many are played, and the same for all
/// who verify that commit. Outside of a clone it follows from the date.
fn seed_of_commit() -> u64 {
    let commit = capture("git rev-parse HEAD").ok().filter(|(success, _)| *success);
    let digits = commit.and_then(|(_, said)| u64::from_str_radix(said.get(..SEED_DIGITS)?, 16).ok());
    digits.map_or_else(seed_of_date, |digits| digits * 1_000)
}

fn seed_of_date() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() / 86_400 * 1_000
}

/// The model keeps one processor busy, and many test programs end with one long test: together they
/// take little longer than the tests alone.
fn tests_and_model() -> Result<(), String> {
    let model = thread::spawn(model);
    // What the groups of the tests have signed is kept for the step that has others read it.
    let papers = built("papers");
    let _ = std::fs::remove_dir_all(&papers);
    let environment = format!("env FOLKMOOT_PAPERS={papers} RUST_TEST_THREADS={}", at_once());
    let tested = run(&format!("{environment} cargo test --workspace --quiet --no-fail-fast")).map(drop);
    let modelled = model.join().unwrap_or_else(|_| Err(String::from("the model's thread ended early")));
    match (tested, modelled) {
        (Err(tests), Err(model)) => Err(format!("{tests}; {model}")),
        (tested, modelled) => tested.and(modelled),
    }
}

/// How many tests of a program run at once. Half of the time those with real processes wait for a
/// timeout or for each other, and leave the processors idle.
fn at_once() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get) * 3 / 2
}

/// Every state of three members and three changes; with a rule off, the deadlock that the rule is
/// for.
fn model() -> Result<(), String> {
    for options in ["", "--without rule-h", "--without k1"] {
        let line = format!("nice {} --changes 3 {options}", built("folkmoot-model"));
        let (success, said) = capture(&line)?;
        eprintln!("$ {line}\n{said}");
        if !success {
            return Err(format!("`{line}` failed"));
        }
    }
    Ok(())
}

/// The rules of the line of decisions with liars; and with a rule left out, beginning shortly
/// before a run that shows it: without a rule a run must fail.
fn decisions() -> Result<(), String> {
    let program = built("folkmoot-decisions");
    run(&format!("{program} --runs 4000"))?;
    for (rule, seed) in RULES_LEFT_OUT {
        run(&format!("{program} --without {rule} --steps 120 --seed {seed} --runs 3000"))?;
    }
    Ok(())
}

/// A reader of transcript files in Python says what ours says (docs/protocol/line.md). It needs
/// Python 3.11 and one package from PyPI, so a machine without them leaves it to `release`.
fn second_reader() -> Result<(), String> {
    let agree = "python3 testing/verify/agree.py";
    if !capture(&format!("{agree} --ready")).is_ok_and(|(success, _)| success) {
        eprintln!("Python 3.11 or what testing/verify/requirements.txt names is not there: left to release");
        return Ok(());
    }
    let program = built("folkmoot-transcripts");
    run(&format!("{agree} --program {program} --transcripts 5 --mutations 200")).map(drop)
}

/// Programs of others hear ours and are heard, and nothing plain leaves its host (docs/pubsub.md).
fn plain_lcm() -> Result<(), String> {
    liblcm()?;
    let edge = "python3 testing/lcm/edge.py";
    if !capture(&format!("{edge} --ready")).is_ok_and(|(success, _)| success) {
        eprintln!("SKIPPED: no network namespaces can be made here");
        return Ok(());
    }
    let program = built("folkmoot");
    run(&format!("{edge} --program {program}"))?;
    run(&format!("python3 testing/lcm/apart.py --program {program}"))?;
    run(&format!("python3 testing/lcm/changes.py --program {program} --changes 10")).map(drop)
}

/// It fetches Debian's liblcm and PyPI's lcm. A machine that cannot have them says so and leaves
/// this to `release`.
fn liblcm() -> Result<(), String> {
    let programs = format!("--program {} --types {}", built("folkmoot"), built("folkmoot-types"));
    let check = format!("python3 testing/lcm/check.py {programs}");
    let (ready, why) = capture(&format!("{check} --ready")).unwrap_or_else(|why| (false, why));
    if !ready {
        eprintln!("SKIPPED: left to release. {}", why.trim());
        return Ok(());
    }
    run(&check).map(drop)
}

/// OpenSSL, GnuTLS, Python and pkilint read what groups of every scheme sign
/// (docs/protocol/identity.md). It fetches Debian's gnutls-bin, where that is not installed, and
/// packages of PyPI. A machine that cannot have them says so and leaves this to `release`.
fn papers() -> Result<(), String> {
    let check = "python3 testing/papers/check.py";
    let (ready, why) = capture(&format!("{check} --ready")).unwrap_or_else(|why| (false, why));
    if !ready {
        eprintln!("SKIPPED: left to release. {}", why.trim());
        return Ok(());
    }
    run(&format!("{check} {}", built("papers"))).map(drop)
}

/// Needs root. A machine that cannot make namespaces says so and leaves this to others.
fn namespaces() -> Result<(), String> {
    let program = built("folkmoot-net");
    let (ready, why) = capture(&format!("{program} --ready"))?;
    if !ready {
        eprintln!("SKIPPED: no network namespaces can be made here. {}", why.trim());
        return Ok(());
    }
    run(&format!("{program} --quick --jobs 4 --tries 2")).map(drop)
}

/// Rules of the line, and where to begin to look for what goes wrong without each.
const RULES_LEFT_OUT: [(&str, u32); 26] = [
    ("since", 1),
    ("stamps", 1),
    ("expiry", 1),
    ("one-commit", 1_200),
    ("promises", 1),
    ("highest-commit", 1),
    ("reports", 1),
    ("rejoin", 1),
    ("past", 1),
    ("named-keys", 1),
    ("strikes", 1),
    ("holdings", 1),
    ("begins", 1),
    ("ahead", 1),
    ("electorates", 1),
    ("able-voters", 1),
    ("asking-again", 1),
    ("judgements", 1),
    ("whole", 1),
    ("counting", 1),
    ("near-time", 1),
    ("reasons", 1),
    ("drawers", 450),
    ("saying-again", 1),
    ("dates", 9_000),
    ("skipping", 1),
];

/// Schedules for each scheme in which voters sign together, others for each commit.
fn schemes() -> Result<(), String> {
    let seed = seed_of_commit();
    eprintln!("the first seed is {seed}; --scheme SCHEME --replay SEED plays one of them again");
    for scheme in ["asm", "frost", "ts-dsa"] {
        simulate_from(seed, &format!("--scheme {scheme} --schedules 100"))?;
    }
    Ok(())
}

/// Schedules for each module that the default does not choose, with votes on modules and ciphers,
/// with an attacker who has every former key, and with a carrier that forges.
fn modules() -> Result<(), String> {
    for module in crate::release::MODULES {
        simulate(&format!("--keying {module} --schedules 40"))?;
    }
    simulate("--aim charter --schedules 30")?;
    simulate("--aim takeover --schedules 12")?;
    simulate("--aim forger --schedules 12")
}

/// Licences, sources and duplicates by cargo-deny, where it is installed. They change with
/// Cargo.lock alone, and to build the program takes minutes: `cargo xtask release` installs and
/// runs it.
fn dependencies() -> Result<(), String> {
    if capture("cargo deny --version").is_ok_and(|(success, _)| success) {
        return run("cargo deny check bans licenses sources").map(drop);
    }
    eprintln!("cargo-deny is not installed: `cargo xtask release` installs it and checks licences");
    Ok(())
}

/// Names the one command that installs what a machine lacks.
fn needs() -> Result<(), String> {
    let lacking: Vec<&str> =
        ["openssl", "cmake", "cc", "tmux"].into_iter().filter(|program| !has(program)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these programs are missing: {}. Install them with: sudo apt-get install -y openssl cmake gcc libc6-dev tmux",
        lacking.join(", ")
    ))
}
