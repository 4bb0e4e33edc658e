//! The program sends: data leaves at once, with a record if the token is parked here.

use crate::frame::Frame;
use crate::history::Message;
use crate::node::{Ctx, Node, Phase};
use crate::nouns::{Delivery, Packet, Per, Place, Service, Set};
use crate::rules::Rule;

impl Node {
    /// Whether the program may send.
    pub(crate) fn may_say(&self) -> bool {
        !self.store.frozen
    }

    /// The program sends.
    pub(crate) fn say(&mut self, service: Service, ctx: &mut Ctx<'_>) {
        let uid = ctx.history.messages.len();
        let (config, source) = (self.store.id, self.id);
        let mine = ctx.history.messages.iter().enumerate().filter(|(_, one)| {
            one.source == source && one.config == config && one.service != Service::Unreliable
        });
        let earlier = mine.fold(Set::default(), |set, (uid, _)| set.or(Set::one(uid)));
        let causal = |uid: &usize| ctx.history.service(*uid) >= Service::Causal;
        let seen =
            self.store.delivered.iter().filter(causal).fold(Set::default(), |set, uid| set.or(Set::one(uid)));
        ctx.history.messages.push(Message { source, config, service, earlier, seen });
        if service == Service::Unreliable {
            self.tell(&Frame::Unreliable { config, uid }, ctx);
            self.unreliable(uid, ctx);
            return;
        }
        let mut names = Per::default();
        if service >= Service::Causal {
            names = Per::of(|other| if other == source { 0 } else { self.store.highest_causal(other) });
        }
        let packet = Packet { uid, source, number: self.store.high[source] + 1, service, names };
        let mut records = Vec::new();
        self.keep(packet, ctx);
        if let Some(mut token) = self.token
            && self.phase == Phase::Stands
        {
            records = self.order(&mut token, ctx);
            self.token = Some(token);
        }
        self.tell(&Frame::Data { config, hop: self.hop, packets: vec![packet], records }, ctx);
        self.deliver(ctx);
    }

    pub(crate) fn unreliable(&mut self, uid: usize, ctx: &mut Ctx<'_>) {
        self.store.delivered.add(uid);
        self.log(&[Delivery { uid, place: Place::None }], ctx);
    }

    /// Keeps a packet; a reliable one is delivered on arrival.
    pub(crate) fn keep(&mut self, packet: Packet, ctx: &mut Ctx<'_>) {
        let new = self.store.keep_packet(packet);
        if new && packet.service == Service::Reliable && ctx.rules.keep(Rule::AtOnce) {
            let mut out = Vec::new();
            self.store.deliver(packet, Place::None, &mut out);
            self.log(&out, ctx);
            ctx.history.count("reliable on arrival");
        }
    }
}
