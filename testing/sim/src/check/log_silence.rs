//! Log silence: no plaintext, key or secret byte in any trace line.
//! Source: EXAMPLES "Errors and secrets"; the key-agreement sheet's secrecy, extended to what
//! operators see.

use super::{Broken, Checker, Story};
use crate::record::{Leak, Record, What};

pub(super) const CHECKER: Checker = Checker { name: "log-silence", source: "docs/THREATS.md, logs", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    for (entry, line) in record.entries.iter().enumerate() {
        if let What::Leaked(Leak::Trace(layer)) = &line.what {
            return Err((
                line.process,
                Some(entry),
                format!("a trace line of {layer} holds a secret or plaintext"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{Leak, What};

    #[test]
    fn secrets_in_lines_are_bad() {
        Tale::default().add(0, What::Leaked(Leak::Wire)).holds(&CHECKER);
        Tale::default().add(0, What::Leaked(Leak::Trace("session"))).broken(&CHECKER);
    }
}
