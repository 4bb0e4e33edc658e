//! Blocks that show what a program says, without a command: each line is one of the texts in
//! `texts/texts.txt`, in which `{}` stands for anything.

/// How much of a line must be the text's own words.
const OWN_PERCENT: usize = 20;

/// Whether a line of a page is one of these texts. What is behind `…` at its end is left out.
pub(super) fn is_text(line: &str, texts: &[String]) -> bool {
    let line = line.trim().trim_start_matches("folkmoot: ").trim_start_matches("* ");
    let whole = line.trim_end_matches('…').trim_end_matches("...");
    texts.iter().any(|text| fits(whole.trim_end(), whole.len() < line.len(), text))
}

/// The texts of the list, without their packages.
pub(super) fn texts(list: &str) -> Vec<String> {
    let text =
        |line: &str| line.split_once(": ").map_or("", |(_, text)| text).trim_start_matches("\\n").to_owned();
    list.lines().map(text).collect()
}

fn fits(line: &str, is_cut: bool, text: &str) -> bool {
    let (mut rest, mut own) = (line, 0);
    let pieces = pieces(text);
    for (number, piece) in pieces.iter().enumerate() {
        let found = if number == 0 { rest.starts_with(piece).then_some(0) } else { rest.find(piece) };
        let Some(at) = found else {
            let begun = if piece.starts_with(rest) { rest.len() } else { 0 };
            return is_cut && (number > 0 || begun > 0) && enough(own + begun, line);
        };
        own += piece.len();
        rest = &rest[at + piece.len()..];
    }
    let is_open = pieces.last().is_some_and(String::is_empty);
    enough(own, line) && (rest.is_empty() || is_open || is_cut)
}

fn enough(own: usize, line: &str) -> bool {
    own * 100 >= line.len() * OWN_PERCENT
}

/// What stands before, between and behind the braces.
fn pieces(text: &str) -> Vec<String> {
    let (mut pieces, mut depth) = (vec![String::new()], 0);
    for sign in text.chars() {
        match sign {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                pieces.push(String::new());
            }
            _ if depth == 0 => pieces.last_mut().unwrap().push(sign),
            _ => {}
        }
    }
    pieces
}

#[test]
fn a_line_is_a_text_if_its_own_words_are() {
    let known =
        texts("cli: ours is {} (in words: {words}), by {}\ncli: {}: {}\nother: it has stopped: {why}");
    for line in
        ["ours is 7.36c9… (in words: 7 cycle …), by ben", "folkmoot: it has stopped: …", "ours is 7 (in wo…"]
    {
        assert!(is_text(line, &known), "{line}");
    }
    for line in
        ["ours was 7.36c9 (in words: 7 cycle), by ben", "it has gone: …", "ours is 7 (in words: 8), of ben"]
    {
        assert!(!is_text(line, &known), "{line}");
    }
}
