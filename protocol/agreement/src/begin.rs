//! A run of whichever module a charter names.

use crate::base::ModuleName;
#[cfg(feature = "mls")]
use crate::mls;
use crate::{AgreementError, Kept, Module, Plan, Ristretto, bd, ckd, dutta_barua, gdh, skinny, tgdh};

/// Makes a run of `module` for the parties of `plan`. `kept` is what this party's origin in the
/// plan stands for. It is not changed, so a run that comes to nothing costs nothing.
///
/// # Errors
/// [`AgreementError::LocalKept`] if the plan says that this party brings a state and `kept` is not
/// it; [`AgreementError::PeerOrigin`] if what the plan says of another party is impossible;
/// [`AgreementError::LocalNotBuilt`] if this build lacks the module.
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
        ModuleName::Ckd => Ok(Box::new(ckd::Run::<ckd::Curve<Ristretto>>::new(plan, kept)?)),
        ModuleName::CkdHybrid => Ok(Box::new(ckd::Run::<ckd::XWing>::new(plan, kept)?)),
        ModuleName::Bd => Ok(Box::new(bd::run::<Ristretto>(plan)?)),
        ModuleName::DuttaBarua => Ok(Box::new(dutta_barua::run::<Ristretto>(plan, kept)?)),
        ModuleName::Tgdh => Ok(Box::new(tgdh::Run::<Ristretto>::new(plan, kept)?)),
        ModuleName::Str => Ok(Box::new(skinny::Run::<Ristretto>::new(plan, kept)?)),
        #[cfg(feature = "mls")]
        ModuleName::Mls => Ok(Box::new(mls::Run::new(plan, kept, mls::Suite::Classical)?)),
        #[cfg(feature = "mls")]
        ModuleName::MlsHybrid => Ok(Box::new(mls::Run::new(plan, kept, mls::Suite::Hybrid)?)),
        #[cfg(not(feature = "mls"))]
        ModuleName::Mls | ModuleName::MlsHybrid => Err(AgreementError::LocalNotBuilt),
    }
}
