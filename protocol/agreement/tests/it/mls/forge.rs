//! A liar with keys of its own and the library at its disposal: key packages and commits that are
//! signed, sealed and wrong.

use super::driver::{Said, Seeded, World, member};
use folkmoot_agreement::mls::{Commit, Run, Suite};
use folkmoot_agreement::{AgreementError, Kept, Module, Origin, Plan, Step};
use folkmoot_base::{Digest, codec};
use mls_rs::client_builder::{
    BaseConfig, ClientBuilder, WithCryptoProvider, WithIdentityProvider, WithMlsRules,
};
use mls_rs::crypto::{SignaturePublicKey, SignatureSecretKey};
use mls_rs::extension::ExtensionType;
use mls_rs::group::{CommitBuilder, CommitOutput, Group};
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::mls_rules::{CommitOptions, DefaultMlsRules};
use mls_rs::time::MlsTime;
use mls_rs::{
    CipherSuite, CipherSuiteProvider, Client, CryptoProvider, Extension, ExtensionList, MlsMessage,
};
use mls_rs_crypto_awslc::AwsLcCryptoProvider;
use std::time::Duration;

pub(crate) type Config = WithMlsRules<
    DefaultMlsRules,
    WithCryptoProvider<AwsLcCryptoProvider, WithIdentityProvider<BasicIdentityProvider, BaseConfig>>,
>;
pub(crate) type Builder<'a> = CommitBuilder<'a, Config>;

pub(crate) const SUITE: CipherSuite = CipherSuite::CURVE25519_AES128;

pub(crate) type Keys = (SignatureSecretKey, SignaturePublicKey);

pub(crate) fn keys(suite: CipherSuite) -> Keys {
    let parts = AwsLcCryptoProvider::new().cipher_suite_provider(suite).unwrap();
    parts.signature_key_generate().unwrap()
}

/// How a liar's leaf and key package differ from what they must be.
pub(crate) struct Look {
    pub(crate) name: Vec<u8>,
    pub(crate) suites: Vec<CipherSuite>,
    pub(crate) suite: CipherSuite,
    pub(crate) extensions: Vec<u16>,
    pub(crate) from: u64,
    pub(crate) life: u64,
    pub(crate) leaf: ExtensionList,
    pub(crate) keys: Option<Keys>,
    pub(crate) options: CommitOptions,
}

impl Look {
    pub(crate) fn honest(number: u16) -> Self {
        Self {
            name: member(number).to_bytes().to_vec(),
            suites: vec![SUITE],
            suite: SUITE,
            extensions: vec![0xf0f1],
            from: 0,
            life: 3_600,
            leaf: ExtensionList::new(),
            keys: None,
            options: CommitOptions::new().with_path_required(true).with_ratchet_tree_extension(false),
        }
    }

    pub(crate) fn client(&self) -> Client<Config> {
        let crypto = AwsLcCryptoProvider::with_enabled_cipher_suites(self.suites.clone());
        let (secret, public) = self.keys.clone().unwrap_or_else(|| keys(self.suite));
        let credential = BasicCredential::new(self.name.clone()).into_credential();
        ClientBuilder::new()
            .identity_provider(BasicIdentityProvider::new())
            .crypto_provider(crypto)
            .mls_rules(DefaultMlsRules::new().with_commit_options(self.options))
            .extension_types(self.extensions.iter().map(|number| ExtensionType::new(*number)))
            .key_package_lifetime(Duration::from_secs(self.life))
            .signing_identity(SigningIdentity::new(credential, public), secret, self.suite)
            .build()
    }

    pub(crate) fn package(&self, context: &Digest) -> Vec<u8> {
        let package = self.client().generate_key_package_message(
            naming(context),
            self.leaf.clone(),
            Some(MlsTime::from(self.from)),
        );
        package.unwrap().to_bytes().unwrap()
    }
}

pub(crate) fn naming(context: &Digest) -> ExtensionList {
    vec![Extension::new(ExtensionType::new(0xf0f1), context.to_vec())].into()
}

/// Member 0 lies; it founded the group, and it is always its turn. Others are honest runs.
pub(crate) struct Liar {
    pub(crate) group: Group<Config>,
    pub(crate) kept: Vec<(u16, Kept)>,
    pub(crate) context: Digest,
}

pub(crate) const CONTEXT: Digest = [7; 32];
/// A name whose turn is the first of the base.
const RUN: Digest = [0; 32];

impl Liar {
    /// A group of member 0 and honest members up to `size`.
    pub(crate) fn founding(size: u16) -> Self {
        Self::looking(&Look::honest(0), size)
    }

    pub(crate) fn looking(look: &Look, size: u16) -> Self {
        let group = look.client().create_group(naming(&CONTEXT), look.leaf.clone(), Some(MlsTime::from(0)));
        let mut liar = Self { group: group.unwrap(), kept: Vec::new(), context: CONTEXT };
        let members: Vec<u16> = (0..size).collect();
        let mut scene = liar.scene(&members);
        let body = liar.honest(&scene);
        scene.all(&body).into_iter().for_each(|told| drop(told.unwrap()));
        liar.group.apply_pending_commit().unwrap();
        liar.kept = members[1..]
            .iter()
            .zip(&scene.runs)
            .map(|(number, run)| (*number, run.keep().unwrap()))
            .collect();
        liar
    }

    /// A run of these members, the liar first, at the point where its commit is awaited.
    pub(crate) fn scene(&self, members: &[u16]) -> Scene {
        let mut scene = self.opening(members);
        for said in std::mem::take(&mut scene.said) {
            scene.packages.push(MlsMessage::from_bytes(&said.body).unwrap());
            for told in scene.hear(&said) {
                told.unwrap();
            }
        }
        assert!(scene.runs.iter().all(|run| run.awaited() == [0]));
        scene
    }

    /// The same before the first key package is delivered.
    pub(crate) fn opening(&self, members: &[u16]) -> Scene {
        let ids: Vec<_> = members.iter().copied().map(member).collect();
        let kept = |number: u16| self.kept.iter().find(|(kept, _)| *kept == number).map(|(_, kept)| kept);
        let origin = |number: &u16| match number {
            0 if !self.kept.is_empty() => Some(Origin { run: RUN, rank: 0 }),
            _ => kept(*number).map(|kept| Origin { run: RUN, rank: kept.rank() }),
        };
        let origins: Vec<_> = members.iter().map(origin).collect();
        let run = |me: usize| {
            let plan = Plan::with_origins(&ids, me, origins.clone()).unwrap().with_context(self.context);
            Run::new(&plan, kept(members[me]), Suite::Classical).unwrap()
        };
        let runs = (1..members.len()).map(run).collect();
        let mut scene = Scene { runs, packages: Vec::new(), said: Vec::new() };
        for (at, run) in scene.runs.iter_mut().enumerate() {
            for step in run.start(&mut Seeded(at as u64 + (u64::from(members[at + 1]) << 8))) {
                let Step::Send { step, body, .. } = step else { continue };
                scene.said.push(Said { from: at + 1, step, body });
            }
        }
        scene
    }

    /// A commit of what `build` puts into it, signed and sealed as it should be.
    pub(crate) fn forged(&mut self, build: impl FnOnce(Builder<'_>) -> Builder<'_>) -> CommitOutput {
        self.group.clear_pending_commit();
        build(self.group.commit_builder().commit_time(MlsTime::from(0))).build().unwrap()
    }

    pub(crate) fn honest(&mut self, scene: &Scene) -> Commit {
        let context = self.context;
        let packages = scene.packages.clone();
        body(&self.forged(|builder| everything(builder, &packages, &context)))
    }
}

/// What an honest commit has in it, if nobody left.
pub(crate) fn everything<'a>(builder: Builder<'a>, packages: &[MlsMessage], context: &Digest) -> Builder<'a> {
    let added =
        packages.iter().fold(builder, |builder, package| builder.add_member(package.clone()).unwrap());
    added.set_group_context_ext(naming(context)).unwrap()
}

pub(crate) fn body(output: &CommitOutput) -> Commit {
    let welcome = output.welcome_messages.first().map(|welcome| welcome.to_bytes().unwrap());
    let tree =
        output.ratchet_tree.as_ref().filter(|_| welcome.is_some()).map(|tree| tree.to_bytes().unwrap());
    Commit {
        commit: output.commit_message.to_bytes().unwrap().into(),
        welcome: welcome.unwrap_or_default().into(),
        tree: tree.unwrap_or_default().into(),
    }
}

/// The honest members of a run that waits for the liar.
pub(crate) struct Scene {
    pub(crate) runs: Vec<Run>,
    pub(crate) packages: Vec<MlsMessage>,
    /// What waits to be delivered.
    pub(crate) said: Vec<Said>,
}

type Told = Result<Vec<Step>, AgreementError>;

impl Scene {
    /// What each makes of a step.
    pub(crate) fn hear(&mut self, said: &Said) -> Vec<Told> {
        let hear = |run: &mut Run| run.receive(said.from, said.step, &said.body, &mut Seeded(0));
        self.runs.iter_mut().map(hear).collect()
    }

    /// What each makes of a commit.
    pub(crate) fn all(&mut self, body: &Commit) -> Vec<Told> {
        self.hear(&Said { from: 0, step: 2, body: codec::encode(body) })
    }

    /// All refuse it, for the same reason, and go on waiting.
    pub(crate) fn refuses(&mut self, body: &Commit, reason: &AgreementError) {
        for told in self.all(body) {
            assert_eq!(told.err().as_ref(), Some(reason));
        }
        assert!(self.runs.iter().all(|run| run.awaited() == [0] && run.keep().is_none()));
    }
}

/// An honest group, for what is not about commits.
pub(crate) fn waiting() -> (World, super::driver::Trial) {
    let mut world = World::new(20);
    world.run(&[0, 1]);
    let trial = world.begin(&[0, 1, 2, 3]);
    (world, trial)
}
