//! Groups whose key is shared by Shoup's threshold RSA: only an authority deals it, again or once.
//! Method: real members, transcripts and desks; stored safe primes in place of drawn ones.

use crate::common::change;
use crate::common::town::{Plan, Town, agreed, plan};
use folkmoot_admission::{AuthorityMessage, Command, DealerState, Event, Phase, Reason};
use folkmoot_identity::{Dealer, Scheme};
use folkmoot_signing::shared::SharingFacts;
use folkmoot_transcript::{Admit, Uncounted};

fn founded(founders: u64, dealer: Dealer) -> Town {
    let plan = Plan { dealer: Some(dealer), founders, threshold: 3, ..plan(Scheme::Shoup) };
    let mut town = Town::found(&plan, |_| {});
    town.pass(8);
    agreed(&town);
    town
}

fn facts(town: &Town) -> SharingFacts {
    town.transcript().roster().sharing().unwrap().facts.clone()
}

/// Admitted by these, and not by fewer.
fn admit(town: &mut Town, name: &str, seed: u64, voters: &[usize]) {
    let which = town.stranger(name, seed, 0);
    for voter in voters {
        assert!(!town.bus.admitted(which), "fewer votes are not enough");
        town.vote(*voter, which, true);
    }
    town.pass(8);
    assert!(town.bus.admitted(which), "{:#?} {:?}", town.bus.traces, town.desks[0].errors);
    assert_eq!(town.bus.strangers[which].applicant.phase(), Phase::Admitted);
    let (gmc, facts) = (town.certificate(which), facts(town));
    assert_eq!(gmc.check_central(town.transcript().roster().charter()), Ok(()));
    assert_eq!(gmc.combined().map(|combined| combined.epoch), Some(facts.epoch));
    assert_eq!(gmc.check_combined(&facts.key), Ok(()));
}

fn expel(town: &mut Town, who: usize) {
    let gone = town.bus.players[who].identity.member();
    for voter in 0..town.bus.players.len() {
        if town.transcript().roster().is_member(&gone) {
            let _ = town.command(voter, Command::Expel(gone));
        }
    }
    town.bus.players[who].up = false;
    town.settle();
    assert!(!town.transcript().roster().is_member(&gone), "{:#?}", town.bus.traces);
}

fn deals(town: &Town) -> usize {
    town.desks[0].told.iter().filter(|(_, word)| matches!(word, AuthorityMessage::Dealt { .. })).count()
}

#[test]
fn a_dealer_that_keeps_the_primes_deals_anew_for_leavers_and_thresholds() {
    let mut town = founded(5, Dealer::Keeps);
    let first = facts(&town);
    assert_eq!((first.threshold, first.holders.len()), (3, 5));
    admit(&mut town, "dora", 40, &[1, 2, 3]);
    let gone = town.bus.players[4].identity.member();
    expel(&mut town, 4);
    town.pass(8);
    agreed(&town);
    let second = facts(&town);
    assert_ne!(second.epoch, first.epoch);
    assert!(second.key == first.key && !second.holders.contains(&gone) && second.holders.len() == 4);
    admit(&mut town, "erik", 41, &[0, 1, 2]);
    for who in 0..4 {
        if town.transcript().roster().charter().threshold() != 2 {
            town.command(who, Command::Propose(change("threshold", "2"))).unwrap();
        }
    }
    town.pass(8);
    agreed(&town);
    let third = facts(&town);
    assert_ne!(third.epoch, second.epoch);
    assert_eq!((third.threshold, &third.key), (2, &first.key));
    admit(&mut town, "fred", 42, &[1, 3]);
    assert_eq!((deals(&town), town.desks[0].authority.status().dealer), (3, DealerState::Keeps));
    // A member that is not linked with the authority has no heartbeat to send, and nothing else is
    // at work.
    assert!(town.bus.players[2..4].iter().all(|player| player.admission.poll_timeout().is_none()));
}

#[test]
fn a_dealer_for_the_set_up_only_is_asked_once_and_leavers_that_could_sign_end_admissions() {
    let mut town = founded(6, Dealer::SetupOnly);
    let first = facts(&town);
    assert_eq!(town.desks[0].authority.status().dealer, DealerState::Erased);
    admit(&mut town, "dora", 40, &[1, 2, 3]);
    for who in [5, 4] {
        expel(&mut town, who);
        town.pass(8);
        agreed(&town);
        assert_eq!(facts(&town), first, "no other deal");
    }
    assert_eq!(town.transcript().roster().leavers_with_shares().len(), 2);
    admit(&mut town, "erik", 41, &[0, 1, 2]);
    // If one more leaves, those outside could sign: nobody is admitted any more, by whatever votes.
    let fred = town.stranger("fred", 42, 0);
    expel(&mut town, 3);
    for voter in [0, 1, 2] {
        town.vote(voter, fred, true);
    }
    town.pass(25);
    assert!(!town.bus.admitted(fred));
    agreed(&town);
    assert_eq!((facts(&town), deals(&town)), (first, 1));
    assert!(
        !town
            .bus
            .traces
            .iter()
            .skip_while(|(_, text)| !text.contains("erased"))
            .any(|(_, text)| text.contains("signing session: deal"))
    );
    let waits =
        |event: &Event| matches!(event, Event::Refused { reason: Reason::SharesStale, have: 3, need: 3 });
    assert!(town.bus.strangers[fred].events.iter().any(waits), "{:?}", town.bus.strangers[fred].events);
    // A certificate would not stand either, had somebody signed it by those shares.
    let like = Admit::of(&town.certificate(1), [1; 32]);
    let refused = town.transcript().state().check_request(&like, town.transcript().time());
    assert_eq!(refused, Err(Uncounted::SharesStale { leavers: 3, threshold: 3 }));
    // All else goes on.
    town.command(0, Command::Propose(change("request_hours", "48"))).unwrap();
    for who in [1, 2] {
        let _ = town.command(who, Command::Propose(change("request_hours", "48")));
    }
    assert_eq!(town.transcript().roster().charter().request_hours(), 48);
}
