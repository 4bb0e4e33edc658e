"""Points of P-256 and of edwards25519: what the library does not offer. Nothing here is secret."""

from functools import lru_cache

from keys import P256_HEAD
from refused import need

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
P256_BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


@lru_cache(maxsize=4096)
def p256_decode(data):
    """A point in its compressed form, 33 bytes, not the identity."""
    need(len(data) == 33 and data[0] in (2, 3), "a point is malformed", "SHR-02")
    x = int.from_bytes(data[1:], "big")
    need(x < P, "a point is out of range", "SHR-02")
    square = (x * x * x - 3 * x + B) % P
    y = pow(square, (P + 1) // 4, P)
    need(y * y % P == square, "a point is not on the curve", "SHR-02")
    return x, y if y & 1 == data[0] & 1 else P - y


def p256_encode(point):
    return bytes([2 + (point[1] & 1)]) + point[0].to_bytes(32, "big")


def p256_decode_spki(spki):
    return int.from_bytes(spki[27:59], "big"), int.from_bytes(spki[59:], "big")


def p256_spki(point):
    return P256_HEAD + b"\x04" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def p256_add(one, other):
    """The sum of two points; None is the identity."""
    if one is None or other is None:
        return other if one is None else one
    if one[0] == other[0]:
        if (one[1] + other[1]) % P == 0:
            return None
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, P) % P
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, P) % P
    x = (slope * slope - one[0] - other[0]) % P
    return x, (slope * (one[0] - x) - one[1]) % P


@lru_cache(maxsize=4096)
def p256_times(number, point):
    total = None
    while number:
        if number & 1:
            total = p256_add(total, point)
        point = p256_add(point, point)
        number >>= 1
    return total


Q = 2**255 - 19
D = -121665 * pow(121666, -1, Q) % Q
L = 2**252 + 27742317777372353535851937790883648493


def edwards_add(one, other):
    """The sum of two points (x, y) of edwards25519."""
    cross = D * one[0] * other[0] * one[1] * other[1] % Q
    x = (one[0] * other[1] + other[0] * one[1]) * pow(1 + cross, -1, Q) % Q
    y = (one[1] * other[1] + one[0] * other[0]) * pow(1 - cross, -1, Q) % Q
    return x, y


@lru_cache(maxsize=4096)
def edwards_decode(data):
    """A point in its one form, 32 bytes, of the subgroup of prime order, not the identity."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    need(y < Q, "a point is out of range", "SIGN-05")
    square = (y * y - 1) * pow(D * y * y + 1, -1, Q) % Q
    x = pow(square, (Q + 3) // 8, Q)
    if (x * x - square) % Q:
        x = x * pow(2, (Q - 1) // 4, Q) % Q
    need((x * x - square) % Q == 0 and (x or not sign), "a point is not on the curve", "SIGN-05")
    point = (Q - x if x & 1 != sign else x), y
    total, power, number = (0, 1), point, L
    while number:
        if number & 1:
            total = edwards_add(total, power)
        power = edwards_add(power, power)
        number >>= 1
    need(total == (0, 1) and point != (0, 1), "a point is not of the subgroup", "SIGN-05")
    return point
