//! What a page takes for granted, chapter by chapter: `plays/*.txt`.
//!
//! ```text
//! ## Votes                           a chapter of the page, or a name for `use`
//! use group                          what is done before: the lines under that name,
//! folkmoot --state eve ...           a line for a shell, which must succeed,
//! & folkmoot --state eve member ...  a program that stays, called by its folder,
//! see eve: listens                   until it shows this,
//! until TEXT: COMMAND                a line for a shell until it says this,
//! type eve: hello                    a line at its terminal,
//! signal eve: TERM                   its end,
//! ends eve                         it ends by itself,
//! machines rover arm               a host for each, on which runs whose folder is called so,
//! story                            the files of a transcript of others.
//! at exit 5 stays: join              for the page's next command with this in it: its exit code,
//!   ...                              whether it stays; what is done before it is typed,
//!   then                             and
//!   ...                              when it was typed
//! ```
//! `late` is for a program that stays and has shown its lines only at the end of the block, and
//! `at: TEXT => COMMAND` for a block without a command whose first line has this text: what the
//! command shows is compared with it. `numbers` and `any-order` before the colon say how output is
//! compared.

use super::matching::Looseness;

#[derive(Default)]
pub(super) struct Script {
    pub(super) before: Vec<String>,
    pub(super) cues: Vec<Cue>,
}

#[derive(Default)]
pub(super) struct Cue {
    pub(super) at: String,
    pub(super) exit: i32,
    /// The program goes on, and the page with it.
    pub(super) stays: bool,
    /// It goes on until the end of the block, and has shown by then what the page says.
    pub(super) late: bool,
    pub(super) loose: Looseness,
    /// The command that shows a block in which there is none.
    pub(super) says: Option<String>,
    pub(super) before: Vec<String>,
    pub(super) then: Vec<String>,
}

/// The part of a script file with this name.
pub(super) fn script(file: &str, name: &str) -> Script {
    let mut script = Script::default();
    let mut is_then = false;
    let lines = file.lines().skip_while(|line| line.strip_prefix("## ") != Some(name)).skip(1);
    for line in lines.take_while(|line| !line.starts_with("## ")) {
        if line.is_empty() || line.starts_with("# ") {
            continue;
        }
        match (line.strip_prefix("  "), line.strip_prefix("at")) {
            (Some("then"), _) => is_then = true,
            (Some(action), _) => {
                let cue = script.cues.last_mut().expect("a line `at` comes before");
                if is_then { &mut cue.then } else { &mut cue.before }.push(action.to_owned());
            }
            (None, Some(head)) => {
                script.cues.push(cue(head));
                is_then = false;
            }
            (None, None) => script.before.push(line.to_owned()),
        }
    }
    script
}

fn cue(head: &str) -> Cue {
    let (how, at) = head.split_once(": ").unwrap_or_else(|| panic!("at{head}: there is no colon"));
    let (at, says) = at.split_once(" => ").map_or((at, None), |(at, says)| (at, Some(says.to_owned())));
    let mut cue = Cue { at: at.to_owned(), says, ..Cue::default() };
    let mut words = how.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "exit" => cue.exit = words.next().and_then(|code| code.parse().ok()).expect("a code"),
            "stays" => cue.stays = true,
            "late" => cue.late = true,
            "numbers" => cue.loose.numbers = true,
            "any-order" => cue.loose.order = true,
            other => panic!("at{head}: what is {other}?"),
        }
    }
    cue
}

/// The chapters and names of a script file.
pub(super) fn names(file: &str) -> Vec<&str> {
    file.lines().filter_map(|line| line.strip_prefix("## ")).collect()
}

#[test]
fn a_script_has_what_comes_before_and_cues() {
    let file = "## a\none\n\n# a word\nat exit 5 stays: join\n  two\n  then\n  three\nat: x: y\n## b\nfour\n";
    assert_eq!(names(file), ["a", "b"]);
    let read = script(file, "a");
    assert_eq!(read.before, ["one"]);
    let [first, second] = &read.cues[..] else { panic!("two cues") };
    assert_eq!((first.at.as_str(), first.exit, first.stays), ("join", 5, true));
    assert_eq!((&first.before[..], &first.then[..]), (&["two".to_owned()][..], &["three".to_owned()][..]));
    assert_eq!((second.at.as_str(), second.exit, second.stays), ("x: y", 0, false));
}
