#!/usr/bin/env python3
"""Hands the papers of real groups to other software: OpenSSL, GnuTLS, Python, pkilint.

check.py           makes papers of every scheme with the program `folkmoot`, and checks them
check.py FOLDER    checks papers made before: a folder for each group

Needs Python 3.11, openssl, and certtool of GnuTLS (Debian: gnutls-bin). What it imports goes into a
virtual environment under target/. The exit code is 1 if anything is refused.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

# The folder of this script stays as it is in the repository.
sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
ENVIRONMENT = TARGET / "papers-python"
SCHEMES = ("plain", "asm", "frost", "ts-dsa")
MODES = ("decentralised", "centralised")


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
    subprocess.run(pip + ["--requirement", str(wanted)], check=True)
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

    def __init__(self):
        self.accepted = Counter()
        self.refused = []
        self.known_seen = set()

    def run(self, who, what, work, *arguments):
        try:
            work(*arguments)
        except Exception as error:  # Whatever a reader throws, it has refused the paper.
            self.refused.append(f"{who}: {what}: {type(error).__name__}: {error}")
        else:
            self.accepted[who] += 1

    def group(self, folder):
        import refusals
        from papers import papers_of

        found = papers_of(folder)
        for paper in found:
            name = f"{folder.name}/{paper.name}"
            for who, work, *arguments in readers(paper):
                self.run(who, name, work, *arguments)
            if paper.kind == "charter":
                self.run("strict DER, changed order refused", name, refusals.prove_of, paper)
            if paper.lint:
                self.run(paper.lint[0], name, self.lint, paper)
        return Counter(paper.kind for paper in found)

    def lint(self, paper):
        """No finding of severity ERROR or worse, but for those in known.toml."""
        program, *more = paper.lint
        line = [str(ENVIRONMENT / "bin" / program), "lint", *more, "-s", "ERROR", "-f", "JSON"]
        line += ["--document-format", "DER", str(paper.der_file)]
        told = subprocess.run(line, capture_output=True, text=True, check=False)
        if not told.stdout:
            raise ValueError(told.stderr.strip())
        results = json.loads(told.stdout)["results"]
        found = {one["code"] for result in results for one in result["finding_descriptions"]}
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
        for line in self.refused:
            print(f"REFUSED {line}")
        return 1 if self.refused else 0


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
    import outside
    import refusals

    print("\n".join(outside.versions()))
    refusals.prove()
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else make_papers()
    check = Check()
    names = [f"{scheme}-{mode}" for scheme in SCHEMES for mode in MODES]
    # With asm all keys are on one curve.
    names += [f"{scheme}-{mode}-mixed" for scheme in SCHEMES if scheme != "asm" for mode in MODES]
    for name in names:
        kinds = check.group(folder / name)
        print(f"{name}: {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}")
    sys.exit(check.report())


if __name__ == "__main__":
    main()
