//! `folkmoot charter`, as it is typed.

use super::authority::SeatArgs;
use super::rules::RuleArgs;
use crate::values::{algorithm, cipher, contact, keying, scheme};
use clap::Subcommand;
use folkmoot_base::{Cipher, Keying};
use folkmoot_identity::{Contact, KeyAlgorithm, Scheme};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Charter {
    /// Writes a charter for the founders to read and sign.
    New {
        /// The group's name, in quotes if it has spaces.
        name: String,
        /// A founder's identity.pem. Give it once for each founder, in the order in
        /// which the charter will list them.
        #[arg(long = "founder", required = true, value_name = "FILE")]
        founders: Vec<PathBuf>,
        /// How many votes admit a stranger.
        #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
        votes: u32,
        /// How the group signs certificates: plain (votes side by side), asm (voters make one
        /// signature), ts-dsa or frost (one key in shares), shoup-rsa (the same, dealt by an
        /// authority).
        #[arg(long, value_name = "SCHEME", default_value = "plain", value_parser = scheme)]
        scheme: Scheme,
        /// A kind of key that members may have: p256, ed25519, rsa-2048 or rsa-3072. Give it once
        /// for each kind. Without it, members may have the kinds that the founders have. This
        /// cannot be changed later.
        #[arg(long = "algorithm", value_name = "ALGORITHM", value_parser = algorithm)]
        algorithms: Vec<KeyAlgorithm>,
        /// The module that agrees on keys: by-size, gdh, tgdh, str or bd; or ckd,
        /// dutta-barua or mls, where the key does not depend on a share of every
        /// member.
        #[arg(long, value_name = "MODULE", default_value = "by-size", value_parser = keying)]
        keying: Keying,
        /// The cipher that seals messages: aes-256-gcm or chacha20-poly1305.
        #[arg(long, value_name = "CIPHER", default_value = "aes-256-gcm", value_parser = cipher)]
        cipher: Cipher,
        /// Agrees on keys by ML-KEM-768 as well as X25519; only with --keying ckd or mls.
        #[arg(long)]
        hybrid: bool,
        /// Lets strangers write letters to the group, and members answer them.
        #[arg(long)]
        letters: bool,
        /// Links nodes by ML-KEM-768 as well as X25519. This cannot be changed later.
        #[arg(long)]
        hybrid_links: bool,
        /// Where a founder will listen, for example udp/192.0.2.7:4803 or
        /// udp/anna.example.org:4803, so that newcomers need no --at. You can give it up to 16
        /// times.
        #[arg(long = "contact", value_name = "LOCATOR", value_parser = contact)]
        contacts: Vec<Contact>,
        #[command(flatten)]
        rules: Box<RuleArgs>,
        #[command(flatten)]
        seat: SeatArgs,
        /// The file to write.
        #[arg(long, short, value_name = "FILE", default_value = "charter.toml")]
        out: PathBuf,
    },
    /// Shows a charter, asks whether to sign it, and signs it as one of its founders. The first
    /// founder signs the text; each later founder signs the file that the previous one signed, or
    /// the text too (`folkmoot charter join`).
    Sign {
        /// charter.toml, or a charter.cms that lacks signatures.
        file: PathBuf,
        /// The file to write the signed charter to [default: the same name with the ending .cms].
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Does not ask. Without a terminal, and with --json, nobody is asked anyway.
        #[arg(long)]
        yes: bool,
    },
    /// Puts the signatures together that founders made apart, each on the same text.
    Join {
        /// The files that founders signed.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The file to write. Signatures that it holds already stay.
        #[arg(long, short, value_name = "FILE", default_value = "charter.cms")]
        out: PathBuf,
    },
    /// Shows the founding text of a signed charter. `folkmoot rules` shows what is in force now.
    Show {
        /// The signed charter [default: the one in the state folder].
        file: Option<PathBuf>,
    },
    /// Checks that all founders signed and that the rules are sound, and shows what they signed.
    Verify {
        /// The signed charter [default: the one in the state folder].
        file: Option<PathBuf>,
    },
    /// Proposes to change one rule of the group, and votes for it, through the running member.
    Change {
        /// The rule to change: threshold, admit, remove, roles.NAME, policy, list,
        /// decider, objections, request_days, below_threshold, keying, cipher, hybrid,
        /// contributory, minority, minority_may_admit, letters, certificate_days,
        /// not_before, not_after, request_hours, contacts, timeouts.step_ms, ...
        field: String,
        /// The new value, written as in the charter. For keys, give names or ids with
        /// commas between them, for contacts their locators; `none` removes the rule.
        value: String,
        /// Proposes it even if the voters could then no longer admit, remove or decide by
        /// the charter. The voters see that.
        #[arg(long)]
        force: bool,
    },
}
