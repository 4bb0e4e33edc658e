//! LCM's secured form: headers, what an opener makes of datagrams, rights and certificates.

use crate::pubsub::told;
use folkmoot_base::{Instant, Mutant, UnixTime, unhex};
use folkmoot_pubsub::secured::{
    Cause, Claim, Confirming, Domain, DomainKey, Grants, Header, Material, Member, Mode, Opener, Part,
    Question, Right, Root, Sealer, SenderId, Signing, Suite, Times, duplicates,
};
use folkmoot_pubsub::{Channel, Limits, Sizes};
use folkmoot_signing::plain::SigningKey;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::LazyLock;
use std::time::Duration;

/// Small, so that few steps reach each of them.
const LIMITS: Limits = Limits {
    message_bytes: 8_192,
    sender_messages: 2,
    sender_bytes: 12_000,
    messages: 4,
    bytes: 20_000,
    patience: Duration::from_millis(100),
    senders: 3,
    danger: Mutant::NONE,
};

/// A header. What is read is written as it came.
pub fn lcm_header(data: &[u8]) {
    if let Ok((header, rest)) = Header::decode(data) {
        assert_eq!([&header.encode(), rest].concat(), data);
    }
}

/// An opener that is told datagrams: each behind a byte for the time since the last, a byte for the
/// sender and two for the length. The first byte of all says the mode. A datagram of no length
/// brings new keys. What is opened is what its sender said, and nothing else.
pub fn lcm_opener(data: &[u8]) {
    let Some((first, mut rest)) = data.split_first() else { return };
    let mode = if first & 1 == 0 { Mode::Own } else { Mode::Compatible };
    let mut opener = Opener::new(mode, group(), LIMITS, Times::default());
    let (mut now, mut heard, mut came, mut epoch) = (Instant(0), 0_u64, BTreeMap::new(), 0_u8);
    install(mode, 0, |key| opener.install(now, key, Cause::Joined).unwrap());
    while let Some(([pause, from, high, low], after)) = rest.split_first_chunk() {
        now = now + Duration::from_millis(u64::from(*pause));
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (datagram, after) = after.split_at(length);
        rest = after;
        if length == 0 && epoch < 3 {
            epoch += 1;
            let cause = if from & 1 == 0 { Cause::Joined } else { Cause::Excluded };
            install(mode, epoch, |key| opener.install(now, key, cause).unwrap());
        }
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, u16::from(*from) % 8);
        if let Ok(Some(opened)) = opener.receive(now, address, &mut datagram.to_vec()) {
            heard += 1;
            if let Some(sender) = opened.sender {
                let said = said(opened.sequence);
                assert!(*opened.payload == *said && sender == me(), "a forgery");
                let signed = opened.channel == channel("SIGNED") && mode == Mode::Own;
                assert_eq!(opened.attribution.is_some(), signed);
                // Each key's sender begins at 0.
                let times = came.entry(opened.sequence).or_insert(0);
                *times += 1;
                assert!(*times <= u32::from(epoch) + 1 || mode == Mode::Compatible, "a replay");
            }
        }
        if let Some(attested) = opener.attested() {
            assert!(
                attested.batch.sender == me() && attested.sequences.iter().all(|one| came.contains_key(one))
            );
        }
        let (messages, bytes, senders) = opener.held();
        assert!(messages <= LIMITS.messages && bytes <= LIMITS.bytes && senders <= LIMITS.senders);
        assert!(messages > 0 || bytes == 0);
    }
    assert_eq!(opener.counters().messages, heard);
}

/// Rights and domains: what is read is written as it came.
pub fn lcm_right(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(right) = text.parse::<Right>() {
        assert_eq!(right.to_string(), text);
        let channel = right.domain.channel().copied();
        let grants = channel.map(|channel| Grants::new(right.domain).with("role", channel));
        let granted = grants.map(|grants| grants.rights(["role"], right.sender).unwrap());
        assert!(granted.is_none_or(|granted| granted.last() == Some(&right)));
    }
    if let Ok(domain) = text.parse::<Domain>() {
        assert_eq!(domain.to_string(), text);
    }
}

/// Certificates. What the root permits is consistent; nobody but it permits anything.
pub fn lcm_permit(data: &[u8]) {
    let _ = Root::from_der(data);
    let claim = Claim::from_der(data);
    if let Ok(permit) = ROOT.permit(data, NOW, 0) {
        assert!(claim.is_ok_and(|claim| claim.rights == permit.rights() && claim.key == *permit.key()));
        assert_eq!(permit.key().member_id(), NODE.key().member_id());
        assert_eq!(permit.rights(), NODE.rights());
        assert!(duplicates([&permit, &NODE]).is_empty());
    }
}

/// Questions about exclusions, and answers. What is read is written as it came, and nobody who
/// lacks a certificate confirms anything.
pub fn lcm_confirming(data: &[u8]) {
    let Ok(read) = Confirming::read(data) else { return };
    assert_eq!(read.encode(), data);
    let question = Question::new(vec![7; 96].into(), &mut Zeros);
    if let Confirming::Confirmation(one) = read {
        assert!(one.judge(&question, &NODE.rights()[0].domain, &ROOT, NOW, 0).is_none());
    }
}

struct Zeros;

impl folkmoot_base::Entropy for Zeros {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(0);
    }
}

const NOW: UnixTime = UnixTime(1_800_000_000);
static ROOT: LazyLock<Root> = LazyLock::new(|| Root::from_der(&unhex(ROOT_DER).unwrap()).unwrap());
static NODE: LazyLock<folkmoot_pubsub::secured::Permit> =
    LazyLock::new(|| ROOT.permit(&unhex(NODE_DER).unwrap(), NOW, 0).unwrap());

/// Made by OpenSSL 3.0: a root, and a node with two rights.
const ROOT_DER: &str = "\
3082019330820139a003020102021426bc1c7774f6bd78af5abb1fb24fd4e7d204c03b300a06082a8648ce3d04030230\
163114301206035504030c0b726f626f747320726f6f743020170d3236313132363130343634335a180f323132363131\
30323130343634335a30163114301206035504030c0b726f626f747320726f6f743059301306072a8648ce3d02010608\
2a8648ce3d03010703420004ea0ffd74783a332892925cc68e26810712816e3384694ca9457a4e93a9a1bb1dcc434264\
55081a9cc26bc1d99b8fcc4a33f78fabce7bcc6c9104bad15bacf995a3633061301d0603551d0e04160414d7efd14329\
3e26f344ebdb170907d74734b2c586301f0603551d23041830168014d7efd143293e26f344ebdb170907d74734b2c586\
300f0603551d130101ff040530030101ff300e0603551d0f0101ff040403020204300a06082a8648ce3d040302034800\
304502210092f017cb22a52ffb47f3fc153a3112cafa3348d83beb6a962495714156db46e3022077b8763769205eb8c7\
ccc35be3f01b6db2708e40b6f88135b7668f2ece6bdd89";
const NODE_DER: &str = "\
3082021f308201c5a00302010202143707c38678806f91c3eac4b5c218c06cab2ff12d300a06082a8648ce3d04030230\
163114301206035504030c0b726f626f747320726f6f743020170d3236313132363130343634335a180f323132363131\
30323130343634335a30123110300e06035504030c07726f626f7420343059301306072a8648ce3d020106082a8648ce\
3d0301070342000426efd6df3b681a2af8aa080a2b1ffaf6b41225192e8e9b87be43017859571102ce17094fcadc9d96\
48c1b2224750029294a15f30c393e2d7927c134937d2ca8ba381f23081ef300c0603551d130101ff04023000300e0603\
551d0f0101ff04040302078030818e0603551d11048186308183862975726e3a6c636d7365633a676b65786368675f67\
3a3233392e3235352e37362e36373a373636373a34863075726e3a6c636d7365633a676b65786368673a3233392e3235\
352e37362e36373a373636373a6368616e6e656c313a34820e726f626f74342e6578616d706c65861468747470733a2f\
2f6578616d706c652e6f72672f301d0603551d0e0416041439e27dedb388d6cac47f4432bd396a9add779921301f0603\
551d23041830168014d7efd143293e26f344ebdb170907d74734b2c586300a06082a8648ce3d04030203480030450220\
6d70829ebdec38eb66066a1bbb759040299e5f86fbac1793526f9e0e2fc0144b0221008ef7a08da1784f923536bacb3a\
d59073cefe9ac27cc451e09f488e196847e27b";

fn group() -> Domain {
    "239.255.76.67:7667".parse().unwrap()
}

fn channel(name: &str) -> Channel {
    Channel::new(name).unwrap()
}

fn me() -> SenderId {
    SenderId::new(4).unwrap()
}

fn signer() -> SigningKey {
    static SIGNER: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::generate(&mut crate::script::Dice(1)));
    SIGNER.clone()
}

/// What is said under a number.
fn said(number: u32) -> Vec<u8> {
    let length = if number.is_multiple_of(3) { 3_000 } else { 10 };
    (0..length).map(|place: u32| (place.wrapping_mul(number + 7) % 251) as u8).collect()
}

/// The keys of the `epoch`-th time: of the group, of a channel, of one where messages are signed,
/// and of one where batches are.
fn install(mode: Mode, epoch: u8, mut take: impl FnMut(DomainKey)) {
    let member = || Member { sender: me(), key: Some(signer().verifying_key().clone()) };
    for name in [None, Some("POSE"), Some("SIGNED"), Some("BATCHES")] {
        let domain = name.map_or(group(), |name| group().with_channel(channel(name)));
        let material = Material::derive(Suite::default(), &domain, &[epoch]);
        let key = DomainKey::new(mode, domain, &material, [member()]).unwrap();
        let signing = match name {
            Some("SIGNED") if mode == Mode::Own => Signing::Each,
            Some("BATCHES") if mode == Mode::Own => Signing::Batches,
            _ => Signing::Nobody,
        };
        take(key.with_signing(signing).unwrap());
    }
}

/// Nine messages of an epoch: two short ones and a long one on each channel, and what attests the
/// last three.
fn sealed(mode: Mode, epoch: u8) -> Vec<Vec<u8>> {
    let sealer = Sealer::new(mode, group(), me(), Sizes::SMALL, Times::default());
    let mut sealer = sealer.with_signatures(signer());
    install(mode, epoch, |key| sealer.install(Instant(0), key, Cause::Joined).unwrap());
    let mut made = Vec::new();
    for number in 0..9 {
        let name = ["POSE", "SIGNED", "BATCHES"][usize::try_from(number / 3).unwrap()];
        let packets = sealer.seal(Instant(0), channel(name), &said(number)).unwrap();
        made.extend(packets.map(|packet| [packet.head(), packet.data].concat()));
    }
    if let Some(packets) = sealer.attest(Instant(0), channel("BATCHES")).unwrap() {
        made.extend(packets.map(|packet| [packet.head(), packet.data].concat()));
    }
    made
}

/// A confirmation whose signature is none.
fn answer() -> Vec<u8> {
    let certificate = unhex(NODE_DER).unwrap();
    let length = [0x40 | u8::try_from(certificate.len() >> 8).unwrap(), certificate.len().to_le_bytes()[0]];
    [&[2][..], &[9; 32], &length, &certificate, &[0x40, 64], &[1; 64]].concat()
}

/// Seeds of headers, openers, rights, certificates and confirmations.
pub(crate) fn lcm_seeds() -> [Vec<Vec<u8>>; 5] {
    let (own, next, compatible) = (sealed(Mode::Own, 0), sealed(Mode::Own, 1), sealed(Mode::Compatible, 0));
    let all = |made: &[Vec<u8>]| -> Vec<u8> {
        told(&made.iter().map(|one| (1, 1, one.as_slice())).collect::<Vec<_>>())
    };
    let again = [all(&own[..5]), all(&own[..5])].concat();
    let replaced =
        |from, pause| [all(&own[..4]), told(&[(0, from, &[])]), told(&[(pause, 0, &own[5])]), all(&next)];
    let part = Part::Fragment { size: 4_000, offset: 1_399, number: 1, count: 3 };
    let fragment = Header { sequence: 8, sender: me(), tags: [1, 2], part };
    let rights = [
        "urn:lcmsec:gkexchg_g:239.255.76.67:7667:4",
        "urn:lcmsec:gkexchg:239.255.76.67:7667:channel1:4",
        "urn:lcmsec:gkexchg:ff15%3A%3A4c43:7667:robot%3Apose%25:65535",
        "239.255.76.67:7667:channel1",
    ];
    [
        vec![Header { part: Part::Whole, ..fragment }.encode(), fragment.encode()],
        vec![
            [&[0][..], &all(&own)].concat(),
            [&[1][..], &all(&compatible)].concat(),
            [&[0][..], &again].concat(),
            [&[0][..], &replaced(0, 1).concat()].concat(),
            [&[0][..], &replaced(1, 200).concat()].concat(),
        ],
        rights.map(|right| right.as_bytes().to_vec()).to_vec(),
        vec![unhex(ROOT_DER).unwrap(), unhex(NODE_DER).unwrap()],
        vec![Confirming::Question(Question::new(vec![7; 96].into(), &mut Zeros)).encode().to_vec(), answer()],
    ]
}
