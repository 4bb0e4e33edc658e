//! CKD with pair keys by X-Wing: the values that it accepts, what altered ones lead to, and what it
//! costs in bytes.

use crate::common::{Seeded, member};
use folkmoot_agreement::{AgreementError, Module, ModuleName, Plan, Step, begin};

const OFFER: u8 = 1;
const ANSWER: u8 = 2;
const KEYS: u8 = 3;

fn pair() -> [Box<dyn Module>; 2] {
    [0, 1].map(|me| {
        let plan = Plan::new(&[1, 2].map(member), me).unwrap();
        begin(ModuleName::CkdHybrid, &plan, None).unwrap()
    })
}

fn body(steps: Vec<Step>) -> Vec<u8> {
    match steps.into_iter().next() {
        Some(Step::Send { body, .. }) => body,
        other => panic!("{other:?}"),
    }
}

fn secret(steps: &[Step]) -> Vec<u8> {
    match steps.last() {
        Some(Step::Done(secret)) => secret.expose().clone(),
        other => panic!("{other:?}"),
    }
}

/// How a run of two ends if each step is changed like this on its way: the controller's and the
/// member's end.
fn run(change: impl Fn(u8, &mut Vec<u8>)) -> [Result<Vec<u8>, AgreementError>; 2] {
    let [mut controller, mut other] = pair();
    let (mut one, mut two) = (Seeded(1), Seeded(2));
    let changed = |step, mut body: Vec<u8>| {
        change(step, &mut body);
        body
    };
    let offer = changed(OFFER, body(controller.start(&mut one)));
    let answered =
        (controller.receive(0, OFFER, &offer, &mut one), other.receive(0, OFFER, &offer, &mut two));
    let answer = match answered {
        (Ok(_), Ok(steps)) => changed(ANSWER, body(steps)),
        (first, second) => return [first.map(|_| vec![]), second.map(|_| vec![])],
    };
    let keys =
        match (controller.receive(1, ANSWER, &answer, &mut one), other.receive(1, ANSWER, &answer, &mut two))
        {
            (Ok(steps), Ok(_)) => changed(KEYS, body(steps)),
            (first, second) => return [first.map(|_| vec![]), second.map(|_| vec![])],
        };
    let first = controller.receive(0, KEYS, &keys, &mut one);
    let second = other.receive(0, KEYS, &keys, &mut two);
    [first.map(|steps| secret(&steps)), second.map(|steps| secret(&steps))]
}

#[test]
fn the_bodies_are_as_long_as_the_docs_say() {
    let lengths = [(OFFER, 1_216), (ANSWER, 1_120), (KEYS, 32 + 48)];
    let [first, second] = run(|step, body| assert!(lengths.contains(&(step, body.len())), "{}", body.len()));
    assert_eq!(first.unwrap(), second.unwrap());
}

#[test]
fn agr_23_keys_and_ciphertexts_of_x_wing_have_their_length_and_range() {
    let malformed = [Err(AgreementError::PeerMalformed), Err(AgreementError::PeerMalformed)];
    for wrong in [OFFER, ANSWER] {
        let shorter = run(|step, body| {
            if step == wrong {
                body.pop();
            }
        });
        assert_eq!(shorter, malformed);
        let longer = run(|step, body| {
            if step == wrong {
                body.push(0);
            }
        });
        assert_eq!(longer, malformed);
        // A value of the classical form.
        let classical = run(|step, body| {
            if step == wrong {
                body.truncate(32);
            }
        });
        assert_eq!(classical, malformed);
    }
    let out_of_range = run(|step, body| {
        if step == OFFER {
            body[..3].fill(0xff);
        }
    });
    assert_eq!(out_of_range, [Err(AgreementError::PeerNotInGroup), Err(AgreementError::PeerNotInGroup)]);
}

/// Both halves count: if any byte of the ciphertext or of the key differs, the member cannot open
/// what is sealed for it.
#[test]
fn agr_23_an_altered_value_gives_another_pair_key() {
    for wrong in [OFFER, ANSWER] {
        let length = if wrong == OFFER { 1_216 } else { 1_120 };
        for at in (0..length).step_by(31).chain([1_087, length - 32, length - 2]) {
            let [_, second] = run(|step, body| {
                if step == wrong {
                    body[at] ^= 1;
                }
            });
            let refused = second.unwrap_err();
            let expected = [AgreementError::PeerNotOpening, AgreementError::PeerNotInGroup];
            assert!(expected.contains(&refused), "byte {at} of step {wrong}: {refused}");
        }
    }
}

/// What a classical run left is no base for a hybrid one, nor the other way round.
#[test]
fn what_is_kept_is_of_one_form() {
    let origin = folkmoot_agreement::Origin { run: [7; 32], rank: 0 };
    let forms = [ModuleName::Ckd, ModuleName::CkdHybrid];
    for (had, wanted) in [(forms[0], forms[1]), (forms[1], forms[0])] {
        let alone = Plan::new(&[1].map(member), 0).unwrap();
        let mut run = begin(had, &alone, None).unwrap();
        secret(&run.start(&mut Seeded(1)));
        let kept = run.keep().unwrap();
        assert_eq!((kept.module(), run.name()), (had, had));
        let plan = Plan::with_origins(&[1].map(member), 0, vec![Some(origin)]).unwrap();
        assert_eq!(begin(wanted, &plan, Some(&kept)).err(), Some(AgreementError::LocalKept));
        assert!(begin(had, &plan, Some(&kept)).is_ok());
    }
}
