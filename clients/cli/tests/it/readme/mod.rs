//! The pages, as a person plays them: the commands come from README.md, docs/cli.md and
//! docs/pubsub.md, in their order, through a shell, in an empty home. What they show is compared
//! with what the page says (`chapters`, `stage`). README's five minutes are played by several
//! people at once (`play`):
//!
//! ```text
//! on one machine      as they stand; only 127.0.0.1 is another address of the loopback network,
//!                     so that two runs at once do not meet
//! on three machines   each person in a network namespace; instead of 127.0.0.1, what README says
//!                     for three machines: the host name of Anna's
//! ```

mod blocks;
mod chapters;
mod matching;
mod matching_tests;
mod page;
mod play;
mod script;
mod stage;
mod terminal;
mod tokens;
mod wording;

use crate::common::place::Place;
use crate::common::spaces::Spaces;
use page::Page;
use play::Play;

#[test]
fn five_minutes_on_one_machine() {
    let process = std::process::id().to_be_bytes();
    let own = format!("127.{}.{}.{}", process[1] | 0x40, process[2], process[3] | 1);
    let adapt = move |line: &str| line.replace("127.0.0.1", &own);
    Play::new(Place::new("readme"), Box::new(adapt), None).through();
}

/// Dora is a guest on Cleo's machine. What is different is what README says of three machines.
#[test]
fn five_minutes_on_three_machines_by_host_name() {
    let Some(spaces) = Spaces::lay(&["anna", "ben", "cleo"]) else { return };
    let name = spaces.host("anna");
    let said = Page::read().quoted("On three machines, give the host name");
    assert_eq!(said, ["--contact udp/anna.example.org:4811", "--listen 0.0.0.0:4811"]);
    let adapt = move |line: &str| {
        let line = line.replace("udp/127.0.0.1:", &format!("udp/{name}:"));
        line.replace("--listen 127.0.0.1:", "--listen 0.0.0.0:")
    };
    Play::new(Place::new("readme-three"), Box::new(adapt), Some(spaces)).through();
}
