"""What a message of the test holds, and by what its bytes are compared."""

import zlib

# The bytes repeat after so many, which is not a length of LCM's fragments.
PERIOD = 65_536


def payload(size, seed):
    once = bytes((place * 31 + (place >> 8) * 17 + seed) & 255 for place in range(min(size, PERIOD)))
    return (once * (size // PERIOD + 1))[:size]


def digest(data):
    return f"{zlib.crc32(data):08x}"
