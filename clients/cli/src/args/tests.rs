//! The definition is consistent, and the lines that people type are read.

use super::*;
use clap::CommandFactory;

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
