//! Secured programs on real sockets.

use crate::heard::{all, next};
use crate::run;
use core::time::Duration;
use folkmoot_lcm::{Bus, BusError, Secured};
use folkmoot_pubsub::secured::{
    Cause, Domain, DomainKey, Material, Member, Mode, SenderId, Signing, Suite, Times,
};
use folkmoot_pubsub::{Address, Channel};
use folkmoot_signing::plain::SigningKey;

fn channel(name: &str) -> Channel {
    Channel::new(name).unwrap()
}

fn address(port: u16) -> Address {
    format!("udpm://239.255.76.67:{port}?ttl=0").parse().unwrap()
}

fn id(number: u16) -> SenderId {
    SenderId::new(number).unwrap()
}

struct Seed(u8);

impl folkmoot_base::Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(self.0);
        self.0 = self.0.wrapping_add(1);
    }
}

fn signer(number: u16) -> SigningKey {
    SigningKey::generate(&mut Seed(number as u8))
}

/// The `epoch`-th key of a group or channel.
fn key(port: u16, name: Option<&str>, epoch: u8, members: &[u16]) -> DomainKey {
    let group = Domain::group(address(port).group.into()).unwrap();
    let domain = name.map_or(group, |name| group.with_channel(channel(name)));
    let material = Material::derive(Suite::Aes128, &domain, &[epoch]);
    let member =
        |number: &u16| Member { sender: id(*number), key: Some(signer(*number).verifying_key().clone()) };
    let key = DomainKey::new(Mode::Own, domain, &material, members.iter().map(member)).unwrap();
    match name {
        Some("SIGNED") => key.with_signing(Signing::Each).unwrap(),
        Some("BATCHES") => key.with_signing(Signing::Batches).unwrap(),
        _ => key,
    }
}

fn join(port: u16, number: u16) -> Bus {
    let key = Some(signer(number));
    let secured = Secured { mode: Mode::Own, sender: id(number), key, times: Times::default() };
    Bus::join_secured(address(port), secured).unwrap()
}

async fn install(bus: &Bus, port: u16, names: &[&str], epoch: u8, members: &[u16], cause: Cause) {
    bus.install(key(port, None, epoch, members), cause).await.unwrap();
    for name in names {
        bus.install(key(port, Some(name), epoch, members), cause).await.unwrap();
    }
}

#[test]
fn secured_programs_hear_each_other_and_plain_ones_hear_nothing() {
    run("sealed::secured_programs_hear_each_other_and_plain_ones_hear_nothing", async || {
        let port = 17_681;
        let (one, two, group_only) = (join(port, 1), join(port, 2), join(port, 3));
        let plain = Bus::join(address(port)).unwrap();
        let names = ["POSE", "SIGNED"];
        for bus in [&one, &two] {
            install(bus, port, &names, 0, &[1, 2, 3], Cause::Joined).await;
        }
        install(&group_only, port, &[], 0, &[1, 2, 3], Cause::Joined).await;
        let (mut hears, mut deaf, mut outside) = (all(&two), all(&group_only), all(&plain));
        two.self_test().await.unwrap();
        for length in [0, 5, 1_000, 100_000] {
            let said: Vec<u8> = (0..length).map(|place: u32| (place % 251) as u8).collect();
            for name in names {
                one.publish(channel(name), &said).await.unwrap();
                let heard = loop {
                    let heard = next(&mut hears).await;
                    if heard.sender.is_some() {
                        break heard;
                    }
                };
                assert!(heard.payload == said && heard.channel == channel(name));
                assert_eq!((heard.sender, heard.attribution.is_some()), (Some(id(1)), name == "SIGNED"));
                let signed = heard.attribution;
                assert!(signed.is_none_or(|shown| shown.verifies(&said, signer(1).verifying_key())));
            }
        }
        plain.publish(channel("POSE"), b"believe me").await.unwrap();
        one.publish(channel("POSE"), b"last").await.unwrap();
        assert_eq!(next(&mut hears).await.payload, b"last"[..]);
        assert_eq!(two.refused().plain, 1);
        // The self test alone, and what the plain one said to itself.
        let heard: Vec<_> =
            std::iter::from_fn(|| outside.waiting()).map(|heard| heard.channel.text()).collect();
        assert!(heard.iter().all(|name| name == "LCM_SELF_TEST" || name == "POSE"), "{heard:?}");
        assert!(std::iter::from_fn(|| deaf.waiting()).all(|heard| heard.sender.is_none()));
        assert!(group_only.refused().unreadable >= 7);
        let refused = plain.install(key(port, None, 0, &[1]), Cause::Joined).await;
        assert!(matches!(refused, Err(BusError::LocalPlain(_))));
        assert_eq!(one.worn().await, []);
    });
}

#[test]
fn who_is_excluded_hears_nothing_after_the_new_key_and_is_not_heard() {
    run("sealed::who_is_excluded_hears_nothing_after_the_new_key_and_is_not_heard", async || {
        let port = 17_682;
        let (one, two, three) = (join(port, 1), join(port, 2), join(port, 3));
        for bus in [&one, &two, &three] {
            install(bus, port, &["POSE"], 0, &[1, 2, 3], Cause::Joined).await;
        }
        let (mut hears, mut excluded) = (all(&two), all(&three));
        one.publish(channel("POSE"), b"1").await.unwrap();
        assert_eq!(next(&mut hears).await.payload, b"1"[..]);
        assert_eq!(next(&mut excluded).await.payload, b"1"[..]);
        for bus in [&one, &two] {
            install(bus, port, &["POSE"], 1, &[1, 2], Cause::Excluded).await;
        }
        one.publish(channel("POSE"), b"2").await.unwrap();
        three.publish(channel("POSE"), b"hear me").await.unwrap();
        // Another key, for a newcomer's sake: nothing is lost between.
        for number in 3..200_u8 {
            if number == 100 {
                for bus in [&one, &two] {
                    install(bus, port, &["POSE"], 2, &[1, 2, 4], Cause::Joined).await;
                }
            }
            one.publish(channel("POSE"), &[number]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let mut expected = vec![b"2".to_vec()];
        expected.extend((3..200_u8).map(|number| vec![number]));
        for said in expected {
            assert_eq!(next(&mut hears).await.payload, said);
        }
        assert_eq!(next(&mut excluded).await.payload, b"hear me"[..], "it hears itself");
        assert!(excluded.waiting().is_none());
        assert_eq!(two.refused().epochs, 1);
        assert!(three.refused().epochs > 190);
    });
}

#[test]
fn a_batch_is_attested_after_it_was_heard() {
    run("sealed::a_batch_is_attested_after_it_was_heard", async || {
        let port = 17_683;
        let (one, two) = (join(port, 1), join(port, 2));
        for bus in [&one, &two] {
            install(bus, port, &["BATCHES"], 0, &[1, 2], Cause::Joined).await;
        }
        let mut hears = all(&two);
        let (mut heard, mut attested) = (Vec::new(), Vec::new());
        for number in 0..70_u8 {
            one.publish(channel("BATCHES"), &[number]).await.unwrap();
            heard.push(next(&mut hears).await.sequence);
        }
        one.attest(channel("BATCHES")).await.unwrap();
        let end = tokio::time::Instant::now() + Duration::from_secs(10);
        while attested.len() < heard.len() && tokio::time::Instant::now() < end {
            match two.attested() {
                Some(batch) => attested.extend(batch.sequences),
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
        // The numbers of two attestations are between.
        assert_eq!((heard == attested, heard.len(), heard.last()), (true, 70, Some(&71)));
    });
}
