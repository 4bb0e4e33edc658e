//! PEM (RFC 7468) as people, editors and mail programs leave it: with other text and other blocks
//! around, a byte order mark, quotation marks of a mail, lines of any length.
//!
//! ```text
//! Here it is.                         passed over
//! > -----BEGIN CERTIFICATE-----       a block: its label,
//! >   MIIB...                         Base64 without what mails and editors put between,
//! > -----END CERTIFICATE-----         the same label
//! -----BEGIN PRIVATE KEY-----         a block of another label: for others
//! ```
//! What is read is the DER in it, and that has one form.

use folkmoot_base::Secret;

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Characters of a line of the strict form.
const LINE: usize = 64;

/// Why nothing was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// There is no block with such a label.
    Nothing,
    /// What is in it is no Base64.
    Damaged,
    /// It has the headers of an older form (RFC 1421), as OpenSSL once encrypted keys.
    Headers,
}

/// A block that was read.
pub(crate) struct Block<'a> {
    pub(crate) label: &'a str,
    pub(crate) der: Secret<Vec<u8>>,
}

/// All blocks with one of these labels, at least one.
pub(crate) fn read<'a>(text: &'a str, labels: &[&str]) -> Result<Vec<Block<'a>>, Unread> {
    let all: Vec<Block<'a>> = ours(text, labels).map(decode).collect::<Result<_, _>>()?;
    if all.is_empty() { Err(Unread::Nothing) } else { Ok(all) }
}

/// The first of them.
pub(crate) fn first<'a>(text: &'a str, labels: &[&str]) -> Result<Block<'a>, Unread> {
    ours(text, labels).next().ok_or(Unread::Nothing).and_then(decode)
}

/// The labels of all blocks in a text, in their order.
pub fn pem_labels(text: &str) -> impl Iterator<Item = &str> {
    frames(text).map(|frame| frame.label)
}

/// A block as it stands there.
struct Frame<'a> {
    label: &'a str,
    body: &'a str,
    /// A mail's quotation marks or spaces stand before it.
    quoted: bool,
}

/// Those with one of these labels. What is quoted counts only where nothing else is: other software
/// passes it over.
fn ours<'a>(text: &'a str, labels: &[&str]) -> impl Iterator<Item = Frame<'a>> {
    let all: Vec<Frame<'a>> = frames(text).filter(|frame| labels.contains(&frame.label)).collect();
    let quoted = all.iter().all(|frame| frame.quoted);
    all.into_iter().filter(move |frame| frame.quoted == quoted)
}

/// Each block that begins at the beginning of a line, and ends.
fn frames(whole: &str) -> impl Iterator<Item = Frame<'_>> {
    let whole = whole.strip_prefix(BYTE_ORDER_MARK).unwrap_or(whole);
    let mut text = whole;
    core::iter::from_fn(move || {
        loop {
            let (_, rest) = text.split_once(BEGIN)?;
            let at = whole.len().saturating_sub(rest.len()).saturating_sub(BEGIN.len());
            text = rest;
            let line = whole.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
            let stands_alone = line.chars().all(|sign| sign == '>' || sign.is_whitespace());
            let Some((label, rest)) = rest.split_once(DASHES).filter(|(label, _)| is_label(label)) else {
                continue;
            };
            let Some((body, behind)) = rest.split_once(&format!("{DASHES}END {label}{DASHES}")) else {
                continue;
            };
            if stands_alone {
                text = behind;
                return Some(Frame { label, body, quoted: !line.is_empty() });
            }
        }
    })
}

fn is_label(label: &str) -> bool {
    let may = |sign: u8| sign.is_ascii_uppercase() || sign.is_ascii_digit() || matches!(sign, b' ' | b'.');
    !label.is_empty() && label.bytes().all(may)
}

fn decode(Frame { label, body, .. }: Frame<'_>) -> Result<Block<'_>, Unread> {
    if body.contains(':') {
        return Err(Unread::Headers);
    }
    let strict = strict(label, body);
    let (_, der) = der::pem::decode_vec(strict.expose().as_bytes()).map_err(|_| Unread::Damaged)?;
    Ok(Block { label, der: Secret::new(der) })
}

/// The form that the decoder reads. It has room from the beginning, so that no copy is left behind
/// of what may be a key.
fn strict(label: &str, body: &str) -> Secret<String> {
    let length = body.len().saturating_add(body.len().div_ceil(LINE));
    let mut out =
        String::with_capacity(length.saturating_add(label.len().saturating_mul(2)).saturating_add(64));
    out.push_str(BEGIN);
    out.push_str(label);
    out.push_str(DASHES);
    let signs = body.chars().filter(|sign| !sign.is_whitespace() && !matches!(sign, '>' | '\u{feff}'));
    for (place, sign) in signs.enumerate() {
        if place % LINE == 0 {
            out.push('\n');
        }
        out.push(sign);
    }
    out.push('\n');
    out.push_str(DASHES);
    out.push_str("END ");
    out.push_str(label);
    out.push_str(DASHES);
    out.push('\n');
    Secret::new(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use der::pem::LineEnding;

    const LABEL: &str = "CERTIFICATE";

    fn write(der: &[u8]) -> String {
        der::pem::encode_string(LABEL, LineEnding::LF, der).unwrap()
    }

    /// Each way to leave a text.
    fn left(pem: &str) -> Vec<String> {
        let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let quoted = |mark: &str| pem.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        let frame = |body: &str| format!("{BEGIN}{LABEL}-----\n{body}\n-----END {LABEL}-----");
        let wide: Vec<_> = body.as_bytes().chunks(76).map(|line| str::from_utf8(line).unwrap()).collect();
        vec![
            format!("{pem}\n"),
            format!("{pem}  \n\t\n"),
            pem.replace("-----\n", "----- \r\n"),
            pem.replace('\n', "\r\n"),
            format!("\u{feff}{pem}"),
            frame(&body),
            frame(&wide.join("\r\n")),
            frame(&format!("\n{body}\n\n")),
            format!("Here it is.\n\n{}\nA.\n", quoted("> ")),
            quoted("> > "),
            quoted(">>"),
            quoted("    "),
            format!("-----BEGIN OTHER-----\nAAAA\n-----END OTHER-----\n{pem}"),
            format!("-----BEGIN OTHER-----\n{pem}{pem}"),
        ]
    }

    #[test]
    fn what_editors_and_mails_leave_is_read() {
        for length in [1, 47, 48, 49, 600] {
            let der: Vec<u8> = (0..length).map(|byte| u8::try_from(byte % 251).unwrap()).collect();
            let pem = write(&der);
            for text in left(&pem) {
                let block =
                    first(&text, &["SOMETHING", LABEL]).unwrap_or_else(|why| panic!("{why:?}: {text}"));
                assert_eq!((block.label, block.der.expose()), (LABEL, &der), "{text}");
            }
            assert_eq!(read(&format!("{pem}{pem}"), &[LABEL]).unwrap().len(), 2);
        }
    }

    /// In each of these OpenSSL reads the first one.
    #[test]
    fn nothing_hides_the_block_that_other_software_reads() {
        let [one, other] = [write(&[1; 90]), write(&[2; 90])];
        let quoted: String = other.lines().map(|line| format!("> {line}\n")).collect();
        let label = write(&[3; 9]).replace(LABEL, "OTHER");
        for text in [
            format!("{BEGIN}X----\n{one}{other}"),
            format!("{quoted}{one}"),
            format!("so {other}{one}"),
            format!("{BEGIN}x-----\n{one}{BEGIN}{other}"),
            format!("{BEGIN}{BEGIN}\n{one}{label}"),
        ] {
            assert_eq!(first(&text, &[LABEL]).unwrap().der.expose(), &[1; 90], "{text}");
        }
        assert_eq!(first(&quoted, &[LABEL]).unwrap().der.expose(), &[2; 90], "where nothing else is");
        assert_eq!(pem_labels(&format!("{one}{label}")).collect::<Vec<_>>(), [LABEL, "OTHER"]);
    }

    #[test]
    fn what_is_not_whole_is_refused_with_its_reason() {
        let pem = write(&[7; 90]);
        let why = |text: &str| first(text, &[LABEL]).err();
        assert_eq!(why(""), Some(Unread::Nothing));
        assert_eq!(why(&pem[..pem.len() - 3]), Some(Unread::Nothing), "it does not end");
        assert_eq!(why(&pem.replace(LABEL, "OTHER")), Some(Unread::Nothing));
        assert_eq!(why(&pem.replace("BwcH", "Bw*H")), Some(Unread::Damaged));
        assert_eq!(why(&pem.replacen("BwcH", "Bwc", 1)), Some(Unread::Damaged));
        assert_eq!(why(&pem.replacen('\n', "\nProc-Type: 4,ENCRYPTED\n", 1)), Some(Unread::Headers));
        // Many that begin and do not end.
        assert_eq!(why(&"-----BEGIN A-----".repeat(2_000)), Some(Unread::Nothing));
    }
}
