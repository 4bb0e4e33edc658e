//! Signs tickets: the process that runs has the key open, so nobody is asked for its passphrase.

use super::process::Process;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::values;
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{MemberId, StateFolder, UnixTime};
use folkmoot_base::{draw, whole};
use folkmoot_transcript::{Invitation, Ticket};
use serde_json::{Value, json};

const DAY: u64 = 86_400;

impl Process {
    /// A ticket to this member's head, with these contacts.
    pub(super) async fn invite(
        &self,
        contacts: &[String],
        holder: Option<&str>,
        days: u64,
    ) -> Result<Value, Failure> {
        let usage = |why: String| Failure::new(Exit::Usage, why);
        let of_key = |id| MemberId::from_hex(id).ok_or_else(|| usage(format!("{id} is not the id of a key")));
        let folder = self.socket.parent().ok_or_else(|| Failure::bug("the socket is in no folder"))?;
        let made = wall_clock();
        let says = Invitation {
            charter: files::founded(&StateFolder::at(folder).charter_path())?,
            head: self.with_transcript(|known| known.state().head()).await?,
            made,
            ends: UnixTime(made.0.saturating_add(days.saturating_mul(DAY))),
            contacts: contacts
                .iter()
                .map(|at| values::locator(at))
                .collect::<Result<_, _>>()
                .map_err(usage)?,
            holder: holder.map(of_key).transpose()?,
            serial: draw(&mut OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?),
        };
        let ticket = Ticket::sign(says, &self.identity).map_err(|error| usage(whole(&error)))?;
        Ok(json!({ "ticket": ticket.text() }))
    }
}
