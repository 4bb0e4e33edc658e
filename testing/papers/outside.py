"""The programs openssl and certtool, which read and verify the papers."""

import re
import shutil
import subprocess

from papers import split_pem

PACKAGES = {"openssl": "openssl", "certtool": "gnutls-bin"}
VERIFY_BY_OPENSSL = ["verify", "-x509_strict", "-check_ss_sig"]


def run(program, *arguments):
    line = [program, *map(str, arguments)]
    told = subprocess.run(line, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    said = (told.stdout + told.stderr).decode(errors="replace")
    if told.returncode != 0:
        raise ValueError(" ".join(said.split())[-300:])
    return said


def versions():
    """What programs these are; fails if one is missing."""
    from importlib.metadata import version
    from platform import python_version

    for program, package in PACKAGES.items():
        if shutil.which(program) is None:
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
        said = run(program, "cms", "-cmsout", "-print", "-inform", "DER", "-in", paper.der_file)
        # OpenSSL 3.0 verifies no CMS by Ed25519: it hands the digest's name to an algorithm that
        # takes none. What it reads of it is right.
        if "signatureAlgorithm: \n          algorithm: ED25519" in said:
            return
        how = ["-CAfile", paper.trusted, "-binary", "-out", "/dev/null"]
        said = run(program, "cms", "-verify", "-inform", "DER", "-in", paper.der_file, *how)
        require(said, "Verification successful")
        return
    run(program, "--p7-info", "--inder", "--infile", paper.der_file)
    trusted = ["--load-ca-certificate", paper.trusted]
    said = run(program, "--p7-verify", "--inder", "--infile", paper.der_file, *trusted)
    # Of every signature.
    states = re.findall(r"Signature status: (\w+)", said)
    if not states or set(states) != {"ok"}:
        raise ValueError(f"signatures are {states}")
