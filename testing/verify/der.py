"""DER: a reader of tags and lengths, and a writer. Whoever reads a message builds it anew from its
values and compares, so the reader here need not be strict itself."""

from refused import Refused, need

SEQUENCE, SET, INTEGER, OCTETS, BITS, OID, ENUM = 0x30, 0x31, 0x02, 0x04, 0x03, 0x06, 0x0A
UTF8, PRINTABLE, UTC, GENERAL, BOOL, NULL = 0x0C, 0x13, 0x17, 0x18, 0x01, b"\x05\x00"


def write(tag, *parts):
    """One value: tag, shortest length, content."""
    body = b"".join(parts)
    size = len(body)
    if size < 0x80:
        return bytes([tag, size]) + body
    count = (size.bit_length() + 7) // 8
    return bytes([tag, 0x80 | count]) + size.to_bytes(count, "big") + body


def integer(value, tag=INTEGER):
    """A number that is not negative."""
    return write(tag, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def oid(text):
    first, second, *rest = (int(part) for part in text.split("."))
    out = bytearray([first * 40 + second])
    for part in rest:
        group = [part & 0x7F]
        while part := part >> 7:
            group.append(part & 0x7F | 0x80)
        out.extend(reversed(group))
    return write(OID, bytes(out))


def set_of(parts):
    """A SET OF, its elements sorted by their encodings."""
    return write(SET, *sorted(parts))


class Reader:
    """The values inside of one."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def more(self):
        return self.at < len(self.data)

    def peek(self):
        return self.data[self.at] if self.more() else None

    def header(self):
        try:
            tag, size, at = self.data[self.at], self.data[self.at + 1], self.at + 2
            if size & 0x80:
                count = size & 0x7F
                need(0 < count <= 4, "a length is malformed")
                size = int.from_bytes(self.data[at : at + count], "big")
                at += count
        except IndexError:
            raise Refused("it is cut short") from None
        need(at + size <= len(self.data), "it is cut short")
        return tag, at, at + size

    def whole(self):
        """The next value with its tag and length."""
        _, _, end = self.header()
        value = self.data[self.at : end]
        self.at = end
        return value

    def value(self, tag):
        """The content of the next value, which has this tag."""
        found, start, end = self.header()
        need(found == tag, f"tag {found:02x} where {tag:02x} must be")
        self.at = end
        return self.data[start:end]

    def inside(self, tag):
        return Reader(self.value(tag))

    def number(self, most, tag=INTEGER):
        """A number from 0 to `most`."""
        body = self.value(tag)
        need(body and body[0] < 0x80, "a number is malformed or negative")
        value = int.from_bytes(body, "big")
        need(value <= most, "a number is out of range")
        return value

    def octets(self, size=None):
        body = self.value(OCTETS)
        need(size is None or len(body) == size, "an OCTET STRING has another length")
        return body

    def text(self, tag=UTF8):
        return utf8(self.value(tag))

    def end(self):
        need(not self.more(), "more follows")


def utf8(data):
    try:
        return bytes(data).decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8") from None


def read(data):
    return Reader(data)
