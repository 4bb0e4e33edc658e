//! The published form of CKD costs, role by role, what its tables say.

use crate::toy::{Script, Seeded, Toy, member};
use folkmoot_agreement::{PrimeGroup, Ristretto};
use folkmoot_study::ckd::Context;

/// The published form: members 1, 2, … by age, with the operations one after the other.
struct Group<G: PrimeGroup> {
    members: Vec<(u16, Context<G>)>,
}

impl<G: PrimeGroup> Group<G> {
    /// One after the other joins whoever is first.
    fn of(n: u16, entropy: &mut Seeded) -> Self {
        let mut group = Self { members: vec![(1, Context::new(entropy))] };
        for number in 2..=n {
            group.join(number, entropy);
        }
        group
    }

    fn pair(&mut self, place: usize) {
        let (first, others) = self.members.split_at_mut(1);
        let ((controller, first), (number, other)) = (&mut first[0], &mut others[place - 1]);
        let answer = other.answer(member(*controller), first.public(), &first.offer()).unwrap();
        first.pair(member(*number), other.public(), &answer).unwrap();
    }

    fn distribute(&mut self, entropy: &mut Seeded) {
        let controller = member(self.members[0].0);
        let sealed = self.members[0].1.distribute(entropy);
        assert_eq!(sealed.len(), self.members.len() - 1);
        for (number, context) in &mut self.members[1..] {
            context.receive(&controller, &sealed[&member(*number)]).unwrap();
        }
        let keys: Vec<_> = self.members.iter().map(|(_, context)| context.key().unwrap()).collect();
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "members differ on the key");
    }

    fn reset(&mut self) {
        self.members.iter_mut().for_each(|(_, context)| context.reset_count());
    }

    fn join(&mut self, number: u16, entropy: &mut Seeded) {
        self.members.push((number, Context::new(entropy)));
        self.reset();
        self.pair(self.members.len() - 1);
        self.distribute(entropy);
    }

    fn leave(&mut self, number: u16, entropy: &mut Seeded) {
        self.reset();
        let controller = self.members[0].0;
        self.members.retain(|(other, _)| *other != number);
        self.members.iter_mut().for_each(|(_, context)| context.forget(&member(number)));
        if number == controller {
            (1..self.members.len()).for_each(|place| self.pair(place));
        }
        self.distribute(entropy);
    }

    fn paid(&self) -> Vec<u64> {
        self.members.iter().map(|(_, context)| context.count().exponentiations).collect()
    }
}

/// Tables 2 to 4, n with the one who comes or goes. `r_1` is chosen once, before.
#[test]
fn the_published_form_costs_what_the_tables_say() {
    for n in 2..=64_u16 {
        let (wide, entropy) = (u64::from(n), &mut Seeded(u64::from(n)));
        let mut group = Group::<Toy>::of(n - 1, entropy);
        group.join(n, entropy);
        let paid = group.paid();
        assert_eq!(paid[0], wide + 2, "controller: long-term 1, pairwise 1, session key 1, encryption n − 1");
        assert_eq!(*paid.last().unwrap(), 4, "joiner: long-term, pairwise, encryption of it, decryption");
        assert!(paid[1..paid.len() - 1].iter().all(|paid| *paid == 1), "decryption");
        assert_eq!(paid[0] + paid.last().unwrap(), wide + 6, "serial");
        let mut ordinary = Group::<Toy>::of(n, entropy);
        ordinary.leave(n, entropy);
        let paid = ordinary.paid();
        assert_eq!(paid[0], wide - 1, "session key 1, encryption n − 2");
        assert!(paid[1..].iter().all(|paid| *paid == 1));
        group.leave(1, entropy);
        let paid = group.paid();
        let expected = 3 * i64::from(n) - 5;
        assert_eq!(
            i64::try_from(paid[0]).unwrap(),
            expected,
            "long-term, pairwise, encryption n − 2 each, 1"
        );
        assert!(paid[1..].iter().all(|paid| *paid == 4), "as a joiner");
    }
    Group::<Ristretto>::of(4, &mut Seeded(1)).leave(1, &mut Seeded(2));
}

/// Long-term 3, 9, 15; r 5, 7, 11; keys from 13 and, when the third has left, 17. Computed apart,
/// by the formulas.
#[test]
fn a_worked_example_of_the_published_form() {
    let context = |long, once| Context::<Toy>::new(&mut Script(vec![long, once]));
    let (mut one, mut two, mut three) = (context(3, 5), context(9, 7), context(15, 11));
    let bytes = |value: u16| value.to_be_bytes().to_vec();
    assert_eq!([*one.public(), *two.public(), *three.public()], [64, 261, 125]);
    assert_eq!(one.offer(), bytes(5));
    for (number, context, answer) in [(2, &mut two, 768), (3, &mut three, 273)] {
        assert_eq!(context.answer(member(1), one.public(), &bytes(5)), Ok(bytes(answer)));
        one.pair(member(number), context.public(), &bytes(answer)).unwrap();
    }
    let sealed = one.distribute(&mut Script(vec![13]));
    assert_eq!(sealed.into_values().collect::<Vec<_>>(), [bytes(929), bytes(153)]);
    two.receive(&member(1), &bytes(929)).unwrap();
    three.receive(&member(1), &bytes(153)).unwrap();
    for context in [&one, &two, &three] {
        assert_eq!(context.key().unwrap().expose(), &bytes(581));
    }
    one.forget(&member(3));
    let sealed = one.distribute(&mut Script(vec![17]));
    assert_eq!(sealed.into_values().collect::<Vec<_>>(), [bytes(44)]);
    two.receive(&member(1), &bytes(44)).unwrap();
    assert_eq!(two.key().unwrap().expose(), &bytes(981));
}
