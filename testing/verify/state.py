"""State(n), read from its encoding, and what it says of approvals and requests."""

import codec
import names
import sharing
from der import utf8
from keys import is_member_key
from refused import Refused, digest, need

LAST = (1 << 64) - 1
LIFE = 90 * 86_400
DAY = 86_400
MEMBERS_MAX = 1_000
VOTERS_MAX = 256
REPLACED_MAX = 4_096


class Held:
    """A member as the line, or an admission that counts, holds it."""

    def __init__(self, request, name, spki, ends, issued):
        self.request, self.name, self.spki = request, name, spki
        self.ends, self.issued = ends, issued


def take32(reader):
    return bytes(reader.take(32))


def read_pair(reader, size):
    return take32(reader), reader.number(size)


def read_held(reader):
    member, request = take32(reader), take32(reader)
    name, spki, ends = utf8(reader.blob()), reader.blob(), reader.number(8)
    issued = reader.optional(lambda inner: bytes(inner.take(16)))
    need(is_member_key(spki) and digest(spki) == member, "a member's key is another's", "LINE-71")
    need(names.is_name(name), "nobody may be called as a member is", "LINE-71")
    return member, Held(request, name, spki, ends, issued)


def read_refused(reader):
    request = take32(reader)
    csr = reader.optional(lambda inner: bytes(inner.take(16)))
    return (request, csr is not None, csr or b""), reader.number(8)


def listed(values):
    """What is sorted, each once."""
    need(codec.is_sorted(values), "a list of the state is not sorted", "LINE-71")
    return values


def mapped(pairs):
    """What is sorted by its first part, each of them once."""
    listed([key for key, _ in pairs])
    return dict(pairs)


def run(before, number, electorate):
    """The running digest after this electorate."""
    quorum, places = electorate
    told = b"".join(member + len(spki).to_bytes(4, "big") + spki for member, spki in places)
    encoded = bytes([1, quorum]) + codec.of_length(told) + told
    return digest(b"folkmoot electorates v1\0", before, number.to_bytes(8, "big"), encoded)


class State:
    """The state of a group: founded, or read."""

    def __init__(self, charter):
        self.founding = self.charter = charter
        self.group = charter.group
        founded = digest(b"folkmoot founding v1\0", self.group)
        self.head, self.time = (0, founded), 0
        self.roster = {
            member: Held(founded, name, spki, LAST, None) for member, name, spki in charter.founders
        }
        self.places = [(member, 0) for member, _, _ in charter.founders]
        self.sharing, self.removed, self.struck = None, {}, set()
        self.fields, self.things, self.replaced = {}, {}, {}
        self.recent, self.used, self.refused, self.revoked = {}, {}, {}, {}
        self.running = run(bytes(32), 0, self.electorate())
        self.encoded = None

    def digest(self):
        encoded = self.encode_founded() if self.encoded is None else self.encoded
        return digest(b"folkmoot state v1\0", encoded)

    def encode_founded(self):
        """The encoding of State(0): a founding has no lists but roster and places."""
        held, places = [], [member + bytes(8) for member, _ in self.places]
        for member, one in sorted(self.roster.items()):
            name = one.name.encode()
            held += [member, one.request, len(name).to_bytes(4, "big"), name]
            held += [len(one.spki).to_bytes(4, "big"), one.spki, one.ends.to_bytes(8, "big"), b"\0"]
        lists = [b"".join(held), b"".join(places)]
        told = b"".join(codec.of_length(one) + one for one in lists)
        nothing = bytes(1 + 2 + 24 + 5 + 1 + 1)
        return b"\1" + self.group + bytes(16) + b"\0" + told + nothing + self.running

    def after(self, data, decision):
        """`LINE-71`: the state that these bytes are, after the decision of this digest."""
        state = State(self.founding)
        state.encoded = bytes(data)
        codec.decode(data, lambda reader: state.read(reader, decision))
        return state

    def read(self, reader, decision):
        need(take32(reader) == self.group, "the state is another group's", "LINE-71")
        self.head, self.time = (reader.number(8), decision), reader.number(8)
        changes = reader.list(lambda one: (utf8(one.blob()), utf8(one.blob())))
        self.roster = mapped(reader.list(read_held))
        self.places = reader.list(lambda one: read_pair(one, 8))
        few = len(self.roster) <= MEMBERS_MAX and len(self.places) <= VOTERS_MAX
        need(few, "the state has more members or places than a group may have", "LINE-71")
        said = reader.optional(lambda one: (one.blob(), one.blob()))
        self.removed = mapped(reader.list(lambda one: read_pair(one, 8)))
        self.fields = mapped(reader.list(lambda one: (utf8(one.blob()), one.number(8))))
        self.things = {thing: reader.number(8) for thing in ("electorate", "sharing", "rejoin")}
        self.struck = set(listed(reader.list(lambda one: (utf8(one.blob()), take32(one)))))
        recent = reader.list(lambda one: (codec.head(one), one.number(8)))
        self.recent = mapped([(number, known) for (number, known), _ in recent])
        self.used = mapped(reader.list(lambda one: read_pair(one, 8)))
        self.refused = mapped(reader.list(read_refused))
        self.revoked = mapped(reader.list(lambda one: (bytes(one.take(16)), one.number(8))))
        reader.optional(codec.head)
        self.replaced = mapped(reader.list(lambda one: (take32(one), (take32(one), one.number(8)))))
        need(len(self.replaced) <= REPLACED_MAX, "the list of former keys is too long", "LINE-71")
        self.running = take32(reader)
        mapped(changes)
        self.charter = self.founding.amended(changes)
        for field, key in self.struck:
            self.charter.strike(field, key)
        if said is not None:
            self.sharing = sharing.facts(self.charter.scheme, said[0])

    def electorate(self):
        """Quorum, and for each place its holder and the holder's key, if it is a member."""
        places = [(voter, self.roster[voter].spki if voter in self.roster else b"") for voter, _ in self.places]
        return 2 if self.charter.quorum == "two-thirds" else 1, places

    def has_on_line(self, head):
        """Whether this is the head, or a recent decision of this line."""
        return head == self.head or self.recent.get(head[0]) == head[1]

    def since(self, voter):
        """The number since which the voter has its first place; None without one."""
        return next((since for holder, since in self.places if holder == voter), None)

    def may_vote(self, voter):
        return voter in self.roster and self.since(voter) is not None

    def voters(self):
        return {voter for voter, _ in self.places if voter in self.roster}

    def is_quorum(self, yes):
        return holds_quorum(*self.electorate(), yes)

    def removed_at(self, member):
        return self.removed.get(member, 0)

    def stamp(self, effect, named):
        """`LINE-13`: of what an effect is about, and of the removals of all keys that it names."""
        field = None if effect.field is None else effect.field.decode("utf-8", "replace")
        keys = effect.keys | self.holders(effect.public)
        if named is not None:
            keys.add(named.member)
        stamps = [self.removed_at(key) for key in keys]
        return max(self.fields.get(field, 0), self.things.get(effect.thing, 0), *stamps)

    def holders(self, public):
        """Whom a sharing names, if it is one of the charter's scheme."""
        try:
            return set() if public is None else set(sharing.facts(self.charter.scheme, public).holders)
        except Refused:
            return set()

    def counts(self, approval, stamp, time):
        """`LINE-10` to `LINE-14`, `LINE-21`."""
        voter, base = approval.voter, approval.base
        return (
            self.has_on_line(base)
            and self.may_vote(voter)
            and base[0] >= self.since(voter)
            and base[0] >= stamp
            and approval.expires >= time
            and approval.subject[1] not in self.used
        )

    def below(self):
        """Whether there are fewer voters than asked for, and the charter says who admits then."""
        fewer = len(self.voters()) < self.charter.votes()
        return self.charter.below_threshold != "none" and fewer

    def threshold(self):
        """How many approvals it takes, before any quorum."""
        if self.charter.below_threshold == "reset" and self.below():
            return max(len(self.voters()), 1)
        return self.charter.votes()

    def is_for_authority(self):
        charter = self.charter
        return charter.policy == "authority" or (charter.below_threshold == "authority" and self.below())

    def lets_in(self, member, yes):
        """`LINE-24`, `LINE-25`: whether these approvals admit."""
        charter = self.charter
        if self.is_for_authority():
            return True
        if charter.policy == "list" and member not in charter.list:
            return False
        if charter.policy == "threshold" and len(yes) < self.threshold():
            return False
        return charter.may_admit(yes) and (charter.minority_may_admit or self.is_quorum(yes))

    def takes_request(self, admit, time):
        """`LINE-20` to `LINE-22`, `LINE-26` to `LINE-28`, `LINE-31`, `LINE-90`."""
        return (
            admit.request not in self.used
            and admit.ends >= time
            and self.has_on_line(admit.base)
            and admit.base[0] >= self.removed_at(admit.member)
            and admit.member not in self.replaced
            and self.charter.allows_term(admit.begins, admit.ends)
            and self.takes_epoch(admit)
        )

    def takes_epoch(self, admit):
        if not self.charter.is_shared() or self.is_for_authority():
            return True
        if self.sharing is None or self.sharing.epoch not in admit.epochs:
            return False
        leavers = [holder for holder in self.sharing.holders if not self.may_vote(holder)]
        return len(leavers) < self.sharing.threshold

    def has_refused(self, admit):
        return any(covers(refusal, admit) for refusal in self.refused)

    def is_able(self, voters):
        """`LINE-45`: whether these could decide."""
        votes = 1 if self.charter.below_threshold == "reset" else self.charter.votes()
        return voters and len(voters) >= self.charter.signers(votes) and self.is_quorum(voters)

    def ending(self, time, renewed):
        """`LINE-35`: whose membership ends because the term did before this time."""
        over = {one for one, held in self.roster.items() if held.ends < time and one not in renewed}
        placed = []
        for voter, _ in self.places:
            if voter in over and voter not in placed:
                placed.append(voter)
        left, ended = self.voters(), over.difference(placed)
        for voter in sorted(placed, key=lambda one: self.roster[one].ends):
            stay = left - {voter}
            if self.is_able(stay) and self.charter.reaches(stay) >= self.charter.reaches(left):
                left = stay
                ended.add(voter)
        return ended

    def has_serial(self, admit):
        """`LINE-29`: whether another certificate has this one's serial number."""
        serial = admit.issued
        held = any(one.issued == serial and one.request != admit.request for one in self.roster.values())
        return serial is not None and (serial in self.revoked or held)


def covers(refusal, admit):
    """Whether a refusal, (request, by CSR, serial), ends this admission."""
    request, by_csr, serial = refusal
    return request == admit.request or (by_csr and serial == admit.serial)


def holds_quorum(quorum, places, yes):
    """Whether `yes` hold enough of the places."""
    count = sum(member in yes for member, _ in places)
    if quorum == 2:
        return count * 3 > len(places) * 2
    first = bool(places) and places[0][0] in yes
    return count * 2 > len(places) or (first and count * 2 == len(places))
