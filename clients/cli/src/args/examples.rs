//! An example for each command, as its help shows it.

use clap::Command;

/// By the command's words after `folkmoot`. Each line is a command line that can be given.
pub(super) const EXAMPLES: [(&str, &[&str]); 65] = [
    ("", &["folkmoot demo", "folkmoot --state anna status"]),
    ("demo", &["folkmoot demo --messages 200"]),
    ("identity", &["folkmoot --state anna identity new anna"]),
    ("identity new", &["folkmoot --state anna identity new anna"]),
    ("identity import", &["folkmoot --state erik identity import --key erik.key --name erik"]),
    ("identity passphrase", &["folkmoot --state anna identity passphrase"]),
    (
        "identity rotate",
        &[
            "folkmoot --state anna identity rotate",
            "folkmoot --state anna identity rotate --algorithm ed25519",
        ],
    ),
    ("identity show", &["folkmoot --state anna identity show"]),
    ("charter", &["folkmoot charter verify charter.cms"]),
    (
        "charter new",
        &[
            "folkmoot charter new \"book club\" --votes 2 --founder anna/identity.pem --founder ben/identity.pem",
        ],
    ),
    ("charter sign", &["folkmoot --state anna charter sign charter.toml"]),
    ("charter join", &["folkmoot charter join anna.cms ben.cms -o charter.cms"]),
    ("charter show", &["folkmoot charter show charter.cms"]),
    ("charter verify", &["folkmoot charter verify charter.cms"]),
    ("charter change", &["folkmoot --state anna charter change threshold 3"]),
    ("member", &["folkmoot --state anna member --charter charter.cms --listen 192.0.2.7:4803"]),
    (
        "join",
        &[
            "folkmoot --state dora join dora.ticket",
            "folkmoot --state dora join charter.cms --at udp/192.0.2.7:4803",
        ],
    ),
    ("invite", &["folkmoot --state anna invite --for dora/identity.pem --out dora.ticket"]),
    (
        "chat",
        &[
            "folkmoot --state anna chat --charter charter.cms --listen 192.0.2.7:4803",
            "folkmoot --state anna chat",
        ],
    ),
    (
        "send",
        &["folkmoot --state anna send \"see you at eight\"", "folkmoot --state anna send --file minutes.txt"],
    ),
    ("receive", &["folkmoot --state ben receive --count 1", "folkmoot --state ben --json receive --follow"]),
    ("vote", &["folkmoot --state anna vote list"]),
    ("vote list", &["folkmoot --state anna vote list"]),
    ("vote approve", &["folkmoot --state anna vote approve dora"]),
    ("vote reject", &["folkmoot --state anna vote reject dora"]),
    ("renew", &["folkmoot --state anna renew"]),
    ("csr", &["folkmoot --state anna csr submit erik.csr"]),
    ("csr submit", &["folkmoot --state anna csr submit erik.csr --out erik.pem"]),
    ("csr fetch", &["folkmoot --state anna csr fetch erik.csr --out erik.pem"]),
    ("authority", &["folkmoot --state office authority new --group \"book club\""]),
    ("authority new", &["folkmoot --state office authority new --group \"book club\""]),
    ("authority show", &["folkmoot --state office authority show"]),
    ("authority certificate", &["folkmoot --state office authority certificate"]),
    ("authority hand-over", &["folkmoot --state office authority hand-over office.key"]),
    ("authority take-over", &["folkmoot --state replica authority take-over office.key"]),
    ("authority run", &["folkmoot --state office authority run charter.cms --at udp/192.0.2.7:4803"]),
    ("authority status", &["folkmoot --state office authority status"]),
    ("authority take-log", &["folkmoot --state replica authority take-log old-replica"]),
    ("authority log", &["folkmoot --state office authority log"]),
    ("withdraw", &["folkmoot --state ben withdraw \"expel dora\"", "folkmoot --state dora withdraw"]),
    ("rules", &["folkmoot --state anna rules"]),
    ("leave", &["folkmoot --state dora leave", "folkmoot --state dora leave --for-good"]),
    ("expel", &["folkmoot --state ben expel dora"]),
    ("voters", &["folkmoot --state anna voters anna ben dora"]),
    ("resolve", &["folkmoot --state anna resolve 17.36c92395e61b02aef6df28 --everybody"]),
    ("retime", &["folkmoot --state anna retime"]),
    ("write", &["folkmoot --state erik write charter.cms \"may I come by?\""]),
    ("letters", &["folkmoot --state anna letters"]),
    ("answer", &["folkmoot --state anna answer erik \"on Monday\""]),
    ("roster", &["folkmoot --state anna roster"]),
    ("status", &["folkmoot --state anna status"]),
    ("why", &["folkmoot --state anna why dora"]),
    ("proof", &["folkmoot --state ben proof 2 --out owes.cms"]),
    (
        "verify",
        &["folkmoot verify charter.cms transcript.moot", "folkmoot verify owes.cms --charter charter.cms"],
    ),
    ("export", &["folkmoot --state anna export copy"]),
    ("lcm", &["folkmoot lcm spy"]),
    ("lcm spy", &["folkmoot lcm spy --channel \"POSE.*\""]),
    ("lcm log", &["folkmoot lcm log drive.log"]),
    ("lcm play", &["folkmoot lcm play drive.log --speed 2"]),
    ("lcm echo", &["folkmoot lcm echo POSE POSE_COPY"]),
    ("lcm gen", &["folkmoot lcm gen pose.lcm --out src/types"]),
    ("lcm bridge", &["folkmoot lcm bridge --secured papers"]),
    ("completions", &["folkmoot completions bash"]),
    ("man", &["folkmoot man --out pages"]),
    ("doctor", &["folkmoot --state anna doctor"]),
];

/// Of what signs, in the secured form of LCM, and of the bench.
pub(super) const MORE: [(&str, &[&str]); 8] = [
    ("lcm root", &["folkmoot lcm root new root"]),
    ("lcm root new", &["folkmoot lcm root new root"]),
    ("lcm certify", &["folkmoot lcm certify --root root --sender 7 --channel POSE --out papers"]),
    ("lcm certificate", &["folkmoot lcm certificate show papers/member.crt"]),
    ("lcm certificate show", &["folkmoot lcm certificate show papers/member.crt"]),
    ("lcm exclude", &["folkmoot lcm exclude papers/member.crt --root root --now"]),
    ("lcm passphrase", &["folkmoot lcm passphrase papers"]),
    ("bench", &["folkmoot bench ring --nodes 3"]),
];

/// The command line with its examples.
pub(super) fn shown(command: Command) -> Command {
    with(command, "")
}

fn with(command: Command, words: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let below = |command: Command, name: String| {
        let words = format!("{words} {name}").trim_start().to_owned();
        command.mut_subcommand(name, |sub| with(sub, &words))
    };
    let command = names.into_iter().fold(command, below);
    let all = EXAMPLES.iter().chain(&MORE);
    let Some((_, lines)) = all.clone().find(|(of, _)| *of == words) else { return command };
    let word = if lines.len() == 1 { "Example:" } else { "Examples:" };
    let example = lines.iter().fold(word.to_owned(), |text, line| text + "\n  " + line);
    let after = command.get_after_help().map(|after| format!("{after}\n\n")).unwrap_or_default();
    command.after_help(after + &example)
}
