"""The line of a file: its handovers, the state at its head, the forks that it shows."""

import codec
from decision import Standing
from refused import need
from state import run

HANDOVERS_MAX, FORKS_MAX, SIDES_MAX = 100_000, 16, 4


def read_fork(reader):
    return reader.optional(Standing), Standing(reader)


class Line:
    """Decisions that were handed over, and whoever commits after them."""

    def __init__(self, founded):
        self.founded = self.state = founded
        self.electorate, self.running = founded.electorate(), founded.running
        self.reached, self.last, self.open = 0, None, False
        self.decisions, self.forks, self.forked = {}, [], -1

    def check(self, standing):
        """`LINE-61` to `LINE-65`, `LINE-70`: a decision after the last one, by those who commit then."""
        decision = standing.decision
        ours = decision.group == self.founded.group and decision.number > self.reached
        need(ours, "it does not follow", "LINE-70")
        standing.check(self.electorate)
        self.reached = decision.number
        if decision.electorate is not None:
            self.electorate = decision.electorate
            self.running = run(self.running, decision.number, decision.electorate)
        self.open = True

    def hand_over(self, section):
        need(len(self.decisions) < HANDOVERS_MAX, "there are too many handovers", "LINE-81")
        standing = codec.decode(section, Standing)
        self.check(standing)
        need(standing.decision.electorate is not None, "it hands nothing over", "LINE-70")
        self.decisions[standing.decision.number] = standing

    def take_last(self, section):
        standing = codec.decode(section, Standing)
        self.check(standing)
        self.last = self.decisions[standing.decision.number] = standing

    def take_state(self, section):
        """`LINE-70`, `LINE-71`, `LINE-76`: the state after the last decision, whose voters vote from then on."""
        need(self.last is not None, "a state follows a decision", "LINE-81")
        last = self.last.decision
        state = self.founded.after(section, last.digest)
        same = state.digest() == last.state and state.head == last.head()
        need(same, "it is another state", "LINE-71")
        need(state.electorate() == self.electorate, "others vote than it was handed to", "LINE-70")
        need(state.running == self.running, "a handover was left out", "LINE-76")
        self.state, self.open = state, False

    def electors_of(self, number):
        """Who committed the decision of this number."""
        named = [
            one.decision.electorate
            for at, one in sorted(self.decisions.items())
            if at < number and one.decision.electorate is not None
        ]
        return named[-1] if named else self.founded.electorate()

    def take_fork(self, section):
        """`LINE-85`: two decisions that stand for one number, ours on the line."""
        ours, theirs = codec.decode(section, read_fork)
        number, sides = theirs.decision.number, [fork[0] for fork in self.forks]
        later = not self.forks or self.forks[-1] < theirs.decision.head()
        there = theirs.decision.group == self.state.group and 0 < number <= self.state.head[0]
        room = len(sides) < FORKS_MAX and sides.count(number) < SIDES_MAX
        need(there and later and room, "it is no fork of this line", "LINE-85")
        need((ours is None) == (number in self.decisions), "our side is here, or is not", "LINE-85")
        electorate = self.electors_of(number)
        if ours is not None:
            mine = ours.decision.number == number and self.state.has_on_line(ours.decision.head())
            need(mine, "our side is not on the line", "LINE-85")
            ours.check(electorate)
            self.decisions[number] = ours
        known = self.decisions[number].decision
        need(known.digest != theirs.decision.digest, "both sides are one decision", "LINE-85")
        need(known.parent == theirs.decision.parent, "they follow different decisions", "LINE-60")
        theirs.check(electorate)
        self.forks.append(theirs.decision.head())
        # What former voters alone committed to is shown, and asks for no head.
        if any(self.state.may_vote(voter) for voter, _ in theirs.commits):
            self.forked = max(self.forked, number)

    def head_at(self, number):
        """The digest of the decision of this number, as far as the line still shows it."""
        if number == self.state.head[0]:
            return self.state.head[1]
        if number in self.state.recent:
            return self.state.recent[number]
        if number in self.decisions:
            return self.decisions[number].decision.digest
        return self.founded.head[1] if number == 0 else None

    def check_heads(self, heads):
        """`LINE-84`, `LINE-86`: heads that are known, each as number and first digits of the digest."""
        for number, digits in heads:
            at = self.head_at(number)
            on_line = at is not None and at.hex().startswith(digits.lower())
            need(on_line, "a head that is known is not on its line", "LINE-84")
        latest = max((number for number, _ in heads), default=-1)
        need(self.forked <= latest, "a fork by voters, and no later head is known", "LINE-86")
