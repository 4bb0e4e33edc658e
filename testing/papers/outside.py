"""The programs openssl and certtool, which read and verify the papers."""

import re
import shutil
import subprocess

from papers import PASSPHRASE, open_form, split_pem

PACKAGES = {"openssl": "openssl", "certtool": "gnutls-bin"}
VERIFY_BY_OPENSSL = ["verify", "-x509_strict", "-check_ss_sig"]
# Programs that are not where the shell looks.
FOUND = {}


class Known(Exception):
    """What a program cannot read, in any paper of anybody; docs/protocol/identity.md says so."""

    def __init__(self, limit):
        super().__init__(limit)
        self.limit = limit


def find(target):
    """Fetches and unpacks certtool if it is not there. Its libraries are on most machines."""
    if shutil.which("certtool") or shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return
    root = target / "papers-debian"
    program = root / "usr/bin/certtool"
    if not program.exists():
        root.mkdir(parents=True, exist_ok=True)
        if not fetch(root, "apt-cache", "show", PACKAGES["certtool"]):
            fetch(root, "apt-get", "update")
        fetch(root, "apt-get", "download", PACKAGES["certtool"])
        for deb in root.glob("*.deb"):
            fetch(root, "dpkg-deb", "-x", str(deb), str(root))
    if program.exists():
        FOUND["certtool"] = str(program)


def fetch(folder, *line):
    """A step that may fail: what is missing then is said by `versions`."""
    return subprocess.run(line, cwd=folder, capture_output=True, check=False).returncode == 0


def run(program, *arguments):
    good, said = tell(program, *arguments)
    if not good:
        raise ValueError(" ".join(said.split())[-300:])
    return said


def tell(program, *arguments):
    """Whether it succeeds, and what it says."""
    line = [FOUND.get(program, program), *map(str, arguments)]
    told = subprocess.run(line, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return told.returncode == 0, (told.stdout + told.stderr).decode(errors="replace")


def versions():
    """What programs these are; fails if one is missing."""
    from importlib.metadata import version
    from platform import python_version

    for program, package in PACKAGES.items():
        if shutil.which(program) is None and program not in FOUND:
            raise SystemExit(f"the {program} command is needed: apt-get install {package}")
    yield f"Python {python_version()}"
    yield run("openssl", "version").split(" (")[0].strip()
    yield f"GnuTLS {run('certtool', '--version').splitlines()[0]}"
    yield from (f"{name} {version(name)}" for name in ("cryptography", "pkilint", "pyasn1-fasder"))


def require(said, pattern):
    if not re.search(pattern, said):
        raise ValueError(f"it does not say {pattern!r}: {' '.join(said.split())[-300:]}")


def pem_of(paper):
    """The same paper as PEM."""
    pem = paper.der_file.with_suffix(".pem")
    if split_pem(pem.read_bytes()) != [paper.der]:
        raise ValueError("PEM and DER differ")
    return pem


def certificate(program, paper):
    if program == "openssl":
        run(program, "x509", "-inform", "DER", "-in", paper.der_file, "-noout", "-text")
        require(run(program, *VERIFY_BY_OPENSSL, "-CAfile", paper.trusted, pem_of(paper)), r": OK\n")
        return
    said = run(program, "--certificate-info", "--inder", "--infile", paper.der_file)
    require(said, r"Public Key ID:")
    # GnuTLS builds chains to CAs only. What a person signed for itself it reads, and verifies as the
    # signer of a message.
    if paper.signer != "self-signed":
        trusted = ["--verify-profile", "low", "--load-ca-certificate", paper.trusted]
        said = run(program, "--verify", *trusted, "--infile", pem_of(paper))
        require(said, r"Chain verification output: Verified\.")


def revocations(program, paper):
    if program == "openssl":
        how = ["-noout", "-text", "-CAfile", paper.trusted]
        require(run(program, "crl", "-inform", "DER", "-in", paper.der_file, *how), "verify OK")
        return
    run(program, "--crl-info", "--inder", "--infile", paper.der_file)
    trusted = ["--load-ca-certificate", paper.trusted]
    said = run(program, "--verify-crl", *trusted, "--infile", pem_of(paper))
    require(said, r"Verification output: Verified\.")


def request(program, paper):
    if program == "openssl":
        said = run(program, "req", "-inform", "DER", "-in", paper.der_file, "-verify", "-noout", "-text")
        require(said, "verify OK")
        return
    said = run(program, "--crq-info", "--inder", "--infile", paper.der_file)
    require(said, "Self signature: verified")


def message(program, paper):
    if program == "openssl":
        by_openssl(paper)
        return
    run(program, "--p7-info", "--inder", "--infile", paper.der_file)
    trusted = ["--load-ca-certificate", paper.trusted]
    said = run(program, "--p7-verify", "--inder", "--infile", paper.der_file, *trusted)
    # Of every signature.
    states = re.findall(r"Signature status: (\w+)", said)
    if not states or set(states) != {"ok"}:
        raise ValueError(f"signatures are {states}")


def by_openssl(paper):
    printed = run("openssl", "cms", "-cmsout", "-print", "-inform", "DER", "-in", paper.der_file)
    how = ["-CAfile", paper.trusted, "-binary", "-out", "/dev/null"]
    good, said = tell("openssl", "cms", "-verify", "-inform", "DER", "-in", paper.der_file, *how)
    # OpenSSL 3.0 hands the digest's name to an algorithm that takes none. Later ones may verify it.
    if not good and "algorithm: ED25519" in printed and "invalid digest" in said:
        raise Known("OpenSSL reads CMS by Ed25519 (RFC 8419), and does not verify it")
    require(said, "Verification successful")


def key(program, paper):
    """Of a sealed key: that it opens as the key that its open form is."""
    if program == "certtool":
        sealed = ["--password", PASSPHRASE] if paper.signer == "sealed" else []
        good, said = tell(program, "--key-info", *sealed, "--infile", paper.trusted)
        # The ASN.1 of GnuTLS 3.7 knows PBES2 with PBKDF2 alone.
        if not good and sealed and "ASN1 parser" in said:
            raise Known("GnuTLS reads no key under scrypt (RFC 7914)")
        require(said, r"Public Key ID:")
        return
    passed = ["-passin", f"pass:{PASSPHRASE}"]
    require(run(program, "pkey", "-in", paper.trusted, *passed, "-check", "-noout"), "Key is valid")
    public = [run(program, "pkey", "-in", file, *passed, "-pubout") for file in (paper.trusted, open_form(paper))]
    if public[0] != public[1]:
        raise ValueError("it opens as another key")
