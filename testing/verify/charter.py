"""The charter: its TOML text, its limits, and the changes that votes make."""

import copy
import re
import tomllib
import unicodedata

import cms
import names
from certificate import Authority, common_name
from contact import contacts, contacts_of_word
from keys import ED25519, P256, RSA, is_member_key, member_key, size_of
from refused import Refused, digest, need
from rule import Rule, is_role, plain_number

SCHEMES = ("plain", "ts-rsa", "shoup-rsa", "ts-dsa", "asm", "frost")
CONTRIBUTORY = ("by-size", "gdh", "tgdh", "str", "bd")
KEYINGS = CONTRIBUTORY + ("ckd", "dutta-barua", "mls")
HYBRID = ("ckd", "mls")
CIPHERS = ("aes-256-gcm", "chacha20-poly1305")
TIMEOUTS = ("step_ms", "silence_ms", "lookup_ms", "skew_ms", "refresh_ms")
WORDS = {
    "keying": KEYINGS,
    "cipher": CIPHERS,
    "minority": ("continue", "read-only", "stop"),
    "quorum": ("majority", "two-thirds"),
    "adopt": ("ask", "auto"),
    "policy": ("threshold", "list", "founder", "authority"),
    "below_threshold": ("none", "reset", "authority"),
}
TRUTHS = ("hybrid", "contributory", "minority_may_admit", "letters")
# Key -> type, and what stands there if it is left out. A key without a default must be there.
MUST = object()
KEYS = {
    "format": (int, MUST), "name": (str, MUST), "nonce": (str, MUST), "threshold": (object, MUST),
    "scheme": (str, MUST), "mode": (str, "decentralised"), "authority": (dict, None),
    "keying": (str, MUST), "cipher": (str, MUST), "hybrid": (bool, False),
    "hybrid_links": (bool, False), "contributory": (bool, MUST), "minority": (str, MUST),
    "minority_may_admit": (bool, MUST), "letters": (bool, False), "certificate_days": (int, MUST),
    "request_hours": (int, MUST), "quorum": (str, "majority"), "adopt": (str, "ask"),
    "founders": (list, MUST), "timeouts": (dict, {}), "groups": (dict, {}),
    "policy": (str, "threshold"), "list": (list, []), "decider": (str, None), "admit": (str, None),
    "remove": (str, None), "objections": (int, None), "request_days": (int, None),
    "below_threshold": (str, "none"), "roles": (dict, {}), "contacts": (list, []),
    "algorithms": (list, ["p256"]), "rsa_bits": (list, None), "hash": (str, "sha256"),
    "not_before": (int, None), "not_after": (int, None), "recognised": (dict, {}),
}


def table(found, keys, what):
    """A table with all keys that must be there, no other, each of its type."""
    need(isinstance(found, dict), f"{what} is no table", "ID-31")
    need(set(found) <= set(keys), f"{what} has an unknown key", "ID-31")
    out = {}
    for key, (kind, default) in keys.items():
        value = found.get(key, default)
        need(value is not MUST, f"{what} lacks {key}", "ID-31")
        if key in found:
            typed(value, kind, key)
        out[key] = value
    return out


def typed(value, kind, key):
    right = isinstance(value, kind) and (kind is not int or not isinstance(value, bool))
    need(right, f"{key} is of another type", "ID-31")
    need(kind is not int or 0 <= value < 1 << 32, f"{key} is out of range", "ID-31")


def hexadecimal(text):
    need(re.fullmatch("([0-9a-fA-F]{2})*", text) is not None, "it is not hexadecimal", "ID-31")
    return bytes.fromhex(text)


def key_id(text):
    """A key id: 64 digits, letters in lower case."""
    need(re.fullmatch("[0-9a-f]{64}", text) is not None, "it is no key id", "ID-31")
    return bytes.fromhex(text)


def key_ids(texts):
    for text in texts:
        typed(text, str, "a key id")
    ids = [key_id(text) for text in texts]
    need(len(set(ids)) == len(ids), "a key is there twice", "ID-31")
    return set(ids)


def is_name(text, most):
    """1 to `most` bytes without control characters."""
    plain = all(unicodedata.category(one) != "Cc" for one in text)
    return 1 <= len(text.encode()) <= most and plain


class Charter:
    """A charter as founded, or as changed since."""

    def __init__(self, text):
        need(len(text.encode()) <= 16 * 1024, "the charter is too long", "ID-31")
        try:
            found = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            raise Refused("the charter is no TOML", "ID-31") from None
        said = table(found, KEYS, "the charter")
        need(said["format"] == 2, "the charter is of another format", "ID-31")
        need(is_name(said["name"], 255), "it is no group's name", "ID-31")
        need(len(hexadecimal(said["nonce"])) == 16, "the nonce has another length", "ID-31")
        self.name, self.scheme = said["name"], said["scheme"]
        self.group = digest(b"folkmoot group v1", text.encode())
        self.founders = read_founders(said["founders"])
        self.read_rules(said)
        self.algorithms = read_algorithms(said["algorithms"], said["rsa_bits"], said["hash"])
        self.check_keys(text)
        self.read_authority(said["mode"], said["authority"])
        self.check_scheme()
        self.check()
        self.check_founding()

    def allows(self, spki):
        """`ID-73`: whether a member may have this key."""
        return (member_key(spki)[0], size_of(spki)) in self.algorithms

    def check_keys(self, text):
        """`ID-73`, `ID-74`: all founders have such keys, and what they sign has room."""
        only = self.scheme != "asm" or self.algorithms == {(P256, 64)}
        need(only, "asm takes keys of p256 alone", "ID-73")
        room = len(text.encode())
        for _, name, spki in self.founders:
            need(self.allows(spki), "a founder's key is of another algorithm", "ID-73")
            room += len(spki) + 2 * size_of(spki) + 3 * len(name.encode()) + 560
        need(room <= 47 * 1024, "what the founders sign is too long", "ID-74")

    def read_rules(self, said):
        ids = [member for member, _, _ in self.founders]
        self.threshold = read_threshold(said["threshold"], len(ids))
        for key in ("hybrid", "contributory", "minority_may_admit", "letters", "certificate_days",
                    "request_hours", "objections", "request_days", "not_before", "not_after"):
            setattr(self, key, said[key])
        for key, words in WORDS.items():
            need(said[key] in words, f"{key} is none of its words", "ID-31")
            setattr(self, key, said[key])
        self.timeouts = table(said["timeouts"], {key: (int, None) for key in TIMEOUTS}, "timeouts")
        self.groups = {}
        for name, rules in said["groups"].items():
            for key, word in table(rules, {"keying": (str, None), "cipher": (str, None)}, "groups").items():
                if word is not None:
                    self.set_group(name, key, word)
        self.list = key_ids(said["list"])
        self.contacts = contacts(said["contacts"])
        for key in said["recognised"].values():
            typed(key, str, "recognised")
        self.recognised = {name: recognised_key(key) for name, key in said["recognised"].items()}
        self.decider = None if said["decider"] is None else key_id(said["decider"])
        for _, holders in said["roles"].items():
            typed(holders, list, "roles")
        self.roles = {role: key_ids(holders) for role, holders in said["roles"].items()}
        self.admit = None if said["admit"] is None else Rule(said["admit"])
        self.remove = None if said["remove"] is None else Rule(said["remove"])

    def read_authority(self, mode, said):
        need(mode in ("decentralised", "centralised"), "there is no such mode", "ID-31")
        need((mode == "centralised") == (said is not None), "mode and authority go together", "ID-65")
        self.centralised, self.dealer, self.nodes, self.authority = said is not None, None, set(), None
        if said is None:
            return
        keys = {"certificate": (str, MUST), "nodes": (list, MUST), "dealer": (str, None)}
        said = table(said, keys, "authority")
        self.authority = Authority(hexadecimal(said["certificate"]))
        self.nodes, self.dealer = key_ids(said["nodes"]), said["dealer"]
        need(1 <= len(self.nodes) <= 8, "an authority has 1 to 8 nodes", "ID-65")
        need(self.dealer in (None, "keeps", "setup-only"), "there is no such dealer", "ID-65")
        need(self.authority.name == common_name(self.name), "the authority is another group's", "ID-65")
        need(not self.nodes & self.founder_ids(), "a founder speaks for the authority", "ID-65")

    def founder_ids(self):
        return {member for member, _, _ in self.founders}

    def is_shared(self):
        """Whether the members hold shares of one key."""
        return self.scheme in ("shoup-rsa", "ts-dsa", "frost")

    def votes(self):
        """What the threshold asks for now."""
        if len(self.threshold) == 1:
            return self.threshold[0]
        percent, size, _ = self.threshold
        return min(max(-(-percent * size // 100), 1), 128)

    def signers(self, votes):
        return 2 * votes - 1 if self.scheme == "ts-dsa" else votes

    def check_scheme(self):
        """`ID-48`, `ID-66`: scheme, mode and dealer fit."""
        need(self.scheme in SCHEMES and self.scheme != "ts-rsa", "there is no such scheme", "ID-48")
        if self.scheme == "shoup-rsa":
            need(self.centralised, "only a dealer makes shares of shoup-rsa", "ID-66")
            once = self.dealer == "setup-only" and len(self.threshold) == 3
            need(not once, "shares that are dealt once do not follow", "ID-66")
        dealt = self.is_shared() and self.centralised
        need(dealt == (self.dealer is not None), "a dealer goes with shares and an authority", "ID-66")
        need(self.signers(self.votes()) <= len(self.founders), "too few founders sign", "ID-48")

    def check_founding(self):
        founders = self.founder_ids()
        need(self.may_admit(founders) and self.may_remove(founders), "founders cannot admit", "ID-44")
        need(self.votes() <= len(founders), "the threshold is above the founders", "ID-31")

    def check(self):
        """What holds in every version."""
        self.check_threshold()
        self.check_policies()
        need(len(self.contacts) <= 16, "there are too many contacts", "ID-70")
        keys = list(self.recognised.values())
        need(len(keys) <= 8 and len(set(keys)) == len(keys), "too many are recognised, or twice", "ID-92")
        need(all(is_name(name, 64) for name in self.recognised), "who is recognised has no name", "ID-92")
        need(self.policy not in ("list", "authority") or self.minority_may_admit, "a minority admits", "ID-45")
        keyings = [self.keying] + [own["keying"] for own in self.groups.values() if own["keying"]]
        contributory = all(keying in CONTRIBUTORY for keying in keyings)
        need(contributory or not self.contributory, "the module is not contributory", "ID-35")
        need(not self.hybrid or all(keying in HYBRID for keying in keyings), "no hybrid form", "ID-36")
        need(1 <= self.certificate_days <= 3650, "certificate_days is out of range", "ID-31")
        need(1 <= self.request_hours <= 8760, "request_hours is out of range", "ID-31")
        ends = self.not_after is None or self.not_after > (self.not_before or 0)
        need(ends, "not_after is not later than not_before", "ID-72")
        times = [value for value in self.timeouts.values() if value is not None]
        need(all(1 <= value <= 3_600_000 for value in times), "a timeout is out of range", "ID-31")
        self.check_with_authority()

    def check_threshold(self):
        if len(self.threshold) == 1:
            need(1 <= self.threshold[0] <= 128, "the threshold is out of range", "ID-31")
            return
        percent, size, window = self.threshold
        need(1 <= percent <= 100 and 1 <= size <= 1000 and window <= 1000, "the ratio is out of range", "ID-31")

    def check_policies(self):
        sizes = all(1 <= len(holders) <= 64 for holders in self.roles.values())
        need(len(self.roles) <= 16 and sizes and all(map(is_role, self.roles)), "a role is none", "ID-44")
        for rule in (self.admit, self.remove):
            need(rule is None or rule.roles() <= set(self.roles), "a rule names no role", "ID-44")
        need(self.admit is None or self.policy == "threshold", "a rule needs policy threshold", "ID-45")
        need(len(self.list) <= 256 and (self.policy != "list" or self.list), "the list is wrong", "ID-45")
        need(self.decider is None or self.decider in self.founder_ids(), "the decider is no founder", "ID-45")
        need(self.policy != "founder" or self.decider is not None, "there is no decider", "ID-45")
        need(self.objections is None or 1 <= self.objections <= 128, "objections is out of range", "ID-31")
        need(self.request_days is None or 1 <= self.request_days <= 365, "request_days is wrong", "ID-31")

    def check_with_authority(self):
        """`ID-67`, `ID-48`."""
        words = (self.policy, self.below_threshold)
        need("authority" not in words or self.centralised, "that takes an authority", "ID-67")
        if self.scheme == "asm":
            need("authority" not in words and self.policy != "list", "with asm somebody signs", "ID-67")
        if self.is_shared():
            need(self.minority_may_admit, "with shares a minority admits", "ID-48")
            need(self.policy == "threshold" and self.admit is None, "with shares votes decide", "ID-48")

    def may_admit(self, voters):
        """Whether all of these together satisfy policy and rule, whatever the threshold."""
        if self.policy == "founder":
            return self.decider in voters
        return self.policy != "threshold" or self.admit is None or self.admit.holds(voters, self.roles)

    def may_remove(self, voters):
        return self.remove is None or self.remove.holds(voters, self.roles)

    def reaches(self, voters):
        """`LINE-46`: what all of these together can do: admit, remove."""
        yes = {"admit": self.may_admit(voters), "remove": self.may_remove(voters)}
        return {what for what, holds in yes.items() if holds}

    def allows_term(self, begins, ends):
        """`LINE-26`."""
        right = ends - begins <= self.certificate_days * 86_400
        early = self.not_before is not None and begins < self.not_before
        return right and not early and (self.not_after is None or ends <= self.not_after)

    def amended(self, changes):
        """This founding charter with all of these fields set, sorted by field."""
        after = copy.deepcopy(self)
        for field, word in changes:
            after.set(field, word)
        after.check()
        return after

    def strike(self, field, key):
        """`LINE-16`: this field's value names the key, and does nothing for it any more."""
        if field == "list":
            self.list.discard(key)
        elif field == "decider" and self.decider == key:
            self.decider = None
        elif field.startswith("roles."):
            self.roles.get(field[6:], set()).discard(key)

    def set(self, field, word):
        """Sets a field to the word of a vote. The limits are checked when all are set."""
        if field == "threshold":
            self.threshold = threshold_of_word(word)
        elif field in WORDS:
            need(word in WORDS[field], f"{field} is none of its words", "LINE-42")
            setattr(self, field, word)
        elif field in TRUTHS:
            need(word in ("true", "false"), "it is neither true nor false", "LINE-42")
            setattr(self, field, word == "true")
        elif field in ("certificate_days", "request_hours"):
            setattr(self, field, plain_number(word))
        elif field in ("objections", "request_days", "not_before", "not_after"):
            setattr(self, field, None if word == "none" else plain_number(word))
        elif field in ("admit", "remove"):
            setattr(self, field, rule_of_word(word))
        elif field == "list":
            self.list = ids_of_word(word)
        elif field == "contacts":
            self.contacts = contacts_of_word(word)
        elif field == "decider":
            self.decider = None if word == "none" else key_id(word)
        else:
            self.set_named(field, word)

    def set_named(self, field, word):
        if field.startswith("roles."):
            holders = ids_of_word(word)
            self.roles.pop(field[6:], None)
            if holders:
                self.roles[field[6:]] = holders
        elif field.startswith("recognised."):
            self.recognised.pop(field[11:], None)
            if word != "none":
                need(word == word.lower(), "a key is not in its one spelling", "LINE-42")
                self.recognised[field[11:]] = recognised_key(word)
        elif field.startswith("timeouts.") and field[9:] in TIMEOUTS:
            self.timeouts[field[9:]] = plain_number(word)
        else:
            need(field.startswith("groups.") and "." in field[7:], "no such field changes", "LINE-42")
            name, key = field[7:].rsplit(".", 1)
            self.set_group(name, key, word)

    def set_group(self, name, key, word):
        need(is_name(name, 255) and key in ("keying", "cipher"), "it names no group's rule", "ID-37")
        need(word == "inherit" or word in WORDS[key], f"{key} is none of its words", "ID-37")
        own = self.groups.setdefault(name, {"keying": None, "cipher": None})
        own[key] = None if word == "inherit" else word
        if own == {"keying": None, "cipher": None}:
            del self.groups[name]
        need(len(self.groups) <= 64, "too many groups", "ID-37")


def recognised_key(text):
    """`ID-92`: the key of somebody whose certificates say who a newcomer is."""
    spki = hexadecimal(text)
    need(is_member_key(spki), "who is recognised has no key", "ID-92")
    return spki


def read_founders(said):
    need(1 <= len(said) <= 32, "there must be 1 to 32 founders", "ID-31")
    founders = []
    for one in said:
        one = table(one, {"name": (str, MUST), "key": (str, MUST)}, "founders")
        spki = hexadecimal(one["key"])
        need(names.is_name(one["name"]) and is_member_key(spki), "a founder is none", "ID-31")
        founders.append((digest(spki), one["name"], spki))
    need(len({member for member, _, _ in founders}) == len(founders), "a founder is there twice", "ID-31")
    return founders


def chosen(found, kind, known, what):
    """Values of a list: at least one, none twice, each of those known."""
    for one in found:
        typed(one, kind, what)
    need(found and len(set(found)) == len(found), f"{what} are none, or twice", "ID-71")
    need(set(found) <= known, f"there are no such {what}", "ID-71")
    return set(found)


def read_algorithms(algorithms, bits, hash_name):
    """`ID-71`: which keys members may have, as (algorithm, bytes of a signature)."""
    words = chosen(algorithms, str, {"p256", "ed25519", "rsa"}, "algorithms")
    sizes = {2048, 3072} if bits is None else chosen(bits, int, {2048, 3072}, "rsa_bits")
    need(bits is None or "rsa" in words, "sizes of RSA keys go with rsa", "ID-71")
    need(hash_name == "sha256", "there is no such hash", "ID-71")
    plain = {"p256": (P256, 64), "ed25519": (ED25519, 64)}
    found = {plain[word] for word in words if word != "rsa"}
    return found | ({(RSA, size // 8) for size in sizes} if "rsa" in words else set())


def read_threshold(said, founders):
    """(votes,) or (percent, size, window)."""
    if isinstance(said, dict):
        said = table(said, {"ratio": (str, MUST), "window": (int, MUST)}, "threshold")
        need(said["ratio"].endswith("%"), "a ratio ends in %", "ID-31")
        return plain_number(said["ratio"][:-1]), founders, said["window"]
    typed(said, int, "threshold")
    return (said,)


def threshold_of_word(word):
    """`3`, or `30% of 20 window 5`."""
    percent, of, rest = word.partition("% of ")
    if not of:
        return (plain_number(word),)
    size, between, window = rest.partition(" window ")
    need(between, "a share is malformed", "LINE-42")
    return plain_number(percent), plain_number(size), plain_number(window)


def rule_of_word(word):
    if word == "none":
        return None
    rule = Rule(word)
    need(rule.spelling() == word, "a rule is not in its one spelling", "LINE-42")
    return rule


def ids_of_word(word):
    """Key ids in their one spelling: sorted, commas between; `none` for none."""
    if word == "none":
        return set()
    texts = word.split(",")
    need(texts == sorted(set(texts)), "key ids are not sorted", "LINE-42")
    return {key_id(text) for text in texts}


def signed(data):
    """`ID-32`, `ID-33`: the charter that all founders signed (CMS), each under its name."""
    content, signers = cms.read(data, 47 * 1024, 32)
    try:
        charter = Charter(bytes(content).decode("utf-8"))
    except UnicodeDecodeError:
        raise Refused("the charter is not UTF-8", "ID-31") from None
    found = [(digest(one.spki), one.name) for one in signers]
    wanted = [(member, name) for member, name, _ in charter.founders]
    need(sorted(found) == sorted(wanted), "not exactly the founders have signed", "ID-32")
    return charter
