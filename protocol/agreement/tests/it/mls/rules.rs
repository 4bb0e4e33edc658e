//! Every rule of docs/protocol/agreement-mls.md, with the test that is named after it.

use super::driver::{Said, Seeded, World, member};
use super::forge::{CONTEXT, Liar, Look, SUITE, Scene, body, everything, keys, naming, waiting};
use folkmoot_agreement::mls::{Commit, Run, Suite};
use folkmoot_agreement::{AgreementError, Module as _, Origin, Plan, Step};
use folkmoot_base::codec;
use mls_rs::extension::ExtensionType;
use mls_rs::mls_rs_codec::{MlsDecode, byte_vec};
use mls_rs::time::MlsTime;
use mls_rs::{CipherSuite, Extension, ExtensionList, MlsMessage, ProtocolVersion};
use proptest::prelude::*;

const INVALID: AgreementError = AgreementError::PeerInvalid;
const LIST: AgreementError = AgreementError::PeerWrongList;
const TOKEN: AgreementError = AgreementError::PeerWrongToken;
const MALFORMED: AgreementError = AgreementError::PeerMalformed;

#[test]
fn agr_50_steps_come_from_whose_turn_it_is_once() {
    let (_, mut trial) = waiting();
    let packages: Vec<_> = trial.queue.iter().cloned().collect();
    let turn = |from, step| AgreementError::PeerOutOfTurn { from, step };
    for at in 0..4 {
        for from in [0, 1, 9] {
            let odd = Said { from, ..packages[0].clone() };
            assert_eq!(trial.receive(at, &odd).unwrap_err(), turn(from, 1), "of the base, or of nobody");
        }
        let early = Said { from: 0, step: 2, body: packages[0].body.clone() };
        assert_eq!(trial.receive(at, &early).unwrap_err(), turn(0, 2), "before all key packages are there");
        let odd = Said { step: 3, ..packages[0].clone() };
        assert_eq!(trial.receive(at, &odd).unwrap_err(), AgreementError::PeerUnknownStep(3));
    }
    assert!(trial.deliver());
    for at in 0..4 {
        let repeated = AgreementError::PeerRepeated { from: packages[0].from, step: 1 };
        assert_eq!(trial.receive(at, &packages[0]).unwrap_err(), repeated);
    }
    trial.finish();
    let commit = trial.said.last().unwrap().clone();
    for at in 0..4 {
        let repeated = AgreementError::PeerRepeated { from: commit.from, step: 2 };
        assert_eq!(trial.receive(at, &commit).unwrap_err(), repeated);
        let other = Said { from: 3, ..commit.clone() };
        assert_eq!(trial.receive(at, &other).unwrap_err(), turn(3, 2));
    }
}

#[test]
fn agr_51_bodies_are_bounded_and_exact() {
    let (_, mut trial) = waiting();
    let package = trial.queue[0].clone();
    let mut long = package.clone();
    long.body.resize(Suite::Classical.key_package_bytes_max() + 1, 0);
    let mut longer = package.clone();
    longer.body.push(0);
    let cut = Said { body: package.body[..package.body.len() - 1].to_vec(), ..package.clone() };
    for at in 0..4 {
        for wrong in [&long, &longer, &cut, &Said { body: Vec::new(), ..package.clone() }] {
            assert_eq!(trial.receive(at, wrong).unwrap_err(), MALFORMED);
        }
    }
    let mut liar = Liar::founding(3);
    let mut scene = liar.scene(&[0, 1, 2, 3]);
    let honest = liar.honest(&scene);
    let long = vec![0; Suite::Classical.commit_bytes_max(4)];
    scene.refuses(&Commit { tree: long.into(), ..honest.clone() }, &MALFORMED);
    scene.refuses(&Commit { commit: honest.welcome.clone(), ..honest.clone() }, &MALFORMED);
    scene.refuses(&Commit { welcome: honest.commit.clone(), ..honest.clone() }, &MALFORMED);
    scene.refuses(&Commit { tree: Vec::new().into(), ..honest.clone() }, &MALFORMED);
    let blanks = vec![0x40, 200].into_iter().chain([0; 200]).collect::<Vec<_>>();
    scene.refuses(&Commit { tree: blanks.into(), ..honest }, &LIST);
    let mut scene = liar.scene(&[0, 1, 2]);
    let refresh = liar.honest(&scene);
    scene.refuses(&Commit { tree: vec![0].into(), ..refresh.clone() }, &MALFORMED);
    scene.all(&refresh).into_iter().for_each(|told| drop(told.unwrap()));
}

/// What everybody makes of another key package from place 2, at the point of the first.
fn package_refused(bytes: &[u8]) -> AgreementError {
    let (_, mut trial) = waiting();
    let said = Said { from: 2, step: 1, body: bytes.to_vec() };
    let told: Vec<_> = (0..4).map(|at| trial.receive(at, &said).unwrap_err()).collect();
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "verdicts differ: {told:?}");
    trial.finish();
    told[0].clone()
}

fn looks(change: impl FnOnce(&mut Look)) -> AgreementError {
    let mut look = Look::honest(2);
    change(&mut look);
    let context = folkmoot_base::digest(&[b"context", &2_u64.to_be_bytes()]);
    package_refused(&look.package(&context))
}

#[test]
fn agr_52_key_packages_are_the_senders_for_this_run_and_plain() {
    let context = folkmoot_base::digest(&[b"context", &2_u64.to_be_bytes()]);
    let (party, sibling) = (member(2), member(3));
    assert_eq!(party.member, sibling.member);
    assert_eq!(looks(|look| look.name = sibling.to_bytes().to_vec()), INVALID, "of the member's other party");
    assert_eq!(looks(|look| look.name = member(0).to_bytes().to_vec()), INVALID, "another member's");
    assert_eq!(looks(|look| look.name = party.member.0.to_vec()), INVALID, "no port");
    assert_eq!(looks(|look| look.name = vec![2; 31]), INVALID, "nobody's");
    assert_eq!(package_refused(&Look::honest(2).package(&[9; 32])), TOKEN, "of another run");
    assert_eq!(looks(|look| look.suites = vec![SUITE, CipherSuite::P256_AES128]), INVALID, "can more");
    assert_eq!(looks(|look| look.extensions = vec![0xf0f1, 0xf0f2]), INVALID, "can more");
    assert_eq!(looks(|look| look.extensions = vec![]), INVALID, "cannot what it must");
    assert_eq!(
        looks(|look| (look.suite, look.suites) = (CipherSuite::P256_AES128, vec![CipherSuite::P256_AES128])),
        INVALID
    );
    assert_eq!(looks(|look| look.from = 1), INVALID, "a clock");
    assert_eq!(looks(|look| look.life = 3_601), INVALID, "a clock");
    let more: ExtensionList = vec![Extension::new(ExtensionType::new(0xf0f1), vec![1])].into();
    assert_eq!(looks(|look| look.leaf = more), INVALID, "something in the leaf");
    let honest = Look::honest(2).package(&context);
    let (_, mut trial) = waiting();
    for at in 0..4 {
        trial.receive(at, &Said { from: 2, step: 1, body: honest.clone() }).unwrap();
    }
}

#[test]
fn agr_53_keys_can_be_sealed_to_and_are_nobody_elses() {
    // Low order, and wrong length, in place of the leaf's and of the initial key. Whether the
    // signatures are good no longer matters.
    let (_, trial) = waiting();
    let package = MlsMessage::from_bytes(&trial.queue[0].body).unwrap().into_key_package().unwrap();
    let head = 4 + 2 + 2;
    let bytes = &trial.queue[0].body;
    assert_eq!(&bytes[head + 1..head + 33], package.hpke_init_key.as_ref());
    let with = |at: usize, key: &[u8]| {
        let mut altered = bytes[..at].to_vec();
        byte_vec::mls_encode(&key.to_vec(), &mut altered).unwrap();
        altered.extend_from_slice(&bytes[at + 33..]);
        altered
    };
    for key in [&[0; 32][..], &[1; 31], &[]] {
        assert_eq!(package_refused(&with(head + 33, key)), AgreementError::PeerNotInGroup, "leaf");
        assert_eq!(package_refused(&with(head, key)), INVALID, "initial key");
    }
    assert_eq!(package_refused(&with(head, &bytes[head + 34..head + 66])), INVALID, "one key for both");
}

/// Two newcomers with one signing key: everybody sees it. A newcomer with the key of a member: the
/// base sees it.
#[test]
fn agr_53_nobody_shares_a_key() {
    let mut look = Look::honest(0);
    look.keys = Some(keys(SUITE));
    let liar = Liar::looking(&look, 3);
    let shared = keys(SUITE);
    let twin = |number| {
        let mut look = Look::honest(number);
        look.keys = Some(shared.clone());
        look.package(&liar.context)
    };
    let mut scene = liar.opening(&[0, 1, 2, 3, 4]);
    for told in scene.hear(&Said { from: 3, step: 1, body: twin(3) }) {
        told.unwrap();
    }
    for told in scene.hear(&Said { from: 4, step: 1, body: twin(4) }) {
        assert_eq!(told.unwrap_err(), INVALID);
    }
    let mut lent = Look::honest(3);
    lent.keys = look.keys;
    let mut scene = liar.opening(&[0, 1, 2, 3, 4]);
    let told: Vec<_> = scene.hear(&Said { from: 3, step: 1, body: lent.package(&liar.context) });
    assert_eq!(told.iter().map(Result::is_err).collect::<Vec<_>>(), [true, true, false, false], "1, 2; 3, 4");
}

#[test]
fn agr_54_commits_come_from_the_committer_in_the_open() {
    let mut liar = Liar::founding(3);
    let mut scene = liar.scene(&[0, 1, 2, 3]);
    let (packages, context) = (scene.packages.clone(), liar.context);
    let annotated =
        body(&liar.forged(|builder| everything(builder, &packages, &context).authenticated_data(vec![1])));
    scene.refuses(&annotated, &INVALID);
    // From outside: anyone who has the group's information could commit itself in. Our members
    // never give it out; the liar does.
    let info = liar.group.group_info_message_allowing_ext_commit(true).unwrap();
    let (_, outside) = Look::honest(3).client().commit_external(info).unwrap();
    let honest = liar.honest(&scene);
    let outside = Commit { commit: outside.to_bytes().unwrap().into(), ..honest.clone() };
    scene.refuses(&outside, &AgreementError::PeerNotController);
    let mut elsewhere = honest.commit.as_ref().to_vec();
    let sender = 4 + 33 + 8;
    assert_eq!(elsewhere[sender..sender + 5], [1, 0, 0, 0, 0]);
    elsewhere[sender + 4] = 1;
    scene.refuses(&Commit { commit: elsewhere.into(), ..honest.clone() }, &AgreementError::PeerNotController);
    scene.all(&honest).into_iter().for_each(|told| drop(told.unwrap()));
}

#[test]
fn agr_55_commits_add_the_newcomers_remove_the_leavers_and_name_the_run() {
    let mut liar = Liar::founding(4);
    let mut scene = liar.scene(&[0, 1, 2, 5, 6]);
    let (packages, named) = (scene.packages.clone(), naming(&liar.context));
    let swapped = [packages[1].clone(), packages[0].clone()];
    let stranger = MlsMessage::from_bytes(&Look::honest(9).package(&liar.context)).unwrap();
    let another = MlsMessage::from_bytes(&Look::honest(6).package(&liar.context)).unwrap();
    let mut refused = |removed: &[u32], added: &[MlsMessage], list: Option<ExtensionList>, reason| {
        let output = liar.forged(|mut builder| {
            for leaf in removed {
                builder = builder.remove_member(*leaf).unwrap();
            }
            for package in added {
                builder = builder.add_member(package.clone()).unwrap();
            }
            list.into_iter().fold(builder, |builder, list| builder.set_group_context_ext(list).unwrap())
        });
        scene.refuses(&body(&output), reason);
    };
    let right = Some(named.clone());
    refused(&[3], &packages[..1], right.clone(), &LIST);
    refused(&[3], &swapped, right.clone(), &LIST);
    refused(&[3], &[packages[0].clone(), another], right.clone(), &LIST);
    refused(&[3], &[packages.as_slice(), &[stranger]].concat(), right.clone(), &LIST);
    refused(&[2, 3], &packages, right.clone(), &LIST);
    refused(&[3], &packages, None, &TOKEN);
    refused(&[3], &packages, Some(naming(&[9; 32])), &TOKEN);
    let more =
        named.iter().cloned().chain([Extension::new(ExtensionType::APPLICATION_ID, vec![0])]).collect();
    refused(&[3], &packages, Some(more), &TOKEN);
    // Only the base knows who left. A newcomer sees it in the tree, which has somebody too many.
    let keeps = liar.forged(|builder| everything(builder, &packages, &[7; 32]));
    let told: Vec<_> = scene.all(&body(&keeps)).into_iter().map(|told| told.unwrap_err()).collect();
    assert_eq!(told, [LIST, LIST, LIST, LIST]);
    let output =
        liar.forged(|builder| builder.reinit(None, ProtocolVersion::MLS_10, SUITE, named.clone()).unwrap());
    scene.refuses(&body(&output), &INVALID);
    let honest = liar.forged(|builder| everything(builder.remove_member(3).unwrap(), &packages, &[7; 32]));
    scene.all(&body(&honest)).into_iter().for_each(|told| drop(told.unwrap()));
    let mut scene = liar.scene(&[0, 1, 2]);
    let keeps = liar.honest(&scene);
    scene.refuses(&keeps, &LIST);
}

/// An honest commit's bytes with its update path changed: `change` gets the nodes, one byte string
/// each.
fn with_path(commit: &[u8], change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<u8> {
    let mut rest = &commit[4 + 33 + 8 + 5..];
    let _: Vec<u8> = byte_vec::mls_decode(&mut rest).unwrap();
    rest = &rest[1..];
    let _: Vec<u8> = byte_vec::mls_decode(&mut rest).unwrap();
    rest = &rest[1..];
    mls_rs::group::LeafNode::mls_decode(&mut rest).unwrap();
    let before = commit.len() - rest.len();
    let nodes: Vec<u8> = byte_vec::mls_decode(&mut rest).unwrap();
    let (mut each, mut left) = (Vec::new(), nodes.as_slice());
    while !left.is_empty() {
        let whole = left;
        let _: Vec<u8> = byte_vec::mls_decode(&mut left).unwrap();
        let _: Vec<u8> = byte_vec::mls_decode(&mut left).unwrap();
        each.push(whole[..whole.len() - left.len()].to_vec());
    }
    change(&mut each);
    let mut altered = commit[..before].to_vec();
    byte_vec::mls_encode(&each.concat(), &mut altered).unwrap();
    altered.extend_from_slice(rest);
    altered
}

#[test]
fn agr_56_commits_renew_the_whole_path_with_keys_that_can_be_sealed_to() {
    let mut liar = Liar::founding(5);
    let mut scene = liar.scene(&[0, 1, 2, 3, 4, 5]);
    let honest = liar.honest(&scene);
    let mut refused = |change: &dyn Fn(&mut Vec<Vec<u8>>), reason| {
        let commit = with_path(honest.commit.as_ref(), change);
        scene.refuses(&Commit { commit: commit.into(), ..honest.clone() }, reason);
    };
    refused(&|nodes| drop(nodes.pop()), &LIST);
    refused(&|nodes| drop(nodes.remove(0)), &LIST);
    refused(&|nodes| nodes.clear(), &LIST);
    refused(&|nodes| nodes.push(nodes[0].clone()), &LIST);
    refused(&|nodes| nodes[1][1..33].fill(0), &AgreementError::PeerNotInGroup);
    // Without a path at all: only somebody who adds and says nothing else can sign one.
    let mut look = Look::honest(0);
    look.options = look.options.with_path_required(false);
    let founded =
        look.client().create_group(naming(&liar.context), ExtensionList::new(), Some(MlsTime::from(0)));
    let mut pathless = Liar { group: founded.unwrap(), kept: Vec::new(), context: liar.context };
    let mut scene = pathless.scene(&[0, 1, 2]);
    let packages = scene.packages.clone();
    let added = pathless.forged(|builder| {
        packages.iter().fold(builder, |builder, package| builder.add_member(package.clone()).unwrap())
    });
    scene.refuses(&body(&added), &TOKEN);
    let spare = honest.commit.as_ref();
    assert!(
        MlsMessage::from_bytes(&with_path(spare, |_| ())).is_ok(),
        "the helper changes nothing by itself"
    );
    assert_eq!(with_path(spare, |_| ()), spare);
}

#[test]
fn agr_57_one_welcome_for_all_newcomers_and_a_tree_of_the_members() {
    let mut liar = Liar::founding(3);
    let mut scene = liar.scene(&[0, 1, 2, 3, 4]);
    let (packages, context) = (scene.packages.clone(), liar.context);
    let output = liar.forged(|builder| everything(builder, &packages, &context));
    let honest = body(&output);
    let swapped = [packages[1].clone(), packages[0].clone()];
    let mut other = Liar { group: liar.group.clone(), kept: Vec::new(), context };
    let odd = body(&other.forged(|builder| everything(builder, &swapped, &context)));
    scene.refuses(&Commit { welcome: odd.welcome, ..honest.clone() }, &LIST);
    let fewer = body(&other.forged(|builder| everything(builder, &packages[..1], &context)));
    scene.refuses(&Commit { welcome: fewer.welcome, ..honest.clone() }, &LIST);
    scene.refuses(&Commit { tree: fewer.tree, ..honest.clone() }, &LIST);
    let mut suite = honest.welcome.as_ref().to_vec();
    suite[5] = 2;
    scene.refuses(&Commit { welcome: suite.into(), ..honest.clone() }, &INVALID);
    scene.all(&honest).into_iter().for_each(|told| drop(told.unwrap()));
}

/// What the library judges. Members in the group judge by signature, membership tag, epoch and
/// confirmation tag; newcomers, by opening the Welcome. Each sees its own half. A commit that is
/// wrong for one half is refused there, and never confirmed.
#[test]
fn agr_58_the_commit_holds_in_the_group_and_the_welcome_opens() {
    let mut liar = Liar::founding(3);
    let mut scene = liar.scene(&[0, 1, 2, 3, 4]);
    let honest = liar.honest(&scene);
    let verdicts = |scene: &mut Scene, body: &Commit| -> Vec<Option<AgreementError>> {
        scene.all(body).into_iter().map(Result::err).collect()
    };
    let invalid = Some(INVALID);
    // The last byte of the membership tag.
    let mut commit = honest.commit.as_ref().to_vec();
    *commit.last_mut().unwrap() ^= 1;
    let told =
        verdicts(&mut liar.scene(&[0, 1, 2, 3, 4]), &Commit { commit: commit.into(), ..honest.clone() });
    assert_eq!(told[..2], [invalid.clone(), invalid.clone()], "in the group");
    // The last byte of the sealed group information.
    let mut welcome = honest.welcome.as_ref().to_vec();
    *welcome.last_mut().unwrap() ^= 1;
    let told =
        verdicts(&mut liar.scene(&[0, 1, 2, 3, 4]), &Commit { welcome: welcome.into(), ..honest.clone() });
    assert_eq!(told[2..], [invalid.clone(), invalid.clone()], "new");
    // Of the epoch before.
    let (packages, context) = (scene.packages.clone(), liar.context);
    liar.forged(|builder| builder.set_group_context_ext(naming(&context)).unwrap());
    liar.group.apply_pending_commit().unwrap();
    let ahead = body(&liar.forged(|builder| everything(builder, &packages, &context)));
    let told = verdicts(&mut liar.scene(&[0, 1, 2, 3, 4]), &ahead);
    assert_eq!(told[..2], [invalid.clone(), invalid.clone()]);
    scene.all(&honest).into_iter().for_each(|told| drop(told.unwrap()));
}

#[test]
fn agr_59_the_group_is_exactly_the_members_each_at_its_leaf() {
    let mut liar = Liar::founding(3);
    let mut scene = liar.scene(&[0, 1, 2, 3]);
    let honest = liar.honest(&scene);
    // Another tree of as many nodes: newcomers refuse it by its hash, and members in the group
    // because it is not theirs.
    let mut other = Liar::founding(3);
    let beside = other.scene(&[0, 1, 2, 3]);
    let wrong = other.honest(&beside);
    let told: Vec<_> = scene
        .all(&Commit { tree: wrong.tree, ..honest.clone() })
        .into_iter()
        .map(|told| told.unwrap_err())
        .collect();
    assert_eq!(told, [AgreementError::PeerAltered, AgreementError::PeerAltered, INVALID]);
    scene.all(&honest).into_iter().for_each(|told| drop(told.unwrap()));
    // A member of the base claimed to be another: newcomers find somebody else at its leaf.
    let ids = [0, 8, 2, 3].map(member);
    let origin = |rank| Some(Origin { run: [0; 32], rank });
    let plan = Plan::with_origins(&ids, 3, vec![origin(0), origin(1), origin(2), None]).unwrap();
    let mut newcomer = Run::new(&plan.with_context(CONTEXT), None, Suite::Classical).unwrap();
    let sent = newcomer.start(&mut Seeded(1));
    let Some(Step::Send { body: package, .. }) = sent.first() else { panic!("a key package") };
    newcomer.receive(3, 1, package, &mut Seeded(0)).unwrap();
    let mut liar = Liar::founding(3);
    let packages = [MlsMessage::from_bytes(package).unwrap()];
    let commit = codec::encode(&body(&liar.forged(|builder| everything(builder, &packages, &CONTEXT))));
    assert_eq!(newcomer.receive(0, 2, &commit, &mut Seeded(0)).unwrap_err(), LIST);
    // A founder that had a stranger in its group already.
    let mut crowded = Liar::founding(2);
    crowded.kept.clear();
    let mut scene = crowded.scene(&[0, 2, 3]);
    let packages = scene.packages.clone();
    let context = crowded.context;
    let added = body(&crowded.forged(|builder| everything(builder, &packages, &context)));
    scene.refuses(&added, &LIST);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is changed in the bytes of a step, somebody refuses it, or it gives another secret
    /// than the honest bytes do.
    #[test]
    fn altered_steps_never_pass(seed in any::<u64>(), which in 0..4_usize, at in any::<prop::sample::Index>(), kind in 0..3_u8, bit in 0..8_u8) {
        let mut world = World::new(seed);
        world.run(&[0, 1, 2]);
        let members = [0, 1, 3, 4];
        let mut honest = world.begin(&members);
        world.runs -= 1;
        let secret = honest.finish();
        let mut trial = world.begin(&members);
        for _ in 0..which.min(2) {
            trial.deliver();
        }
        let said = trial.queue.front().unwrap().clone();
        let mut body = said.body.clone();
        let at = at.index(body.len());
        match kind {
            0 => body[at] ^= 1 << bit,
            1 => body.truncate(at),
            _ => body.insert(at, bit),
        }
        let altered = Said { body, ..said };
        let told: Vec<_> = (0..4).map(|me| trial.receive(me, &altered)).collect();
        if altered.step == 1 {
            prop_assert!(told.iter().all(|told| told.is_err()), "a key package is signed");
            prop_assert!(trial.runs.windows(2).all(|pair| pair[0].awaited() == pair[1].awaited()));
        } else {
            prop_assert!(told.iter().any(|told| told.is_err()));
            for step in told.into_iter().flatten().flatten() {
                if let Step::Done(other) = step {
                    prop_assert_ne!(other.expose(), &secret);
                }
            }
        }
    }

    #[test]
    fn garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..600), from in 0..5_usize, step in 0..4_u8) {
        let (_, mut trial) = waiting();
        let _ = codec::decode::<Commit>(&bytes);
        for at in 0..4 {
            let before = trial.runs[at].awaited();
            let said = Said { from, step, body: bytes.clone() };
            prop_assert!(trial.receive(at, &said).is_err());
            prop_assert_eq!(trial.runs[at].awaited(), before);
        }
    }
}

#[test]
fn commit_bodies_round_trip() {
    let (_, mut trial) = waiting();
    trial.finish();
    let bytes = trial.said.last().unwrap().body.clone();
    let commit: Commit = codec::decode(&bytes).unwrap();
    assert_eq!(codec::encode(&commit), bytes);
    for cut in [0, 1, 5, bytes.len() - 1] {
        assert!(codec::decode::<Commit>(&bytes[..cut]).is_err());
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(codec::decode::<Commit>(&longer).is_err());
}
