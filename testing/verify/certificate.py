"""X.509: the certificates of members, of a group's key and of an authority's."""

import unicodedata
from calendar import timegm
from datetime import datetime, timezone

import der
from keys import GroupKey, is_member_key, member_key, verifies_raw, wire_of_paper
from refused import Refused, digest, need

CN, ECDSA, EDDSA = der.oid("2.5.4.3"), der.oid("1.2.840.10045.4.3.2"), der.oid("1.3.101.112")
RSA = der.oid("1.2.840.113549.1.1.11")
# The identifiers of the signatures of each kind of key.
ALGORITHMS = {
    1: der.write(der.SEQUENCE, ECDSA),
    2: der.write(der.SEQUENCE, EDDSA),
    3: der.write(der.SEQUENCE, RSA, der.NULL),
}
BASIC, USAGE = bytes.fromhex("3000"), bytes.fromhex("030206c0")
CA_BASIC, CA_USAGE = bytes.fromhex("30060101ff020100"), bytes.fromhex("03020106")
MEMBERSHIP = der.oid("1.3.6.1.4.1.59999.1.1")
LAST_SECOND = 253_402_300_799


def common_name(text):
    """A group's name as a common name holds it: its first 64 bytes, cut between characters."""
    return text.encode()[:64].decode("utf-8", "ignore")


def name(text):
    """The Name with this common name alone."""
    pair = der.write(der.SEQUENCE, CN, der.write(der.UTF8, text.encode()))
    return der.write(der.SEQUENCE, der.write(der.SET, pair))


def read_name(reader):
    outer = reader.inside(der.SEQUENCE)
    pair = outer.inside(der.SET).inside(der.SEQUENCE)
    pair.whole()
    return pair.text()


def time(seconds):
    """UTCTime to 2049, then GeneralizedTime."""
    said = datetime.fromtimestamp(seconds, timezone.utc)
    if said.year < 2050:
        return der.write(der.UTC, said.strftime("%y%m%d%H%M%SZ").encode())
    return der.write(der.GENERAL, f"{said.year:04}{said.strftime('%m%d%H%M%SZ')}".encode())


def read_time(reader):
    tag = reader.peek()
    need(tag in (der.UTC, der.GENERAL), "a time is malformed")
    text = reader.text(tag)
    try:
        if tag == der.UTC:
            century = "20" if text[:2] < "50" else "19"
            text = century + text
        seconds = timegm(datetime.strptime(text, "%Y%m%d%H%M%SZ").timetuple())
    except ValueError:
        raise Refused("a time is malformed") from None
    need(0 <= seconds <= LAST_SECOND, "a time is out of range", "ID-01")
    return seconds


def extension(oid, critical, value):
    flag = der.write(der.BOOL, b"\xff") if critical else b""
    return der.write(der.SEQUENCE, oid, flag, der.write(der.OCTETS, value))


def read_extensions(reader):
    """Identifier to value, of all that are there."""
    outer = reader.inside(0xA3).inside(der.SEQUENCE)
    found = {}
    while outer.more():
        one = outer.inside(der.SEQUENCE)
        key = one.whole()
        if one.peek() == der.BOOL:
            one.whole()
        found.setdefault(key, one.octets())
    return found


SKI, AKI = der.oid("2.5.29.14"), der.oid("2.5.29.35")
CONSTRAINTS, KEY_USAGE = der.oid("2.5.29.19"), der.oid("2.5.29.15")


def tbs(serial, algorithm, issuer, term, subject, spki, extensions):
    """The TBSCertificate of these values."""
    return der.write(
        der.SEQUENCE,
        der.write(0xA0, der.integer(2)),
        der.write(der.INTEGER, serial),
        ALGORITHMS[algorithm],
        name(issuer),
        der.write(der.SEQUENCE, time(term[0]), time(term[1])),
        name(subject),
        spki,
        der.write(0xA3, der.write(der.SEQUENCE, *extensions)),
    )


def read_tbs(reader):
    """serial, algorithm (DER), issuer, term, subject, SPKI, extensions: the values, not the form."""
    inner = reader.inside(der.SEQUENCE)
    inner.inside(0xA0).number(2)
    serial = inner.value(der.INTEGER)
    algorithm, issuer = inner.whole(), read_name(inner)
    validity = inner.inside(der.SEQUENCE)
    term = read_time(validity), read_time(validity)
    subject, spki = read_name(inner), inner.whole()
    return bytes(serial), algorithm, issuer, term, subject, bytes(spki), read_extensions(inner)


def close(body, algorithm, signature):
    return der.write(der.SEQUENCE, body, ALGORITHMS[algorithm], der.write(der.BITS, b"\0", signature))


def is_person(text):
    return 1 <= len(text.encode()) <= 64 and all(unicodedata.category(one) != "Cc" for one in text)


class Envelope:
    """`ID-01`: the values of a member's certificate; `membership` is the DER of the extension."""

    def __init__(self, reader):
        values = read_tbs(reader)
        self.serial, algorithm, self.issuer, self.term, self.name, self.spki, more = values
        self.membership, key_id = more.get(MEMBERSHIP), more.get(AKI)
        need(is_member_key(self.spki), "its key is none", "SIGN-09")
        need(is_person(self.name), "its name is none", "ID-01")
        need(self.term[0] <= self.term[1], "its term ends before it begins", "ID-01")
        need(len(self.serial) == 16 and 0x40 <= self.serial[0] <= 0x7F, "its serial number", "ID-01")
        self.member = digest(self.spki)
        self.own = member_key(self.spki)[0]
        self.key_id, self.algorithm = None, self.own
        if key_id is not None:
            self.key_id = der.read(key_id).inside(der.SEQUENCE).value(0x80)
            kinds = [kind for kind, known in ALGORITHMS.items() if known == algorithm]
            need(len(self.key_id) == 20 and kinds, "its issuer is malformed", "ID-11")
            self.algorithm = kinds[0]

    def tbs(self):
        return self.made(self.membership, self.key_id, self.algorithm, self.issuer)

    def made(self, membership, key_id, algorithm, issuer):
        more = [
            extension(CONSTRAINTS, True, BASIC),
            extension(KEY_USAGE, True, USAGE),
            extension(SKI, False, der.write(der.OCTETS, self.member[:20])),
        ]
        if key_id is not None:
            value = der.write(der.SEQUENCE, der.write(0x80, key_id))
            more.append(extension(AKI, False, value))
        if membership is not None:
            more.append(extension(MEMBERSHIP, False, membership))
        issuer = self.name if key_id is None else issuer
        return tbs(self.serial, algorithm, issuer, self.term, self.name, self.spki, more)

    def of_itself(self, membership):
        """The TBSCertificate with this membership that its holder would sign."""
        return self.made(membership, None, self.own, self.name)


def parts(data, most):
    """TBSCertificate and signature of a certificate, not yet compared."""
    need(len(data) <= most, "it is too long")
    outer = der.read(data).inside(der.SEQUENCE)
    body = outer.whole()
    outer.whole()
    bits = outer.value(der.BITS)
    need(bits[:1] == b"\0", "its signature is malformed")
    return body, bytes(bits[1:])


def open_certificate(data, most):
    """A member's certificate in its one form; signed by its key, unless something issued it."""
    body, signature = parts(data, most)
    envelope = Envelope(der.read(body))
    made = envelope.tbs()
    need(close(made, envelope.algorithm, signature) == data, "it is not in its one form", "ID-11")
    if envelope.key_id is None:
        wire = wire_of_paper(envelope.own, signature)
        need(verifies_raw(envelope.spki, made, wire), "its holder has not signed it", "ID-11")
    return envelope, made, signature


def open_proposed(data):
    """A TBSCertificate that nobody has signed yet, in its one form."""
    envelope = Envelope(der.read(data))
    need(envelope.key_id is None and envelope.tbs() == data, "it is not in its one form", "ID-52")
    return envelope


def open_identity(data):
    """`ID-02`: an identity certificate."""
    envelope, _, _ = open_certificate(data, 1536)
    plain = envelope.membership is None and envelope.key_id is None
    need(plain, "it is no identity certificate", "ID-02")
    return envelope


class Authority:
    """`ID-49`: the certificate of a group's or an authority's key, signed by that key."""

    def __init__(self, data):
        body, signature = parts(data, 2048)
        serial, _, _, term, self.name, spki, _ = read_tbs(der.read(body))
        self.key = GroupKey(spki)
        more = [
            extension(CONSTRAINTS, True, CA_BASIC),
            extension(KEY_USAGE, True, CA_USAGE),
            extension(SKI, False, der.write(der.OCTETS, self.key.digest[:20])),
        ]
        made = tbs(serial, self.key.kind, self.name, term, self.name, spki, more)
        need(close(made, self.key.kind, signature) == data, "it is not in its one form", "ID-49")
        need(self.key.verifies(made, signature), "its key has not signed it", "ID-49")
