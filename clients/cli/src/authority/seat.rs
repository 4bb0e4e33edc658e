//! What a new charter says about an authority.

use crate::args::authority::SeatArgs;
use crate::exit::{Exit, Failure};
use folkmoot_authority::Public;
use folkmoot_identity::{AUTHORITY_NODES_MAX, Central, Mode};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The charter's part on the authority. What does not go together otherwise, the charter says.
pub(crate) fn central(seat: &SeatArgs) -> Result<Option<Central>, Failure> {
    let usage = |why: &str| Err(Failure::new(Exit::Usage, why));
    if seat.mode == Mode::Decentralised {
        return match (seat.authorities.is_empty(), seat.dealer) {
            (true, None) => Ok(None),
            _ => usage("--authority and --dealer go with --mode centralised"),
        };
    }
    let read = |file: &PathBuf| Public::read(file).map_err(Failure::from);
    let all = seat.authorities.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let Some(first) = all.first() else {
        return usage("--mode centralised takes --authority FILE: folkmoot authority new makes one");
    };
    if all.iter().any(|one| one.certificate != first.certificate) {
        return usage(
            "these authorities have different keys: all replicas must hold the office of one authority (folkmoot authority hand-over)",
        );
    }
    let nodes: BTreeSet<_> = all.iter().map(|one| one.node.member()).collect();
    if nodes.len() != all.len() || nodes.len() > AUTHORITY_NODES_MAX {
        return usage("name each replica once, and at most 8");
    }
    Ok(Some(Central { certificate: first.certificate.clone(), nodes, dealer: seat.dealer }))
}
