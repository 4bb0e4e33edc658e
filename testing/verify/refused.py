"""What every reader here throws."""

import hashlib


class Refused(Exception):
    """A value is not in its one form, or does not stand. Names the rule where one has a number."""

    def __init__(self, why, rule=""):
        super().__init__(why)
        self.rule = rule


def need(holds, why, rule=""):
    """Refuses unless it holds."""
    if not holds:
        raise Refused(why, rule)


def digest(*parts):
    """SHA-256 of the parts, one after the other."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part)
    return state.digest()
