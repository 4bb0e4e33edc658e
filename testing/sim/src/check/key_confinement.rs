//! Key confinement: no plaintext is on any wire or in any node. Nobody who is out of the group
//! opens what was sealed by somebody who knew that.
//! Source: key-agreement sheet §1, implicit key authentication, forward and backward secrecy;
//! DECISIONS K3.

use super::{Broken, Checker, Story};
use crate::record::{Leak, Record, What};

pub(super) const CHECKER: Checker =
    Checker { name: "key-confinement", source: "Secure Spread (ICDCS 2000) goals; DECISIONS K3", judge };

fn judge(record: &Record, _: &Story) -> Result<(), Broken> {
    for (entry, line) in record.entries.iter().enumerate() {
        let what = match &line.what {
            What::Leaked(Leak::Wire) => "plaintext left in a datagram".to_owned(),
            What::Leaked(Leak::Node) => "plaintext reached a node or a disk".to_owned(),
            What::Leaked(Leak::Outsider(player)) => {
                format!("player {player}, out of the group, could open what was sealed without it")
            }
            _ => continue,
        };
        return Err((line.process, Some(entry), what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use crate::record::{Leak, What};

    #[test]
    fn leaks_are_bad_and_silence_is_good() {
        Tale::default().first(4, &[0, 1]).holds(&CHECKER);
        for leak in [Leak::Wire, Leak::Node, Leak::Outsider(1)] {
            Tale::default().add(0, What::Leaked(leak)).broken(&CHECKER);
        }
    }
}
