//! Messages as lines for people.

use folkmoot_pubsub::discovery::message::{Said, Signed};

pub(super) fn told(said: &Said) -> String {
    let ids = |blobs: &[folkmoot_base::Blob]| -> Vec<u16> {
        let id = |blob: &folkmoot_base::Blob| Signed::read(&blob.0).map(|(_, body)| body.sender).ok();
        blobs.iter().filter_map(id).collect()
    };
    match said {
        Said::Join(_) => "JOIN".to_owned(),
        Said::Response(one) => format!(
            "RESPONSE {} P {:?} J {:?} proofs {}",
            one.number,
            ids(&one.old),
            ids(&one.new),
            one.proofs.len()
        ),
        Said::Round(one) => format!(
            "ROUND {} share {} link {} confirm {} flags {} lacks {:?}",
            folkmoot_base::hex(one.candidate.iter().take(3)),
            one.share.is_some(),
            one.link.is_some(),
            one.confirm.is_some(),
            one.flags,
            one.lacks
        ),
        Said::Beacon(one) => format!("BEACON {} size {}", one.number, one.size),
        Said::Notice(one) => format!("NOTICE {} proofs", one.proofs.len()),
    }
}
