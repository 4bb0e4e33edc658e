"""A strict reader of DER (X.690): refuses what a lenient reader passes over in silence."""

UNIVERSAL_STRINGS = {12, 18, 19, 20, 22, 26, 27, 28, 30}
BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, NULL, OID, ENUMERATED = 1, 2, 3, 4, 5, 6, 10
SEQUENCE, SET, UTC_TIME, GENERALIZED_TIME = 16, 17, 23, 24
CONSTRUCTED = 0x20


class NotDer(ValueError):
    """What stands where, and why it is not DER."""


def require(holds, why, at):
    if not holds:
        raise NotDer(f"byte {at}: {why}")


class Element:
    """One encoding: its tag, its whole bytes, and its elements if it is constructed."""

    def __init__(self, data, start, end):
        require(start + 2 <= end, "the end comes too early", start)
        self.data, self.start, self.tag = data, start, data[start]
        require(self.tag & 0x1F != 0x1F, "a tag of several bytes, which no paper has", start)
        head, length = header_length(data, start, end)
        self.value_start, self.end = start + head, start + head + length
        require(self.end <= end, "the length goes beyond the end", start)
        self.elements = []
        if self.tag & CONSTRUCTED:
            self.elements = read_all(data, self.value_start, self.end)
        if self.tag < 0x40:
            self.check_universal()

    @property
    def whole(self):
        return self.data[self.start : self.end]

    @property
    def value(self):
        return self.data[self.value_start : self.end]

    def check_universal(self):
        number, value, at = self.tag & 0x1F, self.value, self.start
        is_constructed = bool(self.tag & CONSTRUCTED)
        is_list = number in (SEQUENCE, SET)
        require(is_constructed == is_list, "a constructed string, or a primitive list", at)
        if number == SET:
            self.check_sorted("a SET")
        elif number == BOOLEAN:
            # Every BOOLEAN of these papers is FALSE by default, and then DER leaves it out.
            require(value == b"\xff", "a BOOLEAN that is not TRUE in one byte", at)
        elif number in (INTEGER, ENUMERATED):
            require(len(value) > 0, "an empty INTEGER", at)
            padded = len(value) > 1 and (value[0], value[1] >> 7) in ((0, 0), (0xFF, 1))
            require(not padded, "an INTEGER with a byte too many", at)
        elif number == BIT_STRING:
            require(len(value) > 0 and value[0] < 8, "a malformed BIT STRING", at)
            unused = value[-1] & ((1 << value[0]) - 1) if len(value) > 1 else value[0]
            require(unused == 0, "unused bits that are not zero", at)
        elif number == NULL:
            require(value == b"", "a NULL with a value", at)
        elif number == OID:
            check_oid(value, at)
        elif number in (UTC_TIME, GENERALIZED_TIME):
            digits = 12 if number == UTC_TIME else 14
            is_time = len(value) == digits + 1 and value[:-1].isdigit() and value.endswith(b"Z")
            require(is_time, "a time in another form than seconds and Z", at)
        elif number != SEQUENCE:
            require(number == OCTET_STRING or number in UNIVERSAL_STRINGS, f"the tag {number}", at)

    def check_sorted(self, what):
        """X.690, 11.6: ascending, the shorter of two thought of as ended by zero bytes."""
        for one, other in zip(self.elements, self.elements[1:]):
            length = max(len(one.whole), len(other.whole))
            is_sorted = one.whole.ljust(length, b"\0") <= other.whole.ljust(length, b"\0")
            require(is_sorted, f"{what} that is not sorted", other.start)


def header_length(data, start, end):
    """Bytes before the value, and bytes of the value."""
    first = data[start + 1]
    if first < 0x80:
        return 2, first
    count = first & 0x7F
    require(count > 0, "an indefinite length", start)
    require(start + 2 + count <= end, "the end comes too early", start)
    length = int.from_bytes(data[start + 2 : start + 2 + count], "big")
    shortest = 1 if length < 0x80 else 1 + (length.bit_length() + 7) // 8
    require(shortest == 1 + count, "a length that is not the shortest", start)
    return 2 + count, length


def check_oid(value, at):
    require(len(value) > 0 and value[-1] < 0x80, "an OBJECT IDENTIFIER that does not end", at)
    starts = [0] + [i + 1 for i, byte in enumerate(value[:-1]) if byte < 0x80]
    require(all(value[i] != 0x80 for i in starts), "an OBJECT IDENTIFIER with a byte too many", at)


def read_all(data, start, end):
    found = []
    while start < end:
        found.append(Element(data, start, end))
        start = found[-1].end
    return found


def read(data):
    """The one encoding that these bytes are."""
    element = Element(data, 0, len(data))
    require(element.end == len(data), "something follows", element.end)
    return element


def children(element, *tags):
    """The elements, which must have these tags."""
    found = [child.tag for child in element.elements]
    require(found == list(tags), f"elements with the tags {found}", element.start)
    return element.elements


def read_certificate(data):
    """A certificate, and the values of its extensions."""
    tbs = children(read(data), 0x30, 0x30, 0x03)[0]
    read_extensions(tbs.elements[-1].elements[0])


def read_list(data):
    """A revocation list, and the values of its extensions."""
    tbs = children(read(data), 0x30, 0x30, 0x03)[0]
    read_extensions(tbs.elements[-1].elements[0])


def read_request(data):
    """A CSR: its attributes are a SET OF with the tag [0]."""
    body = children(read(data), 0x30, 0x30, 0x03)[0]
    children(body, 0x02, 0x30, 0x30, 0xA0)[3].check_sorted("a set of attributes")


def read_key(data):
    """A private key, or one that is encrypted; of the first, what stands in its strings too."""
    found = read(data)
    if found.elements[0].tag == 0x02 and found.elements[2].value[:1] in (b"\x30", b"\x04"):
        read(found.elements[2].value)


def read_extensions(sequence):
    seen = [extension.elements[0].whole for extension in sequence.elements]
    require(len(set(seen)) == len(seen), "an extension that comes twice", sequence.start)
    for extension in sequence.elements:
        read(extension.elements[-1].value)


def read_message(data):
    """A CMS message: two sets of it have the tag [0] instead of their own."""
    kind, content = children(read(data), 0x06, 0xA0)
    require(kind.value == bytes.fromhex("2a864886f70d010702"), "not id-signedData", kind.start)
    (signed,) = children(content, 0x30)
    parts = children(signed, 0x02, 0x31, 0x30, 0xA0, 0x31)
    parts[3].check_sorted("a set of certificates")
    for certificate in parts[3].elements:
        read_certificate(certificate.whole)
    for signer in parts[4].elements:
        children(signer, 0x02, 0x30, 0x30, 0xA0, 0x30, 0x04)[3].check_sorted("a set of attributes")
    return parts
