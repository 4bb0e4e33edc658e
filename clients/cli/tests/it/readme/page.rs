//! What README.md tells a person to type, read from README.md itself.

/// The chapter that is played.
const CHAPTER: &str = "## Five minutes";

/// A chapter: the paragraphs, and between them the commands of each block.
pub(super) struct Page {
    pub(super) blocks: Vec<Vec<String>>,
    pub(super) prose: String,
}

impl Page {
    pub(super) fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
        Self::of(&std::fs::read_to_string(path).unwrap())
    }

    fn of(text: &str) -> Self {
        let chapter = text.split(CHAPTER).nth(1).expect("README.md has its five minutes");
        let chapter = chapter.split("\n## ").next().unwrap();
        let (mut blocks, mut prose) = (vec![Vec::new()], String::new());
        let mut goes_on = false;
        for line in chapter.lines() {
            let Some(code) = line.strip_prefix("    ") else {
                if !blocks.last().unwrap().is_empty() {
                    blocks.push(Vec::new());
                }
                prose.push_str(line);
                prose.push(if line.is_empty() { '\n' } else { ' ' });
                continue;
            };
            let block = blocks.last_mut().unwrap();
            let (part, more) = code.strip_suffix('\\').map_or((code, false), |part| (part, true));
            match block.last_mut().filter(|_| goes_on) {
                Some(before) => *before += part.trim_start(),
                None => block.push(part.to_owned()),
            }
            goes_on = more;
        }
        blocks.retain(|block: &Vec<String>| !block.is_empty());
        Self { blocks, prose }
    }

    /// What stands between backquotes in the sentence that has this in it.
    pub(super) fn quoted(&self, part: &str) -> Vec<String> {
        let sentences = self.prose.split(". ");
        let sentence = sentences.into_iter().find(|one| one.contains(part));
        let sentence = sentence.unwrap_or_else(|| panic!("README.md says nothing of {part:?}"));
        sentence.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }
}

#[test]
fn commands_are_the_indented_lines_of_the_chapter() {
    let page = Page::of(
        "## Other\n\n    not this\n\n## Five minutes\n\nType:\n\n    one --a \\\n        --b\n    two\n\nSee `x`, in\norder, `y z`. Then:\n\n    three\n\n## More\n\n    nor this\n",
    );
    assert_eq!(page.blocks, [vec!["one --a --b".to_owned(), "two".to_owned()], vec!["three".to_owned()]]);
    assert_eq!(page.quoted("in order"), ["x", "y z"]);
}
