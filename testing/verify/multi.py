"""Multisignatures of voters (ASM over P-256, signing.md)."""

from hashlib import sha512

import curves
from codec import is_sorted
from refused import digest, need

NAME = b"p256"


def head(label):
    return label + b"\0" + NAME + b"\0"


class Multi:
    """One signature of several voters, with what it says besides."""

    def __init__(self, base, turn, expires, data):
        self.base, self.turn, self.expires, self.data = base, turn, expires, data
        need(len(data) >= 68 and data[0] == 1, "a multisignature is malformed", "ASM-09")
        self.element = curves.p256_decode(data[1:34])
        self.number = int.from_bytes(data[34:66], "big")
        count = int.from_bytes(data[66:68], "big")
        self.signers = [data[at : at + 32] for at in range(68, len(data), 32)]
        need(1 <= count <= 256 and len(data) == 68 + 32 * count, "its signers are malformed", "ASM-09")
        need(self.number < curves.P256_ORDER, "its number is out of range", "ASM-09")
        need(is_sorted(self.signers), "its signers are not sorted", "ASM-09")

    def verifies(self, group, message, keys):
        """Whether all its signers signed; `keys` has the SPKI of each that counts."""
        if any(signer not in keys for signer in self.signers):
            return False
        points = [curves.p256_decode_spki(keys[signer]) for signer in self.signers]
        total = None
        for point in points:
            total = curves.p256_add(total, point)
        if total is None:
            return False
        context = digest(head(b"folkmoot asm context v1"), group)
        named = b"".join(
            signer + digest(head(b"folkmoot asm key v1"), curves.p256_encode(point))
            for signer, point in zip(self.signers, points)
        )
        count = len(points).to_bytes(2, "big")
        label = b"folkmoot multi v1\0"
        subject = digest(head(b"folkmoot asm subject v1"), context, label, count, named, message)
        wide = sha512(head(b"folkmoot asm challenge v1") + subject + curves.p256_encode(self.element))
        challenge = int.from_bytes(wide.digest(), "big") % curves.P256_ORDER
        left = curves.p256_times(self.number, curves.P256_BASE)
        right = curves.p256_add(self.element, curves.p256_times(challenge, total))
        return left == right
