//! A member takes nobody for a member under a name that cannot be told from others: neither from
//! its node, nor from its own store.

use crate::common::Moot;
use crate::common::people::{Dice, NOW, PEOPLE, id};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base::{Blob, Danger, StoreKey, UnixTime, digest};
use folkmoot_identity::{Gmc, GmcBody, Identity, Minority, Signature, Verdict, VoteProof};
use folkmoot_member::{Config, Member};
use folkmoot_transcript::{Approval, Item, TABLE, Transcript, admission};

/// The item of somebody who is called so, with the vote of the first founder.
fn item(transcript: &Transcript, name: &str) -> (Identity, Bytes) {
    let who = Identity::new(name, &mut Dice(1 << 33), NOW, UnixTime(2_000_000_000)).unwrap();
    let charter = transcript.roster().charter();
    let body = GmcBody::propose(charter, &who, 3, NOW, &mut Dice(5)).over(transcript.state().head());
    let subject = admission(body.request_digest().unwrap());
    let word = transcript.approve(&PEOPLE[0], subject, Verdict::Approve, UnixTime(NOW.0 + 86_400));
    let Approval { voter, base, turn, expires, .. } = word.approval;
    let signature = Signature::from_wire(&word.signature).unwrap();
    let vote = VoteProof { voter, base, turn, expires, signature };
    let certificate = Blob(Gmc::compose(&body, &[vote], &who).unwrap().der().clone());
    (who, Item::Admit { certificate, approvals: Vec::new() }.encode().into())
}

#[test]
fn adm_90_neither_node_nor_store_lets_anybody_in_under_such_a_name() {
    let any = Some(Danger::AdmissionAnyName);
    for (name, danger, comes) in
        [("dora", None, true), ("d\u{200b}ora", None, false), ("d\u{200b}ora", any, true)]
    {
        let mut moot = Moot::new(3, 3, Minority::Continue, danger);
        moot.settle(&mut Dice(1));
        let transcript = moot.chairs[1].member.transcript().clone();
        let (dora, item) = item(&transcript, name);
        moot.hear(1, ToMember::Item(item.clone()));
        let is_in = |member: &Member| member.transcript().roster().is_member(&dora.member());
        assert_eq!(is_in(&moot.chairs[1].member), comes, "{name:?} {danger:?}");
        if danger.is_none() {
            let key = StoreKey { table: TABLE, key: [&b"i"[..], &digest(&[&item])].concat().into() };
            let charter = transcript.signed_charter().der().to_vec().into();
            let again = Member::new(Config::new(PEOPLE[1].clone(), charter), &[(key, item)]).unwrap();
            assert_eq!(is_in(&again), comes, "{name:?}");
            assert!(again.transcript().roster().is_member(&id(1)));
        }
    }
}
