//! A full transcript, which no test could fill entry by entry: here the graph takes entries that
//! were not judged.

#![allow(clippy::unwrap_used)]

use super::judge::Act;
use super::{Body, Entry, EntryError, Transcript};
use crate::{CharterDraft, Identity, SignedCharter};
use bytes::Bytes;
use folkmoot_base::{Entropy, EntryId, GroupName, SignatureBytes, UnixTime, digest, limits};

struct Fixed;

impl Entropy for Fixed {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(7);
    }
}

#[test]
fn trn_08_a_full_transcript_takes_no_more_and_knows_what_it_has() {
    let founder = Identity::new("alice", &mut Fixed, UnixTime(0), UnixTime(9)).unwrap();
    let name = GroupName::new("moot").unwrap();
    let draft = CharterDraft::new(name, 1, vec![founder.certificate().into()], &mut Fixed);
    let signed = SignedCharter::sign(&draft.to_toml(), &[&founder]).unwrap();
    let mut full = Transcript::genesis(signed.der()).unwrap();
    let mut last = full.genesis_id();
    for number in 1..limits::ENTRIES_MAX as u64 {
        let id = EntryId(digest(&[&number.to_be_bytes()]));
        full.graph.insert(id, &[last], Bytes::new());
        full.acts.push(Act::Nothing);
        last = id;
    }
    let body = Body::Expire { member: founder.member(), admission: last, time: UnixTime(1) };
    let more = Entry {
        group: full.group(),
        parents: vec![last],
        author: founder.member(),
        body,
        signature: SignatureBytes::NONE,
    };
    let heads = full.heads_digest();
    assert_eq!(full.append(&more.encode()), Err(EntryError::LocalFull));
    assert_eq!((full.len(), full.heads_digest()), (limits::ENTRIES_MAX, heads));
    let genesis = full.get(&full.genesis_id()).unwrap().clone();
    assert!(!full.append(&genesis).unwrap().new);
}
