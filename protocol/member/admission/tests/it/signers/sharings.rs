//! Sharings on the line: certificates follow them, and holders of older ones have nothing.

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
            bus.command(who, Command::Propose(change("threshold", "3"))).unwrap();
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

/// If one share is the key, all sharings among the same holders are one and have one name. A voter
/// that missed its share rejected it; the next run gives it that very share.
#[test]
fn what_was_rejected_for_want_of_a_share_is_taken_with_it() {
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 3, 1);
        bus.pass(12);
        assert_agreed(&bus);
        let [misses, has, gone] = in_order(&bus);
        let (held, starts) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
        let (keep, count, holds) = (held.clone(), starts.clone(), Rc::new(Cell::new(true)));
        let (holding, holder) = (holds.clone(), bus.players[has].identity.member());
        bus.tamper = Some(Box::new(move |sender, payload| {
            let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
            count.set(count.get() + u32::from(matches!(word.body, SignerBody::Start { .. })));
            let round = matches!(word.body, SignerBody::Round { .. });
            let held = holding.get() && sender == holder && round;
            if held {
                keep.borrow_mut().push(Input::Open { sender, payload: payload.clone() });
            }
            // Runs without end would never come to rest here.
            !held && count.get() < 50
        }));
        bus.players[gone].up = false;
        let expel = Command::Expel(bus.players[gone].identity.member());
        for who in [misses, has] {
            bus.command(who, expel.clone()).unwrap();
        }
        bus.pass(3);
        // The word that completes the run comes to one of the two alone.
        while shares(&bus, has) < 2 {
            assert!(!held.borrow().is_empty(), "{scheme:?}: {:#?}", bus.traces);
            let word = held.borrow_mut().remove(0);
            bus.input(has, word.clone()).unwrap();
            bus.settle();
            if shares(&bus, has) < 2 {
                bus.input(misses, word).unwrap();
            }
            bus.settle();
        }
        let before = bus.players[has].transcript.roster().sharing().cloned();
        bus.pass(3);
        let refused = |event: &Event| matches!(event, Event::ProposalClosed { why: Closed::Rejected, .. });
        assert!(bus.players[has].events.iter().any(refused), "{scheme:?}: {:#?}", bus.traces);
        holds.set(false);
        bus.pass(40);
        assert_ne!(bus.players[has].transcript.roster().sharing().cloned(), before, "{scheme:?}");
        assert!(starts.get() <= 4, "{scheme:?}: {} runs were started", starts.get());
        for who in [misses, has] {
            assert_eq!(shares(&bus, who), 1);
            assert!(bus.players[who].transcript.roster().leavers_with_shares().is_empty());
        }
    }
}

/// If one share is the key, a sharing comes back by its name. A yes from before another sharing was
/// taken into use counts no more, so whoever is given it again says yes again.
#[test]
fn who_said_yes_before_another_sharing_was_taken_says_yes_again() {
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 3, 2);
        bus.pass(12);
        assert_agreed(&bus);
        let [one, two, late] = in_order(&bus);
        bus.players[late].up = false;
        without_rounds(&mut bus);
        for who in [one, two] {
            bus.command(who, Command::Propose(change("threshold", "1"))).unwrap();
        }
        bus.pass(3);
        assert_eq!(bus.players[one].transcript.roster().threshold(), 1);
        // First two make shares, then all three. Nothing is decided before all have said yes to both.
        bus.tamper =
            Some(Box::new(|_, payload| !matches!(codec::decode(payload), Ok(OpenMessage::Ballot { .. }))));
        bus.pass(30);
        assert_eq!([one, two].map(|who| shares(&bus, who)), [2, 2], "{scheme:?}: {:#?}", bus.traces);
        bus.players[late].up = true;
        bus.merge();
        bus.pass(30);
        assert_eq!([one, two, late].map(|who| shares(&bus, who)), [3, 3, 2], "{scheme:?}: {:#?}", bus.traces);
        bus.tamper = None;
        bus.pass(60);
        let sharing = bus.players[late].transcript.roster().sharing().unwrap();
        assert_eq!(sharing.facts.holders.len(), 3, "{scheme:?}: {:#?}", bus.traces);
        assert_agreed(&bus);
    }
}

/// The coordinator's proposal comes to a voter before the last words of the run do. The voter waits
/// for its share: it does not reject what it is about to have.
#[test]
fn a_proposal_that_overtakes_its_run_is_not_rejected() {
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 3, 1);
        bus.pass(12);
        let [late, has, gone] = in_order(&bus);
        let (words, starts) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
        let (keep, count, holder) = (words.clone(), starts.clone(), bus.players[has].identity.member());
        bus.tamper = Some(Box::new(move |sender, payload| {
            let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
            count.set(count.get() + u32::from(matches!(word.body, SignerBody::Start { .. })));
            let held = sender == holder && matches!(word.body, SignerBody::Round { .. });
            if held {
                keep.borrow_mut().push(Input::Open { sender, payload: payload.clone() });
            }
            !held
        }));
        bus.players[gone].up = false;
        let expel = Command::Expel(bus.players[gone].identity.member());
        for who in [late, has] {
            bus.command(who, expel.clone()).unwrap();
        }
        bus.pass(3);
        let mut heard = 0;
        // All its own words come to the one, and all but the last to the other.
        while shares(&bus, has) < 2 {
            let word = words.borrow().get(heard).cloned().unwrap();
            bus.input(has, word.clone()).unwrap();
            bus.settle();
            heard += 1;
            if shares(&bus, has) < 2 {
                bus.input(late, word).unwrap();
                bus.settle();
            }
        }
        let before = bus.players[late].transcript.roster().sharing().cloned();
        assert_eq!(shares(&bus, late), 1, "{scheme:?}: it has the old one only");
        let last: Vec<Input> = words.borrow()[heard.saturating_sub(1)..].to_vec();
        for word in last {
            bus.input(late, word).unwrap();
            bus.settle();
        }
        bus.pass(3);
        let refused = |event: &Event| matches!(event, Event::ProposalClosed { why: Closed::Rejected, .. });
        assert!(!bus.players.iter().any(|one| one.events.iter().any(refused)), "{scheme:?}");
        assert_ne!(bus.players[late].transcript.roster().sharing().cloned(), before, "{scheme:?}");
        assert_eq!((shares(&bus, late), starts.get()), (1, 1), "{scheme:?}");
    }
}

/// The voters in their order.
fn in_order<const N: usize>(bus: &Bus) -> [usize; N] {
    let voters = bus.players[0].transcript.roster().electorate();
    let number = |voter: &MemberId| bus.players.iter().position(|one| one.identity.member() == *voter);
    core::array::from_fn(|place| number(&voters[place]).unwrap())
}

fn shares(bus: &Bus, who: usize) -> usize {
    bus.players[who].disk.keys().filter(|key| key.table == "share").count()
}

#[test]
fn certificates_wait_while_leavers_could_sign() {
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

/// The certificate that admitted.
fn certificate(bus: &Bus) -> Gmc {
    let admits = |item: Bytes| match Item::decode(&item).unwrap() {
        Item::Admit { certificate, .. } => Some(Gmc::from_der(&certificate.0).unwrap()),
        _ => None,
    };
    bus.players[0].transcript.items().find_map(admits).unwrap()
}

#[test]
fn a_sharing_is_a_new_one_of_the_groups_own_key() {
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
            let change =
                Change::Sharing { public: public.clone().into(), authority: authority.clone().into() };
            assert_eq!(transcript.would_stand(&change.into()), Err(Unfit::Sharing(why)));
        }
    }
}

#[test]
fn the_first_sharing_comes_with_its_keys_own_certificate() {
    for scheme in SCHEMES {
        let bus = founded(scheme);
        let mut other = Bus::silent(scheme, 5, 2);
        other.tamper = Some(Box::new(|_, _| false));
        other.pass(0);
        let now = bus.players[0].transcript.roster().sharing().unwrap();
        // Before there is a key, this very sharing would stand, but not with a certificate that
        // somebody changed.
        let with = |authority: Bytes| -> Effect {
            Change::Sharing { public: now.public.clone().into(), authority: authority.into() }.into()
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
fn what_the_groups_key_has_not_signed_admits_nobody() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        admit(&mut bus, "dora", 40);
        let gmc = certificate(&bus);
        // The same group, with the same keys in it, in which nobody has been admitted yet.
        let twin = founded(scheme);
        let transcript = &twin.players[0].transcript;
        let voters = [1, 2].map(|who| &twin.players[who].identity);
        let subject = folkmoot_transcript::admission(gmc.body().request_digest().unwrap());
        let expires = UnixTime(NOW.0 + 100_000);
        let votes = voters.map(|voter| transcript.approve(voter, subject, Verdict::Approve, expires));
        let votes = votes.map(|vote| Signed { approval: vote.approval, signature: Some(vote.signature) });
        let votes: Vec<&Signed> = votes.iter().collect();
        let admits = |der: &[u8], votes: &[&Signed]| transcript.make_admit(der, votes);
        assert!(admits(gmc.der(), &votes).is_ok(), "{scheme:?}");
        assert!(admits(gmc.der(), &votes[..1]).is_err(), "the key alone admits nobody");
        for place in 0..gmc.der().len() {
            let mut der = gmc.der().to_vec();
            der[place] ^= 1;
            assert!(admits(&der, &votes).is_err(), "byte {place}");
        }
        // Votes, although the charter says that the key signs.
        let (erik, roster) = (person("erik", 50), transcript.roster());
        let body = GmcBody::propose(roster.charter(), &erik, 5, NOW, &mut Dice(5)).over(roster.head());
        let voted = Gmc::compose(&body, &[], &erik).unwrap();
        let unsigned = ItemError::Certificate(CertificateError::PeerSignature);
        assert_eq!(admits(voted.der(), &votes), Err(unsigned));
        // Another group's key.
        let mut other = Bus::of_scheme(scheme, 4, 2);
        other.pass(12);
        let theirs = other.players[0].transcript.roster().sharing().unwrap();
        assert_eq!(gmc.check_issued(&theirs.facts.key), Err(CertificateError::PeerSignature));
    }
}

#[test]
fn a_certificate_under_an_older_sharing_admits_nobody() {
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
        let gmc = certificate(&bus);
        assert_eq!(gmc.issued(), Some(bus.players[0].transcript.roster().sharing().unwrap().facts.epoch));
    }
}

#[test]
fn openssl_verifies_certificates_by_the_groups_own() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        admit(&mut bus, "dora", 40);
        let gmc = certificate(&bus);
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
