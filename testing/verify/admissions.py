"""The set: what no decision holds yet, what of it counts, and the roster that follows."""

from approval import ADMIT, Approval
from refused import Refused, digest, need
from state import DAY, MEMBERS_MAX, VOTERS_MAX, Held, covers

ADMITS_MAX, APPROVALS_MAX, SPONSORED_MAX, PAPERS_MAX = 4_096, 4_096, 16, 4
EPOCHS_MAX, REPLACED_MAX = 4, 4
LATE_MAX, LATE_BYTES_MAX, REFUSALS_MAX = 128, 8 * 1024, 128
SPONSORED_BYTES = 256 * 1024
# Why an admission does not count: for itself, or beside those before it.
COUNTS, LATE, CROWDED = 0, 1, 2


class Set:
    """Everything of the set, and the state by which it is judged."""

    def __init__(self, state):
        self.state = state
        self.admits, self.verdicts = {}, {}
        self.approvals, self.replaced, self.given = {}, {}, {}
        self.effects, self.refusals, self.past = {}, set(), None
        self.papers, self.long = {}, set()

    def take_certificate(self, admit, signed, length):
        """An item of an admission: its certificate, and the approvals beside it that verify."""
        if length > LATE_BYTES_MAX and admit.request not in self.admits:
            self.long.add(admit.request)
        proofs = self.carried(admit) + signed
        only_here = {proof.digest for proof in proofs if proof.signature is None}
        papers = self.papers.get(admit.request, [])
        wanted = not papers or not all(any(name in known for known in papers) for name in only_here)
        if wanted and len(papers) >= PAPERS_MAX:
            proofs = [proof for proof in proofs if proof.signature is not None]
        self.take_admit(admit)
        for proof in proofs:
            self.take_approval(proof)
        if wanted and len(papers) < PAPERS_MAX:
            self.papers.setdefault(admit.request, []).append(only_here)

    def carried(self, admit):
        """The approvals in a certificate that verify, of those whose keys are known."""
        roster, subject = self.state.roster, (ADMIT, admit.request)
        found = []
        for vote in admit.said.votes or []:
            one = Approval(vote.voter, vote.base, subject, vote.turn, 1, vote.expires, vote.signature)
            if vote.voter in roster and verifies(one, self.state.group, roster[vote.voter].spki):
                found.append(one)
        multi = admit.said.multi
        if multi is not None:
            each = [
                Approval(signer, multi.base, subject, multi.turn, 1, multi.expires, None)
                for signer in multi.signers
            ]
            keys = {member: held.spki for member, held in roster.items()}
            if multi.verifies(self.state.group, each[0].content(self.state.group), keys):
                found += each
        return found

    def take_admit(self, admit):
        known = self.admits.get(admit.request)
        if known is not None:
            known.epochs |= admit.epochs
            need(len(known.epochs) <= EPOCHS_MAX, "an admission has too many share-epochs", "LINE-87")
            return
        self.admits[admit.request] = admit
        need(len(self.admits) <= ADMITS_MAX, "there are too many admissions", "LINE-87")

    def is_shown(self, approval):
        """Whether it has a signature of its own, or its admission, whose certificate proves it, is here."""
        return approval.signature is not None or approval.subject[1] in self.admits

    def take_approval(self, approval):
        key = approval.key()
        known = self.approvals.get(key)
        if known is not None and known.digest == approval.digest:
            known.signature = known.signature or approval.signature
            return
        if not self.state.counts(approval, 0, 0) or not self.is_shown(approval):
            return
        if known is not None and not approval.replaces(known):
            self.take_replaced(approval)
            return
        self.approvals[key] = approval
        if known is not None:
            self.take_replaced(known)
            return
        given = self.given[approval.voter] = self.given.get(approval.voter, 0) + 1
        need(given <= APPROVALS_MAX + ADMITS_MAX, "a voter has too many approvals", "LINE-87")

    def take_replaced(self, approval):
        """Of a voter's yeses that do not stand: of each base the one with the latest end."""
        wanted = approval.is_yes() and approval.subject[0] == ADMIT
        if not wanted or not self.state.counts(approval, 0, 0):
            return
        all_kept = self.replaced.setdefault(approval.key(), {})
        known = all_kept.setdefault(approval.base[0], approval)
        if (-approval.expires, approval.digest) < (-known.expires, known.digest):
            all_kept[approval.base[0]] = approval
        if len(all_kept) > REPLACED_MAX:
            del all_kept[min(all_kept, key=lambda number: (self.counts_now(all_kept[number]), number))]

    def counts_now(self, approval):
        return self.state.counts(approval, 0, self.state.time)

    def settle(self):
        """Everything is here: what stays is judged. `LINE-87`: effects and refusals stay."""
        for voter in [voter for voter, given in self.given.items() if given > APPROVALS_MAX]:
            self.bound_approvals(voter)
        kept = self.bound_refusals() == self.refusals and self.bound_effects() == set(self.effects)
        need(self.past is None or self.is_end(self.past), "nothing ends there", "LINE-33")
        self.verdicts = {request: self.judge(admit) for request, admit in self.admits.items()}
        self.crowd()
        need(kept and not self.too_late(), "no set keeps all of it", "LINE-87")

    def too_late(self):
        """Admissions that do not count stay by the voters who approve them, the lowest first."""
        room, others = {voter: LATE_MAX for voter, _ in self.state.places}, LATE_MAX
        for request in sorted(one for one, verdict in self.verdicts.items() if verdict != COUNTS):
            yes = [one.voter for one in self.of((ADMIT, request)) if one.is_yes()]
            free = [voter for voter in yes if room.get(voter, 0) > 0]
            if request in self.long or (not free and others == 0):
                return True
            for voter in free:
                room[voter] -= 1
            others -= not free
        return False

    def bound_refusals(self):
        """A refusal stays while it is among the first 128 whose requests somebody rejects."""
        room, kept = {}, set()
        for refusal in sorted(self.refusals):
            for one in self.of((ADMIT, refusal[0])):
                if not one.is_yes() and room.get(one.voter, REFUSALS_MAX) > 0:
                    room[one.voter] = room.get(one.voter, REFUSALS_MAX) - 1
                    kept.add(refusal)
        return kept

    def bound_approvals(self, voter):
        """Of a voter's approvals those with the lowest digests stay."""
        mine = sorted((one.digest, key) for key, one in self.approvals.items() if key[1] == voter)
        for _, key in mine[APPROVALS_MAX:]:
            del self.approvals[key]
            self.replaced.pop(key, None)

    def take_effect(self, effect):
        self.effects.setdefault(effect.subject, effect)
        need(len(self.effects) <= VOTERS_MAX * SPONSORED_MAX, "there are too many effects", "LINE-87")

    def bound_effects(self):
        """An effect stays while it is among the first that the voter of a place approves."""
        kept = set()
        for voter, _ in self.state.places:
            left, room = SPONSORED_MAX, SPONSORED_BYTES
            for subject in sorted(self.effects):
                if self.sponsors(voter, subject) and left > 0 and room > 0:
                    left, room = left - 1, room - self.effects[subject].length
                    kept.add(subject)
        return {subject for subject in kept if self.is_of_a_member(self.effects[subject])}

    def sponsors(self, voter, subject):
        """Whether the voter approves an effect that has not been decided since."""
        effect, approval = self.effects[subject], self.approvals.get((subject, voter))
        stamp = self.state.stamp(effect, self.admits.get(effect.request))
        return approval is not None and approval.is_yes() and approval.base[0] >= stamp

    def is_of_a_member(self, effect):
        return effect.rotation is None or effect.rotation[0] in self.state.roster

    def take_refusal(self, request, serial):
        refusal = request, True, serial
        new = self.is_rejected(request) and refusal not in self.refusals
        need(new, "nobody rejects what it refuses", "LINE-87")
        self.refusals.add(refusal)

    def take_past(self, time):
        need(self.past is None, "a set has one time that is past", "LINE-81")
        need(time > self.state.time, "that is past by the last decision", "LINE-33")
        self.past = time

    def time(self):
        """By which everything is judged."""
        return self.state.time if self.past is None else self.past

    def is_end(self, past):
        """`LINE-33`, without a clock: whether this is one second after an end that is known."""
        ends = {held.ends for held in self.state.roster.values()}
        ends.update(admit.ends for admit in self.admits.values())
        said = [one for kept in self.replaced.values() for one in kept.values()]
        said += self.approvals.values()
        ends.update(one.expires for one in said if one.subject[0] == ADMIT and one.is_yes())
        return past - 1 in ends

    def of(self, subject):
        return [one for key, one in self.approvals.items() if key[0] == subject]

    def is_rejected(self, request):
        return any(not one.is_yes() for one in self.of((ADMIT, request)))

    def is_objected(self, request):
        """`LINE-23`: whether enough objections count."""
        needed = self.state.charter.objections
        against = [one for one in self.of((ADMIT, request)) if not one.is_yes()]
        # An objection does not run out.
        counting = sum(self.state.counts(one, 0, 0) for one in against)
        return needed is not None and counting >= needed

    def is_refused(self, admit):
        by_csr = any(covers(one, admit) and self.is_objected(one[0]) for one in self.refusals)
        return self.state.has_refused(admit) or self.is_objected(admit.request) or by_csr

    def judge(self, admit):
        """`LINE-20` to `LINE-28`, `LINE-31`."""
        time = self.time()
        if not self.state.takes_request(admit, time) or self.is_refused(admit):
            return LATE
        stamp = self.state.removed_at(admit.member)
        yes = {
            one.voter
            for one in self.of((ADMIT, admit.request))
            if one.is_yes() and self.state.counts(one, stamp, time) and self.fits(admit, one)
        }
        return COUNTS if self.state.lets_in(admit.member, yes) else LATE

    def fits(self, admit, approval):
        days = self.state.charter.request_days
        early = days is None or approval.expires <= admit.begins + days * DAY
        return approval.expires >= admit.begins and early

    def crowd(self):
        """`LINE-29`, `LINE-30`: by request, what has no room beside what comes before it."""
        members, serials = set(self.state.roster), set()
        for request in sorted(self.admits):
            admit = self.admits[request]
            if self.verdicts[request] == LATE:
                continue
            taken = admit.issued in serials or self.state.has_serial(admit)
            full = len(members) >= MEMBERS_MAX and admit.member not in members
            self.verdicts[request] = CROWDED if taken or full else COUNTS
            if not taken and not full:
                members.add(admit.member)
                serials.update([admit.issued] if admit.issued else [])

    def members(self):
        """Who is a member, by the admission that ends last."""
        counted = [one for request, one in self.admits.items() if self.verdicts[request] == COUNTS]
        found = dict(self.state.roster)
        for one in counted:
            known = found.get(one.member)
            if known is None or (known.ends, known.request) < (one.ends, one.request):
                found[one.member] = Held(one.request, one.name, one.spki, one.ends, one.issued)
        if self.past is not None:
            for member in self.state.ending(self.past, {one.member for one in counted}):
                del found[member]
        return found

    def digest(self):
        """Over the names of everything, sorted by subject and voter."""
        parts = [b"folkmoot set v3\0", b"admits", *sorted(self.admits), b"epochs"]
        for request, admit in sorted(self.admits.items()):
            parts += [request + epoch for epoch in sorted(admit.epochs)]
        parts.append(b"approvals")
        parts += [one.digest for _, one in sorted(self.approvals.items(), key=lambda pair: pair[0])]
        parts.append(b"replaced")
        for _, kept in sorted(self.replaced.items(), key=lambda pair: pair[0]):
            parts += [one.digest for _, one in sorted(kept.items())]
        parts += [b"effects", *(subject[1] for subject in sorted(self.effects)), b"refusals"]
        parts += [one[0] for one in sorted(self.refusals)]
        if self.past is not None:
            parts += [b"past", self.past.to_bytes(8, "big")]
        return digest(*parts)


def verifies(approval, group, spki):
    try:
        approval.check(group, spki)
        return True
    except Refused:
        return False
