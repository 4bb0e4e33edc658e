//! The seam between keying and every agreement module.

use crate::base::{Entropy, Secret};
use crate::{AgreementError, Kept, Plan, Ristretto, bd, ckd, dutta_barua, gdh, skinny, tgdh};

/// What a run wants done. Order counts.
#[derive(Debug)]
pub enum Step {
    /// Multicast this to all members of the run, in the one order.
    Send {
        /// The module's number for the step.
        step: u8,
        /// Whether it may end the run: to be sent SAFE.
        decides: bool,
        /// The step's bytes.
        body: Vec<u8>,
    },
    /// This member has the secret; the others have it, or will when they deliver what this member has delivered.
    Done(Secret<Vec<u8>>),
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// The state's name, for people: "partial token", "key list".
    pub name: &'static str,
    /// The next step to be delivered may end the run.
    pub deciding: bool,
}

/// One run of one module at one member. Every member, the sender too, gives every step to `receive` in the one order.
pub trait Module: Send {
    /// The name in charters and under signatures.
    fn name(&self) -> ModuleName;

    /// Begins. Call once, first.
    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step>;

    /// Takes the next step in the one order, sent by the member at place `from` in the list.
    ///
    /// # Errors
    /// A refused step leaves the run as it was.
    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError>;

    /// Places of the members whose step all wait for now. Equal at all members that delivered the same steps.
    fn awaited(&self) -> Vec<usize>;

    /// Where the run stands.
    fn stage(&self) -> Stage;

    /// What the run has cost this member so far.
    fn count(&self) -> Count;

    /// After [`Step::Done`]: what a later run starts from. Before that, or for a module that keeps nothing, `None`.
    fn keep(&self) -> Option<Kept>;
}

/// What a run or an operation cost this member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Exponentiations (scalar multiplications of any element, the generator included).
    pub exponentiations: u64,
    /// Inversions modulo the order; the papers count one as an exponentiation where it is one.
    pub inversions: u64,
}

/// The modules that a charter can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ModuleName {
    /// Cliques GDH over ristretto255, IKA.2 pattern.
    Gdh,
    /// Centralised key distribution, AES-256-GCM under pair keys over ristretto255.
    Ckd,
    /// Burmester–Desmedt over ristretto255.
    Bd,
    /// Dutta–Barua over ristretto255: KeyAgree and Join.
    DuttaBarua,
    /// Key trees over ristretto255.
    Tgdh,
    /// Key trees that are lists, over ristretto255.
    Str,
}

/// Most members for which GDH is the default.
const GDH_MEMBERS_MAX: usize = 8;

impl ModuleName {
    /// Every module that there is.
    pub const ALL: &[Self] = &[Self::Gdh, Self::Ckd, Self::Bd, Self::DuttaBarua, Self::Tgdh, Self::Str];

    /// What a charter that names no module gets for so many members (DECISIONS K6): GDH to eight, then TGDH. Both are
    /// contributory.
    pub fn by_size(members: usize) -> Self {
        if members > GDH_MEMBERS_MAX { Self::Tgdh } else { Self::Gdh }
    }

    /// Whether every member has a share of its own in every key. Not so where one makes the key, nor in a Dutta–Barua join,
    /// where most of the old members only listen; a charter takes these by name.
    pub fn contributory(self) -> bool {
        match self {
            Self::Gdh | Self::Bd | Self::Tgdh | Self::Str => true,
            Self::Ckd | Self::DuttaBarua => false,
        }
    }

    /// The name in charters and under signatures.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gdh => "gdh",
            Self::Ckd => "ckd",
            Self::Bd => "bd",
            Self::DuttaBarua => "dutta-barua",
            Self::Tgdh => "tgdh",
            Self::Str => "str",
        }
    }

    /// Reads what [`Self::as_str`] writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|module| module.as_str() == name)
    }
}

/// Makes a run of `module` for the members of `plan`. `kept` is what this member's origin in the plan stands for; what
/// it was made of stays as it was, so that a run that comes to nothing costs nothing.
///
/// # Errors
/// [`AgreementError::LocalKept`] if the plan says that this member brings something and `kept` is not it.
pub fn begin(
    module: ModuleName,
    plan: &Plan,
    kept: Option<&Kept>,
) -> Result<Box<dyn Module>, AgreementError> {
    if plan.origin(plan.me()).is_some() && kept.is_none_or(|kept| kept.module() != module) {
        return Err(AgreementError::LocalKept);
    }
    match module {
        ModuleName::Gdh => Ok(Box::new(gdh::Run::<Ristretto>::new(plan, kept)?)),
        ModuleName::Ckd => Ok(Box::new(ckd::Run::<Ristretto>::new(plan, kept)?)),
        ModuleName::Bd => Ok(Box::new(bd::run::<Ristretto>(plan)?)),
        ModuleName::DuttaBarua => Ok(Box::new(dutta_barua::run::<Ristretto>(plan, kept)?)),
        ModuleName::Tgdh => Ok(Box::new(tgdh::Run::<Ristretto>::new(plan, kept)?)),
        ModuleName::Str => Ok(Box::new(skinny::Run::<Ristretto>::new(plan, kept)?)),
    }
}
