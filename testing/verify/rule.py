"""Rules on roles: "2 of operators and 1 of security or 5 of all"."""

import re

from refused import need

KEYWORDS = ("and", "or", "of", "all")
# What Unicode calls White_Space.
SPACE = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
WORD = re.compile(f"[()]|[^(){SPACE}]+")


def is_role(name):
    """The name of a role: a letter, then letters, digits, hyphens, at most 32, and no keyword."""
    return re.fullmatch("[a-z][a-z0-9-]{0,31}", name) is not None and name not in KEYWORDS


class Rule:
    """A rule, read: `tree` is ("of", count, role), ("and", [..]) or ("or", [..])."""

    def __init__(self, text):
        need(len(text.encode()) <= 512, "a rule is too long", "ID-43")
        self.words = WORD.findall(text)
        self.at, self.parts, self.depth = 0, 0, 0
        self.tree = self.read_or()
        need(self.at == len(self.words), "a rule does not end", "ID-43")

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else ""

    def takes(self, word):
        found = self.peek() == word
        self.at += found
        return found

    def read_or(self):
        return self.many("or", self.read_and)

    def read_and(self):
        return self.many("and", self.read_part)

    def many(self, word, read):
        """One or more with this word between; what is of the same kind inside is taken out."""
        nodes = flat(word, read())
        while self.takes(word):
            nodes += flat(word, read())
        return nodes[0] if len(nodes) == 1 else (word, nodes)

    def read_part(self):
        if self.peek() == "(":
            need(self.depth < 8, "brackets are nested too deep", "ID-43")
            self.at += 1
            self.depth += 1
            inner = self.read_or()
            self.depth -= 1
            need(self.takes(")"), "a bracket is missing", "ID-43")
            return inner
        self.parts += 1
        need(self.parts <= 32, "a rule has too many parts", "ID-43")
        count = plain_number(self.peek())
        need(1 <= count <= 256, "a count is out of range", "ID-43")
        self.at += 1
        need(self.takes("of"), "\"of\" is missing", "ID-43")
        role = self.peek()
        need(role == "all" or is_role(role), "the name of a role is missing", "ID-43")
        self.at += 1
        return "of", count, role

    def roles(self):
        return set(roles_of(self.tree)) - {"all"}

    def holds(self, yes, roles):
        return node_holds(self.tree, yes, roles)

    def spelling(self):
        return node_text(self.tree)


def flat(word, node):
    return list(node[1]) if node[0] == word else [node]


def roles_of(node):
    if node[0] == "of":
        return [node[2]]
    return [role for inner in node[1] for role in roles_of(inner)]


def node_holds(node, yes, roles):
    if node[0] == "of":
        have = yes if node[2] == "all" else yes & roles.get(node[2], set())
        return len(have) >= node[1]
    held = (node_holds(inner, yes, roles) for inner in node[1])
    return all(held) if node[0] == "and" else any(held)


def node_text(node):
    if node[0] == "of":
        return f"{node[1]} of {node[2]}"
    texts = (f"({node_text(inner)})" if inner[0] == "or" else node_text(inner) for inner in node[1])
    return f" {node[0]} ".join(texts)


def plain_number(word):
    """A number of 32 bits in plain digits, without a sign or zeros in front."""
    need(re.fullmatch("0|[1-9][0-9]{0,9}", word) is not None, "it is no number in plain digits")
    need(int(word) < 1 << 32, "a number is out of range")
    return int(word)
