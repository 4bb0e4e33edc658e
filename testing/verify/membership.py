"""Membership certificates (GMC): the extension, the request that voters sign, and who signed."""

import certificate
import der
import names
from charter import is_name
from codec import is_sorted
from keys import is_signature
from multi import Multi
from refused import digest, need

SCHEMES = {1: "plain", 2: "ts-rsa", 3: "shoup-rsa", 4: "ts-dsa", 5: "asm", 6: "frost"}
CENTRALISED = 2
U32, U64 = (1 << 32) - 1, (1 << 64) - 1
MOST_BYTES = 47 * 1024


def base(value):
    return der.write(der.SEQUENCE, der.integer(value[0]), der.write(der.OCTETS, value[1]))


def read_base(reader):
    inner = reader.inside(der.SEQUENCE)
    value = inner.number(U64), bytes(inner.octets(32))
    inner.end()
    return value


class Vote:
    """A vote in a certificate."""

    def __init__(self, reader):
        inner = reader.inside(der.SEQUENCE)
        self.voter, self.base = bytes(inner.octets(32)), read_base(inner)
        self.turn, self.expires = inner.number(U32), inner.number(U64)
        algorithm = inner.number(3, der.ENUM)
        self.signature = algorithm, bytes(inner.octets())
        inner.end()
        need(algorithm and is_signature(self.signature), "a vote's signature is none", "ID-11")

    def encode(self):
        numbers = der.integer(self.turn), der.integer(self.expires), der.integer(self.signature[0], der.ENUM)
        signature = der.write(der.OCTETS, self.signature[1])
        return der.write(der.SEQUENCE, der.write(der.OCTETS, self.voter), base(self.base), *numbers, signature)


class Membership:
    """The extension of a membership certificate."""

    def __init__(self, data):
        outer = der.read(data)
        inner = outer.inside(der.SEQUENCE)
        outer.end()
        need(inner.number(255) == 2, "the membership is of another version", "ID-11")
        self.name, self.group = inner.text(), bytes(inner.octets(32))
        need(is_name(self.name, 255), "it is no group's name", "ID-11")
        scheme, mode = inner.number(6, der.ENUM), inner.number(2, der.ENUM)
        need(scheme and mode, "there is no such scheme or mode", "ID-11")
        self.scheme, self.mode = scheme, mode
        self.threshold, self.size = inner.number(U32), inner.number(U32)
        self.base, self.nonce = read_base(inner), bytes(inner.octets(16))
        self.votes = self.issued = self.multi = self.combined = None
        self.read_grounds(inner)
        need(self.encode() == data, "the membership is not in its one form", "ID-11")

    def read_grounds(self, inner):
        if inner.peek() == 0xA0:
            votes, self.votes = inner.inside(0xA0).inside(der.SEQUENCE), []
            while votes.more():
                self.votes.append(Vote(votes))
            voters = [vote.voter for vote in self.votes]
            need(len(voters) <= 256 and is_sorted(voters), "votes are not sorted", "ID-11")
        if inner.peek() == 0xA1:
            self.issued = bytes(inner.inside(0xA1).octets(32))
        if inner.peek() == 0xA2:
            multi = inner.inside(0xA2).inside(der.SEQUENCE)
            self.multi = Multi(read_base(multi), multi.number(U32), multi.number(U64), bytes(multi.octets()))
        if inner.peek() == 0xA3:
            combined = inner.inside(0xA3).inside(der.SEQUENCE)
            self.combined = bytes(combined.octets(32)), bytes(combined.octets())
            need(len(self.combined[1]) <= 512, "the group's signature is too long", "ID-11")
        inner.end()
        need(len(self.grounds()) <= 1, "it rests on two grounds", "ID-11")
        by_authority = self.mode == CENTRALISED and self.issued is not None
        need(not by_authority, "an authority has no share-epoch", "ID-68")

    def grounds(self):
        there = (self.votes, self.issued, self.multi, self.combined)
        return [ground for ground in there if ground is not None]

    def is_founders(self):
        return not self.grounds()

    def is_by_authority(self):
        return self.mode == CENTRALISED and not self.is_founders()

    def head(self):
        """The encodings of what every membership has."""
        return [
            der.integer(2),
            der.write(der.UTF8, self.name.encode()),
            der.write(der.OCTETS, self.group),
            der.integer(self.scheme, der.ENUM),
            der.integer(self.mode, der.ENUM),
            der.integer(self.threshold),
            der.integer(self.size),
            base(self.base),
            der.write(der.OCTETS, self.nonce),
        ]

    def encode(self):
        parts = self.head()
        if self.votes is not None:
            votes = der.write(der.SEQUENCE, *(vote.encode() for vote in self.votes))
            parts.append(der.write(0xA0, votes))
        if self.issued is not None:
            parts.append(der.write(0xA1, der.write(der.OCTETS, self.issued)))
        if self.multi is not None:
            multi = self.multi
            numbers = base(multi.base), der.integer(multi.turn), der.integer(multi.expires)
            parts.append(der.write(0xA2, der.write(der.SEQUENCE, *numbers, der.write(der.OCTETS, multi.data))))
        if self.combined is not None:
            pair = (der.write(der.OCTETS, part) for part in self.combined)
            parts.append(der.write(0xA3, der.write(der.SEQUENCE, *pair)))
        return der.write(der.SEQUENCE, *parts)

    def proposed(self):
        """The extension with empty votes and no other grounds: what a request has."""
        empty = der.write(0xA0, der.write(der.SEQUENCE))
        return der.write(der.SEQUENCE, *self.head(), empty)


class Body:
    """What is proposed, voted on and certified: everything but the certificate's signature."""

    def __init__(self, envelope):
        need(envelope.membership is not None, "it has no membership", "ID-11")
        self.envelope, self.membership = envelope, Membership(envelope.membership)
        said = self.membership
        issued = said.issued is not None or said.is_by_authority()
        if envelope.key_id is None:
            plain = not issued or said.proposed() == envelope.membership
            need(plain, "its holder has signed what another must sign", "ID-11")
        else:
            named = envelope.issuer == certificate.common_name(said.name)
            need(issued and named, "it names another issuer", "ID-11")

    def content(self):
        """What a request signs, and what its digest covers."""
        said = self.membership
        extension = said.encode() if said.is_founders() else said.proposed()
        return b"folkmoot request v1\0" + self.envelope.of_itself(extension)

    def request(self):
        return digest(self.content())


class Gmc:
    """`LINE-07`: a membership certificate in its one form, as far as nothing else is needed."""

    def __init__(self, data):
        self.envelope, self.tbs, self.signature = certificate.open_certificate(data, MOST_BYTES)
        self.body = Body(self.envelope)
        self.said = self.body.membership
        own = self.envelope.key_id is None
        need(not own or not self.said.is_by_authority(), "no authority has signed it", "ID-68")
        self.request, self.member = self.body.request(), self.envelope.member
        self.name, self.spki = self.envelope.name, self.envelope.spki
        self.begins, self.ends = self.envelope.term
        self.base, self.serial = self.said.base, self.envelope.serial
        self.issued = None if own else self.serial
        combined = self.said.combined
        epoch = self.said.issued or (combined[0] if combined else None)
        self.epochs = {epoch} if epoch is not None else set()

    def check_form(self, charter):
        """What every certificate of the group has, whoever approved."""
        said = self.said
        need(not said.is_founders(), "a founder's certificate admits nobody", "LINE-07")
        ours = said.group == charter.group and said.name == charter.name
        need(ours and SCHEMES[said.scheme] == charter.scheme, "it is of another group", "LINE-07")
        need((said.mode == CENTRALISED) == charter.centralised, "it names another mode", "LINE-07")
        need(charter.allows(self.spki), "the charter does not name its algorithm", "LINE-07")
        need(names.is_name(self.name), "nobody may be called so", "LINE-07")
        need(self.member not in charter.nodes, "its key speaks for the authority", "LINE-07")
        if charter.centralised:
            self.check_issued(charter.authority.key)
        need((said.multi is not None) == (charter.scheme == "asm"), "its grounds are wrong", "LINE-07")
        shared = charter.is_shared()
        need(said.issued is None or shared, "no key of the group issues here", "LINE-07")
        need(said.combined is None or shared, "no key of the group signs here", "LINE-07")

    def check_issued(self, key):
        """Whether this key, the group's or its authority's, has signed it."""
        envelope = self.envelope
        named = envelope.key_id == key.digest[:20] and envelope.algorithm == key.kind
        need(named and key.verifies(self.tbs, self.signature), "its issuer has not signed it", "LINE-07")

    def check_key(self, charter, sharing):
        """Whether the group's key has signed, where there is one."""
        if not charter.is_shared() or (self.issued is not None and self.said.votes == []):
            return
        need(sharing is not None, "the group has no key yet", "LINE-07")
        if not charter.centralised:
            self.check_issued(sharing.key)
            return
        need(self.said.combined is not None, "the group's key has not signed", "LINE-07")
        epoch, signature = self.said.combined
        message = b"folkmoot combined v1\0" + self.said.group + epoch + self.request
        need(sharing.key.verifies(message, signature), "the group's key has not signed", "LINE-07")
