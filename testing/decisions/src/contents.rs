//! What certificates say: whoever shows an admission shows the votes in its certificate.

use folkmoot_base::Digest;
use folkmoot_transcript::{Admit, Signed};
use std::collections::BTreeMap;

/// What all have access to: the admissions that digests name, and the yeses to each.
#[derive(Debug, Default)]
pub struct Contents {
    admits: BTreeMap<Digest, Admit>,
    yes: BTreeMap<Digest, Vec<Signed>>,
}

impl Contents {
    /// The admission of a request.
    pub fn get(&self, request: &Digest) -> Option<&Admit> {
        self.admits.get(request)
    }

    /// Every admission.
    pub fn admits(&self) -> impl Iterator<Item = &Admit> {
        self.admits.values()
    }

    /// The requests of all.
    pub(crate) fn requests(&self) -> Vec<Digest> {
        self.admits.keys().copied().collect()
    }

    /// Every yes to a request that anybody has given, whatever became of it.
    pub fn yes(&self, request: &Digest) -> &[Signed] {
        self.yes.get(request).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn add(&mut self, admit: &Admit) {
        self.admits.insert(admit.request, admit.clone());
    }

    pub(crate) fn add_yes(&mut self, signed: &Signed) {
        let all = self.yes.entry(signed.approval.subject.digest).or_default();
        if !all.iter().any(|known| known.approval == signed.approval) {
            all.push(signed.clone());
        }
    }
}
