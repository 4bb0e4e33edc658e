//! The matcher: what it lets pass, and what it does not.

use super::matching::{Looseness, Names, matches};

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn fits_by(page: &str, here: &str, loose: Looseness) -> bool {
    matches(&lines(page), &lines(here), &mut Names::default(), loose).is_ok()
}

fn fits(page: &str, here: &str) -> bool {
    fits_by(page, here, Looseness::default())
}

const STATUS: &str = "\
anna (c7836d03) at udp/127.0.0.1:4811
view 6.8192.69bab57a.533bc32c  key 8dca1287 (gdh, aes-256-gcm)  steady
NAME  ID        STATE    WHY
cleo  09c87439  silent   silent since 2026-11-21T08:44:39Z (10 s ago)
anna  c7836d03  present  in the view, shares the key";

const HERE: &str = "\
anna (aaaaaaaa) at udp/127.0.0.1:4811
view 1.123.bbbbbbbb.cccccccc  key dddddddd (gdh, aes-256-gcm)  steady
NAME  ID        STATE     WHY
anna  aaaaaaaa  present   in the view, shares the key
cleo  eeeeeeee  silent    silent since 2026-01-01T00:00:00Z (3 s ago)";

#[test]
fn what_is_of_one_run_and_the_order_of_rows_pass() {
    assert!(fits(STATUS, STATUS) && fits(STATUS, HERE));
    assert!(fits("a\n...\nb", "a\nb") && fits("a\n...\nb", "a\n1\n2\nb"));
    assert!(fits("ben, anna share it", "anna, ben share it"));
    assert!(fits("NAME  ID\nanna  1\n...\nend", "NAME  ID\nben  2\nanna  1\ncleo  3\nend"));
    assert!(fits(
        r#"{"group":"0cd3…","keys":[…],"n":2}"#,
        r#"{"group":"abcdef0123","keys":[{"a":1}],"n":2}"#
    ));
    assert!(fits("in words: 7 cycle …", "in words: 7 shy bread domain zero boost mountain impose face"));
}

#[test]
fn every_other_difference_is_one() {
    for (page, here) in [
        ("steady", "stalled"),
        ("key 8dca1287", "kay 8dca1287"),
        ("anna  c7836d03", "anne  c7836d03"),
        ("(10 s ago)", "(10 s after)"),
    ] {
        assert!(STATUS.contains(page) && !fits(&STATUS.replace(page, here), HERE), "{page} and {here}");
    }
    let (_, but_first) = HERE.split_once('\n').unwrap();
    assert!(!fits(STATUS, but_first), "a line that is missing");
    assert!(!fits(STATUS, &format!("{HERE}\nmore")), "a line more");
    assert!(!fits("a\nb", "b\na"), "another order");
    assert!(!fits("a\n...\nb", "a\n1\nc"), "behind what is left out");
    assert!(!fits("1 of 2 votes", "0 of 2 votes"), "another number");
    assert!(!fits("a b", "ab"), "a space");
    assert!(!fits("NAME  ID\nanna  1", "NAME  ID\nanna  1\nben  2"), "a row more");
    assert!(!fits("said: a … b", "said: a"), "what comes behind what is left out");
}

#[test]
fn what_the_page_calls_by_one_name_is_one_thing() {
    let (one, two, three) = ("11111111", "22222222", "33333333");
    let page = format!("anna {one}\nvoter {one}\nben {two}");
    assert!(fits(&page, &page.replace(one, three)));
    assert!(!fits(&page, &format!("anna {one}\nvoter {three}\nben {two}")), "one id for two");
    assert!(!fits(&page, &page.replace(two, one)), "two ids for one");
    let mut names = Names::default();
    let mut next = |page: &str, here: &str| {
        matches(&lines(page), &lines(here), &mut names, Looseness::default()).is_ok()
    };
    assert!(next(one, two) && !next(one, three) && next(one, two), "over a chapter");
}

#[test]
fn numbers_and_order_are_free_only_where_a_chapter_says_so() {
    let (numbers, order) = (
        Looseness { numbers: true, ..Looseness::default() },
        Looseness { order: true, ..Looseness::default() },
    );
    assert!(!fits("POSE  412  100.0", "POSE  9  1") && fits_by("POSE  412  100.0", "POSE  9  1", numbers));
    assert!(!fits_by("POSE  412  100.0", "SCAN  412  100.0", numbers));
    assert!(!fits("a\nb", "b\na") && fits_by("a\nb", "b\na", order) && !fits_by("a\nb", "b\nc", order));
}
