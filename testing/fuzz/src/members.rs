//! A member whose node says anything: one of its programs, which stands above the input.

use crate::script::{Dice, number, owned, script, steps};
use crate::stacks::{AWAY, OUTPUTS_MAX, PORTS, member_of};
use crate::world::{NOW, world};
use core::time::Duration;
use folkmoot_attach::credit::Grant;
use folkmoot_attach::{ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{Cause, Indication, Instant, Party, Service, UnixTime};
use folkmoot_flush::message::For;
use folkmoot_identity::{Identity, Prover};
use folkmoot_member::{Command, Event, Member};
use std::collections::VecDeque;

/// A member whose node is the input: what it orders comes back as its own.
struct Above {
    now: Instant,
    member: Member,
    order: u64,
    dice: Dice,
    /// How many parties each secure view had.
    views: Vec<usize>,
}

impl Above {
    fn new(port: u16) -> Self {
        let member = member_of(&world().founders[0], port, &[]).expect("a legal charter");
        let mut above = Self { now: Instant(1), member, order: 0, dice: Dice(47), views: Vec::new() };
        above.member.clock(above.now, NOW, &mut above.dice);
        let _ = above.member.command(above.now, Command::Join { group: world().group() }, &mut above.dice);
        above.word(ToMember::Configuration {
            id: crate::frames::configuration(1),
            nodes: world().founders.iter().map(Identity::node).collect(),
            patience: core::time::Duration::ZERO,
        });
        above
    }

    fn word(&mut self, word: ToMember) {
        let mut words = VecDeque::from([word]);
        let mut count = 0;
        let me = self.member.party();
        while let Some(word) = words.pop_front() {
            self.member.node(self.now, word, &mut self.dice);
            while let Some(output) = self.member.poll_output() {
                count += 1;
                assert!(count <= OUTPUTS_MAX, "no end of outputs");
                match output {
                    UpperOutput::Node(ToNode::Send { group, service, payload, .. }) => {
                        assert!(me.port == 0 || payload[0] != OPEN, "MEM-11");
                        words.push_back(ToMember::Group(Indication::Deliver {
                            group,
                            sender: me,
                            service,
                            payload: payload.into(),
                        }));
                    }
                    UpperOutput::Node(ToNode::Item(_, item)) => {
                        assert_eq!(me.port, 0, "MEM-11");
                        words.push_back(ToMember::Item(item));
                    }
                    UpperOutput::Node(ToNode::Guest { .. }) => assert_eq!(me.port, 0, "MEM-11"),
                    UpperOutput::Event(Event::View { members, .. }) => self.views.push(members.len()),
                    _ => {}
                }
            }
        }
    }

    /// The parties that the bits of `who` name, and the others: the first three are the founders'
    /// first programs, the next three other ones. Oneself is always among the first.
    fn seats(&self, who: u8) -> [Vec<Party>; 2] {
        let of = |port: u16| world().members().into_iter().map(move |member| Party::new(member, port));
        let all = PORTS.into_iter().flat_map(of).enumerate();
        let here = |(place, party): &(usize, Party)| *party == self.member.party() || who >> place & 1 == 1;
        let (inside, outside): (Vec<_>, Vec<_>) = all.partition(here);
        [inside, outside].map(|some| some.into_iter().map(|(_, party)| party).collect())
    }

    /// A notice that follows the one before, with the parties that `who` names.
    fn notice(&mut self, who: u8) {
        self.order += 1;
        let group = world().group();
        let [mut members, removed] = self.seats(who);
        members.sort();
        let view = Box::new(crate::frames::view_id(group, self.order));
        self.word(ToMember::Group(Indication::Notice {
            group,
            view,
            members,
            left: removed.clone(),
            removed,
            cause: Cause::Network,
        }));
    }
}

/// The first byte of an admission message among members.
const OPEN: u8 = 0xB0;

/// Member: at its first program (first byte even) or at another (odd), payloads of programs of
/// another founder, of a stranger, of itself; entries, guests, notices, losses, time, own wishes.
pub fn member_words(data: &[u8]) {
    above_after(data);
}

fn above_after(data: &[u8]) -> Option<Above> {
    let (port, data) = data.split_first()?;
    let mut above = Above::new(PORTS[usize::from(port % 2)]);
    let group = world().group();
    for (op, body) in steps(data) {
        let payload = owned(body);
        let sender =
            [&world().founders[1], &world().stranger, &world().founders[0]][usize::from(op >> 4) % 3];
        let speaker = Party::new(sender.member(), PORTS[usize::from(op >> 4) / 3 % 2]);
        match op % 10 {
            0 | 1 => {
                let service = if op & 1 == 0 { Service::Agreed } else { Service::Safe };
                let payload = payload.into();
                above.word(ToMember::Group(Indication::Deliver { group, sender: speaker, service, payload }));
            }
            2 => above.word(ToMember::Item(payload)),
            3 => above.word(ToMember::Guest { from: sender.node(), payload }),
            4 => above.notice(body.first().copied().unwrap_or(7)),
            5 => {
                let [mut lost, _] = above.seats(body.first().copied().unwrap_or(2));
                lost.retain(|party| *party != above.member.party());
                above.word(ToMember::Group(Indication::Transitional { group, lost }));
            }
            6 => {
                above.now = above.now + Duration::from_millis(number(body));
                above.member.timeout(above.now, &mut above.dice);
            }
            7 => above.member.clock(above.now, UnixTime(NOW.0 + (number(body) << 12)), &mut above.dice),
            8 => {
                let send = Command::Send { group, service: Service::Agreed, payload, signed: false };
                let _ = above.member.command(above.now, send, &mut above.dice);
            }
            _ => above.word(ToMember::LinkUp { node: sender.node(), rostered: true, at: AWAY }),
        }
    }
    above.word(ToMember::Credit { group, grant: Grant(1 << 40) });
    above.word(ToMember::Credit { group, grant: Grant(1 << 20) });
    Some(above)
}

/// Seeds: admission, flush and keying words wrapped as the member wraps them.
pub(crate) fn member_seeds(admission: &[Vec<u8>]) -> Vec<Vec<u8>> {
    use folkmoot_base::ViewId;
    use folkmoot_flush::message::{Control, FlushOk, Signed, commitment, encode};
    let open = script(admission.iter().rev().take(2).map(|word| (0, [&[OPEN], &word[..]].concat())));
    let admit = world().admit();
    let view = crate::frames::view_id(world().group(), 1);
    let heads = world().transcript.digest();
    let receipt = [6; 32];
    let ok = |sender: &Identity, port: u16, view: ViewId| {
        let (signatures, party) = (Prover::new(sender.key().clone()), Party::new(sender.member(), port));
        let (brings, commitment) = (Vec::new().into(), commitment(&party, &view, &receipt));
        let ok = FlushOk { view, number: 1, heads, brings, reached: None, commitment };
        encode(&Control::FlushOk(Box::new(Signed::sign(ok, &party, &signatures)))).to_vec()
    };
    let received = |view| encode(&Control::FlushReceived { view, receipt }).to_vec();
    let (mine, theirs) = (&world().founders[0], &world().founders[1]);
    let tag = folkmoot_flush::message::ViewTag::of(&view);
    let head = |to| folkmoot_flush::message::data_header(&tag, Service::Agreed, to, 0);
    let keying = [head(For::Keying).as_slice(), &[1]].concat();
    let sealed = [head(For::Session).as_slice(), &[0; 40]].concat();
    let two = vec![
        (4, vec![2]),
        (0, ok(theirs, PORTS[0], view)),
        (0, received(view)),
        (0, keying),
        (0, sealed),
        (8, b"hi".to_vec()),
    ];
    let asked = admission.iter().take(1).map(|word| (0x13, word.clone())).chain([(6, vec![40, 0])]);
    // Alone, and then together with the member's other program.
    let next = crate::frames::view_id(world().group(), 2);
    let both = vec![
        (4, vec![0]),
        (8, b"alone".to_vec()),
        (4, vec![0b00_1001]),
        (0x50, ok(mine, PORTS[1], next)),
        (0x50, received(next)),
        (5, vec![0b00_1001]),
        (6, vec![2, 0]),
    ];
    let at = |port: u8, steps: Vec<u8>| [vec![port], steps].concat();
    vec![
        at(0, open.clone()),
        at(0, script([(2, admit.clone())])),
        at(0, script(two.clone())),
        at(0, script(asked)),
        at(0, script([(4, vec![0]), (8, b"alone".to_vec()), (6, vec![2, 0])])),
        at(0, script(both)),
        at(1, open),
        at(1, script([(2, admit)])),
        at(1, script(two)),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Above, above_after, member_seeds};
    use crate::admission;

    #[test]
    fn seeds_lead_a_program_to_an_admission_and_to_views() {
        let [admission, ..] = admission::admission_seeds();
        let lives: Vec<_> = member_seeds(&admission).iter().filter_map(|seed| above_after(seed)).collect();
        let rosters: Vec<_> = lives.iter().map(|above| above.member.transcript().roster().len()).collect();
        assert_eq!(rosters, [3, 4, 3, 3, 3, 3, 3, 4, 3]);
        // Both are alone at first. The second then waits for a step of its member's other program.
        let keys = |above: &Above| (above.views.clone(), above.order);
        assert_eq!([4, 5].map(|life| keys(&lives[life])), [(vec![1], 1), (vec![1], 2)]);
    }
}
