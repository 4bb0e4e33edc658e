"""Approvals and effects: what voters say, and how it is named."""

import cms
import codec
from charter import ids_of_word
from der import utf8
from keys import is_member_key, verifies
from refused import Refused, digest, need

ADMIT = 1
YES, NO = 1, 2


class Approval:
    """One voter's yes or no; `signature` is None if only a certificate proves it."""

    def __init__(self, voter, base, subject, turn, verdict, expires, signature):
        self.voter, self.base, self.subject, self.turn = voter, base, subject, turn
        self.verdict, self.expires, self.signature = verdict, expires, signature
        body = voter + codec.of_head(base) + bytes([subject[0]]) + subject[1]
        body += turn.to_bytes(4, "big") + bytes([verdict]) + expires.to_bytes(8, "big")
        self.digest = digest(b"folkmoot approval v1\0\1", body)

    def is_yes(self):
        return self.verdict == YES

    def key(self):
        return self.subject, self.voter

    def content(self, group):
        """VoteContent: what the voter signs, through CMS attributes."""
        number, known = self.base
        kind, subject = self.subject
        return b"".join((
            b"folkmoot vote v2\0\1", group, number.to_bytes(8, "big"), known, bytes([kind]), subject,
            self.turn.to_bytes(4, "big"), bytes([self.verdict]), self.expires.to_bytes(8, "big"),
        ))

    def replaces(self, other):
        """`LINE-15`: the later base; then the higher turn; then a no; then the lower digest."""
        mine = self.base[0], self.turn, self.verdict
        its = other.base[0], other.turn, other.verdict
        return mine > its or (mine == its and self.digest < other.digest)

    def check(self, group, spki):
        """`LINE-09`."""
        signed = cms.verifies(spki, self.content(group), self.signature)
        need(signed, "an approval is not signed by its voter", "LINE-09")


def read_signed(reader):
    voter, base = bytes(reader.take(32)), codec.head(reader)
    subject = reader.one_of(range(1, 11)), bytes(reader.take(32))
    turn, verdict, expires = reader.number(4), reader.one_of((YES, NO)), reader.number(8)
    return Approval(voter, base, subject, turn, verdict, expires, codec.signature(reader))


def keys_named(field, value):
    """Whom a value of the charter names: nobody if it is not in the one spelling of key ids."""
    if field not in (b"list", b"decider") and not field.startswith(b"roles."):
        return set()
    try:
        utf8(field)
        return ids_of_word(utf8(value))
    except Refused:
        return set()


class Effect:
    """A change that people approve: its subject, and of another key the old key's word,
    of a member that leaves its own."""

    def __init__(self, reader):
        self.rotation, self.leave, self.length = None, None, 0
        # Whose stamp it has, of a field or of one thing; which keys it names, in a sharing too, and
        # which admission.
        self.field, self.thing, self.request = None, None, None
        self.keys, self.public = set(), None
        kind, plain = self.read(reader, reader.one_of(range(1, 10)))
        forced = reader.one_of((0, 1))
        self.subject = kind, digest(b"folkmoot forced v1\0", plain) if forced else plain

    def read(self, reader, change):
        """Kind and digest of the plain subject."""
        if change == 1:
            member = bytes(reader.take(32))
            self.keys = {member}
            return 2, digest(b"folkmoot removal v2\0", member)
        if change == 2:
            field, value = reader.blob(), reader.blob()
            self.field, self.keys = field, keys_named(field, value)
            self.length = len(field) + len(value)
            return 3, digest(b"folkmoot change v1\0", field, b"\0", value)
        self.thing = {3: "electorate", 4: "sharing", 7: "rejoin"}.get(change)
        if change == 3:
            voters = reader.list(lambda one: bytes(one.take(32)))
            self.keys = set(voters)
            return 4, digest(b"folkmoot electorate v2\0", *voters)
        if change == 4:
            public, authority = reader.blob(), reader.blob()
            self.public, self.length = public, len(public) + len(authority)
            return 5, digest(b"folkmoot sharing v2\0", digest(public), digest(authority))
        if change == 5:
            self.request = bytes(reader.take(32))
            return 6, digest(b"folkmoot hold v1\0", self.request)
        if change == 7:
            return 8, digest(b"folkmoot rejoin v1\0", reader.take(8), reader.take(32))
        if change == 8:
            member, word = bytes(reader.take(32)), bytes(reader.take(16))
            self.leave = member, word, bytes(reader.blob()), codec.signature(reader)
            self.keys = {member}
            return 9, digest(b"folkmoot leaving v1\0", member, word)
        if change == 9:
            return 10, digest(b"folkmoot retime v1\0", reader.take(8), reader.take(32))
        member, request = bytes(reader.take(32)), bytes(reader.take(32))
        self.rotation = member, request, codec.signature(reader)
        self.keys, self.request = {member}, request
        return 7, digest(b"folkmoot rotation v1\0", member, request)

    def check(self, state):
        """`LINE-09`: whether the old key has given its word. `LINE-93`: whether the one that leaves has."""
        if self.leave is not None:
            leaver, word, spki, signature = self.leave
            need(digest(spki) == leaver and is_member_key(spki), "another key says who leaves", "LINE-93")
            signed = verifies(spki, b"folkmoot leave v1", state.group + word, signature)
            need(signed, "a member that leaves has not said so", "LINE-93")
        if self.rotation is None:
            return
        member, request, signature = self.rotation
        need(member in state.roster, "no member has the old key", "LINE-11")
        spki = state.roster[member].spki
        signed = verifies(spki, b"folkmoot rotation v1", state.group + request, signature)
        need(signed, "the old key has not given its word", "LINE-09")
