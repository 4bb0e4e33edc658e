//! The indented blocks of a page: what a person types, and what the page says is shown then.

/// Says of the block behind it why no test runs it.
const NOT_RUN: &str = "<!-- no test runs this:";
/// Programs that begin a line which a person types, on pages that write no `$`.
const TYPED: [&str; 7] = ["folkmoot ", "openssl ", "printf ", "cargo ", "python3 ", "export ", "mkdir "];

pub(super) struct Block {
    /// The page's line at which it begins.
    pub(super) at: usize,
    /// The heading above it.
    pub(super) chapter: String,
    pub(super) lines: Vec<String>,
    /// Why no test runs it.
    pub(super) excuse: Option<String>,
}

/// A command, and what is shown under it.
#[derive(Debug, PartialEq)]
pub(super) struct Step {
    pub(super) at: usize,
    pub(super) command: String,
    pub(super) shown: Vec<String>,
}

pub(super) fn read(name: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    std::fs::read_to_string(format!("{root}{name}")).unwrap()
}

/// All blocks of a page.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let (mut found, mut chapter, mut excuse) = (Vec::<Block>::new(), String::new(), None);
    // Lines without a word since the last line of a block: they may be within it.
    let (mut fenced, mut before, mut empty) = (false, "", None);
    for (at, line) in (1..).zip(page.lines()) {
        fenced ^= line.starts_with("```");
        let code = line.strip_prefix("    ").filter(|_| !fenced);
        if let (Some(code), Some(lines)) = (code, empty) {
            let block = found.last_mut().unwrap();
            block.lines.resize(block.lines.len() + lines, String::new());
            block.lines.push(code.to_owned());
            empty = Some(0);
        } else if let (Some(code), true) = (code, before.is_empty()) {
            let lines = vec![code.to_owned()];
            found.push(Block { at, chapter: chapter.clone(), lines, excuse: excuse.take() });
            empty = Some(0);
        } else if line.is_empty() {
            empty = empty.map(|lines| lines + 1);
        } else if line.starts_with('#') && !fenced {
            (chapter, empty) = (line.trim_start_matches('#').trim().to_owned(), None);
        } else {
            excuse = line.strip_prefix(NOT_RUN).map(|why| why.trim_end_matches("-->").trim().to_owned());
            empty = None;
        }
        before = line;
    }
    found
}

impl Block {
    /// Whether it shows no command, only what some program says.
    pub(super) fn is_said(&self) -> bool {
        let typed = |line: &String| TYPED.iter().any(|word| line.starts_with(word));
        !self.lines.iter().any(|line| line.starts_with("$ ") || line.starts_with("# ") || typed(line))
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        let marked = self.lines.iter().any(|line| line.starts_with("$ "));
        let (mut steps, mut goes_on) = (Vec::<Step>::new(), false);
        for (at, line) in (self.at..).zip(&self.lines) {
            let (part, more) = line.strip_suffix('\\').map_or((line.as_str(), false), |part| (part, true));
            match part.strip_prefix("$ ").or((!marked).then_some(part)) {
                _ if goes_on => steps.last_mut().unwrap().command += part.trim_start(),
                Some(command) => steps.push(Step { at, command: command.to_owned(), shown: Vec::new() }),
                None => steps.last_mut().expect("a command comes first").shown.push(line.clone()),
            }
            goes_on = more && steps.last().unwrap().shown.is_empty();
        }
        steps
    }
}

#[test]
fn blocks_have_their_chapter_their_commands_and_what_is_shown() {
    let page = format!(
        "## One\n\nText:\n\n    $ a \\\n        --b\n    said\n\n    ...\n    $ c\n\n{NOT_RUN} slow -->\n\n    \
         folkmoot d\n    folkmoot e\n\n### Two\n\n```\n\n    fenced\n```\n\n    $ f\n\nmore\n    no block\n\n    \
         an event\n"
    );
    let found = blocks(&page);
    let heads: Vec<_> =
        found.iter().map(|one| (one.at, one.chapter.as_str(), one.excuse.as_deref())).collect();
    assert_eq!(heads, [(5, "One", None), (14, "One", Some("slow")), (24, "Two", None), (29, "Two", None)]);
    let step = |at, command: &str, shown: &[&str]| Step {
        at,
        command: command.to_owned(),
        shown: shown.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(found[0].steps(), [step(5, "a --b", &["said", "", "..."]), step(10, "c", &[])]);
    assert_eq!(found[1].steps(), [step(14, "folkmoot d", &[]), step(15, "folkmoot e", &[])]);
    assert_eq!(found.iter().map(Block::is_said).collect::<Vec<_>>(), [false, false, false, true]);
}
