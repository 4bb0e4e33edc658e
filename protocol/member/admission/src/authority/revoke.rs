//! The revocation list of a group with an authority. The authority signs a list as soon as its
//! transcript says more, and tells each linked member once.

use super::machine::{Authority, Call};
use super::message::AuthorityMessage;
use crate::{Output, store};
use folkmoot_base::{Blob, UnixTime};
use folkmoot_identity::{RevocationBody, RevocationError, RevocationList};

impl Authority {
    /// `ADM-67`: makes a newer list if the roster says more, and tells each member that has not
    /// heard it.
    pub(super) fn work_lists(&mut self, call: &Call<'_>) {
        let count = call.transcript.roster().revocation_number();
        if let Some(time) = self.clock.filter(|_| count > self.lists.number().max(self.lists.tried)) {
            self.lists.tried = count;
            match self.make_list(call, time) {
                Ok(Some(list)) => {
                    self.out.push_back(Output::Persist(store::put_revocations(&list)));
                    self.lists.newest = Some(list);
                }
                Ok(None) => {}
                Err(error) => self.trace(format!("no revocation list: {error}")),
            }
        }
        self.tell_list(call);
    }

    fn make_list(&self, call: &Call<'_>, time: UnixTime) -> Result<Option<RevocationList>, RevocationError> {
        // Made a little in the past, so that it is already valid by clocks that are slow.
        let time = UnixTime(time.0.saturating_sub(self.config.skew_seconds));
        let body = call.transcript.roster().revocations(time)?;
        let close = |body: RevocationBody| {
            let signature = self.office.key.sign_raw(&body.tbs()?);
            RevocationList::close(&body, &signature.to_paper())
        };
        body.map(close).transpose()
    }

    fn tell_list(&mut self, call: &Call<'_>) {
        let Some(list) = &self.lists.newest else { return };
        let (number, der) = (list.body().number(), list.der().clone());
        let roster = call.transcript.roster();
        for node in self.links.untold(number, |node| roster.is_rostered(node)) {
            self.tell(node, &AuthorityMessage::Revocations { der: Blob(der.clone()) });
        }
    }
}
