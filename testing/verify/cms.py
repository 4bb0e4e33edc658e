"""CMS SignedData in the one form of identity.md."""

from hashlib import sha256, sha512

import der
from certificate import ALGORITHMS, open_identity
from keys import ED25519, member_key, verifies_raw, wire_of_paper
from refused import need

SIGNED, DATA = der.oid("1.2.840.113549.1.7.2"), der.oid("1.2.840.113549.1.7.1")
SHA256 = der.write(der.SEQUENCE, der.oid("2.16.840.1.101.3.4.2.1"))
SHA512 = der.write(der.SEQUENCE, der.oid("2.16.840.1.101.3.4.2.3"))
CONTENT_TYPE, MESSAGE_DIGEST = der.oid("1.2.840.113549.1.9.3"), der.oid("1.2.840.113549.1.9.4")


def hash_of(algorithm):
    """The digest that a signer with such a key takes, and its identifier: Ed25519 goes with SHA-512."""
    return (sha512, SHA512) if algorithm == ED25519 else (sha256, SHA256)


def attributes(content, algorithm):
    """The signed attributes of a content: what is signed."""
    kind = der.write(der.SEQUENCE, CONTENT_TYPE, der.write(der.SET, DATA))
    octets = der.write(der.OCTETS, hash_of(algorithm)[0](content).digest())
    return der.set_of([kind, der.write(der.SEQUENCE, MESSAGE_DIGEST, der.write(der.SET, octets))])


def verifies(spki, content, wire):
    """Whether the holder of the key signed this content through CMS attributes."""
    return verifies_raw(spki, attributes(content, wire[0]), wire)


def identifier(certificate):
    """Issuer and serial number of a certificate, as one value."""
    tbs = der.read(certificate).inside(der.SEQUENCE).inside(der.SEQUENCE)
    tbs.whole()
    serial = tbs.whole()
    tbs.whole()
    return der.write(der.SEQUENCE, tbs.whole(), serial)


def signer(certificate, content, algorithm, signature):
    """The SignerInfo of a signer."""
    signed = b"\xa0" + attributes(content, algorithm)[1:]
    one, name = hash_of(algorithm)[1], identifier(certificate)
    parts = (der.integer(1), name, one, signed, ALGORITHMS[algorithm])
    return der.write(der.SEQUENCE, *parts, der.write(der.OCTETS, signature))


def message(content, signers):
    """The message of this content, with certificate, algorithm and signature of each signer."""
    data = der.write(der.SEQUENCE, DATA, der.write(0xA0, der.write(der.OCTETS, content)))
    certificates = b"\xa0" + der.set_of([one[0] for one in signers])[1:]
    infos = der.set_of([signer(one, content, *signature) for one, *signature in signers])
    digests = der.set_of(list({hash_of(algorithm)[1] for _, algorithm, _ in signers}))
    body = der.write(der.SEQUENCE, der.integer(1), digests, data, certificates, infos)
    return der.write(der.SEQUENCE, SIGNED, der.write(0xA0, body))


def read(data, most, signers_most):
    """`ID-21` to `ID-24`: the content and the certificates of those who signed it."""
    need(len(data) <= most, "a CMS message is too long", "ID-21")
    outer = der.read(data).inside(der.SEQUENCE)
    outer.whole()
    body = outer.inside(0xA0).inside(der.SEQUENCE)
    body.whole()
    body.whole()
    data_part = body.inside(der.SEQUENCE)
    data_part.whole()
    content = data_part.inside(0xA0).octets()
    certificates, infos = body.inside(0xA0), body.inside(der.SET)
    signatures = {}
    while infos.more():
        one = infos.inside(der.SEQUENCE)
        one.whole()
        sid = one.whole()
        need(sid not in signatures, "a signer is there twice", "ID-23")
        for _ in range(2):
            one.whole()
        named = one.whole()
        kinds = [kind for kind, known in ALGORITHMS.items() if known == named]
        need(kinds, "a signature is of no algorithm of ours", "ID-21")
        signatures[sid] = kinds[0], one.octets()
    found = []
    while certificates.more():
        certificate = certificates.whole()
        signature = signatures.get(identifier(certificate))
        need(signature is not None, "a certificate signs nothing", "ID-23")
        found.append((certificate, *signature))
    need(1 <= len(found) <= signers_most, "there are too many signers, or none", "ID-23")
    need(message(content, found) == data, "a CMS message is not in its one form", "ID-21")
    return content, [verified(content, *one) for one in found]


def verified(content, certificate, algorithm, signature):
    envelope = open_identity(certificate)
    wire = wire_of_paper(algorithm, signature)
    need(algorithm == member_key(envelope.spki)[0], "its key signs by another algorithm", "ID-24")
    need(verifies(envelope.spki, content, wire), "a signature does not verify", "ID-24")
    return envelope
