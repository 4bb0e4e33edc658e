"""A transcript file of format 2: its sections, and the transcript that they make."""

import charter
import codec
import request
from admissions import Set
from approval import Effect, read_signed
from line import Line
from membership import Gmc
from refused import Refused, digest, need
from state import State

LABEL = b"folkmoot transcript v2\0"
MIB = 1024 * 1024
CHARTER, HANDOVER, LAST, STATE, OPEN, HELD, FORK, END = range(1, 9)
LONGEST = {CHARTER: 48 * 1024, HANDOVER: MIB, LAST: MIB, STATE: 16 * MIB, OPEN: MIB, HELD: MIB, FORK: 2 * MIB, END: 0}
ITEMS_MAX = 4 * MIB


def sections(data):
    """`LINE-80` to `LINE-82`: kind and bytes of each section, in order, the end included."""
    need(data.startswith(LABEL), "it is no transcript of this format", "LINE-80")
    at, before = len(LABEL), 0
    while at < len(data):
        need(before != END, "bytes follow the end", "LINE-82")
        kind, length = data[at], int.from_bytes(data[at + 1 : at + 5], "big")
        need(at + 5 <= len(data), "it is cut short", "LINE-82")
        need(kind in LONGEST and length <= LONGEST[kind], "a section is of no kind, or too long", "LINE-81")
        end = at + 5 + length
        need(end <= len(data), "it is cut short", "LINE-82")
        once = kind in (CHARTER, LAST, STATE, END)
        need(kind > before or (kind == before and not once), "a section is not in its place", "LINE-81")
        yield kind, data[at + 5 : end]
        at, before = end, kind
    need(before == END, "it is cut short", "LINE-82")


class Transcript:
    """What a file says. `heads` are known from elsewhere: number and digits of each."""

    def __init__(self, data, heads=()):
        self.line = self.set = None
        self.items, self.place, self.held = 0, (0, b""), set()
        take = {CHARTER: self.found, HANDOVER: self.hand_over, LAST: self.take_last, STATE: self.take_state,
                OPEN: self.take, HELD: self.take_held, FORK: self.take_fork, END: lambda _: None}
        before = CHARTER
        for kind, section in sections(data):
            need(kind == CHARTER or self.line, "it does not begin with a charter", "LINE-80")
            need(kind <= STATE or not self.line.open, "it has no state", "LINE-81")
            if before == OPEN < kind:
                self.set.settle()
            take[kind](section)
            before = kind
        self.line.check_heads(heads)

    def found(self, section):
        self.charter = charter.signed(section)
        self.line = Line(State(self.charter))
        self.start()

    def start(self):
        self.state = self.line.state
        self.set = Set(self.state)

    def hand_over(self, section):
        self.line.hand_over(section)

    def take_last(self, section):
        self.line.take_last(section)

    def take_state(self, section):
        self.line.take_state(section)
        self.start()

    def take_fork(self, section):
        self.line.take_fork(section)

    def take(self, section):
        """`LINE-01`, `LINE-07` to `LINE-12`, `LINE-33`, `LINE-81`, `LINE-87`: an item of the set."""
        place = section[1] if len(section) > 1 else 0, digest(section)
        need(place > self.place, "an item is not in its place", "LINE-81")
        self.place, self.items = place, self.items + 1
        need(self.items <= ITEMS_MAX, "there are too many items", "LINE-87")
        codec.decode(section, self.read_item)

    def read_item(self, reader):
        kind = reader.one_of(range(1, 8))
        need(kind < 6, "a decision is no item of the set", "LINE-81")
        readers = {1: self.admit, 2: self.approval, 3: self.effect, 4: self.refusal, 5: self.past}
        act = readers[kind](reader)
        need(reader.at == len(reader.data), "bytes follow the end of an item", "LINE-01")
        act()

    def certificate(self, data):
        gmc = Gmc(data)
        gmc.check_form(self.charter)
        gmc.check_key(self.state.charter, self.state.sharing)
        return gmc

    def admit(self, reader):
        data, approvals = reader.blob(), reader.list(read_signed)

        def act():
            gmc = self.certificate(data)
            signed = []
            for one in approvals:
                if one.subject[1] == gmc.request and one.voter in self.state.roster:
                    one.check(self.state.group, self.state.roster[one.voter].spki)
                    signed.append(one)
            need(gmc.request not in self.state.used, "a decision holds it", "LINE-21")
            self.set.take_certificate(gmc, signed, len(reader.data))

        return act

    def approval(self, reader):
        one = read_signed(reader)

        def act():
            need(self.state.may_vote(one.voter), "the voter has no vote", "LINE-11")
            one.check(self.state.group, self.state.roster[one.voter].spki)
            need(self.state.has_on_line(one.base), "its base is not on the line", "LINE-10")
            need(one.base[0] >= self.state.since(one.voter), "it is older than the vote", "LINE-12")
            need(one.subject[1] not in self.state.used, "its request has let somebody in", "LINE-21")
            self.set.take_approval(one)

        return act

    def effect(self, reader):
        one = Effect(reader)

        def act():
            one.check(self.state)
            self.set.take_effect(one)

        return act

    def refusal(self, reader):
        data = reader.blob()
        return lambda: self.set.take_refusal(*request.refused(data))

    def past(self, reader):
        time = reader.number(8)
        return lambda: self.set.take_past(time)

    def take_held(self, section):
        """`LINE-83`."""
        codec.decode(section, self.read_held)

    def read_held(self, reader):
        need(reader.one_of(range(1, 8)) == 1, "it is no item of an admission", "LINE-83")
        data = reader.blob()
        reader.list(read_signed)
        need(reader.at == len(reader.data), "bytes follow the end of an item", "LINE-01")
        gmc = self.certificate(data)
        held = self.state.roster.get(gmc.member)
        need(held is not None and held.request == gmc.request, "the state holds no such admission", "LINE-83")
        need(gmc.request not in self.held, "an admission comes twice", "LINE-83")
        self.held.add(gmc.request)

    def verdict(self):
        """What two readers compare."""
        members = self.set.members()
        lines = [
            member + held.request + held.ends.to_bytes(8, "big") + held.name.encode()
            for member, held in sorted(members.items())
        ]
        return {
            "accepted": True,
            "number": self.state.head[0],
            "head": self.state.head[1].hex(),
            "state": self.state.digest().hex(),
            "set": self.set.digest().hex(),
            "members": len(members),
            "roster": digest(*lines).hex(),
        }


def verdict(data, heads=()):
    """The verdict on a file, whatever its bytes, by somebody who knows these heads: `NUMBER.HEX`."""
    known = [(int(number), digits) for number, digits in (one.split(".") for one in heads)]
    try:
        return Transcript(data, known).verdict()
    except Refused as why:
        return {"accepted": False, "why": str(why), "rule": why.rule}
