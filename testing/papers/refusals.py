"""The strict reader refuses what it is there for, with the reason: else it would prove nothing."""

import der

MALFORMED = {
    "30800201010000": "an indefinite length",
    "308103020101": "a length that is not the shortest",
    "30820003020101": "a length that is not the shortest",
    "3004020101": "the length goes beyond the end",
    "02010100": "something follows",
    "02020001": "an INTEGER with a byte too many",
    "0202ff80": "an INTEGER with a byte too many",
    "0200": "an empty INTEGER",
    "010101": "a BOOLEAN that is not TRUE",
    "010100": "a BOOLEAN that is not TRUE",
    "2403040101": "a constructed string",
    "03020101": "unused bits that are not zero",
    "3106020102020101": "a SET that is not sorted",
    "310702020080020101": "a SET that is not sorted",
    "06032a8001": "an OBJECT IDENTIFIER with a byte too many",
    "170b323630313031303030305a": "a time in another form",
}
WELL_FORMED = "300b3106020101020102" + "0101ff"


def prove():
    der.read(bytes.fromhex(WELL_FORMED))
    for text, reason in MALFORMED.items():
        try:
            der.read(bytes.fromhex(text))
        except der.NotDer as error:
            if reason in str(error):
                continue
        raise SystemExit(f"the strict reader does not refuse {text}: {reason}")


def prove_of(paper):
    """Of a message that several signed: two certificates, signatures or attributes exchanged."""
    parts = der.read_message(paper.der)
    exchanged = [parts[3].elements, parts[4].elements, parts[4].elements[0].elements[3].elements]
    for first, second, *_ in exchanged:
        changed = paper.der[: first.start] + second.whole + first.whole + paper.der[second.end :]
        try:
            der.read_message(changed)
        except der.NotDer as error:
            if "not sorted" in str(error):
                continue
        raise ValueError("two elements exchanged are not refused")
