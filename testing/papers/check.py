#!/usr/bin/env python3
"""Hands the papers of real groups to other software: OpenSSL, GnuTLS, Python, pkilint.

check.py           makes papers of every scheme with the program `folkmoot`, and checks them
check.py FOLDER    checks papers made before: a folder for each group
check.py --ready   only looks whether all readers are there; says what is missing

Needs Python 3.11, openssl, and certtool of GnuTLS (Debian: gnutls-bin). If certtool is not
installed, Debian's package is fetched and unpacked under target/. What it imports goes into a
virtual environment there. The exit code is 1 if anything is refused.
"""

import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The folder of this script stays as it is in the repository.
sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
ENVIRONMENT = TARGET / "papers-python"
SCHEMES = ("plain", "asm", "frost", "ts-dsa", "shoup-rsa")
MODES = ("decentralised", "centralised")


def groups():
    """A folder for each group: every scheme in every mode that it has, with keys of P-256 alone, and
    with keys of all algorithms mixed."""
    for kind in ("", "-mixed"):
        for scheme in SCHEMES:
            # With asm all keys are on one curve; only a dealer makes shares of shoup-rsa.
            if scheme == "asm" and kind:
                continue
            modes = MODES[1:] if scheme == "shoup-rsa" else MODES
            yield from (f"{scheme}-{mode}{kind}" for mode in modes)


def enter_environment():
    """Runs this again with what it imports; returns if that is so already."""
    if Path(sys.prefix).resolve() == ENVIRONMENT:
        return
    if sys.version_info < (3, 11):
        sys.exit("Python 3.11 or later is needed")
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    wanted = HERE / "requirements.txt"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # What is installed is noted, so that another run asks no network.
    note = ENVIRONMENT / "installed.txt"
    if not note.exists() or note.read_bytes() != wanted.read_bytes():
        subprocess.run(pip + ["--requirement", str(wanted)], check=True)
        shutil.copyfile(wanted, note)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


def make_papers():
    """Runs the test that founds a group of each scheme in each mode, and keeps its papers."""
    folder = TARGET / "papers"
    shutil.rmtree(folder, ignore_errors=True)
    line = ["cargo", "test", "--quiet", "-p", "folkmoot-cli", "--test", "it", "papers::"]
    environment = os.environ | {"FOLKMOOT_PAPERS": str(folder)}
    subprocess.run(line, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return folder


class Check:
    """Counts what each program accepted, and lists what one refused."""

    def __init__(self, linters):
        self.linters = linters
        self.accepted = Counter()
        self.refused = []
        self.known_seen = set()
        self.limits = Counter()

    def count(self, who, what, error):
        from outside import Known

        if error is None:
            self.accepted[who] += 1
        elif isinstance(error, Known):
            self.limits[error.limit] += 1
        else:
            self.refused.append(f"{who}: {what}: {type(error).__name__}: {error}")

    def group(self, name, found):
        """All papers of a group, several at a time: most readers are programs of their own."""
        work = [(f"{name}/{paper.name}", *one) for paper in found for one in self.works(paper)]
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            outcomes = pool.map(lambda one: outcome(*one[2:]), work)
            for (what, who, *_), error in zip(work, outcomes):
                self.count(who, what, error)
        return Counter(paper.kind for paper in found)

    def works(self, paper):
        import refusals

        yield from readers(paper)
        if paper.kind == "charter":
            yield "strict DER, changed order refused", refusals.prove_of, paper
        if paper.lint:
            yield paper.lint[0], self.lint, paper

    def lint(self, paper):
        """No finding of severity ERROR or worse, but for those in known.toml."""
        from lints import findings

        program, *more = paper.lint
        options = [*more, "--document-format", "DER", str(paper.der_file)]
        found = self.linters.submit(findings, program, *options).result()
        keys = {(program, code, paper.signer) for code in found}
        listed = {(one["program"], one["code"], one["papers"]) for one in known()}
        self.known_seen |= keys & listed
        if keys - listed:
            raise ValueError(", ".join(sorted(code for _, code, _ in keys - listed)))

    def report(self):
        for who, count in sorted(self.accepted.items()):
            print(f"{who}: {count} accepted")
        for one in known():
            key = (one["program"], one["code"], one["papers"])
            print(f"known: {', '.join(key)}")
            if key not in self.known_seen:
                self.refused.append(f"known.toml: nothing has {', '.join(key)}")
        for limit, count in sorted(self.limits.items()):
            print(f"not read: {limit}: {count}")
        for line in self.refused:
            print(f"REFUSED {line}")
        return 1 if self.refused else 0


def outcome(work, *arguments):
    """What a reader says against a paper; None if it takes it."""
    try:
        work(*arguments)
    except Exception as error:  # Whatever a reader throws, it has refused the paper.
        return error
    return None


def known():
    import tomllib

    return tomllib.loads((HERE / "known.toml").read_text(encoding="utf-8"))["known"]


def readers(paper):
    """Each program that reads this paper, and how."""
    import der
    import outside
    import within

    strict, asn1, parse, verify = {
        "certificate": (der.read_certificate, within.CERTIFICATE, within.certificate, outside.certificate),
        "list": (der.read_list, within.LIST, within.revocations, outside.revocations),
        "request": (der.read_request, within.REQUEST, within.request, outside.request),
        "message": (der.read_message, within.MESSAGE, within.message, outside.message),
        "key": (der.read_key, within.KEY.get(paper.signer), within.key, outside.key),
    }[paper.form]
    yield "strict DER", strict, paper.der
    yield "pyasn1, decoded and encoded again", within.encodes_again, paper.der, asn1
    yield "pyasn1-fasder", within.decodes_strictly, paper.der, asn1
    yield "cryptography", parse, paper
    for program in ("openssl", "certtool"):
        yield program, verify, program, paper


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    enter_environment()
    import lints
    import outside
    import papers
    import refusals

    outside.find(TARGET)
    print("\n".join(outside.versions()))
    refusals.prove()
    if sys.argv[1:] == ["--ready"]:
        return
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else make_papers()
    check = Check(lints.pool())
    found = {name: papers.papers_of(folder / name) for name in groups()}
    # One charter that keys of all four algorithms have signed, and what else they sign.
    found["golden"] = papers.golden_of(ROOT / "testing/vectors/identity/mixed", TARGET / "papers-golden")
    for name, these in found.items():
        kinds = check.group(name, these)
        print(f"{name}: {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}", flush=True)
    sys.exit(check.report())


if __name__ == "__main__":
    main()
