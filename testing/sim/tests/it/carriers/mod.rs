//! A ring of carriers with a charter of its own, and the shipped stacks of two groups above it,
//! each with a charter of its own.
//!
//! ```text
//!   anna  dora        ben         cleo  emil     anna, ben and cleo are one group, dora and emil the other
//!   [carrier 0] ---- [carrier 1] ---- [carrier 2]
//! ```

mod memory;
mod net;
mod remote;

use folkmoot_base::{Cause, Service};
use folkmoot_member::{Command, Event, Proposal};
use net::{Moot, Seat};

const ALL: [Seat; 5] = [("anna", 0), ("ben", 1), ("cleo", 2), ("dora", 0), ("emil", 2)];

#[test]
fn two_groups_of_their_own_charters_agree_on_keys_and_speak_over_one_ring() {
    let mut moot = Moot::new(1, &[("alpha", &["anna", "ben", "cleo"]), ("beta", &["dora", "emil"])], &ALL);
    moot.join_all();
    moot.until(10, "keys", |moot| {
        moot.share_key(&["anna", "ben", "cleo"]) && moot.share_key(&["dora", "emil"])
    });
    assert_ne!(moot.epoch("anna"), moot.epoch("dora"));
    for (who, service) in [("anna", Service::Safe), ("emil", Service::Fifo)] {
        moot.send(who, service, &format!("{who} speaks"));
    }
    moot.run(2_000);
    for who in ["anna", "ben", "cleo"] {
        assert_eq!(moot.heard(who), ["anna speaks"], "{who}");
    }
    for who in ["dora", "emil"] {
        assert_eq!(moot.heard(who), ["emil speaks"], "{who}");
    }
}

#[test]
fn a_groups_voters_expel_and_the_ring_and_the_other_group_do_not_notice() {
    let mut moot = Moot::new(2, &[("alpha", &["anna", "ben", "cleo"]), ("beta", &["dora", "emil"])], &ALL);
    moot.join_all();
    moot.until(10, "keys", |moot| {
        moot.share_key(&["anna", "ben", "cleo"]) && moot.share_key(&["dora", "emil"])
    });
    let (ring, marks) = (moot.configuration(), moot.ring_marks());
    let (epoch, other) = (moot.epoch("anna"), moot.epoch("dora"));

    let member = moot.member("cleo");
    moot.command("anna", Command::Expel { member });
    let proposed = |moot: &Moot| {
        moot.events("ben").find_map(|event| match event {
            Event::Proposal { subject, .. } => Some(*subject),
            _ => None,
        })
    };
    moot.until(10, "the proposal", |moot| proposed(moot).is_some());
    let subject = proposed(&moot).unwrap();
    moot.command("ben", Command::Vote { subject, approve: true });
    let out = |moot: &Moot| {
        let removed = |event: &Event| matches!(event, Event::Removed { cause: Cause::Expelled, .. });
        moot.share_key(&["anna", "ben"]) && moot.events("cleo").any(removed)
    };
    moot.until(20, "the expulsion", out);
    assert_ne!(moot.epoch("anna"), epoch, "the key is another");

    assert_eq!((moot.epoch("dora"), moot.share_key(&["dora", "emil"])), (other, true));
    assert_eq!((moot.configuration(), moot.ring_marks()), (ring, marks), "the ring stands as it stood");
    let open: Vec<Proposal> = moot.proposals("dora");
    assert!(open.is_empty(), "nothing of it is shown there: {open:?}");
}

/// Fred attaches where Anna is, and asks; she and Ben, who is elsewhere, vote.
#[test]
fn a_newcomer_is_admitted_to_a_carried_group_and_has_its_key() {
    let groups: [(&str, &[&str]); 2] = [("alpha", &["anna", "ben"]), ("beta", &["dora", "emil"])];
    let seats = [("anna", 0), ("ben", 1), ("dora", 0), ("emil", 2), ("fred", 0)];
    let mut moot = Moot::with_newcomers(5, &groups, &[("fred", "alpha")], &seats);
    moot.join_all();
    moot.until(10, "keys", |moot| moot.share_key(&["anna", "ben"]) && moot.share_key(&["dora", "emil"]));
    let (ring, other) = (moot.ring_marks(), moot.epoch("dora"));
    moot.command("fred", Command::Apply);
    let asked = |moot: &Moot, who| {
        moot.events(who).find_map(|event| match event {
            Event::Request(petition) => Some(petition.subject),
            _ => None,
        })
    };
    moot.until(10, "the request", |moot| asked(moot, "anna").is_some() && asked(moot, "ben").is_some());
    assert_eq!((asked(&moot, "dora"), asked(&moot, "emil")), (None, None), "it is none of theirs");
    for who in ["anna", "ben"] {
        let subject = asked(&moot, who).unwrap();
        moot.command(who, Command::Vote { subject, approve: true });
    }
    moot.until(30, "the newcomer", |moot| moot.share_key(&["anna", "ben", "fred"]));
    moot.send("fred", Service::Safe, "here I am");
    moot.run(2_000);
    assert_eq!(moot.heard("ben"), ["here I am"]);
    assert_eq!((moot.ring_marks(), moot.epoch("dora")), (ring, other));
}

/// The carrier's own member, which is one by the ring's charter only, asks for a group that its
/// node carries.
#[test]
fn a_carriers_own_member_hears_nothing_of_a_group_that_its_node_carries() {
    let mut moot = Moot::new(3, &[("alpha", &["anna", "ben"])], &[("anna", 0), ("ben", 1)]);
    moot.join_all();
    moot.until(10, "keys", |moot| moot.share_key(&["anna", "ben"]));
    moot.join_as_carrier(2, "alpha");
    moot.send("anna", Service::Agreed, "for ben");
    moot.run(3_000);
    assert!(moot.share_key(&["anna", "ben"]), "and nobody else is in the view");
    let heard = |event: &&Event| matches!(event, Event::View { .. } | Event::Message { .. });
    let events: Vec<&Event> = moot.carrier_events(2).iter().filter(heard).collect();
    assert!(events.is_empty(), "{events:?}");
}
