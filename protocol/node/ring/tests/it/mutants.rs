//! A check catches every broken ring: a checker that catches nothing proves nothing.

use crate::harness::play::play;
use folkmoot_base::Danger;

fn caught(danger: Danger, by: &[&str]) {
    let mut other = Vec::new();
    for seed in 1..400 {
        if let (_, Err(why)) = play(seed, Some(danger), false) {
            if by.iter().any(|name| why.starts_with(name)) {
                return;
            }
            other.push(why);
        }
    }
    panic!("{danger:?} was not caught by {by:?}, but by {other:?}");
}

#[test]
fn own_line_breaks_failure_atomicity() {
    caught(Danger::RingOwnLine, &["EVS 4"]);
}

#[test]
fn safe_as_agreed_breaks_safe_delivery() {
    caught(Danger::RingSafeAsAgreed, &["EVS 7"]);
}

#[test]
fn ord_03_safe_by_visits_breaks_safe_delivery() {
    caught(Danger::RingSafeByVisits, &["EVS 7"]);
}

#[test]
fn ord_01_order_that_others_give_breaks_the_order() {
    caught(Danger::RingOrdersOthers, &["EVS 4", "EVS 6", "EVS 3", "EVS 1d", "EVS 7"]);
}

#[test]
fn ord_10_known_order_sorted_anew_breaks_agreed_delivery() {
    caught(Danger::RingSortsKnown, &["EVS 6"]);
}

#[test]
fn no_order_breaks_agreed_delivery() {
    caught(Danger::RingNoOrder, &["EVS 6", "FIFO"]);
}

#[test]
fn duplicates_break_basic_delivery() {
    caught(Danger::RingDuplicates, &["EVS 1d", "EVS 6"]);
}

#[test]
fn skipping_recovery_breaks_failure_atomicity() {
    caught(Danger::RingSkipRecovery, &["EVS 4", "EVS 7", "EVS 3", "EVS 6"]);
}

#[test]
fn ring_34_distant_survivors_that_exchange_nothing_break_failure_atomicity() {
    caught(Danger::RingSkipsExchange, &["EVS 4", "EVS 7", "EVS 3", "EVS 6", "FIFO"]);
}

#[test]
fn dropping_own_messages_breaks_self_delivery() {
    caught(Danger::RingDropsOwn, &["EVS 3", "liveness"]);
}

#[test]
fn foreign_members_break_configuration_changes() {
    caught(Danger::RingForeignMember, &["EVS 2"]);
}

#[test]
fn ring_24_the_same_contribution_to_every_attempt_is_seen() {
    caught(Danger::RingSameContribution, &["RING-24"]);
}

#[test]
fn ring_25_repeats_that_are_sealed_anew_are_seen() {
    caught(Danger::RingSealsRepeats, &["RING-25"]);
}

#[test]
fn ord_08_records_without_the_weaker_let_agreed_overtake_its_stream() {
    caught(Danger::RingRecordsOrderedOnly, &["ORD-08", "FIFO"]);
}

#[test]
fn ord_07_fifo_on_arrival_has_gaps() {
    caught(Danger::RingFifoOnArrival, &["FIFO"]);
}

#[test]
fn ord_07_what_waits_for_more_than_it_must_is_seen() {
    caught(Danger::RingNothingEarly, &["ORD-07: Reliable"]);
    caught(Danger::RingNothingEarly, &["ORD-07: Fifo"]);
    caught(Danger::RingNothingEarly, &["ORD-07: Causal"]);
    caught(Danger::RingAgreedAsSafe, &["ORD-07: Agreed"]);
}

#[test]
fn ord_17_causal_that_ignores_names_comes_before_what_it_needs() {
    caught(Danger::RingCausalAsFifo, &["ORD-17"]);
}

#[test]
fn ord_16_unreliable_packets_that_are_sent_again_are_seen() {
    caught(Danger::RingRepeatsUnreliable, &["ORD-16"]);
}

#[test]
fn ring_31_unreliable_packets_that_count_again_break_basic_delivery() {
    caught(Danger::RingTakesUnreliableAgain, &["EVS 1d"]);
}

#[test]
fn ord_12_fifo_past_what_is_not_delivered_has_gaps() {
    caught(Danger::RingOvertakesUndelivered, &["FIFO"]);
}

#[test]
fn ord_12_early_messages_that_are_denied_to_others_differ() {
    caught(Danger::RingDeniesEarly, &["EVS 4"]);
}
