//! Values of generated types go from program to program.

use crate::alone::alone;
use crate::membership::Fleet;
use folkmoot_lcm::typed::{DecodeError, Told, Typed, Wrong};
use folkmoot_lcm::{Address, Bus, BusError, Capacity, Channel, Membership, Pattern, blocking};
use std::time::{Duration, Instant};

mod types {
    include!("../../examples/pose/lcm_types.rs");
}

use types::robot::PoseT;

fn address(test: u32) -> Address {
    let port = 20_000 + (std::process::id() * 8 + 4 + test) % 20_000;
    format!("udpm://239.255.76.67:{port}?ttl=0").parse().unwrap()
}

fn channel() -> Channel {
    Channel::new("POSE").unwrap()
}

fn pose(number: u8) -> PoseT {
    let position = [f64::from(number), -0.5, 0.25];
    PoseT { utime: number.into(), position, orientation: [1.0, 0.0, 0.0, 0.0], name: "anna".into() }
}

/// What is published: a pose, another type's message, a pose cut short, and a pose.
fn said(number: u8) -> Vec<u8> {
    let pose = pose(number).encode().unwrap();
    match number {
        1 => [&[9; 8][..], &pose[8..]].concat(),
        2 => pose[..pose.len() - 1].to_vec(),
        _ => pose,
    }
}

/// The four of one round, each as it should come. Any datagram may be lost: then it is `false`.
fn is_whole(round: &[Told<PoseT>]) -> bool {
    let [first, other, cut, last] = round else { return false };
    let error = |told: &Told<PoseT>| told.as_ref().err().map(|wrong| wrong.error);
    let value = |told: &Told<PoseT>| told.as_ref().ok().map(|(_, pose)| pose.clone());
    let text = other.as_ref().unwrap_err().to_string();
    assert!(text.starts_with("a message on POSE is no robot.pose_t: "), "{text}");
    let sequences: Vec<u32> = [first, last].iter().map(|told| told.as_ref().unwrap().0.sequence).collect();
    assert_eq!(sequences[1], sequences[0] + 3);
    assert_eq!(last.as_ref().unwrap().0.missing, 0);
    (value(first), value(last)) == (Some(pose(0)), Some(pose(3)))
        && matches!(error(other), Some(DecodeError::PeerFingerprint { .. }))
        && error(cut) == Some(DecodeError::PeerShort)
}

#[test]
fn a_message_of_another_type_is_counted_and_ends_nothing() {
    alone("typed::a_message_of_another_type_is_counted_and_ends_nothing", || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (anna, ben) = (Bus::join(address(0)).unwrap(), Bus::join(address(0)).unwrap());
            let pattern = Pattern::new("POSE").unwrap();
            let mut poses = ben.subscribe(pattern, Capacity::default()).unwrap().typed::<PoseT>();
            let (mut rounds, end) = (0_u64, Instant::now() + Duration::from_secs(20));
            loop {
                assert!(Instant::now() < end, "nothing comes");
                for number in 0..4 {
                    anna.publish(channel(), &said(number)).await.unwrap();
                }
                let mut round = Vec::new();
                while let Ok(Some(told)) =
                    tokio::time::timeout(Duration::from_millis(300), poses.next()).await
                {
                    round.push(told);
                    if round.len() == 4 {
                        break;
                    }
                }
                rounds += 1;
                if is_whole(&round) {
                    break;
                }
            }
            assert!(poses.wrong().other >= 1 && poses.wrong().other <= rounds, "{:?}", poses.wrong());
            assert!(poses.wrong().malformed >= 1 && poses.wrong().malformed <= rounds);
            assert!(poses.waiting().is_none() && poses.dropped() == 0);
        });
    });
}

#[test]
fn a_program_without_tokio_publishes_and_hears() {
    alone("typed::a_program_without_tokio_publishes_and_hears", || {
        let bus = blocking::Bus::join(address(1)).unwrap();
        bus.wait(bus.asynchronous().self_test()).unwrap();
        let pattern = || Pattern::new("POSE").unwrap();
        let mut poses = bus.subscribe(pattern(), Capacity::default()).unwrap().typed::<PoseT>();
        let mut bytes = bus.subscribe(pattern(), Capacity::default()).unwrap();
        // Another thread speaks: a bus may be shared.
        let told = std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..50 {
                    bus.publish_typed(channel(), &pose(7)).unwrap();
                    bus.publish(channel(), b"what is this?").unwrap();
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            poses.by_ref().take(20).collect::<Vec<_>>()
        });
        assert!(told.iter().any(|told| told.as_ref().is_ok_and(|(_, got)| *got == pose(7))));
        assert!(told.iter().any(Result::is_err));
        assert_ne!(poses.wrong(), Wrong::default());
        assert_eq!(bytes.next().unwrap().channel, channel());
        // All was said: what waits is heard, and then nothing comes.
        while poses.within(Duration::from_millis(300)).is_some() {}
        assert!(poses.waiting().is_none() && poses.dropped() == 0);
        drop(bus);
        assert!(poses.next().is_none(), "a bus that is gone says so");
        assert!(bytes.all(|heard| heard.channel == channel()), "and what waited is read before that");
    });
}

#[test]
fn a_program_without_tokio_is_a_member() {
    alone("typed::a_program_without_tokio_is_a_member", || {
        let fleet = Fleet::new(17_699);
        let member = |number: u16| {
            let papers = fleet.certificates(number, &["POSE"]);
            blocking::Bus::join_by(fleet.address, async { Ok(fleet.join(number, &papers).await) })
        };
        let buses: [Result<_, BusError>; 2] = [member(1), member(2)];
        let [anna, ben] = buses.map(Result::unwrap);
        let end = Instant::now() + Duration::from_secs(60);
        let has_both = |bus: &blocking::Bus<Membership>| {
            bus.asynchronous().keyed().iter().all(|keyed| keyed.members.len() == 2)
        };
        while !(has_both(&anna) && has_both(&ben)) {
            assert!(Instant::now() < end, "they have no key together");
            std::thread::sleep(Duration::from_millis(5));
        }
        // For a moment the key before seals on, which only one of them has.
        std::thread::sleep(Duration::from_millis(100));
        let pattern = Pattern::new("POSE").unwrap();
        let mut poses = ben.subscribe(pattern, Capacity::default()).unwrap().typed::<PoseT>();
        let heard = std::iter::repeat_with(|| {
            anna.publish_typed(channel(), &pose(1)).unwrap();
            poses.within(Duration::from_millis(200))
        });
        let (heard, got) = heard.take(50).flatten().next().expect("it comes").unwrap();
        assert_eq!((heard.sender.unwrap().get(), got), (1, pose(1)));
        anna.end(Membership::leave);
        while ben.asynchronous().keyed().iter().any(|keyed| keyed.members.len() != 1) {
            assert!(Instant::now() < end, "the other does not notice");
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn a_value_that_is_no_message_is_not_published() {
    alone("typed::a_value_that_is_no_message_is_not_published", || {
        let bus = blocking::Bus::join(address(2)).unwrap();
        let wrong = PoseT { name: "a\0b".into(), ..pose(1) };
        let error = bus.publish_typed(channel(), &wrong).unwrap_err();
        assert!(matches!(error, BusError::LocalEncode(_)), "{error}");
        assert!(error.to_string().starts_with("the string name has a NUL byte"), "{error}");
    });
}

#[test]
fn the_types_of_the_example_are_those_of_its_file() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/pose");
    let name = String::from("pose.lcm");
    let text = std::fs::read_to_string(folder.join(&name)).unwrap();
    let source = folkmoot_lcm_gen::Source { name, text };
    let types = folkmoot_lcm_gen::generate(&[source], folkmoot_lcm_gen::LIBRARY).unwrap();
    let written = std::fs::read_to_string(folder.join("lcm_types.rs")).unwrap();
    assert!(types == written, "run: folkmoot lcm gen pose.lcm --out . (in host/lcm/examples/pose)");
}
