//! The library, set up for our use.
//!
//! Without its feature `std` it knows no clock and no hash map. Without `by_ref_proposal`, `psk`,
//! `private_message` and `external_client` it decodes neither proposals by reference, nor
//! pre-shared keys, nor sealed messages. What a credential says is checked here and in `judge`,
//! because the library takes any name.

use super::Suite;
use super::provider::{Parts, Provider};
use crate::base::{Digest, MemberId, Party};
use core::time::Duration;
use mls_rs::client_builder::{
    BaseConfig, ClientBuilder, WithCryptoProvider, WithIdentityProvider, WithMlsRules,
};
use mls_rs::error::MlsError;
use mls_rs::extension::ExtensionType;
use mls_rs::group::{Capabilities, Group};
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::identity::{CredentialType, SigningIdentity};
use mls_rs::mls_rules::{CommitOptions, DefaultMlsRules};
use mls_rs::time::MlsTime;
use mls_rs::{CipherSuiteProvider as _, Client, Extension, ExtensionList};

/// Does not compile if something in the workspace turns on the library's `std`, and with it the
/// system clock: then its error is an `Error`, and two implementations of `Clockless` fit.
const _: fn() = {
    trait Clockless<Which> {
        fn holds() {}
    }
    struct HasClock;
    impl<T> Clockless<()> for T {}
    impl<T: core::error::Error> Clockless<HasClock> for T {}
    <MlsError as Clockless<_>>::holds
};

/// The library's type parameters.
pub(super) type Config = WithMlsRules<
    DefaultMlsRules,
    WithCryptoProvider<Provider, WithIdentityProvider<BasicIdentityProvider, BaseConfig>>,
>;
/// A group as the library has it.
pub(super) type MlsGroup = Group<Config>;
/// One party's keys, before it is in a group.
pub(super) type MlsClient = Client<Config>;

/// What names the run in key packages and in the GroupContext; of the range for private use.
const RUN: ExtensionType = ExtensionType::new(0xf0f1);
/// How long a key package lives, in seconds from 0, which is the time of every run. A key package
/// is fresh because it names the run and keying signs it there, not because a clock says so.
pub(super) const LIFETIME: u64 = 3_600;

/// The time of every run.
pub(super) fn now() -> MlsTime {
    MlsTime::from(0)
}

/// The list with which key packages and GroupContext name a run.
pub(super) fn naming(context: &Digest) -> ExtensionList {
    vec![Extension::new(RUN, context.to_vec())].into()
}

/// What every leaf says that it can do.
pub(super) fn capabilities(suite: Suite) -> Capabilities {
    Capabilities {
        protocol_versions: vec![mls_rs::ProtocolVersion::MLS_10],
        cipher_suites: vec![suite.number()],
        extensions: vec![RUN],
        proposals: Vec::new(),
        credentials: vec![CredentialType::BASIC],
    }
}

/// The party that a leaf names: 34 bytes, the member and the port.
pub(super) fn named(identity: &SigningIdentity) -> Option<Party> {
    let basic = identity.credential.as_basic()?;
    let (member, port) = basic.identifier().split_first_chunk::<32>()?;
    Some(Party::new(MemberId(*member), u16::from_be_bytes(port.try_into().ok()?)))
}

/// New keys for `party`. Draws.
pub(super) fn client(provider: &Provider, parts: &Parts, party: &Party) -> Result<MlsClient, MlsError> {
    let (secret, public) = parts.signature_key_generate().map_err(|_| MlsError::SignerNotFound)?;
    let credential = BasicCredential::new(party.to_bytes().to_vec()).into_credential();
    let client = ClientBuilder::new()
        .identity_provider(BasicIdentityProvider::new())
        .crypto_provider(provider.clone())
        .mls_rules(rules())
        .extension_type(RUN)
        .key_package_lifetime(Duration::from_secs(LIFETIME))
        .signing_identity(SigningIdentity::new(credential, public), secret, provider.suite.number());
    Ok(client.build())
}

/// A group of one. Draws.
pub(super) fn found(client: &MlsClient, context: &Digest) -> Result<MlsGroup, MlsError> {
    client.create_group(naming(context), ExtensionList::new(), Some(now()))
}

/// Every commit has a path: parties that left, and whoever learnt an old key, are shut out. The
/// tree is sent in the open, so that all see which one the newcomers get. Nobody commits from
/// outside.
fn rules() -> DefaultMlsRules {
    DefaultMlsRules::new().with_commit_options(
        CommitOptions::new()
            .with_path_required(true)
            .with_ratchet_tree_extension(false)
            .with_single_welcome_message(true)
            .with_allow_external_commit(false),
    )
}
