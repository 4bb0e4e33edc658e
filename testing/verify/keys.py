"""Keys and signatures of one signer, as identity.md has them under "Signatures"."""

from functools import lru_cache

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_der_public_key

import der
import edwards
from refused import Refused, digest, need

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
P256_HEAD = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
ED25519_HEAD = bytes.fromhex("302a300506032b6570032100")
RSA_ALGORITHM = bytes.fromhex("300d06092a864886f70d0101010500")
P256, ED25519, RSA = 1, 2, 3


ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
# What stands in an SPKI before an RSA modulus of so many bytes, and after it: exponent 65537.
RSA_HEADS = {
    256: bytes.fromhex("30820122300d06092a864886f70d01010105000382010f003082010a0282010100"),
    384: bytes.fromhex("308201a2300d06092a864886f70d01010105000382018f003082018a0282018100"),
}
RSA_TAIL = bytes.fromhex("0203010001")


@lru_cache(maxsize=4096)
def member_key(spki):
    """`SIGN-03`, `SIGN-05`, `SIGN-07`, `SIGN-09`: a member's key, by its SPKI; and its algorithm."""
    if len(spki) == 91:
        return P256, p256_key(spki)
    if len(spki) == 44:
        need(spki.startswith(ED25519_HEAD), "a key has another form", "SIGN-05")
        need(edwards.is_key(spki[12:]), "a key is no point of the subgroup", "SIGN-05")
        return ED25519, ed25519.Ed25519PublicKey.from_public_bytes(spki[12:])
    modulus = rsa_modulus(spki)
    need(modulus is not None, "a key has another form", "SIGN-07")
    return RSA, rsa.RSAPublicNumbers(65537, int.from_bytes(modulus, "big")).public_key()


def rsa_modulus(spki):
    """The modulus of an RSA key in its one form, odd and of full length; else None."""
    for length, head in RSA_HEADS.items():
        modulus, tail = spki[len(head) : len(head) + length], spki[len(head) + length :]
        full = len(modulus) == length and modulus[0] & 0x80 and modulus[-1] & 1
        if spki.startswith(head) and full and tail == RSA_TAIL:
            return modulus
    return None


def size_of(spki):
    """Bytes of a signature in our own messages, by a member's key."""
    return {P256: 64, ED25519: 64, RSA: len(rsa_modulus(spki) or b"")}[member_key(spki)[0]]


def p256_key(spki):
    """`SIGN-03`: a key on P-256."""
    need(len(spki) == 91 and spki.startswith(P256_HEAD) and spki[26] == 4, "a key has another form", "SIGN-03")
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), spki[26:])
    except ValueError:
        raise Refused("a key is no point of P-256", "SIGN-03") from None


def is_member_key(spki):
    try:
        member_key(spki)
        return True
    except Refused:
        return False


@lru_cache(maxsize=1 << 16)
def _verified(spki, message, signature):
    kind, key = member_key(spki)
    try:
        if kind == P256:
            r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
            key.verify(encode_dss_signature(r, s), message, ec.ECDSA(hashes.SHA256()))
        elif kind == ED25519:
            key.verify(signature, message)
        else:
            key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
        return True
    except InvalidSignature:
        return False


def is_low(pair):
    """`SIGN-02`: r and s are from 1 to the order less 1, and s is at most half of the order."""
    r, s = int.from_bytes(pair[:32], "big"), int.from_bytes(pair[32:], "big")
    return len(pair) == 64 and 0 < r < ORDER and 0 < s <= ORDER // 2


def is_signature(wire):
    """`SIGN-02`, `SIGN-06`, `SIGN-08`: whether these are the bytes of a signature of that algorithm."""
    algorithm, data = wire
    if algorithm == P256:
        return is_low(data)
    if algorithm == ED25519:
        return len(data) == 64 and int.from_bytes(data[32:], "little") < ED25519_ORDER
    return len(data) in RSA_HEADS


def verifies_raw(spki, message, wire):
    """Whether the holder of the key signed these bytes; the signature is of our messages."""
    fits = is_signature(wire) and wire[0] == member_key(bytes(spki))[0]
    return fits and _verified(bytes(spki), bytes(message), bytes(wire[1]))


def verifies(spki, label, message, wire):
    """Whether the holder of the key signed this under the label; the signature is of our messages."""
    return verifies_raw(spki, label + b"\0" + message, wire)


def wire_of_paper(algorithm, data):
    """A signature of X.509 and CMS as our own messages have it."""
    wire = algorithm, pair_of_der(data) if algorithm == P256 else bytes(data)
    need(is_signature(wire), "a signature has another form", "SIGN-09")
    return wire


def pair_of_der(data):
    """r ‖ s of an ECDSA-Sig-Value in strict DER with the lower s."""
    outer = der.read(data)
    inner = outer.inside(der.SEQUENCE)
    outer.end()
    r, s = inner.number(ORDER), inner.number(ORDER)
    inner.end()
    need(der.write(der.SEQUENCE, der.integer(r), der.integer(s)) == data, "a signature is not DER")
    pair = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    need(is_low(pair), "a signature is out of range", "SIGN-02")
    return pair


class GroupKey:
    """A key that a group or an authority signs with: P-256, Ed25519, or RSA of 2,048 bits or more."""

    def __init__(self, spki):
        self.spki = bytes(spki)
        self.digest = digest(self.spki)
        self.kind = kind_of(self.spki)
        try:
            if self.kind == P256:
                self.key = p256_key(self.spki)
            elif self.kind == ED25519:
                self.key = ed25519.Ed25519PublicKey.from_public_bytes(self.spki[12:])
            else:
                self.key = load_der_public_key(self.spki)
                need(isinstance(self.key, rsa.RSAPublicKey), "a group's key is none")
                need(2048 <= self.key.key_size <= 8192, "a group's RSA key has another length")
        except (ValueError, UnsupportedAlgorithm):
            raise Refused("a group's key is none") from None

    def verifies(self, message, signature):
        try:
            if self.kind == P256:
                self.key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
            elif self.kind == ED25519:
                self.key.verify(signature, message)
            else:
                self.key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
            return True
        except (InvalidSignature, ValueError):
            return False


def kind_of(spki):
    need(len(spki) <= 600, "a group's key is too long")
    if spki.startswith(P256_HEAD) and len(spki) == 91 and spki[26] == 4:
        return P256
    if spki.startswith(ED25519_HEAD) and len(spki) == 44:
        return ED25519
    need(RSA_ALGORITHM in spki[:22], "a group's key is of no kind that there is")
    return RSA
