"""The TLS presentation language, as line.md has it under "Bytes"."""

from refused import need

BLOB_BYTES_MAX = 16 * 1024 * 1024 + 64 * 1024
SIGNATURE_BYTES_MAX = 512


class Reader:
    """Reads one value after the other."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, count):
        end = self.at + count
        need(end <= len(self.data), "it is cut short")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def one_of(self, values):
        value = self.number(1)
        need(value in values, f"{value} is none of its enumeration")
        return value

    def optional(self, read):
        """One byte, 0 for none and 1 for one."""
        return read(self) if self.one_of((0, 1)) else None

    def blob(self):
        """A length of 4 bytes, then the bytes."""
        length = self.number(4)
        need(length <= BLOB_BYTES_MAX, "a blob is too long")
        return bytes(self.take(length))

    def length(self):
        """A variable-length integer of 1, 2 or 4 bytes, in the fewest that hold it."""
        first = self.number(1)
        count = 1 << (first >> 6)
        need(count < 8, "a list is too long")
        value = first & 0x3F
        for _ in range(count - 1):
            value = value << 8 | self.number(1)
        need(count == 1 or value >= (1 << 6, 1 << 14)[count // 4], "a length is not the shortest")
        return value

    def list(self, read):
        """The length in bytes, then the elements."""
        inner = Reader(self.take(self.length()))
        out = []
        while inner.at < len(inner.data):
            out.append(read(inner))
        return out


def decode(data, read):
    """A value that is encoded on its own: version byte, value, nothing more."""
    reader = Reader(data)
    need(reader.number(1) == 1, "its version is not 1")
    value = read(reader)
    need(reader.at == len(data), "bytes follow the end")
    return value


def of_length(data):
    """The variable-length integer for a list of so many bytes."""
    count = len(data)
    if count < 1 << 6:
        return bytes([count])
    if count < 1 << 14:
        return (count | 0x4000).to_bytes(2, "big")
    return (count | 0x80000000).to_bytes(4, "big")


def signature(reader):
    """algorithm, length of two bytes, bytes."""
    algorithm = reader.one_of((1, 2, 3))
    length = reader.number(2)
    need(length <= SIGNATURE_BYTES_MAX, "a signature is too long")
    return algorithm, bytes(reader.take(length))


def of_signature(value):
    algorithm, data = value
    return bytes([algorithm]) + len(data).to_bytes(2, "big") + data


def head(reader):
    """number, digest."""
    return reader.number(8), bytes(reader.take(32))


def of_head(value):
    return value[0].to_bytes(8, "big") + value[1]


def is_sorted(values):
    """Whether they rise, so that each is there once."""
    return all(a < b for a, b in zip(values, values[1:]))
