//! The definition is consistent, and the lines that people type are read.

use super::*;

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn the_issue_s_commands_parse() {
    let parse = |line: &str| Cli::try_parse_from(line.split(' ')).unwrap();
    for bench in ["folkmoot bench ring --nodes 3 --json", "folkmoot bench --help", "folkmoot bench"] {
        let Command::Bench { args } = parse(bench).command else { panic!("{bench}") };
        assert!(bench.ends_with(&args.join(" ".as_ref()).into_string().unwrap()), "all words go on: {bench}");
    }
    assert!(parse("folkmoot bench --json ring").json);
    let cli = parse("folkmoot join charter.cms --at udp/127.0.0.1:4801 --state dora");
    assert_eq!(cli.state, Some("dora".into()));
    assert!(matches!(cli.command, Command::Join(Join { at, .. }) if at.len() == 1));
    assert!(matches!(parse("folkmoot daemon").command, Command::Member(_)));
    assert!(matches!(parse("folkmoot vote approve dora").command, Command::Vote(Vote::Approve { .. })));
    assert!(matches!(parse("folkmoot why dora --json").command, Command::Why { .. }));
    let line =
        format!("folkmoot verify charter.cms transcript.moot --head 7.{0} --head 8.{0}", "ab".repeat(32));
    assert!(matches!(parse(&line).command, Command::Verify(Verify { heads, .. }) if heads.len() == 2));
}

#[test]
fn wrong_lines_are_usage_errors() {
    // A head without its number may be anybody's.
    let head = format!("folkmoot verify charter.cms transcript.moot --head {}", "ab".repeat(32));
    for line in ["folkmoot join", "folkmoot invite --days 91", "folkmoot frobnicate", head.as_str()] {
        let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
    }
}

/// The words of a line as a shell splits it.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(place, part)| match place % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    words.collect()
}

fn all_of(command: &clap::Command, above: &str, all: &mut Vec<String>) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let words = format!("{above} {}", sub.get_name()).trim_start().to_owned();
        all_of(sub, &words, all);
        all.push(words);
    }
}

#[test]
fn every_command_has_an_example_that_can_be_given() {
    let mut all = vec![String::new()];
    all_of(&Cli::command(), "", &mut all);
    let known: Vec<_> = examples::EXAMPLES.iter().chain(&examples::MORE).collect();
    for command in &all {
        let (_, lines) = known
            .iter()
            .find(|(of, _)| of == command)
            .unwrap_or_else(|| panic!("{command:?} has no example in args/examples.rs"));
        for line in *lines {
            let words = words(line);
            assert!(command.split_whitespace().all(|word| words.contains(&word.to_owned())), "{line}");
            Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
    let needless: Vec<_> = known.iter().filter(|(of, _)| !all.iter().any(|one| one == of)).collect();
    assert!(needless.is_empty(), "{needless:?}");
    let shown = super::command().render_long_help().to_string();
    assert!(shown.contains("Exit codes") && shown.contains("Examples:\n  folkmoot demo"), "{shown}");
}
