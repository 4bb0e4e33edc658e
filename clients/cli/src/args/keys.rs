//! Identities, and where the passphrase of a key comes from.

use super::EVERYWHERE;
use crate::values::algorithm;
use clap::{Args, Subcommand};
use folkmoot_identity::KeyAlgorithm;
use std::path::PathBuf;

/// The passphrase of the key in the state folder.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct KeyArgs {
    /// Reads the passphrase of the folder's key from the first line of this file. Without
    /// it, the systemd credential folkmoot-passphrase is tried, then you are asked at the terminal.
    #[arg(long, global = true, value_name = "FILE", help_heading = EVERYWHERE)]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Reads that passphrase from the first line of this open file, by its number.
    #[arg(long, global = true, value_name = "NUMBER", help_heading = EVERYWHERE)]
    pub(crate) passphrase_fd: Option<u32>,
}

/// The passphrase that a key is to have from now on.
#[derive(Debug, Clone, Args)]
pub(crate) struct NewPassphrase {
    /// Reads the new passphrase from the first line of this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new_passphrase_fd", "no_passphrase"])]
    pub(crate) new_passphrase_file: Option<PathBuf>,
    /// Reads the new passphrase from the first line of this open file, by its number.
    #[arg(long, value_name = "NUMBER", conflicts_with = "no_passphrase")]
    pub(crate) new_passphrase_fd: Option<u32>,
    /// Leaves the key unencrypted: anyone who gets the folder is this member.
    #[arg(long)]
    pub(crate) no_passphrase: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Identity {
    /// Makes a key, encrypted under a passphrase, and a self-signed certificate. Never
    /// overwrites a key.
    New {
        /// The name that others will see.
        name: String,
        /// The algorithm of the key: p256, ed25519, rsa-2048 or rsa-3072. A group takes those
        /// that its charter names.
        #[arg(long, value_name = "ALGORITHM", default_value = "p256", value_parser = algorithm)]
        algorithm: KeyAlgorithm,
        /// Leaves the key unencrypted: anyone who gets the folder is this member.
        #[arg(long)]
        no_passphrase: bool,
    },
    /// Makes an identity from a key that OpenSSL made, with a self-signed certificate.
    /// Never overwrites a key.
    Import {
        /// A private key in PEM: P-256, Ed25519, or RSA of 2048 or 3072 bits. The key is
        /// copied; the file stays. If it is encrypted, the copy has the same passphrase.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// The name that others will see. If a CSR with this key was granted, give the CSR's name.
        #[arg(long)]
        name: String,
        /// Leaves the copy unencrypted: anyone who gets the folder is this member.
        #[arg(long)]
        no_passphrase: bool,
    },
    /// Changes the passphrase of the key, or removes it. No member may run on the folder
    /// meanwhile.
    Passphrase(NewPassphrase),
    /// Gives this member another key, which the members vote on. While the member runs:
    /// makes the key and proposes it. Once it is decided and the member is stopped: takes it into
    /// use.
    Rotate {
        /// The algorithm of the new key, if it is to be another: one that the charter names.
        #[arg(long, value_name = "ALGORITHM", value_parser = algorithm)]
        algorithm: Option<KeyAlgorithm>,
    },
    /// Shows the identity: its name, and its key in digits and in words, which people compare.
    Show {
        /// Shows the key as a QR code, too.
        #[arg(long)]
        qr: bool,
    },
}
