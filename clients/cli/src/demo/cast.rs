//! Who plays: three founders and a stranger. If the group has an authority, the authority and a
//! second stranger play, too.

use super::outside::{Demo, Failure, Identities, Member, Program, Sealed, Workshop};
use super::stage::GROUP;
use super::tale::Tale;
use folkmoot_identity::{KeyAlgorithm, Mode, Scheme};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The cast, and where the story stands.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) anna: Member,
    pub(super) ben: Member,
    pub(super) cleo: Member,
    pub(super) dora: Member,
    pub(super) charter: PathBuf,
    pub(super) messages: u64,
    pub(super) scheme: Scheme,
    pub(super) identities: Identities,
    /// Sealed payloads of the first view of four, tapped on their way.
    pub(super) keepsake: Vec<Sealed>,
    /// Where the mode is centralised.
    pub(super) office: Option<Office>,
}

impl Story {
    /// Makes four identities, each in its own folder.
    pub(super) async fn new(workshop: &Workshop, options: &Demo) -> Result<Self, Failure> {
        let Demo { messages, scheme, mode, identities, .. } = *options;
        let program = Program::own()?;
        let member = |name, mixed| {
            let algorithm = if identities == Identities::Mixed { mixed } else { KeyAlgorithm::P256 };
            Member::with(workshop, &program, name, algorithm)
        };
        let (anna, ben) =
            (member("anna", KeyAlgorithm::P256).await?, member("ben", KeyAlgorithm::Ed25519).await?);
        let (cleo, mut dora) =
            (member("cleo", KeyAlgorithm::Rsa2048).await?, member("dora", KeyAlgorithm::Rsa3072).await?);
        dora.keeps_keys = true;
        let charter = workshop.path().join("charter.cms");
        let office = match mode {
            Mode::Decentralised => None,
            Mode::Centralised => {
                let authority = Member::authority(workshop, &program, GROUP, scheme.name()).await?;
                Some(Office::new(authority, member("erin", KeyAlgorithm::Ed25519).await?))
            }
        };
        let (messages, keepsake) = (messages.into(), Vec::new());
        Ok(Self { anna, ben, cleo, dora, charter, messages, scheme, identities, keepsake, office })
    }

    /// Ends all children.
    pub(super) async fn end(&mut self) {
        for member in [&mut self.anna, &mut self.ben, &mut self.cleo, &mut self.dora] {
            member.stop().await;
        }
        for member in self.office.iter_mut().flat_map(Office::all) {
            member.stop().await;
        }
    }
}

/// Who is there only where there is an authority.
#[derive(Debug)]
pub(super) struct Office {
    pub(super) authority: Member,
    pub(super) erin: Member,
}

impl Office {
    pub(super) fn new(authority: Member, erin: Member) -> Self {
        Self { authority, erin }
    }

    pub(super) fn all(&mut self) -> [&mut Member; 2] {
        [&mut self.authority, &mut self.erin]
    }

    /// What `charter new` is told of it.
    pub(super) fn words(&self, shares: bool) -> Vec<String> {
        let state = self.authority.state.display().to_string();
        let mut words = vec!["--mode".into(), "centralised".into(), "--authority".into(), state];
        if shares {
            words.extend(["--dealer".into(), "keeps".into()]);
        }
        words
    }

    /// Starts it beside the members that are at these places.
    pub(super) async fn open(&mut self, tale: &Tale, charter: &Path, at: &[String]) -> Result<(), Failure> {
        self.authority.start(charter, at, false).await?;
        let pid = self.authority.pid().unwrap_or(0);
        tale.say(&format!("the authority runs as process {pid}"), json!({ "pid": pid }));
        Ok(())
    }
}
