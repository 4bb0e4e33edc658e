//! When a key counts.

use super::net::{Net, read};
use bytes::Bytes;
use folkmoot_base::codec::{decode, encode};
use folkmoot_pubsub::discovery::message::{LABEL, Round, Said, Signed};
use folkmoot_pubsub::discovery::{Danger, Output, Papers as _};

#[test]
fn pub_47_a_number_is_on_disk_before_it_is_confirmed_and_never_comes_again() {
    let mut net = Net::agreed(3, None);
    for _ in 0..3 {
        net.stop(1);
        net.restart(1);
        net.run(4_000);
    }
    for node in &net.nodes {
        let mut durable = 0;
        for output in &node.outputs {
            match output {
                Output::Persist(bytes) => durable = u64::from_be_bytes(bytes[9..17].try_into().unwrap()),
                Output::Key(epoch) => assert!(durable >= epoch.number),
                Output::Send(bytes) => {
                    let confirms = matches!(read(bytes).said, Said::Round(round) if round.confirm.is_some());
                    assert!(!confirms || durable > 0);
                }
                Output::Event(_) => {}
            }
        }
        assert!(node.keys.is_sorted_by(|one, other| one.number < other.number));
    }
    let broken = Net::agreed(3, Some(Danger::NumbersStay));
    assert_eq!(broken.key(0).number, 1);
}

/// Node 2 says something else than it should in its rounds.
fn lie(bytes: &Bytes, what: fn(&mut Round)) -> Option<Bytes> {
    let mut body = read(bytes);
    let Said::Round(round) = &mut body.said else { return Some(bytes.clone()) };
    what(round);
    let paper = Net::new(3, None).nodes[2].paper.clone();
    let body = encode(&body);
    let signature = paper.sign(&[LABEL, &body[..]].concat());
    Some(encode(&Signed { body: body.into(), signature: signature.into() }).into())
}

fn with_liar(change: fn(usize, &Bytes) -> Option<Bytes>, danger: Option<Danger>) -> Net {
    let mut net = Net::new(4, danger);
    net.change = change;
    (0..4).for_each(|node| net.start(node));
    net.run(1_000);
    net
}

fn no_proof(from: usize, bytes: &Bytes) -> Option<Bytes> {
    let spoils = |round: &mut Round| round.confirm = round.confirm.map(|_| [7; 32]);
    if from == 2 { lie(bytes, spoils) } else { Some(bytes.clone()) }
}

fn wrong_link(from: usize, bytes: &Bytes) -> Option<Bytes> {
    // Another's link: an element, but not this node's.
    let spoils = |round: &mut Round| round.link = round.link.and(round.share);
    if from == 2 { lie(bytes, spoils) } else { Some(bytes.clone()) }
}

fn no_element(from: usize, bytes: &Bytes) -> Option<Bytes> {
    let spoils = |round: &mut Round| round.share = round.share.map(|_| [0xff; 32]);
    if from == 2 { lie(bytes, spoils) } else { Some(bytes.clone()) }
}

#[test]
fn pub_50_no_key_counts_before_all_have_proved_that_they_have_it() {
    let net = with_liar(no_proof, None);
    assert!([0, 1, 3].iter().all(|node| net.nodes[*node].keys.is_empty()));
    let early = with_liar(no_proof, Some(Danger::InstallsEarly));
    assert!(!early.nodes[0].keys.is_empty(), "without the rule it counts");
}

#[test]
fn pub_50_whoever_does_not_prove_it_is_left_out_in_the_end() {
    let mut net = with_liar(no_proof, None);
    net.run(25_000);
    let shared = net.nodes[0].keys.iter().any(|epoch| !epoch.members.contains(&3));
    assert!(shared, "{:?}", net.nodes[0].keys.iter().map(|epoch| &epoch.members).collect::<Vec<_>>());
}

#[test]
fn pub_55_a_wrong_link_closes_no_ring_and_a_wrong_share_is_no_element() {
    for change in [wrong_link, no_element] {
        let net = with_liar(change, None);
        let with_liar = |node: &usize| net.nodes[*node].keys.iter().any(|epoch| epoch.members.contains(&3));
        assert!(![0, 1, 3].iter().any(with_liar));
    }
}

#[test]
fn a_key_reads_back_from_no_output_but_its_own() {
    let net = Net::agreed(3, None);
    let key = *net.key(0).key.expose();
    for node in &net.nodes {
        for output in &node.outputs {
            let bytes = match output {
                Output::Send(bytes) | Output::Persist(bytes) => bytes,
                Output::Key(_) | Output::Event(_) => continue,
            };
            assert!(!bytes.windows(32).any(|window| window == key));
        }
    }
    let disk = net.nodes[0].disk.clone().unwrap();
    assert!(decode::<Signed>(&disk).is_err());
}
