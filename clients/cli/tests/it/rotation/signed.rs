//! The same where others sign certificates: the members with the group's key, of which anna holds a
//! share, or an authority.
//!
//! ```text
//! frost     anna, ben, cleo, dora; cleo is away    anna rotates; her new key signs with dora alone, so it has a share
//! plain     the same, with an authority            it signs the new key's certificate, after the votes
//! ```
//! The new key is of another algorithm than the old one, which the charter must name.

use super::{copied, is_told, state_of, until_state};
use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, complaint};
use serde_json::{Value, json};

const NAMES: [&str; 4] = ["anna", "ben", "cleo", "dora"];

struct Cast {
    place: Place,
    all: Vec<Actor>,
    authority: Option<Actor>,
}

impl Cast {
    /// Anna's first key is of this algorithm, all others are of P-256. `then`: her next one's.
    fn new(scheme: &str, central: bool, (first, then): (&str, &str)) -> Self {
        let place = Place::new(&format!("rotated-{scheme}"));
        let key = |name: &&str| if *name == "anna" { first } else { "p256" };
        let all: Vec<Actor> = NAMES.iter().map(|name| Actor::with(&place, name, key(name))).collect();
        let authority = central.then(|| Actor::authority(&place, "authority", scheme));
        let mut rules = vec!["--scheme".to_owned(), scheme.to_owned()];
        rules.extend(["p256", first, then].iter().flat_map(|one| ["--algorithm".into(), (*one).to_owned()]));
        if let Some(authority) = &authority {
            let state = authority.state.display().to_string();
            rules.extend(["--mode".into(), "centralised".into(), "--authority".into(), state]);
        }
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        // Anna last: where exactly half agree, the first one listed decides.
        let folders: Vec<_> = [1, 2, 3, 0].iter().map(|who| all[*who].state.as_path()).collect();
        place.found_with(&folders, Times::SHORT, &rules);
        let mut cast = Self { place, all, authority };
        for who in 0..4 {
            cast.start(who);
        }
        if let Some(authority) = &mut cast.authority {
            let at: Vec<String> = [1, 3].map(|who| cast.all[who].locator.clone()).to_vec();
            authority.start(&cast.place, &at, &[]);
        }
        for name in NAMES {
            cast.all[1].why(name, "present");
        }
        cast
    }

    fn start(&mut self, who: usize) {
        let at: Vec<String> = self.all.iter().map(|one| one.locator.clone()).collect();
        let at: Vec<String> = at.into_iter().filter(|at| !at.is_empty()).collect();
        self.all[who].start(&self.place, &at, &[]);
    }

    fn until_decided(&self, number: u64) {
        let reached = |status: &Value| {
            let head = status["head"].as_str().and_then(|head| head.split('.').next()?.parse::<u64>().ok());
            head.is_some_and(|head| head >= number)
        };
        self.all[1].until(&["status"], reached);
    }

    /// Anna rotates while cleo is away; ben and dora approve. Her old key, her new one, and the
    /// number of the decision.
    fn rotates(&mut self, (never, then): (&str, &str)) -> (String, String, u64) {
        self.all[2].kill();
        let refused = self.all[0].run(&["identity", "rotate", "--algorithm", never]);
        assert_eq!(code(&refused), 5);
        assert!(
            complaint(&refused).contains(&format!("takes no keys of {never}")),
            "{}",
            complaint(&refused)
        );
        let told = self.all[0].good(&["identity", "rotate", "--algorithm", then]);
        let other = self.all[0].run(&["identity", "rotate", "--algorithm", "p256"]);
        assert_eq!(code(&other), if then == "p256" { 0 } else { 3 }, "{}", complaint(&other));
        let (old, new) = (told["member"].as_str().unwrap(), told["new"].as_str().unwrap());
        for voter in [3, 1] {
            let open = self.all[voter].until(&["vote", "list"], |told| told[0]["concerns"][1].is_object());
            assert_eq!(open.as_array().unwrap().len(), 1, "nobody is asked about an admission: {open}");
            let concerns = &open[0]["concerns"];
            assert_eq!(
                (&concerns[0]["member"], &concerns[1]["member"]),
                (&json!(old), &json!(new)),
                "{open}"
            );
            let subject = open[0]["subject"].as_str().unwrap();
            self.all[voter].until(&["vote", "approve", subject], |told| !told.is_null());
        }
        until_state(&self.all[1], old, "replaced");
        let number = self.all[1].why(&old[..12], "replaced")["decision"].as_u64().unwrap();
        self.all[0].kill();
        assert_eq!(self.all[0].good(&["identity", "rotate"])["member"], new);
        assert_eq!(self.all[0].good(&["identity", "show"])["algorithm"], then);
        self.start(0);
        until_state(&self.all[1], new, "present");
        is_told(&self.all[1], "anna", old, new);
        (old.to_owned(), new.to_owned(), number)
    }

    /// Whoever has the old folder is nobody, also to cleo, whom it meets first.
    fn old_is_nobody(&mut self, stolen: std::path::PathBuf, old: &str, new: &str) {
        let mut liar = Actor::of(stolen, old);
        let at: Vec<String> = [1, 3].map(|who| self.all[who].locator.clone()).to_vec();
        liar.start(&self.place, &at, &[]);
        self.all[2].start(&self.place, core::slice::from_ref(&liar.locator), &[]);
        until_state(&self.all[2], old, "replaced");
        until_state(&self.all[2], new, "present");
        liar.run(&["expel", "ben"]);
        std::thread::sleep(std::time::Duration::from_secs(2));
        for who in [0, 1, 2, 3] {
            assert_eq!(state_of(&self.all[who], old), "replaced");
            let open = self.all[who].good(&["vote", "list"]);
            assert!(!open.to_string().contains("expel"), "{open}");
        }
        liar.kill();
    }

    /// Erik is admitted by these voters, whoever else is away.
    fn admits_erik(&self, voters: [usize; 2]) {
        let mut erik = Actor::new(&self.place, "erik");
        let at: Vec<String> = voters.map(|who| self.all[who].locator.clone()).to_vec();
        erik.start(&self.place, &at, &["--apply"]);
        for voter in voters {
            self.all[voter].until(&["vote", "approve", "erik"], |told| !told.is_null());
        }
        self.all[voters[0]].why("erik", "present");
    }
}

#[test]
fn id_86_a_rotated_key_in_a_group_with_a_shared_key_gets_a_share() {
    let mut cast = Cast::new("frost", false, ("ed25519", "rsa-2048"));
    // The group's key is there.
    cast.until_decided(1);
    let stolen = copied(&cast.all[0].state, cast.place.path().join("stolen"));
    let (old, new, number) = cast.rotates(("rsa-3072", "rsa-2048"));
    cast.old_is_nobody(stolen, &old, &new);
    // New shares, without the old key: then two sign, and one of them is anna.
    cast.until_decided(number + 1);
    cast.all[1].kill();
    cast.all[2].kill();
    cast.admits_erik([0, 3]);
}

#[test]
fn id_86_an_authority_signs_the_certificate_of_a_rotated_key() {
    let mut cast = Cast::new("plain", true, ("rsa-3072", "p256"));
    let stolen = copied(&cast.all[0].state, cast.place.path().join("stolen"));
    let (old, new, _) = cast.rotates(("ed25519", "p256"));
    cast.old_is_nobody(stolen, &old, &new);
    let status = cast.authority.as_ref().unwrap().good(&["authority", "status"]);
    assert_eq!(status["issued"], 1);
    cast.admits_erik([0, 3]);
}
