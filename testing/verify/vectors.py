"""Reads the golden bytes of testing/vectors/identity/mixed: papers by a key of each algorithm."""

import certificate
import charter
import cms
import codec
import keys
from membership import Gmc
from refused import Refused, digest, need
from request import Csr

ALGORITHMS = {"p256": 1, "ed25519": 2, "rsa-2048": 3, "rsa-3072": 3}
LINK = b"folkmoot link v1"
# Every so many bytes one is changed.
STEP = 13


class Founder:
    """What there is of one founder."""

    def __init__(self, folder, name):
        self.name = name
        self.files = {file.name[len(name) + 1 :]: file.read_bytes() for file in folder.glob(f"{name}.*")}
        self.spki = certificate.open_identity(self.files["certificate.der"]).spki
        need(keys.member_key(self.spki)[0] == ALGORITHMS[name], "its key is of another algorithm")

    def readers(self):
        """Each file, and what reads it: refuses it, or says what it is worth."""
        yield "certificate.der", lambda data: certificate.open_identity(data).spki
        yield "csr.der", lambda data: Csr(data).spki
        yield "request.cms", lambda data: self.signed(data, b"folkmoot request v1\0", 4096)
        yield "vote.cms", lambda data: self.signed(data, b"folkmoot vote v2\0", 3072)
        yield "gmc.der", lambda data: Gmc(data).spki
        yield "link.signature", self.link

    def signed(self, data, label, most):
        content, (signer,) = cms.read(data, most, 1)
        need(content.startswith(label), "its content has another label", "ID-40")
        return signer.spki

    def link(self, data):
        wire = codec.decode(data, codec.signature)
        need(keys.verifies(self.spki, LINK, self.files["link.statement"], wire), "it does not verify")
        return self.spki


def check(folder):
    """Reads all of them, and refuses each with a byte changed; says how many there were."""
    found = charter.signed((folder / "charter.cms").read_bytes())
    founders = [Founder(folder, name) for name in ALGORITHMS]
    named = {member for member, _, _ in found.founders}
    need(named == {digest(one.spki) for one in founders}, "the charter has other founders")
    changed = 0
    for founder in founders:
        for name, read in founder.readers():
            data = founder.files[name]
            need(read(data) == founder.spki, f"{founder.name}.{name} is of another key")
            changed += sum(refuses(read, data, at) for at in range(0, len(data), STEP))
        votes = Gmc(founder.files["gmc.der"]).said.votes
        need({vote.voter for vote in votes} == named, f"{founder.name}'s certificate lacks votes")
    return f"golden papers of {len(founders)} algorithms are read, {changed} changed ones refused"


def refuses(read, data, at):
    altered = bytearray(data)
    altered[at] ^= 1
    try:
        spki = read(bytes(altered))
    except Refused:
        return 1
    raise Refused(f"a changed byte at {at} is read as of {spki.hex()}")
