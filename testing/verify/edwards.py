"""The subgroup of prime order of edwards25519 (RFC 8032, section 5.1)."""

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT = pow(2, (PRIME - 1) // 4, PRIME)


def decode(data):
    """The point (x, y) of these 32 bytes in its one form; None if there is none."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= PRIME:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if (x * x - square) % PRIME:
        x = x * ROOT % PRIME
    if (x * x - square) % PRIME or (x == 0 and sign):
        return None
    return (PRIME - x if x & 1 != sign else x), y


def add(one, other):
    (a, b), (c, d) = one, other
    both = D * a * c * b * d % PRIME
    x = (a * d + b * c) * pow(1 + both, -1, PRIME) % PRIME
    y = (b * d + a * c) * pow(1 - both, -1, PRIME) % PRIME
    return x, y


def is_key(data):
    """Whether it is a point of the subgroup, not the neutral one."""
    point = decode(data)
    if point is None or point == (0, 1):
        return False
    total, number = (0, 1), ORDER
    while number:
        if number & 1:
            total = add(total, point)
        point = add(point, point)
        number >>= 1
    return total == (0, 1)
