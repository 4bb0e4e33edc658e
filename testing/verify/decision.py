"""Decisions that stand: proposals, stages, promises and commits of an electorate."""

import codec
from approval import Effect
from codec import is_sorted
from keys import is_member_key, verifies
from refused import digest, need
from state import holds_quorum

LABEL = b"folkmoot statement v1"


def take32(reader):
    return bytes(reader.take(32))


def read_proof(reader):
    take32(reader)
    codec.head(reader)
    reader.number(12)
    codec.signature(reader)


def read_approved(reader):
    Effect(reader)
    reader.list(read_proof)


def read_refused(reader):
    take32(reader)
    reader.optional(lambda one: one.take(16))
    reader.list(read_proof)


def read_electorate(reader):
    return reader.number(1), reader.list(lambda one: (take32(one), one.blob()))


def read_report(reader):
    return reader.number(4), take32(reader)


class Decision:
    """A decision as far as an outsider looks at it."""

    def __init__(self, reader):
        start = reader.at
        self.group, self.number, self.parent = take32(reader), reader.number(8), take32(reader)
        reader.number(8)
        reader.list(read_approved)
        reader.list(take32)
        reader.list(read_refused)
        self.electorate = reader.optional(read_electorate)
        self.state = take32(reader)
        self.digest = digest(b"folkmoot decision v2\0\1", reader.data[start : reader.at])

    def head(self):
        return self.number, self.digest

    def before(self):
        """The head that it follows; a decision 0 follows 0."""
        return max(self.number - 1, 0), self.parent


class Promise:
    """A promise in a stage, with its bytes."""

    def __init__(self, reader):
        start = reader.at
        self.voter, self.report = take32(reader), reader.optional(read_report)
        self.signature = codec.signature(reader)
        self.encoded = b"\1" + bytes(reader.data[start : reader.at])


def read_stage(reader):
    return reader.number(4), reader.list(Promise), codec.signature(reader)


class Standing:
    """A decision with the stages in which it was proposed and the commits to it."""

    def __init__(self, reader):
        self.decision = Decision(reader)
        self.stages = reader.list(read_stage)
        self.commits = reader.list(lambda one: (take32(one), codec.signature(one)))

    def check(self, electorate):
        """`LINE-61` to `LINE-65`: the electorate as (quorum, places) has decided this."""
        before = None
        need(self.stages, "nobody has proposed it", "LINE-61")
        for ballot, promises, _ in self.stages:
            need(before is None or before[0] < ballot, "ballots do not rise", "LINE-61")
            check_promises(electorate, ballot, promises)
            need(highest(promises) == before, "a report is not followed", "LINE-63")
            before = ballot, self.decision.digest
        voters = [voter for voter, _ in self.commits]
        need(are_enough(electorate, voters), "no quorum has committed", "LINE-65")
        self.check_signatures(electorate)

    def check_signatures(self, electorate):
        """`LINE-64`."""
        places = electorate[1]
        need(places, "the electorate is empty", "LINE-64")
        keys = {voter: spki for voter, spki in places if is_member_key(spki)}
        group, decision = self.decision.group, self.decision
        parent = codec.of_head(decision.before())
        for ballot, promises, signature in self.stages:
            owner = places[(decision.before()[0] + ballot) % (1 << 64) % len(places)][0]
            told = digest(b"folkmoot promises v1\0", *(one.encoded for one in promises))
            said = parent + ballot.to_bytes(4, "big")
            check_statement(keys, group, owner, b"\1" + said + decision.digest + told, signature)
            for one in promises:
                report = b"\0" if one.report is None else b"\1" + of_report(one.report)
                check_statement(keys, group, one.voter, b"\2" + said + report, one.signature)
        said = b"\3" + parent + self.stages[-1][0].to_bytes(4, "big") + decision.digest
        for voter, signature in self.commits:
            check_statement(keys, group, voter, said, signature)


def of_report(report):
    return report[0].to_bytes(4, "big") + report[1]


def highest(promises):
    """The report of the highest ballot; of two there, the one with the lower digest."""
    reports = [one.report for one in promises if one.report is not None]
    return min(reports, key=lambda one: (-one[0], one[1]), default=None)


def check_promises(electorate, ballot, promises):
    """`LINE-62`."""
    voters = [one.voter for one in promises]
    enough = are_enough(electorate, voters) if ballot else not voters
    lower = all(one.report is None or one.report[0] < ballot for one in promises)
    need(enough and lower, "the promises are not those of a quorum", "LINE-62")


def are_enough(electorate, voters):
    """Whether these are sorted, have places and votes, and are a quorum."""
    able = {voter for voter, spki in electorate[1] if spki}
    return is_sorted(voters) and set(voters) <= able and holds_quorum(*electorate, set(voters))


def check_statement(keys, group, voter, statement, signature):
    known = voter in keys
    signed = known and verifies(keys[voter], LABEL, group + b"\1" + statement, signature)
    need(signed, "a statement is not signed by its voter", "LINE-64")
