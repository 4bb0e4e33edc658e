//! Sharings as entries: certificates follow them, and holders of older ones have nothing.

use super::*;

#[test]
fn of_two_sides_at_most_one_reshares() {
    for scheme in SCHEMES {
        // Seven: five of them are as many as threshold ECDSA takes for three votes.
        let mut bus = Bus::of_scheme(scheme, 7, 2);
        bus.pass(12);
        let before = bus.players[0].transcript.roster().sharing().cloned().unwrap();
        // Both sides want new shares, before they part.
        without_rounds(&mut bus);
        for who in 0..4 {
            bus.command(who, Command::Propose(Decision::change("threshold", "3"))).unwrap();
        }
        bus.pass(1);
        bus.tamper = None;
        for who in [5, 6] {
            bus.players[who].up = false;
        }
        bus.pass(30);
        assert_ne!(bus.players[0].transcript.roster().sharing(), Some(&before), "{:#?}", bus.traces);
        for who in 0..7 {
            bus.players[who].up = who > 4;
        }
        bus.pass(60);
        for who in [5, 6] {
            assert_eq!(bus.players[who].transcript.roster().sharing(), Some(&before));
        }
    }
}

#[test]
fn trn_53_certificates_wait_while_leavers_could_sign() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let dora = bus.stranger("dora", 40, 0);
        vote(&mut bus, 1, dora, true);
        // Two leave, and no new shares can be made.
        without_rounds(&mut bus);
        let leavers: Vec<MemberId> = [3, 4].map(|who| bus.players[who].identity.member()).to_vec();
        for leaver in &leavers {
            for who in 0..3 {
                let _ = bus.command(who, Command::Expel(*leaver));
            }
            bus.pass(2);
        }
        bus.players[3].up = false;
        bus.players[4].up = false;
        bus.tamper = None;
        let roster = bus.players[0].transcript.roster();
        assert_eq!(roster.leavers_with_shares(), leavers);
        // Until there are: then it goes on.
        vote(&mut bus, 2, dora, true);
        bus.pass(30);
        assert!(bus.admitted(dora), "{:#?}", bus.traces);
        assert!(bus.players[0].transcript.roster().leavers_with_shares().is_empty());
    }
}

/// The entry that admitted, with its certificate.
fn admission(bus: &Bus) -> (Entry, Gmc) {
    let entries = bus.players[0].transcript.entries().map(|bytes| Entry::decode(bytes).unwrap());
    let admits = |entry: Entry| match &entry.body {
        Body::Admit { certificate } => Some((entry.clone(), Gmc::from_der(&certificate.0).unwrap())),
        _ => None,
    };
    entries.filter_map(admits).next().unwrap()
}

#[test]
fn trn_50_trn_51_a_sharing_is_a_new_one_of_the_groups_own_key() {
    for scheme in SCHEMES {
        let bus = founded(scheme);
        let mut other = Bus::of_scheme(scheme, 4, 2);
        other.pass(12);
        let transcript = &bus.players[0].transcript;
        let now = transcript.roster().sharing().unwrap();
        let theirs = other.players[0].transcript.roster().sharing().unwrap();
        let cut = now.public.slice(1..);
        let tries = [
            (&now.public, &now.authority, "it is the present one"),
            (&theirs.public, &theirs.authority, "its key is not the group's"),
            (&now.public, &theirs.authority, "its certificate of the group's key is not the present one"),
            (&cut, &now.authority, "its scheme is not the charter's"),
        ];
        for (public, authority, why) in tries {
            let decision =
                Decision::Sharing { public: public.clone().into(), authority: authority.clone().into() };
            assert_eq!(transcript.would_stand(&decision), Err(EntryError::PeerSharing(why)));
        }
    }
}

#[test]
fn trn_51_the_first_sharing_comes_with_its_keys_own_certificate() {
    for scheme in SCHEMES {
        let bus = founded(scheme);
        let mut other = Bus::silent(scheme, 5, 2);
        other.tamper = Some(Box::new(|_, _| false));
        other.pass(0);
        let now = bus.players[0].transcript.roster().sharing().unwrap();
        // Before there is a key, this very sharing would stand, but not with a certificate that
        // somebody changed.
        let with = |authority: Bytes| Decision::Sharing {
            public: now.public.clone().into(),
            authority: authority.into(),
        };
        let transcript = &other.players[0].transcript;
        assert_eq!(transcript.would_stand(&with(now.authority.clone())), Ok(()));
        for place in 0..now.authority.len() {
            let mut der = now.authority.to_vec();
            der[place] ^= 1;
            assert!(transcript.would_stand(&with(der.into())).is_err(), "byte {place}");
        }
    }
}

#[test]
fn trn_52_what_the_groups_key_has_not_signed_admits_nobody() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        admit(&mut bus, "dora", 40);
        let (_, gmc) = admission(&bus);
        let (transcript, anna) = (&bus.players[0].transcript, &bus.players[0].identity);
        // Every changed byte, in an entry that its author signs.
        for place in 0..gmc.der().len() {
            let mut der = gmc.der().to_vec();
            der[place] ^= 1;
            assert!(transcript.make_admit(&der, anna).is_err(), "byte {place}");
        }
        // Votes, although the charter says that the key signs.
        let erik = person("erik", 50);
        let charter = transcript.roster().charter();
        let body = folkmoot_identity::GmcBody::propose(
            charter,
            &erik,
            5,
            crate::common::NOW,
            &mut crate::common::Dice(5),
        );
        let voted = Gmc::compose(&body, &[], &erik).unwrap();
        let refused = BuildError::Refused(EntryError::PeerShareEpoch(erik.member()));
        assert_eq!(transcript.make_admit(voted.der(), anna), Err(refused));
        // Another group's key.
        let mut other = Bus::of_scheme(scheme, 4, 2);
        other.pass(12);
        let theirs = other.players[0].transcript.roster().sharing().unwrap();
        assert_eq!(gmc.check_issued(&theirs.facts.key), Err(CertificateError::PeerSignature));
    }
}

#[test]
fn trn_52_of_an_older_sharing_admits_nobody() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        // The certificate is made, and held up at the contact until the shares are new.
        let dora = bus.stranger("dora", 40, 0);
        bus.strangers[dora].contact = None;
        for who in [1, 2] {
            vote(&mut bus, who, dora, true);
        }
        bus.pass(3);
        let gone = bus.players[4].identity.member();
        for who in 0..3 {
            let _ = bus.command(who, Command::Expel(gone));
        }
        bus.players[4].up = false;
        bus.pass(20);
        assert!(!bus.admitted(dora));
        bus.dial(dora, 0);
        bus.pass(15);
        assert!(bus.admitted(dora), "signed again, under the new shares: {:#?}", bus.traces);
        let (_, gmc) = admission(&bus);
        assert_eq!(gmc.issued(), Some(bus.players[0].transcript.roster().sharing().unwrap().facts.epoch));
    }
}

#[test]
fn openssl_verifies_certificates_by_the_groups_own() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        admit(&mut bus, "dora", 40);
        let (_, gmc) = admission(&bus);
        let authority = &bus.players[0].transcript.roster().sharing().unwrap().authority;
        let authority = folkmoot_identity::AuthorityCertificate::from_der(authority).unwrap();
        let folder =
            std::env::temp_dir().join(format!("folkmoot-signers-{}-{}", scheme.name(), std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("authority.pem"), authority.to_pem()).unwrap();
        std::fs::write(folder.join("dora.pem"), gmc.to_pem()).unwrap();
        let verified = std::process::Command::new("openssl")
            .args(["verify", "-x509_strict", "-check_ss_sig", "-attime", "1800000600"])
            .args(["-CAfile", "authority.pem", "dora.pem"])
            .current_dir(&folder)
            .output()
            .unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(verified.status.success(), "{scheme:?}: {verified:?}");
    }
}

#[test]
fn shares_are_on_disk_and_survive_restarts() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        for who in 0..5 {
            bus.restart(who);
        }
        admit(&mut bus, "dora", 40);
    }
}
