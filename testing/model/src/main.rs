//! Explores the model and says what it found.

use clap::{Parser, ValueEnum};
use folkmoot_model::{NAMES, Orders, Report, Rules, Scope, beginnings, explore, survey, words};
use std::process::ExitCode;
use std::time::Instant;

/// Explores every state of three members with a few changes of membership: keying and flush as
/// built, or with a rule off.
#[derive(Debug, Parser)]
#[command(name = "folkmoot-model", version, about)]
struct Arguments {
    /// Without this rule; prints the shortest trace to what then goes wrong.
    #[arg(long, value_enum)]
    without: Option<Rule>,
    /// How many changes of membership.
    #[arg(long, default_value_t = 2)]
    changes: u8,
    /// How many early messages, FIFO or reliable, one after the other.
    #[arg(long, default_value_t = 0)]
    messages: u8,
    /// How many confirmations a carrier says again in another's name.
    #[arg(long, default_value_t = 0)]
    reflections: u8,
    /// Only these kinds of change.
    #[arg(long, value_enum, value_delimiter = ',')]
    kinds: Vec<Kind>,
    /// Flush may ask a member before it has come to the notice's place in the order.
    #[arg(long)]
    early: bool,
    /// Go through every order of steps, also of those that nobody else can tell.
    #[arg(long)]
    every_order: bool,
    /// One object on stdout.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rule {
    RuleH,
    K1,
    SafeList,
    Confirmation,
    OwnConfirmation,
    KeyListHolds,
    Prior,
    EarlyHeld,
    RemovedNamed,
    NamedAwaited,
    Freeze,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Joins,
    Leaves,
    Expulsions,
    Crashes,
    Cuts,
}

fn scope(changes: u8, messages: u8, kinds: &[Kind]) -> Scope {
    let has = |kind| kinds.is_empty() || kinds.contains(&kind);
    Scope {
        changes,
        joins: has(Kind::Joins),
        leaves: has(Kind::Leaves),
        expulsions: has(Kind::Expulsions),
        crashes: has(Kind::Crashes),
        cuts: has(Kind::Cuts),
        messages,
        reflections: 0,
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut rules = Rules { early_requests: arguments.early, ..Rules::default() };
    match arguments.without {
        Some(Rule::RuleH) => rules.rule_h = false,
        Some(Rule::K1) => rules.k1 = false,
        Some(Rule::SafeList) => rules.safe_list = false,
        Some(Rule::Confirmation) => rules.confirmation = false,
        Some(Rule::OwnConfirmation) => rules.own_confirmation = false,
        Some(Rule::KeyListHolds) => rules.key_list_holds = false,
        Some(Rule::Prior) => rules.prior = false,
        Some(Rule::EarlyHeld) => rules.early_held = false,
        Some(Rule::RemovedNamed) => rules.removed_named = false,
        Some(Rule::NamedAwaited) => rules.named_awaited = false,
        Some(Rule::Freeze) => rules.freeze = false,
        None => {}
    }
    use Rule::{EarlyHeld, Freeze, NamedAwaited, Prior, RemovedNamed};
    let early = matches!(arguments.without, Some(Prior | EarlyHeld | RemovedNamed | NamedAwaited | Freeze));
    let messages = arguments.messages.max(u8::from(early));
    let reflected = matches!(arguments.without, Some(Rule::OwnConfirmation));
    let reflections = arguments.reflections.max(u8::from(reflected));
    let scope = scope(arguments.changes, messages, &arguments.kinds).with_reflections(reflections);
    let start = Instant::now();
    let orders = if arguments.every_order { Orders::All } else { Orders::Enough };
    let report = match arguments.without {
        // For the shortest way to the fault.
        Some(_) => explore(&beginnings(&scope), &rules, &scope),
        None => walk(&rules, &scope, orders, start),
    };
    if arguments.json {
        print_json(&report, &rules, start)
    } else {
        print(&report, &rules, start)
    }
    // With a rule off, finding nothing is the failure.
    let expected = report.found.is_some() == arguments.without.is_some();
    let shrunk = arguments.without.is_none()
        && scope == Scope::all(3).with_messages(messages)
        && !sees_all(&report, messages > 0);
    if expected && !shrunk { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Through everything; if something is wrong, again for the shortest way there.
fn walk(rules: &Rules, scope: &Scope, orders: Orders, start: Instant) -> Report {
    let roots = beginnings(scope);
    let report = survey(&roots, (rules, scope), orders, |states| tell(states, start));
    if report.found.is_none() { report } else { explore(&roots, rules, scope) }
}

/// Three changes of every kind lead to everything that there is a name for: a search that sees less
/// is not what it was.
#[allow(clippy::print_stderr, reason = "why it fails")]
fn sees_all(report: &Report, early: bool) -> bool {
    let named = NAMES.iter().filter(|name| early || !name.starts_with("early"));
    let unseen: Vec<_> = named.filter(|name| !report.marks.contains(**name)).collect();
    if !unseen.is_empty() {
        eprintln!("never seen: {unseen:?}");
    }
    unseen.is_empty()
}

#[allow(clippy::print_stderr, reason = "a program's progress")]
fn tell(states: usize, start: Instant) {
    if states.is_multiple_of(5_000_000) {
        eprintln!("{states} states after {} s", start.elapsed().as_secs());
    }
}

#[allow(clippy::print_stdout, reason = "a program's result")]
fn print(report: &Report, rules: &Rules, start: Instant) {
    let Report { states, steps, depth, ends, .. } = report;
    let seconds = start.elapsed().as_secs();
    println!("{states} states, {steps} steps between them, {ends} ends, depth {depth}, {seconds} s");
    match &report.found {
        None => println!("nothing is wrong, and every way ends with everybody secure"),
        Some(found) => {
            for (line, number) in words::lines(found, rules).iter().zip(0..) {
                println!("{number:>3}  {line}");
            }
        }
    }
}

#[allow(clippy::print_stdout, reason = "a program's result")]
fn print_json(report: &Report, rules: &Rules, start: Instant) {
    let Report { states, steps, depth, ends, marks, found } = report;
    let fault = found.as_ref().map(|found| format!("{:?}", found.fault));
    let trace = found.as_ref().map(|found| words::lines(found, rules));
    let object = serde_json::json!({
        "states": states, "steps": steps, "depth": depth, "ends": ends, "seen": marks,
        "seconds": start.elapsed().as_secs(), "fault": fault, "trace": trace,
    });
    println!("{object}");
}
