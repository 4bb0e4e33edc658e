//! How a replica stands, for people.

use super::machine::Replicas;
use super::view::CurrentView;
use folkmoot_base::{MemberId, ViewId};

/// How the log stands here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// In no view of the replicas' group.
    Out,
    /// In a view of too few: nothing is issued here.
    NoQuorum,
    /// In a view of enough, of whom too few know what the log has: the others are new, or their
    /// disks are.
    FewKnow {
        /// How many know. None: the first time, when all begin together.
        know: usize,
    },
    /// The state transfer is under way.
    CatchingUp {
        /// How many of those present have told what they have.
        told: usize,
        /// Records that have come of those that stand, once that is known.
        records: Option<(u64, u64)>,
    },
    /// Records are taken and handed back.
    Ready,
    /// The view is losing somebody; the next one is waited for.
    Changing,
    /// The log here and another's differ where they must not.
    Diverged(MemberId),
}

/// Everything of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The replicas, in their charter's order.
    pub listed: Vec<MemberId>,
    /// The view of the replicas' group that it is in.
    pub view: Option<ViewId>,
    /// Those in the view.
    pub present: Vec<MemberId>,
    /// Whether it knows what the log has: its own was once in sync with the others'.
    pub knows: bool,
    /// How the log stands.
    pub standing: Standing,
    /// Records in the log.
    pub length: u64,
    /// Of these, on the authority's own disk.
    pub handed: u64,
    /// Records of the own authority that wait.
    pub waiting: usize,
}

impl Status {
    /// Whether records are taken and handed back now.
    pub fn is_ready(&self) -> bool {
        self.standing == Standing::Ready
    }

    /// Whether the view has a quorum.
    pub fn has_quorum(&self) -> bool {
        matches!(self.standing, Standing::Ready | Standing::CatchingUp { .. } | Standing::Changing)
    }

    /// In a sentence, that calls the replicas by their ids.
    pub fn words(&self) -> String {
        self.words_with(&ToString::to_string)
    }

    /// In a sentence.
    pub fn words_with(&self, name: &dyn Fn(&MemberId) -> String) -> String {
        let (here, all) = (self.present.len(), self.listed.len());
        match self.standing {
            Standing::Out => "not in the replicas' group yet".to_owned(),
            Standing::NoQuorum => {
                format!("waits for {}: no quorum ({here} of {all} replicas)", self.wanted(name))
            }
            Standing::FewKnow { know: 0 } => {
                format!("waits for {}: all begin together ({here} of {all} replicas)", self.absent(name))
            }
            Standing::FewKnow { know } if here == all => {
                format!(
                    "only {know} of {all} replicas know the log, and the others are new: too few (see folkmoot authority take-log)"
                )
            }
            Standing::FewKnow { know } => {
                let absent = self.absent(name);
                format!(
                    "waits for {absent}: of the {here} replicas here, {know} know the log, and the others are new"
                )
            }
            Standing::CatchingUp { told, records: None } => {
                format!("asks the others for their state: {told} of {here} have answered")
            }
            Standing::CatchingUp { records: Some((come, of)), .. } => {
                format!("catches up: {come} of {of} records")
            }
            Standing::Ready => format!("ready: {here} of {all} replicas"),
            Standing::Changing => "waits for the next view".to_owned(),
            Standing::Diverged(member) => {
                format!("stopped: the log here and that of {member} differ", member = name(&member))
            }
        }
    }

    fn absent(&self, name: &dyn Fn(&MemberId) -> String) -> String {
        let absent = self.listed.iter().filter(|one| !self.present.contains(one)).map(name);
        format!("replica {}", absent.collect::<Vec<_>>().join(", "))
    }

    /// Who would make a quorum.
    fn wanted(&self, name: &dyn Fn(&MemberId) -> String) -> String {
        let absent = self.listed.iter().filter(|one| !self.present.contains(one)).map(name);
        let names: Vec<String> = absent.collect();
        // Half is enough with the first listed.
        let with_first = self.listed.first().is_some_and(|first| self.present.contains(first));
        let enough = if with_first {
            self.listed.len().div_ceil(2)
        } else {
            (self.listed.len() / 2).saturating_add(1)
        };
        let lacks = enough.saturating_sub(self.present.len());
        match lacks {
            0 | 1 => format!("replica {}", names.join(" or ")),
            more => format!("{more} more of {}", names.join(", ")),
        }
    }
}

impl Replicas {
    /// How it stands, as of the input before.
    pub fn status(&self) -> Status {
        Status {
            listed: self.listed.clone(),
            view: self.view.as_ref().map(|view| view.id),
            present: self.view.as_ref().map(|view| view.present.clone()).unwrap_or_default(),
            knows: self.log.knows(),
            standing: self.standing(),
            length: self.log.length(),
            handed: self.log.handed,
            waiting: self.wants.len(),
        }
    }

    fn standing(&self) -> Standing {
        match (&self.diverged, &self.view) {
            (Some(member), _) => Standing::Diverged(*member),
            (None, None) => Standing::Out,
            (None, Some(view)) if !view.quorum => Standing::NoQuorum,
            (None, Some(view)) if view.losing => Standing::Changing,
            (None, Some(CurrentView { few: Some(know), .. })) => Standing::FewKnow { know: *know },
            (None, Some(view)) if view.in_sync => Standing::Ready,
            (None, Some(view)) => {
                let (told, records) = view.progress();
                Standing::CatchingUp { told, records }
            }
        }
    }
}
