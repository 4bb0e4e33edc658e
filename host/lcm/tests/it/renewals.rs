//! Certificates that take the place of others, and what becomes of exclusions then.

use crate::heard::{all, next};
use crate::membership::{Fleet, channel, random, together};
use crate::run;
use core::time::Duration;
use folkmoot_base::hex;
use folkmoot_lcm::Membership;
use folkmoot_pubsub::discovery::{Papers as _, message::tag};
use folkmoot_pubsub::secured::{Certificates, Domain};
use folkmoot_signing::plain::SigningKey;

#[test]
fn pub_46_whoever_is_excluded_is_in_no_domain_that_a_renewal_adds() {
    run("renewals::pub_46_whoever_is_excluded_is_in_no_domain_that_a_renewal_adds", async || {
        let fleet = Fleet::new(17_698);
        let keys: Vec<_> = (0..3).map(|_| SigningKey::generate(&mut random())).collect();
        let papers = |place: usize, names: &[&str], ago| {
            fleet.certify(u16::try_from(place).unwrap() + 1, names, keys[place].clone(), ago)
        };
        let thief = papers(2, &["POSE", "CAM"], 50);
        let one = fleet.join(1, &papers(0, &["POSE"], 50)).await;
        let two = fleet.join(2, &papers(1, &["POSE"], 50)).await;
        together(&[&one, &two], &[1, 2]).await;
        one.exclude(fleet.exclusion(thief.permit())).await;
        let certificate = |papers: &Certificates| bytes::Bytes::copy_from_slice(papers.certificate());
        assert_eq!(one.renew(certificate(&papers(0, &["POSE", "CAM"], 20))).await, Some(Vec::new()));
        assert_eq!(two.renew(certificate(&papers(1, &["POSE", "CAM"], 20))).await, Some(Vec::new()));
        let _three = fleet.join(3, &thief).await;
        together(&[&one, &two], &[1, 2]).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        together(&[&one, &two], &[1, 2]).await;
    });
}

#[test]
fn pub_80_whoever_is_excluded_does_not_go_back_to_an_earlier_certificate() {
    run("renewals::pub_80_whoever_is_excluded_does_not_go_back_to_an_earlier_certificate", async || {
        let fleet = Fleet::new(17_699);
        let key = SigningKey::generate(&mut random());
        let [earlier, later] = [50, 20].map(|ago| fleet.certify(3, &["POSE"], key.clone(), ago));
        let one = fleet.join(1, &fleet.certificates(1, &["POSE"])).await;
        let thief = fleet.join(3, &later).await;
        together(&[&one, &thief], &[1, 3]).await;
        one.exclude(fleet.exclusion(later.permit())).await;
        together(&[&one], &[1]).await;
        drop(thief);
        // With a state folder that knows nothing.
        let _thief = fleet.join(33, &earlier).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        together(&[&one], &[1]).await;
    });
}

#[test]
fn pub_80_a_later_certificate_of_the_same_key_takes_the_place_of_the_one_before() {
    run(
        "renewals::pub_80_a_later_certificate_of_the_same_key_takes_the_place_of_the_one_before",
        async || {
            let fleet = Fleet::new(17_697);
            let keys: Vec<_> = (0..4).map(|_| SigningKey::generate(&mut random())).collect();
            let papers = |place: usize, names: &[&str], ago| {
                fleet.certify(u16::try_from(place).unwrap() + 1, names, keys[place].clone(), ago)
            };
            let one = fleet.join(1, &papers(0, &["POSE", "SCAN"], 50)).await;
            let two = fleet.join(2, &papers(1, &["POSE", "SCAN"], 50)).await;
            let three = fleet.join(3, &papers(2, &["POSE"], 50)).await;
            let first = [1, 2];
            let of = |membership: &Membership, name: &str| {
                let keyed = membership.keyed();
                let key = keyed.iter().find(|keyed| keyed.domain.channel() == Some(&channel(name)));
                key.map(|keyed| keyed.members.iter().map(|sender| sender.get()).collect::<Vec<_>>())
            };
            let until = async |holds: &dyn Fn() -> bool| {
                let wait = async {
                    while !holds() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                };
                tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap();
            };
            until(&|| of(&one, "POSE").unwrap() == [1, 2, 3] && of(&one, "SCAN").unwrap() == first).await;
            // Not another's, and not an earlier one of its own.
            let certificate = |papers: &Certificates| bytes::Bytes::copy_from_slice(papers.certificate());
            assert_eq!(three.renew(certificate(&papers(3, &["POSE", "SCAN"], 20))).await, None);
            assert_eq!(three.renew(certificate(&papers(2, &["POSE", "SCAN"], 55))).await, None);
            let other_number = fleet.certify(9, &["POSE"], keys[2].clone(), 20);
            assert_eq!(three.renew(certificate(&other_number)).await, None);
            // What its disk has for another channel is no state.
            let group = Domain::group(fleet.address.group.into()).unwrap();
            let cam = group.with_channel(channel("CAM"));
            let name = hex(&tag(cam.to_string().as_bytes()));
            std::fs::write(fleet.state(3).join(name).with_extension("counters"), b"damaged").unwrap();
            let renewed = three.renew(certificate(&papers(2, &["POSE", "CAM"], 30))).await;
            assert_eq!(renewed, Some(vec![cam]), "it says so");
            // While all run: one more channel for it, and one less.
            assert_eq!(three.renew(certificate(&papers(2, &["SCAN"], 20))).await, Some(Vec::new()));
            until(&|| of(&three, "SCAN").is_some_and(|all| all == [1, 2, 3])).await;
            until(&|| of(&one, "SCAN").unwrap() == [1, 2, 3] && of(&two, "SCAN").unwrap() == [1, 2, 3]).await;
            assert_eq!(of(&three, "POSE"), None);
            until(&|| of(&one, "POSE").unwrap() == first).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            let mut hears = all(three.bus());
            one.bus().publish(channel("SCAN"), b"seen").await.unwrap();
            assert_eq!(next(&mut hears).await.payload, b"seen"[..]);
            assert!(three.bus().publish(channel("POSE"), b"not its any more").await.is_err());
            // With an earlier certificate it does not come back where a later one is known, and nobody
            // calls that a mistake of the root's.
            drop(three);
            tokio::time::sleep(Duration::from_millis(10)).await;
            let again = fleet.join(3, &papers(2, &["SCAN"], 40)).await;
            tokio::time::sleep(Duration::from_secs(2)).await;
            assert!(of(&again, "SCAN").unwrap().iter().all(|member| *member == 3), "it is alone");
            assert!(one.keyed().iter().all(|keyed| keyed.duplicate.is_none()));
            // With another key it does not come in place of the one that has the number.
            let thief = fleet.certify(2, &["POSE"], keys[3].clone(), 10);
            let thief = fleet.join(12, &thief).await;
            until(&|| one.keyed().iter().any(|keyed| keyed.duplicate.is_some())).await;
            assert!(of(&thief, "POSE").unwrap().iter().all(|member| *member == 2), "it is alone");
            assert_eq!(of(&one, "POSE").unwrap(), first);
        },
    );
}
