//! What can be typed into a talk besides what is said.

use super::screen::Screen;
use crate::commands::{all_needed, proposed, text, voted};
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::member::concerns::lines;
use crate::open::{in_force, withdrawn};
use crate::show::{harmless, short};
use serde_json::Value;

/// Most characters that are shown of a word that is no command.
const WORD_SHOWN: usize = 40;
/// Before a line that is to be signed.
const SIGN: &[u8] = b"/sign ";
/// What can be typed besides what is said, as far as most people need it.
pub(super) const COMMANDS: &str =
    "/sign TEXT, /who, /votes, /yes NAME, /no NAME, /answer NAME TEXT, /help, /quit";
/// The same, explained.
const HELP: [(&str, &str); 13] = [
    ("TEXT", "sends the line to the group; a pasted text of several lines is one message"),
    ("//TEXT", "sends a line that begins with /"),
    ("/sign TEXT", "sends it with your signature: every receiver can prove that you said it"),
    ("/who", "shows who is here and who is not"),
    ("/votes", "lists what is open to votes"),
    ("/yes NAME", "votes yes on that request or proposal; /no NAME votes no"),
    ("/withdraw WORDS", "takes back a proposal of your own; /withdraw alone, while you wait, your request"),
    ("/rules", "shows the rules in force, and which decisions made them"),
    ("/expel NAME", "proposes to expel that member, with your vote if you have one"),
    ("/change FIELD VALUE", "proposes to change the charter, as in /change request_hours 48"),
    ("/answer NAME TEXT", "answers a letter that a stranger wrote to the group"),
    ("/help", "shows this list"),
    (
        "/quit",
        "sends what waits, and ends this talk, and the member if this terminal started it; so does Ctrl-D. Ctrl-C takes back half a line; where nothing is typed it ends at once",
    ),
];

/// What a line says.
pub(super) enum Order {
    Nothing,
    Quit,
    Do(String),
    /// With a signature, if so asked.
    Say(Vec<u8>, bool),
}

/// Reads a line. A person who presses the return key alone says nothing; in a file, an empty line
/// is a line.
pub(super) fn order(text: Vec<u8>, person: bool) -> Order {
    let plain = text.trim_ascii();
    if let Some(said) = plain.strip_prefix(SIGN) {
        return Order::Say(said.to_vec(), true);
    }
    match plain {
        b"" if person => Order::Nothing,
        b"/quit" => Order::Quit,
        // Two say that none is meant for the program.
        [b'/', b'/', ..] => Order::Say(plain.get(1..).unwrap_or_default().to_vec(), false),
        [b'/', ..] => Order::Do(String::from_utf8_lossy(plain).into_owned()),
        _ => Order::Say(text, false),
    }
}

pub(super) async fn obey(orders: &mut Control, screen: &Screen, typed: &str) -> Result<(), Failure> {
    let (word, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    let subject = rest.trim().to_owned();
    match word {
        "/help" => HELP.iter().for_each(|(word, does)| screen.say(&format!("  {word:<20}{does}"))),
        "/who" => list(screen, &orders.ask(&Request::Status).await?, "nobody"),
        "/votes" => list(screen, &orders.ask(&Request::Petitions).await?, "nothing to vote on"),
        "/yes" | "/no" if subject.is_empty() => {
            let does = if word == "/yes" { "approve" } else { "reject" };
            let question =
                format!("Whose request do you {does}? Type {word} NAME. /votes lists the open ones.");
            return Err(asks(&question));
        }
        "/yes" | "/no" => {
            let approve = word == "/yes";
            screen.say(&voted(&orders.ask(&Request::Vote { subject, approve, wait: None }).await?));
        }
        "/rules" => in_force(&orders.ask(&Request::Rules).await?).lines().for_each(|line| screen.say(line)),
        "/withdraw" | "/expel" | "/change" => decide(orders, screen, word, subject).await?,
        "/answer" => {
            let (letter, text) = subject.split_once(' ').unwrap_or((&subject, ""));
            let (letter, text) = (letter.to_owned(), text.trim().to_owned());
            drop(orders.ask(&Request::Answer { letter, text }).await?);
        }
        _ => {
            let word = beginning(word);
            let hint = format!(
                "{word} is not a command. /help lists the commands. To send a line that begins with /, type // in its place"
            );
            return Err(Failure::new(Exit::Usage, hint));
        }
    }
    Ok(())
}

/// A word as it is shown: what was pasted may be as long as a message.
fn beginning(word: &str) -> String {
    match word.char_indices().nth(WORD_SHOWN) {
        Some((end, _)) => format!("{}…", word.get(..end).unwrap_or_default()),
        None => word.into(),
    }
}

/// What is proposed, and taken back.
async fn decide(orders: &mut Control, screen: &Screen, word: &str, subject: String) -> Result<(), Failure> {
    match (word, subject.split_once(' ')) {
        ("/withdraw", _) => {
            let subject = (!subject.is_empty()).then_some(subject);
            screen.say(&withdrawn(&orders.ask(&Request::Withdraw { subject }).await?));
        }
        ("/expel", _) if !subject.is_empty() => {
            let request = Request::Expel { member: subject, force: false };
            let told = orders.ask(&request).await?;
            let who = format!("{} ({})", harmless(text(&told, "name")), short(text(&told, "member")));
            screen.say(&(proposed(&format!("expel {who}")) + &all_needed(&told)));
        }
        ("/expel", _) => return Err(asks("Whom do you want to expel? Type /expel NAME.")),
        (_, Some((field, value))) => {
            let (field, value) = (field.to_owned(), value.trim().to_owned());
            let request = Request::Change { field: field.clone(), value, force: false };
            let told = orders.ask(&request).await?;
            let value = harmless(text(&told, "value"));
            screen.say(&proposed(&format!("set {} = {value} in the charter", harmless(&field))));
        }
        (_, None) => {
            let question = "What do you want to change? Type /change FIELD VALUE. /rules lists the fields.";
            return Err(asks(question));
        }
    }
    Ok(())
}

fn asks(question: &str) -> Failure {
    Failure::new(Exit::Usage, question)
}

fn list(screen: &Screen, answer: &Value, none: &str) {
    let list = answer.get("people").unwrap_or(answer).as_array().cloned().unwrap_or_default();
    for one in &list {
        let text = |field: &str| harmless(one.get(field).and_then(Value::as_str).unwrap_or_default());
        screen.say(&format!("  {}  {}{}{}", text("name"), text("state"), text("kind"), standing(one)));
        lines(one).iter().for_each(|words| screen.say(&format!("    {words}")));
    }
    if list.is_empty() {
        screen.say(&format!("  {none}"));
    }
}

/// How many have voted on it, how many it takes, and who they are; of a person nothing.
fn standing(one: &Value) -> String {
    let Some(needs) = one.get("needs").and_then(Value::as_str) else { return String::new() };
    let have = one.get("have").and_then(Value::as_u64).unwrap_or_default();
    let names = |field: &str, word: &str| {
        let names = one.get(field).and_then(Value::as_array).into_iter().flatten();
        let names: Vec<String> = names.filter_map(Value::as_str).map(harmless).collect();
        if names.is_empty() { String::new() } else { format!("; {word}: {}", names.join(", ")) }
    };
    format!(": has {have}, needs {}{}{}", harmless(needs), names("approved", "yes"), names("rejected", "no"))
}

#[cfg(test)]
mod tests {
    use super::{WORD_SHOWN, beginning};

    #[test]
    fn of_a_word_that_is_no_command_the_beginning_is_shown() {
        assert_eq!(beginning("/nonsense"), "/nonsense");
        assert_eq!(beginning(&"é".repeat(WORD_SHOWN)), "é".repeat(WORD_SHOWN));
        assert_eq!(beginning(&"é".repeat(3_000_000)), "é".repeat(WORD_SHOWN) + "…");
    }
}
