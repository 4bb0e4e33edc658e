//! Messages that have no place in the order: reliable and FIFO. The ring is played by hand here.

use super::*;

/// Party 0 of a view of three, which all are known to have.
fn steady(danger: Option<Danger>) -> Flush {
    let mut flush = Flush::new(config(bus::member(0), danger), [0; 32]);
    flush.notice(T0, id(1), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    for from in 0..3 {
        hear(&mut flush, from, &word(id(1), 0)).unwrap();
    }
    outputs(&mut flush);
    flush
}

fn received(flush: &mut Flush) {
    for from in 0..3 {
        hear(flush, from, &shown(id(1))).unwrap();
    }
    assert_eq!(flush.phase(), Phase::Steady);
}

fn early(service: Service, number: u32) -> Bytes {
    let header = message::data_header(&ViewTag::of(&id(1)), service, For::Session, number);
    [header.as_slice(), &number.to_be_bytes()].concat().into()
}

/// (service, number) of what was delivered.
fn delivered(flush: &mut Flush) -> Vec<(Service, u8)> {
    let all = outputs(flush).into_iter();
    all.filter_map(|output| match output {
        Output::Deliver { service, payload, .. } => Some((service, payload[3])),
        _ => None,
    })
    .collect()
}

#[test]
fn flu_10_early_services_travel_as_agreed_until_all_have_the_view() {
    let mut flush = steady(None);
    let travels = |flush: &mut Flush, service| {
        let (travels, header) = flush.data_header(service, For::Session).unwrap();
        (travels, message::decode(Bytes::copy_from_slice(header.as_slice())).unwrap())
    };
    for (count, stable) in [(1, false), (2, true)] {
        for service in [Service::Unreliable, Service::Reliable, Service::Fifo, Service::Causal] {
            let (as_what, frame) = travels(&mut flush, service);
            assert_eq!(as_what, if stable { service } else { Service::Agreed });
            let Frame::Data { service: told, number, .. } = frame else { panic!("no data") };
            let count = match service {
                Service::Unreliable => 0,
                // FIFO and causal are numbered together.
                Service::Fifo => 2 * count - 1,
                Service::Causal => 2 * count,
                _ => count,
            };
            assert_eq!((told, number), (service, count), "the receivers are told what was asked for");
        }
        if !stable {
            received(&mut flush);
        }
    }
    assert_eq!(travels(&mut flush, Service::Safe).0, Service::Safe);
    let keying = flush.data_header(Service::Fifo, For::Keying).unwrap();
    assert_eq!(keying.0, Service::Agreed, "frames of keying have places");
    let mut eager = steady(Some(Danger::FlushEarlyAtOnce));
    assert_eq!(travels(&mut eager, Service::Fifo).0, Service::Fifo);
}

/// What the mutant FlushEarlyAtOnce breaks: party 0 has the last FLUSH_OK and sends at once. Party
/// 1 lacks it, and refuses the message; nobody sends it again.
#[test]
fn flu_10_an_early_message_of_a_view_that_is_not_installed_is_lost() {
    let mut behind = pair();
    behind.notice(T0, id(2), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    let header = message::data_header(&ViewTag::of(&id(2)), Service::Fifo, For::Session, 1);
    let frame = Bytes::copy_from_slice(header.as_slice());
    let refused = behind.frame(T0, bus::member(1), Service::Fifo, &frame);
    assert_eq!(refused, Err(FlushError::PeerOtherView(bus::member(1))));
}

#[test]
fn flu_10_words_of_flush_and_keying_have_places() {
    let mut flush = steady(None);
    let refused = Err(FlushError::PeerService(bus::member(1)));
    let keying = message::data_header(&ViewTag::of(&id(1)), Service::Fifo, For::Keying, 1);
    let frames = [word(id(2), 0), shown(id(1)), Bytes::copy_from_slice(keying.as_slice())];
    for frame in &frames {
        assert_eq!(flush.frame(T0, bus::member(1), Service::Fifo, frame), refused);
    }
    assert_eq!(outputs(&mut flush), []);
}

#[test]
fn flu_04_a_message_may_come_as_agreed_and_never_as_less_than_it_says() {
    let mut flush = steady(None);
    let services = [
        Service::Unreliable,
        Service::Reliable,
        Service::Fifo,
        Service::Causal,
        Service::Agreed,
        Service::Safe,
    ];
    for told in services {
        for came in services {
            let good = came >= told && (came == Service::Safe) == (told == Service::Safe);
            let result = flush.frame(T0, bus::member(1), came, early(told, 1));
            assert_eq!(result.is_ok(), good, "{told:?} as {came:?}");
        }
    }
}

/// It comes in any order, so perhaps after its view, or after the notice that removed its sender.
#[test]
fn flu_12_an_unreliable_message_that_comes_too_late_is_dropped_and_blames_nobody() {
    let mut flush = steady(None);
    let late =
        |flush: &mut Flush, sender, service| flush.frame(T0, bus::member(sender), service, early(service, 1));
    late(&mut flush, 2, Service::Unreliable).unwrap();
    assert_eq!(delivered(&mut flush), [(Service::Unreliable, 1)]);
    flush.notice(T0, id(2), ids(&[0, 1]), &ids(&[2]), Cause::Expelled).unwrap();
    late(&mut flush, 2, Service::Unreliable).unwrap();
    assert_eq!(delivered(&mut flush), [], "of a removed party");
    late(&mut flush, 1, Service::Unreliable).unwrap();
    assert_eq!(delivered(&mut flush), [(Service::Unreliable, 1)], "the view goes on");
    flush.flush_ok(T0, Bytes::new()).unwrap();
    (0..2).for_each(|from| hear(&mut flush, from, &word(id(2), 0)).unwrap());
    assert_eq!(flush.view(), Some(id(2)));
    late(&mut flush, 1, Service::Unreliable).unwrap();
    assert_eq!(delivered(&mut flush), [], "of another view");
    let refused = Err(FlushError::PeerOtherView(bus::member(1)));
    assert_eq!(late(&mut flush, 1, Service::Fifo), refused);
}

/// Party 2 is removed. Party 1 had its FIFO message 2 and its reliable message 3, and says so;
/// party 0 gets them after the notice, and what nobody had before it.
fn removed(danger: Option<Danger>) -> Vec<(Service, u8)> {
    let mut flush = steady(danger);
    let late =
        |flush: &mut Flush, service, number| flush.frame(T0, bus::member(2), service, early(service, number));
    late(&mut flush, Service::Fifo, 1).unwrap();
    flush.notice(T0, id(2), ids(&[0, 1]), &ids(&[2]), Cause::Expelled).unwrap();
    for (service, number) in
        [(Service::Reliable, 4), (Service::Fifo, 2), (Service::Reliable, 3), (Service::Fifo, 3)]
    {
        late(&mut flush, service, number).unwrap();
    }
    flush.flush_ok(T0, Bytes::new()).unwrap();
    let said = outputs(&mut flush);
    let mine = said.iter().find_map(|output| match output {
        Output::Multicast { bytes, .. } => Some(bytes.clone()),
        _ => None,
    });
    let reached = words::said(&mine.clone().unwrap()).unwrap().reached.expect("it says how far it is");
    if danger.is_none() {
        assert_eq!(reached.parties, [message::Reach { place: 2, reliable: 0, fifo: 1 }]);
    }
    let tag = ViewTag::of(&id(1));
    let theirs = message::Reached { tag, parties: vec![message::Reach { place: 2, reliable: 3, fifo: 2 }] };
    let theirs = unsigned(FlushOk { reached: Some(theirs), ..flush_ok(id(2)) });
    hear(&mut flush, 1, &theirs).unwrap();
    hear(&mut flush, 0, &mine.unwrap()).unwrap();
    assert_eq!(flush.view(), Some(id(2)));
    said.into_iter()
        .filter_map(|output| match output {
            Output::Deliver { service, payload, .. } => Some((service, payload[3])),
            _ => None,
        })
        .chain(delivered(&mut flush))
        .collect()
}

#[test]
fn flu_11_of_a_removed_party_all_deliver_what_one_had_before_the_notice() {
    let same = [(Service::Fifo, 1), (Service::Fifo, 2), (Service::Reliable, 3)];
    assert_eq!(removed(None), same);
    let differs = removed(Some(Danger::FlushLateAsEver));
    assert!(differs.contains(&(Service::Fifo, 3)) && differs.contains(&(Service::Reliable, 4)));
}

/// Party 1 says that it leaves this view when party 2 is removed: who comes along.
fn leaves(left: Option<ViewId>, danger: Option<Danger>) -> Vec<Party> {
    let mut flush = steady(danger);
    flush.notice(T0, id(2), ids(&[0, 1]), &ids(&[2]), Cause::Expelled).unwrap();
    flush.flush_ok(T0, Bytes::new()).unwrap();
    let says = left.map_or_else(|| word(id(2), 0), |left| leaving(left, id(2)));
    hear(&mut flush, 1, &says).unwrap();
    hear(&mut flush, 0, &word(id(2), 0)).unwrap();
    let view = outputs(&mut flush).into_iter().find_map(|output| match output {
        Output::View(view) => Some(view.transitional_set),
        _ => None,
    });
    view.expect("all have said so")
}

/// Its clock was wrong for a moment: it put us out, was in a view of its own, and is back. Nobody
/// else has heard of that view.
#[test]
fn flu_15_who_has_been_in_another_view_meanwhile_does_not_come_along() {
    for danger in [None, Some(Danger::FlushFromAnyView)] {
        assert_eq!(leaves(Some(id(1)), danger), ids(&[0, 1]));
        for other in [Some(id(0)), None] {
            let together = if danger.is_some() { ids(&[0, 1]) } else { ids(&[0]) };
            assert_eq!(leaves(other, danger), together, "{other:?}");
        }
    }
}

/// Party 2 is removed. Its causal message 1 comes behind the notice, and then what party 1 says,
/// who had it before. Nobody can tell whether that answers it.
fn answered(danger: Option<Danger>) -> Vec<(Service, u8)> {
    let mut flush = steady(danger);
    flush.notice(T0, id(2), ids(&[0, 1]), &ids(&[2]), Cause::Expelled).unwrap();
    for (from, service, number) in [
        (2, Service::Causal, 1),
        (1, Service::Causal, 7),
        (1, Service::Agreed, 8),
        (1, Service::Unreliable, 9),
        (1, Service::Fifo, 10),
    ] {
        flush.frame(T0, bus::member(from), service, early(service, number)).unwrap();
    }
    let mut all = delivered(&mut flush);
    flush.flush_ok(T0, Bytes::new()).unwrap();
    outputs(&mut flush);
    let parties = vec![message::Reach { place: 2, reliable: 0, fifo: 1 }];
    let reached = Some(message::Reached { tag: ViewTag::of(&id(1)), parties });
    hear(&mut flush, 1, &unsigned(FlushOk { reached, ..flush_ok(id(2)) })).unwrap();
    hear(&mut flush, 0, &word(id(2), 0)).unwrap();
    assert_eq!(flush.view(), Some(id(2)));
    all.extend(delivered(&mut flush));
    all
}

#[test]
fn flu_13_what_may_answer_a_kept_message_comes_behind_it() {
    let (causal, agreed, fifo) = (Service::Causal, Service::Agreed, Service::Fifo);
    let in_order = [(Service::Unreliable, 9), (causal, 1), (causal, 7), (agreed, 8), (fifo, 10)];
    assert_eq!(answered(None), in_order);
    let overtaken = answered(Some(Danger::FlushOvertakesLate));
    assert_eq!(overtaken.last(), Some(&(causal, 1)));
}

/// What was kept behind it counts as delivered, if its sender is removed, too.
#[test]
fn flu_13_who_is_removed_later_had_its_kept_messages_delivered() {
    let mut flush = steady(None);
    flush.notice(T0, id(2), ids(&[0, 1]), &ids(&[2]), Cause::Expelled).unwrap();
    for (from, number) in [(2, 1), (1, 3)] {
        flush.frame(T0, bus::member(from), Service::Causal, early(Service::Causal, number)).unwrap();
    }
    flush.notice(T0, id(3), ids(&[0]), &ids(&[1]), Cause::Expelled).unwrap();
    flush.frame(T0, bus::member(1), Service::Causal, early(Service::Causal, 4)).unwrap();
    flush.flush_ok(T0, Bytes::new()).unwrap();
    let own = outputs(&mut flush).into_iter().find_map(|output| match output {
        Output::Multicast { bytes, .. } => Some(bytes),
        _ => None,
    });
    hear(&mut flush, 0, &own.unwrap()).unwrap();
    assert_eq!(flush.view(), Some(id(3)));
    assert_eq!(delivered(&mut flush), [(Service::Causal, 3)]);
}

/// More than there is room for: what was kept goes out in its order, and nothing more is kept of
/// those who stay.
#[test]
fn flu_13_what_is_kept_is_bounded_and_keeps_its_order() {
    let mut flush = steady(None);
    flush.notice(T0, id(2), ids(&[0, 1]), &ids(&[2]), Cause::Expelled).unwrap();
    flush.frame(T0, bus::member(2), Service::Causal, early(Service::Causal, 1)).unwrap();
    let large = |number: u8| {
        let header = message::data_header(&ViewTag::of(&id(1)), Service::Agreed, For::Session, 0);
        Bytes::from([header.as_slice(), &[0, 0, 0, number], &vec![0; 9 * 1024 * 1024]].concat())
    };
    for number in [1, 2, 3] {
        flush.frame(T0, bus::member(1), Service::Agreed, large(number)).unwrap();
        let expected = [&[][..], &[1, 2], &[3]][usize::from(number) - 1];
        let numbers: Vec<u8> = delivered(&mut flush).into_iter().map(|(_, number)| number).collect();
        assert_eq!(numbers, expected);
    }
}

/// FLU-11: what one says who does not come along from our view counts for nothing.
#[test]
fn flu_11_only_those_who_come_along_count() {
    let mut flush = steady(None);
    flush.notice(T0, id(2), ids(&[0, 3]), &ids(&[1, 2]), Cause::Expelled).unwrap();
    flush.frame(T0, bus::member(2), Service::Fifo, early(Service::Fifo, 1)).unwrap();
    flush.flush_ok(T0, Bytes::new()).unwrap();
    outputs(&mut flush);
    let tag = ViewTag::of(&id(1));
    let says = message::Reached { tag, parties: vec![message::Reach { place: 2, reliable: 9, fifo: 9 }] };
    let says = unsigned(FlushOk { reached: Some(says), ..flush_ok(id(2)) });
    hear(&mut flush, 3, &says).unwrap();
    hear(&mut flush, 0, &word(id(2), 0)).unwrap();
    assert_eq!(flush.view(), Some(id(2)));
    assert_eq!(delivered(&mut flush), []);
}
