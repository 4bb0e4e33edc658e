"""Requests by CSR, which a refusal shows."""

from hashlib import sha256

import certificate
import der
from keys import is_member_key, member_key, verifies_raw, wire_of_paper
from membership import Body
from refused import need

EXTENSION_REQUEST = der.oid("1.2.840.113549.1.9.14")


class Csr:
    """`ID-57`: a CSR in its one form, signed by its key with the lower s."""

    def __init__(self, data):
        need(len(data) <= 2048, "a CSR is too long", "ID-57")
        outer = der.read(data).inside(der.SEQUENCE)
        info_der = bytes(outer.whole())
        info = der.read(info_der).inside(der.SEQUENCE)
        named = outer.whole()
        bits = outer.value(der.BITS)
        outer.end()
        need(bits[:1] == b"\0", "its signature is malformed", "ID-57")
        need(info.number(0) == 0, "its version is another", "ID-57")
        subject = info.whole()
        self.name, tag = read_subject(subject)
        self.spki = bytes(info.whole())
        need(is_member_key(self.spki), "its key is none of ours", "ID-57")
        algorithm = member_key(self.spki)[0]
        need(named == certificate.ALGORITHMS[algorithm], "its algorithm is another", "ID-57")
        attributes = read_attributes(info, self.spki)
        info.end()
        pair_name = der.write(der.SEQUENCE, certificate.CN, der.write(tag, self.name.encode()))
        made = der.write(der.SEQUENCE, der.write(der.SET, pair_name))
        need(made == subject and certificate.is_person(self.name), "its name is none", "ID-57")
        parts = der.integer(0), made, self.spki, attributes
        need(der.write(der.SEQUENCE, *parts) == info_der, "it is not in its one form", "ID-57")
        signature = der.write(der.BITS, bits)
        whole = der.write(der.SEQUENCE, info_der, named, signature)
        need(whole == data, "it is not in its one form", "ID-57")
        wire = wire_of_paper(algorithm, bytes(bits[1:]))
        need(verifies_raw(self.spki, info_der, wire), "its key signs another", "ID-57")
        mark = sha256(b"folkmoot csr v1\0" + data).digest()
        self.nonce = mark[:16]
        self.serial = bytes([mark[16] & 0x3F | 0x40]) + mark[17:]


def read_subject(data):
    pair = der.read(data).inside(der.SEQUENCE).inside(der.SET).inside(der.SEQUENCE)
    pair.whole()
    tag = pair.peek()
    need(tag in (der.UTF8, der.PRINTABLE), "its name is of another kind", "ID-57")
    text = pair.text(tag)
    allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 '()+,-./:=?"
    need(tag == der.UTF8 or all(one in allowed for one in text), "its name is none", "ID-57")
    return text, tag


def read_attributes(info, spki):
    """The attributes, in their one form: none, or a request for what every certificate has."""
    wanted = info.inside(0xA0)
    if not wanted.more():
        return der.write(0xA0)
    one = wanted.inside(der.SEQUENCE)
    wanted.end()
    need(one.whole() == EXTENSION_REQUEST, "it has another attribute", "ID-57")
    values = one.inside(der.SET)
    one.end()
    extensions = values.inside(der.SEQUENCE)
    values.end()
    found, made = set(), []
    member = certificate.digest(spki)
    granted = {
        certificate.CONSTRAINTS: certificate.BASIC,
        certificate.KEY_USAGE: certificate.USAGE,
        certificate.SKI: der.write(der.OCTETS, member[:20]),
    }
    need(extensions.more(), "it asks for nothing", "ID-57")
    while extensions.more():
        one = extensions.inside(der.SEQUENCE)
        key, critical = one.whole(), one.peek() == der.BOOL
        need(not critical or one.value(der.BOOL) == b"\xff", "a BOOLEAN is malformed", "ID-57")
        need(one.octets() == granted.get(key) and key not in found, "it asks for more", "ID-57")
        one.end()
        found.add(key)
        made.append(certificate.extension(key, critical, granted[key]))
    inner = der.write(der.SET, der.write(der.SEQUENCE, *made))
    return der.write(0xA0, der.write(der.SEQUENCE, EXTENSION_REQUEST, inner))


def refused(data):
    """`LINE-08`: digest and CSR serial number of a request by CSR."""
    need(len(data) <= 4096, "a request is too long", "LINE-08")
    outer = der.read(data).inside(der.SEQUENCE)
    need(outer.peek() == der.SEQUENCE, "it is not by CSR", "LINE-08")
    first = bytes(outer.whole())
    csr, proposed = Csr(first), bytes(outer.whole())
    outer.end()
    body = Body(certificate.open_proposed(proposed))
    said, envelope = body.membership, body.envelope
    need(said.votes == [], "it carries votes", "ID-59")
    same = envelope.spki == csr.spki and envelope.name == csr.name
    need(same and said.nonce == csr.nonce and envelope.serial == csr.serial, "it is for another CSR", "ID-58")
    need(der.write(der.SEQUENCE, first, proposed) == data, "it is not in its one form", "ID-59")
    return body.request(), csr.serial

