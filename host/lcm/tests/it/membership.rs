//! Programs that agree on keys by themselves, on real sockets.

use crate::heard::{all, next};
use crate::run;
use core::time::Duration;
use folkmoot_base::{Mutant, UnixTime};
use folkmoot_lcm::{Bus, EXCLUSION_CHANNEL, Membership, MembershipError, Options};
use folkmoot_pubsub::discovery::Papers as _;
use folkmoot_pubsub::secured::{
    Certificates, Credentials as _, Danger, Domain, Issuer, Permit, Right, SenderId, Signing, Times, exclude,
};
use folkmoot_pubsub::{Address, Channel};
use folkmoot_signing::plain::SigningKey;
use folkmoot_system::OsEntropy;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn random() -> OsEntropy {
    OsEntropy::new().unwrap()
}

fn now() -> UnixTime {
    UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs())
}

pub(crate) fn channel(name: &str) -> Channel {
    Channel::new(name).unwrap()
}

/// A root, a group, and a folder for all states.
pub(crate) struct Fleet {
    issuer: Issuer,
    pub(crate) address: Address,
    folder: PathBuf,
}

impl Fleet {
    pub(crate) fn new(port: u16) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("folkmoot-fleet-{}-{number}", std::process::id()));
        let mut entropy = random();
        let key = SigningKey::generate(&mut entropy);
        let term = UnixTime(now().0 - 60)..=UnixTime(now().0 + 86_400);
        let issuer = Issuer::new("fleet", key, &term, &mut entropy).unwrap();
        Self { issuer, address: format!("udpm://239.255.76.67:{port}?ttl=0").parse().unwrap(), folder }
    }

    pub(crate) fn certificates(&self, number: u16, names: &[&str]) -> Certificates {
        self.certify(number, names, SigningKey::generate(&mut random()), 60)
    }

    /// A certificate for this key whose term began so many seconds ago.
    pub(crate) fn certify(&self, number: u16, names: &[&str], key: SigningKey, ago: u64) -> Certificates {
        let (mut entropy, sender) = (random(), SenderId::new(number).unwrap());
        let group = Domain::group(self.address.group.into()).unwrap();
        let mut rights = BTreeSet::from([Right { domain: group, sender }]);
        rights.extend(names.iter().map(|name| Right { domain: group.with_channel(channel(name)), sender }));
        let term = UnixTime(now().0 - ago)..=UnixTime(now().0 + 3_600);
        let made = self.issuer.issue("robot", key.verifying_key(), &rights, &term, &mut entropy).unwrap();
        Certificates::new(self.issuer.certificate(), &made, key).unwrap()
    }

    pub(crate) fn state(&self, number: u16) -> PathBuf {
        self.folder.join(number.to_string())
    }

    pub(crate) async fn join(&self, number: u16, certificates: &Certificates) -> Membership {
        self.join_with_numbers(number, certificates, Times::default().numbers).await
    }

    /// Keys with so many numbers for each sender.
    async fn join_with_numbers(&self, number: u16, certificates: &Certificates, numbers: u64) -> Membership {
        let mut options = Options::new(self.state(number));
        options.times.numbers = numbers;
        options.signing.insert(channel("SIGNED"), Signing::Each);
        Membership::join(self.address, certificates.clone(), options).await.unwrap()
    }

    pub(crate) fn exclusion(&self, permit: &Permit) -> bytes::Bytes {
        exclude(self.issuer.key(), permit.holder(), permit.ends())
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Until all of them share their keys with exactly `members`.
pub(crate) async fn together(all: &[&Membership], members: &[u16]) {
    let members: BTreeSet<u16> = members.iter().copied().collect();
    let one = |membership: &&Membership| {
        membership
            .keyed()
            .iter()
            .all(|keyed| keyed.members.iter().map(|sender| sender.get()).collect::<BTreeSet<_>>() == members)
    };
    let wait = async {
        while !all.iter().all(one) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
    let states: Vec<_> = all.iter().map(|membership| membership.keyed()).collect();
    assert!(waited.is_ok(), "{states:?}");
}

#[test]
fn programs_agree_on_keys_and_hear_one_another() {
    run("membership::programs_agree_on_keys_and_hear_one_another", async || {
        let fleet = Fleet::new(17_691);
        let papers: Vec<_> = (1..=3).map(|number| fleet.certificates(number, &["POSE", "SIGNED"])).collect();
        let one = fleet.join(1, &papers[0]).await;
        let two = fleet.join(2, &papers[1]).await;
        together(&[&one, &two], &[1, 2]).await;
        let three = fleet.join(3, &papers[2]).await;
        together(&[&one, &two, &three], &[1, 2, 3]).await;
        // For a moment the key before seals on, which a newcomer has not.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let mut hears = all(three.bus());
        for (name, length) in [("POSE", 5), ("SIGNED", 100_000), ("POSE", 0)] {
            one.bus().publish(channel(name), &vec![7; length]).await.unwrap();
            let heard = next(&mut hears).await;
            assert_eq!((heard.channel, heard.payload.len()), (channel(name), length));
            assert_eq!(heard.sender, SenderId::new(1));
            let signed = heard
                .attribution
                .map(|shown| shown.verifies(&heard.payload, papers[0].key().verifying_key()));
            assert_eq!(signed, (name == "SIGNED").then_some(true));
        }
        assert!(hears.waiting().is_none(), "what members say about keys is for nobody else");
        two.leave().await;
        together(&[&one, &three], &[1, 3]).await;
        let taken = Membership::join(fleet.address, papers[0].clone(), Options::new(fleet.state(1))).await;
        assert!(matches!(taken, Err(MembershipError::LocalInUse(_))));
        let elsewhere = "udpm://239.255.76.68:7667".parse().unwrap();
        let refused = Membership::join(elsewhere, papers[1].clone(), Options::new(fleet.state(9))).await;
        assert!(matches!(refused, Err(MembershipError::LocalNoRight(_))));
    });
}

/// Everything that anybody says in the group.
struct Recorder(UdpSocket);

impl Recorder {
    fn new(address: &Address) -> Self {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.set_recv_buffer_size(4 << 20).unwrap();
        socket.bind(&core::net::SocketAddr::V4(address.group).into()).unwrap();
        socket.join_multicast_v4(address.group.ip(), &Ipv4Addr::UNSPECIFIED).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self(socket.into())
    }

    fn take(&self) -> Vec<Vec<u8>> {
        let mut room = vec![0; 65_536];
        let mut all = Vec::new();
        while let Ok(length) = self.0.recv(&mut room) {
            all.push(room[..length].to_vec());
        }
        all
    }
}

fn say_again(address: &Address, datagrams: &[Vec<u8>]) {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    for datagram in datagrams {
        socket.send_to(datagram, address.group).unwrap();
    }
}

#[test]
fn pub_46_whoever_is_excluded_is_deaf_and_unheard_with_the_next_key() {
    run("membership::pub_46_whoever_is_excluded_is_deaf_and_unheard_with_the_next_key", async || {
        let fleet = Fleet::new(17_692);
        let papers: Vec<_> = (1..=4).map(|number| fleet.certificates(number, &["POSE"])).collect();
        let one = fleet.join(1, &papers[0]).await;
        let two = fleet.join(2, &papers[1]).await;
        let three = fleet.join(3, &papers[2]).await;
        let four = fleet.join(4, &papers[3]).await;
        together(&[&one, &two, &three, &four], &[1, 2, 3, 4]).await;
        let (mut hears, mut excluded) = (all(two.bus()), all(three.bus()));
        one.bus().publish(channel("POSE"), b"before").await.unwrap();
        assert_eq!(next(&mut hears).await.payload, b"before"[..]);
        assert_eq!(next(&mut excluded).await.payload, b"before"[..]);
        // A statement of somebody else changes nothing.
        let liar = Fleet::new(17_692);
        one.exclude(liar.exclusion(papers[2].permit())).await;
        // The root need not be a member: any program can carry the statement.
        let carrier = Bus::join(fleet.address).unwrap();
        let statement = fleet.exclusion(papers[2].permit());
        carrier.publish(channel(EXCLUSION_CHANNEL), &statement).await.unwrap();
        together(&[&one, &two, &four], &[1, 2, 4]).await;
        one.bus().publish(channel("POSE"), b"after").await.unwrap();
        assert_eq!(next(&mut hears).await.payload, b"after"[..]);
        let _ = three.bus().publish(channel("POSE"), b"hear me").await;
        one.bus().publish(channel("POSE"), b"last").await.unwrap();
        assert_eq!(next(&mut hears).await.payload, b"last"[..]);
        assert!(excluded.waiting().is_none_or(|heard| heard.payload == b"hear me"[..]));
        // Nor does it come back, whatever it tries.
        drop(three);
        tokio::time::sleep(Duration::from_millis(10)).await;
        let three = fleet.join(3, &papers[2]).await;
        tokio::time::timeout(Duration::from_secs(20), three.ready()).await.unwrap();
        assert!(
            three.keyed().iter().all(|keyed| keyed.out || keyed.members.len() == 1),
            "{:?}",
            three.keyed()
        );
        together(&[&one, &two, &four], &[1, 2, 4]).await;
    });
}

#[derive(der::Sequence)]
struct Outer {
    tbs: der::Any,
    algorithm: der::Any,
    signature: der::asn1::BitString,
}

/// The same certificate with its signature's other `s`, which verifies as well.
fn written_otherwise(certificate: &[u8]) -> Vec<u8> {
    use der::{Decode as _, Encode as _};
    let outer = Outer::from_der(certificate).unwrap();
    let signature = p256::ecdsa::Signature::from_der(outer.signature.as_bytes().unwrap()).unwrap();
    let (r, s) = signature.split_scalars();
    let other = p256::ecdsa::Signature::from_scalars(*r, -*s).unwrap();
    let signature = der::asn1::BitString::from_bytes(other.to_der().as_bytes()).unwrap();
    Outer { signature, ..outer }.to_der().unwrap()
}

/// Whether whoever was excluded is a member again, with its certificate written otherwise, if the
/// others leave out this check.
async fn comes_back(port: u16, danger: Option<Danger>) -> bool {
    let fleet = Fleet::new(port);
    let papers: Vec<_> = (1..=3).map(|number| fleet.certificates(number, &[])).collect();
    let lax = |papers: &Certificates| papers.clone().with_danger(Mutant::from(danger));
    let one = fleet.join(1, &lax(&papers[0])).await;
    let two = fleet.join(2, &lax(&papers[1])).await;
    let three = fleet.join(3, &papers[2]).await;
    together(&[&one, &two, &three], &[1, 2, 3]).await;
    let holder = lax(&papers[0]).holder(papers[2].certificate());
    one.exclude(exclude(fleet.issuer.key(), &holder, papers[2].permit().ends())).await;
    together(&[&one, &two], &[1, 2]).await;
    drop(three);
    let other = written_otherwise(papers[2].certificate());
    assert_ne!(other, papers[2].certificate());
    let back = Certificates::new(fleet.issuer.certificate(), &other, papers[2].key().clone()).unwrap();
    assert_eq!(back.permit().holder(), papers[2].permit().holder());
    // In a new place, with new counters.
    let back = back.with_danger(Mutant::from(Some(Danger::BytesName)));
    let three = fleet.join(33, &back).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let third = SenderId::new(3).unwrap();
    drop(three);
    one.keyed().iter().any(|keyed| keyed.members.contains(&third))
}

#[test]
fn pub_63_whoever_is_excluded_does_not_come_back_with_its_certificate_written_otherwise() {
    let name =
        "membership::pub_63_whoever_is_excluded_does_not_come_back_with_its_certificate_written_otherwise";
    run(name, async || {
        assert!(!comes_back(17_695, None).await);
        assert!(comes_back(17_696, Some(Danger::BytesName)).await, "the rule is for something");
    });
}

#[test]
fn what_was_recorded_is_refused_after_a_restart_too() {
    run("membership::what_was_recorded_is_refused_after_a_restart_too", async || {
        let fleet = Fleet::new(17_693);
        let papers: Vec<_> = (1..=3).map(|number| fleet.certificates(number, &["POSE"])).collect();
        let recorder = Recorder::new(&fleet.address);
        let one = fleet.join(1, &papers[0]).await;
        let two = fleet.join(2, &papers[1]).await;
        let three = fleet.join(3, &papers[2]).await;
        together(&[&one, &two, &three], &[1, 2, 3]).await;
        let mut hears = all(two.bus());
        for number in 0..10_u8 {
            one.bus().publish(channel("POSE"), &[number]).await.unwrap();
            assert_eq!(next(&mut hears).await.payload, [number][..]);
        }
        let recorded = recorder.take();
        assert!(recorded.iter().any(|datagram| datagram.starts_with(b"LC04")));
        let keys = |membership: &Membership| -> Vec<_> {
            membership.keyed().iter().map(|keyed| (keyed.number, keyed.members.clone())).collect()
        };
        let before = keys(&one);
        say_again(&fleet.address, &recorded);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(two.bus().refused().replayed, 10, "{:?}", two.bus().refused());
        assert!(one.keyed().iter().all(|keyed| keyed.refused > 0));
        assert_eq!(keys(&one), before);
        // One that starts anew has forgotten neither.
        drop((two, hears));
        tokio::time::sleep(Duration::from_millis(10)).await;
        let two = fleet.join(2, &papers[1]).await;
        let mut hears = all(two.bus());
        // The old keys have the same members, so only their numbers tell that both are new.
        let renewed = async {
            while keys(&one).iter().zip(&before).any(|(now, then)| now.0 == then.0) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), renewed).await.unwrap();
        together(&[&one, &two, &three], &[1, 2, 3]).await;
        let again = keys(&one);
        assert_ne!(again, before, "whoever starts anew has a new key");
        say_again(&fleet.address, &recorded);
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(two.bus().refused().epochs, 10, "{:?}", two.bus().refused());
        assert!(hears.waiting().is_none());
        assert_eq!(keys(&one), again);
        one.bus().publish(channel("POSE"), b"on").await.unwrap();
        assert_eq!(next(&mut hears).await.payload, b"on"[..]);
    });
}

#[test]
fn without_a_channels_right_a_member_reads_neither_content_nor_without_the_groups_the_name() {
    let name =
        "membership::without_a_channels_right_a_member_reads_neither_content_nor_without_the_groups_the_name";
    run(name, async || {
        let fleet = Fleet::new(17_694);
        let one = fleet.join(1, &fleet.certificates(1, &["POSE", "SECRET"])).await;
        let two = fleet.join(2, &fleet.certificates(2, &["POSE", "SECRET"])).await;
        let guest = fleet.join(3, &fleet.certificates(3, &["POSE"])).await;
        let recorder = Recorder::new(&fleet.address);
        for membership in [&one, &two, &guest] {
            let wait = async {
                while !membership.keyed().iter().all(|keyed| {
                    keyed.members.len() == if keyed.domain.to_string().ends_with("SECRET") { 2 } else { 3 }
                }) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap();
        }
        recorder.take();
        let (mut hears, mut deaf) = (all(two.bus()), all(guest.bus()));
        let content = [0x5a; 40];
        one.bus().publish(channel("SECRET"), &content).await.unwrap();
        assert_eq!(next(&mut hears).await.payload, content[..]);
        one.bus().publish(channel("POSE"), b"end").await.unwrap();
        assert_eq!(next(&mut deaf).await.payload, b"end"[..]);
        assert_eq!(guest.bus().refused().unreadable, 1);
        let refused = guest.bus().publish(channel("SECRET"), b"let me").await;
        assert!(refused.is_err());
        // An outsider has the datagrams alone.
        let seen = recorder.take().concat();
        let holds = |part: &[u8]| seen.windows(part.len()).any(|window| window == part);
        assert!(holds(b"LC04") && !holds(b"SECRET") && !holds(b"POSE") && !holds(&content[..8]));
    });
}

#[test]
fn sixteen_programs_started_at_once_share_their_keys() {
    run("membership::sixteen_programs_started_at_once_share_their_keys", async || {
        let fleet = Fleet::new(17_697);
        let numbers: Vec<u16> = (1..=16).collect();
        let papers: Vec<_> = numbers.iter().map(|number| fleet.certificates(*number, &["POSE"])).collect();
        let mut members = Vec::new();
        for (number, papers) in numbers.iter().zip(&papers) {
            members.push(fleet.join(*number, papers).await);
        }
        together(&members.iter().collect::<Vec<_>>(), &numbers).await;
        let first: Vec<_> = members[0].keyed().iter().map(|keyed| keyed.number).collect();
        assert!(members.iter().all(|one| one.keyed().iter().map(|keyed| keyed.number).eq(first.clone())));
    });
}

#[test]
fn pub_22_a_key_gives_way_before_its_numbers_are_used_up() {
    run("membership::pub_22_a_key_gives_way_before_its_numbers_are_used_up", async || {
        let fleet = Fleet::new(17_698);
        let papers: Vec<_> = (1..=2).map(|number| fleet.certificates(number, &["POSE"])).collect();
        let one = fleet.join_with_numbers(1, &papers[0], 100).await;
        let two = fleet.join_with_numbers(2, &papers[1], 100).await;
        together(&[&one, &two], &[1, 2]).await;
        let numbers = || one.keyed().iter().map(|keyed| keyed.number).collect::<Vec<_>>();
        let before = numbers();
        for _ in 0..80 {
            one.bus().publish(channel("POSE"), b"1").await.unwrap();
        }
        let renewed = async {
            while numbers().iter().zip(&before).any(|(now, before)| now <= before) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), renewed).await.expect("new keys");
        together(&[&one, &two], &[1, 2]).await;
        let mut hears = all(two.bus());
        tokio::time::sleep(Duration::from_millis(100)).await;
        for number in 0..80_u8 {
            one.bus().publish(channel("POSE"), &[number]).await.unwrap();
            assert_eq!(next(&mut hears).await.payload, [number][..], "160 in all, of 100 a key");
        }
    });
}
