//! Two links over real identities: X.509 certificates and ECDSA.

use crate::common::{Dice, RING, opened};
use folkmoot_base::{Instant, Locator, UnixTime};
use folkmoot_identity::Identity;
use folkmoot_link::{Config, Credentials, IdentityCredentials, Input, Links, Output};

#[test]
fn identities_prove_themselves() {
    let mut dice = Dice(42);
    let mut sides: Vec<_> = ["anna", "bert"]
        .map(|name| Identity::new(name, &mut dice, UnixTime(1_700_000_000), UnixTime(1_900_000_000)).unwrap())
        .into_iter()
        .map(|identity| {
            (identity.node(), Links::new(Config::new(RING), IdentityCredentials::new(identity), &mut Dice(7)))
        })
        .collect();
    let now = Instant(1_000);
    sides[0].1.handle(now, Input::Dial { at: Locator::memory(1), node: None }, &mut dice).unwrap();
    let mut ups = Vec::new();
    for _ in 0..10 {
        for side in 0..2_usize {
            while let Some(output) = sides[side].1.poll_output() {
                match output {
                    Output::Transmit { datagram, .. } | Output::Probe { datagram, .. } => {
                        let input =
                            Input::Datagram { from: Locator::memory(side as u32), bytes: opened(datagram) };
                        sides[1 - side].1.handle(now, input, &mut dice).unwrap();
                    }
                    Output::Up { node, certificate, .. } => ups.push((side, node, certificate)),
                    _ => {}
                }
            }
        }
    }
    assert_eq!(ups.len(), 2);
    for (side, node, certificate) in ups {
        assert_eq!(node, sides[1 - side].0);
        let identity = Identity::new("judge", &mut dice, UnixTime(1), UnixTime(1_900_000_000)).unwrap();
        let claim = IdentityCredentials::new(identity).claim(&certificate).unwrap();
        assert_eq!((claim.node, claim.rostered), (node, false));
    }
}
