"""The papers of one group, as `folkmoot export` and the test beside it write them."""

import re
import shutil
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path

# What the keys of a group's members are sealed under, for this check alone.
PASSPHRASE = "papers"
PEM = re.compile(rb"-----BEGIN [A-Z0-9 ]+-----\s*([A-Za-z0-9+/=\s]+?)-----END ")


@dataclass
class Paper:
    """One file of DER, and what is needed to judge it."""

    name: str
    kind: str
    form: str
    der_file: Path
    signer: str = ""
    """Of a certificate: self-signed, issued, authority; of a list: list; of a key: open, sealed."""
    trusted: Path | None = None
    """PEM of the certificates that it is verified by; of a key: its own."""
    lint: tuple[str, ...] = ()
    """The linter of this form, and its options."""

    @property
    def der(self):
        return self.der_file.read_bytes()


def split_pem(text):
    """The DER of each block."""
    return [b64decode(b"".join(block.split())) for block in PEM.findall(text)]


def to_pem(label, der):
    body = b64encode(der).decode()
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


def certificate(name, kind, file, signer, trusted):
    return Paper(name, kind, "certificate", file, signer, trusted, ("lint_pkix_cert",))


def apart(folder, source, work):
    """Writes the certificates of a PEM file one by one, as DER and as PEM."""
    for number, der in enumerate(split_pem((folder / source).read_bytes())):
        file = work / f"{Path(source).stem}-{number}.der"
        file.write_bytes(der)
        pem = file.with_suffix(".pem")
        pem.write_text(to_pem("CERTIFICATE", der))
        yield file, pem


def keys_of(folder, work):
    """Private keys as they lie in state folders: open, and under the passphrase `papers`."""
    for pem in sorted((folder / "keys").glob("*.pem")):
        (der,) = split_pem(pem.read_bytes())
        file = work / f"{pem.stem}.der"
        file.write_bytes(der)
        yield Paper(pem.name, "key", "key", file, pem.stem.rsplit("-", 1)[1], pem)


def open_form(paper):
    """The file of a sealed key's open form."""
    return paper.trusted.with_name(paper.name.replace("-sealed", "-open"))


def papers_of(folder):
    """All of them. A group in which somebody else signs has a certificate of that key, and a list."""
    work = folder / "apart"
    work.mkdir(exist_ok=True)
    identities, authority = folder / "identities.pem", folder / "authority.pem"
    is_issued = authority.exists()
    found = [
        certificate(file.name, "identity", file, "self-signed", pem)
        for file, pem in apart(folder, "identities.pem", work)
    ]
    if is_issued:
        ((file, pem),) = apart(folder, "authority.pem", work)
        found.append(certificate("authority", "authority", file, "authority", pem))
        linter = ("lint_crl", "-t", "CRL", "-p", "PKIX")
        found.append(Paper("revoked", "list", "list", folder / "revoked.crl", "list", authority, linter))
    for file in sorted((folder / "certificates").glob("*.der")):
        trusted = authority if is_issued else file.with_suffix(".pem")
        signer = "issued" if is_issued else "self-signed"
        found.append(certificate(file.name, "membership", file, signer, trusted))
    found.append(Paper("charter.cms", "charter", "message", folder / "charter.cms", trusted=identities))
    votes = sorted((folder / "votes").glob("*.cms"))
    found += [Paper(file.name, "vote", "message", file, trusted=identities) for file in votes]
    (of_dora,) = (folder / "certificates").glob("dora-*.pem")
    by_whom = {"anna": identities, "dora": authority if is_issued else of_dora}
    for file in sorted((folder / "messages").glob("*.cms")):
        found.append(Paper(file.name, "message", "message", file, trusted=by_whom[file.stem]))
    requests = sorted((folder / "requests").glob("*.der"))
    found += [Paper(file.name, "request", "request", file) for file in requests]
    found += keys_of(folder, work)
    forms = {paper.kind for paper in found}
    wanted = {"identity", "membership", "charter", "vote", "message", "request", "key"}
    wanted |= {"authority", "list"} if is_issued else set()
    if forms != wanted:
        raise ValueError(f"{folder.name} has {sorted(forms)}, not {sorted(wanted)}")
    return found


def golden_of(folder, work):
    """The golden papers of one group, whose charter keys of all algorithms have signed."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    identities, found = work / "identities.pem", []
    for file in sorted(folder.glob("*.certificate.der")):
        pem = file_as_pem(file, "CERTIFICATE", work)
        identities.write_text((identities.read_text() if identities.exists() else "") + pem.read_text())
        found.append(certificate(file.name, "identity", work / file.name, "self-signed", pem))
    for file in sorted(folder.glob("*.gmc.der")):
        pem = file_as_pem(file, "CERTIFICATE", work)
        found.append(certificate(file.name, "membership", work / file.name, "self-signed", pem))
    for file in sorted(folder.glob("*.csr.der")):
        file_as_pem(file, "CERTIFICATE REQUEST", work)
        found.append(Paper(file.name, "request", "request", work / file.name))
    for file in sorted(folder.glob("*.cms")):
        kind = "charter" if file.stem == "charter" else "message"
        found.append(Paper(file.name, kind, "message", file, trusted=identities))
    return found


def file_as_pem(file, label, work):
    """A copy in a folder for work, with its PEM beside it."""
    copy = work / file.name
    copy.write_bytes(file.read_bytes())
    pem = copy.with_suffix(".pem")
    pem.write_text(to_pem(label, copy.read_bytes()))
    return pem
