//! Whether a program showed what a page says that it shows.
//!
//! Lines are compared in their order, and rows of a table in any order. Lines without a word are
//! none. A line `...` is for any lines, also none. What is of one run only is compared by its
//! shape, and by its name: what the page calls by one id in a chapter is one thing there.

use super::tokens::{Token, tokens};
use std::collections::HashMap;

/// Those in a page's stories. Where they stand in a list of names, their order is of one run.
const CAST: [&str; 6] = ["anna", "ben", "cleo", "dora", "eve", "erik"];
/// Digits of an id that name it.
const DIGITS: usize = 8;

/// What each name of the page is called in this run, and the other way round.
#[derive(Clone, Default)]
pub(super) struct Names {
    here: HashMap<String, String>,
    page: HashMap<String, String>,
}

impl Names {
    /// A command of the page, as it is here: with the ids that have come so far.
    pub(super) fn in_command(&self, page: &str) -> String {
        let is_part = |c: char| !c.is_ascii_alphanumeric();
        let parts = page.split_inclusive(is_part).map(|part| {
            let word = part.trim_end_matches(is_part);
            let here = self.here.get(word).map(|here| part.replacen(word, here, 1));
            here.unwrap_or_else(|| part.to_owned())
        });
        parts.collect()
    }

    fn same(&mut self, page: &str, here: &str) -> bool {
        let (page, here) = (page.to_owned(), here.to_owned());
        self.here.entry(page.clone()).or_insert_with(|| here.clone()) == &here
            && self.page.entry(here).or_insert_with(|| page.clone()) == &page
    }
}

/// How exactly a chapter, or a step of it, is compared.
#[derive(Clone, Copy, Default)]
pub(super) struct Looseness {
    /// Numbers are those of one run.
    pub(super) numbers: bool,
    /// Lines come in any order.
    pub(super) order: bool,
}

/// Where the page and the program part: the page's line.
pub(super) fn matches(
    page: &[String],
    here: &[String],
    names: &mut Names,
    loose: Looseness,
) -> Result<(), String> {
    let parts: Vec<Part> = parts(page, loose);
    let lines: Vec<Vec<Token>> =
        here.iter().filter(|line| !line.trim().is_empty()).map(|line| line_of(line, loose)).collect();
    let mut search = Search { furthest: 0 };
    if search.fits(&parts, &lines, names) {
        return Ok(());
    }
    Err(parts.get(search.furthest).map_or("the end of what is shown".to_owned(), |part| part.text.clone()))
}

/// Lines of the page that are compared together.
struct Part {
    text: String,
    rows: Vec<Vec<Token>>,
    /// Whether any other lines may stand there, too.
    gap: bool,
}

fn parts(page: &[String], loose: Looseness) -> Vec<Part> {
    let (mut parts, mut in_table) = (Vec::<Part>::new(), loose.order);
    for text in page.iter().filter(|line| !line.trim().is_empty()) {
        let gap = text.trim() == "...";
        let row = (!gap).then(|| line_of(text, loose));
        let starts = is_head(text);
        let with = parts.last_mut().filter(|_| in_table && !starts && (gap || loose.order || is_row(text)));
        match with {
            Some(part) => {
                part.rows.extend(row);
                part.gap |= gap;
            }
            None => parts.push(Part { text: text.clone(), rows: row.into_iter().collect(), gap }),
        }
        if starts {
            // Its rows are a part of their own.
            parts.push(Part { text: format!("the rows under {text}"), rows: Vec::new(), gap: false });
        }
        in_table = starts || loose.order || (in_table && (gap || is_row(text)));
    }
    parts
}

/// The head of a table: words in capitals, in columns.
fn is_head(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.len() > 1
        && text.contains("  ")
        && text.chars().all(|c| !c.is_lowercase())
        && word.chars().all(char::is_alphabetic)
}

fn is_row(text: &str) -> bool {
    text.trim().contains("  ")
}

fn line_of(text: &str, loose: Looseness) -> Vec<Token> {
    let mut line = tokens(text);
    if loose.numbers {
        line.iter_mut().for_each(forget_number);
        line.dedup_by(|one, before| *one == Token::Stamp && *before == Token::Stamp);
    }
    sort_names(&mut line);
    line
}

/// A number, and the point in it.
fn forget_number(token: &mut Token) {
    let is = matches!(token, Token::Plain(text) if text == "." || text == "," || text.parse::<u64>().is_ok());
    if is || *token == Token::View {
        *token = Token::Stamp;
    }
}

/// `cleo, ben, anna` as `anna, ben, cleo`.
fn sort_names(line: &mut [Token]) {
    let is_name = |token: &Token| matches!(token, Token::Plain(text) if CAST.contains(&text.as_str()));
    let mut from = 0;
    while from < line.len() {
        let mut places = vec![from];
        while is_name(&line[from])
            && line.get(places[places.len() - 1] + 3).is_some_and(is_name)
            && line[places[places.len() - 1] + 1] == Token::Plain(",".to_owned())
        {
            places.push(places[places.len() - 1] + 3);
        }
        let mut names: Vec<Token> = places.iter().map(|place| line[*place].clone()).collect();
        names.sort();
        places.iter().zip(names).for_each(|(place, name)| line[*place] = name);
        from = places[places.len() - 1] + 1;
    }
}

struct Search {
    furthest: usize,
}

impl Search {
    fn fits(&mut self, parts: &[Part], lines: &[Vec<Token>], names: &mut Names) -> bool {
        self.from(0, parts, lines, names)
    }

    fn from(&mut self, at: usize, parts: &[Part], lines: &[Vec<Token>], names: &mut Names) -> bool {
        self.furthest = self.furthest.max(at);
        let Some(part) = parts.get(at) else { return lines.is_empty() };
        let least = part.rows.len();
        let most = if part.gap { lines.len() } else { least.min(lines.len()) };
        for count in least..=most {
            let mut tried = names.clone();
            let (these, rest) = lines.split_at(count);
            if rows(&part.rows, these, &mut tried) && self.from(at + 1, parts, rest, &mut tried) {
                *names = tried;
                return true;
            }
        }
        false
    }
}

/// Whether each row of the page is one of the lines, each another.
fn rows(page: &[Vec<Token>], lines: &[Vec<Token>], names: &mut Names) -> bool {
    let Some((first, others)) = page.split_first() else { return true };
    for (place, line) in lines.iter().enumerate() {
        let mut tried = names.clone();
        if !line_fits(first, line, &mut tried) {
            continue;
        }
        let left: Vec<Vec<Token>> = lines
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place)
            .map(|(_, line)| line.clone())
            .collect();
        if rows(others, &left, &mut tried) {
            *names = tried;
            return true;
        }
    }
    false
}

fn line_fits(page: &[Token], here: &[Token], names: &mut Names) -> bool {
    let Some((first, others)) = page.split_first() else { return here.is_empty() };
    if *first == Token::Any {
        return (0..=here.len()).any(|skipped| {
            let mut tried = names.clone();
            let fits = line_fits(others, &here[skipped..], &mut tried);
            if fits {
                *names = tried;
            }
            fits
        });
    }
    let Some((token, rest)) = here.split_first() else { return false };
    same(first, token, names) && line_fits(others, rest, names)
}

fn same(page: &Token, here: &Token, names: &mut Names) -> bool {
    match (page, here) {
        (Token::Id(page), Token::Id(here)) => {
            page.len() == here.len() && names.same(&page[..DIGITS], &here[..DIGITS])
        }
        (Token::Words(page), Token::Words(here)) => names.same(page, here),
        (Token::CutId, Token::Id(_)) => true,
        (page, here) => page == here,
    }
}
