#!/usr/bin/env python3
"""Compares this reader of transcript files with the project's own, on drawn and changed files.

agree.py --transcripts 200 --mutations 10000     draws, changes, and compares
agree.py --file FILE                             this reader's verdict on one file

Needs Python 3.11. What it imports goes into a virtual environment under target/. It builds the
program folkmoot-transcripts unless --program names one. The exit code is 1 at any disagreement.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

# The folder of this script stays as it is in the repository.
sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
ENVIRONMENT = TARGET / "verify-python"
COMPARED = ("accepted", "number", "head", "state", "set", "members", "roster")


def enter_environment():
    """Runs this again with what it imports; returns if that is so already."""
    if Path(sys.prefix).resolve() == ENVIRONMENT:
        return
    if sys.version_info < (3, 11):
        sys.exit("Python 3.11 or later is needed")
    python = ENVIRONMENT / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run(pip + ["--requirement", str(HERE / "requirements.txt")], check=True)
    except subprocess.CalledProcessError as error:
        sys.exit(f"what testing/verify/requirements.txt names cannot be installed: {error}")
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transcripts", type=int, default=5)
    parser.add_argument("--mutations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first transcript")
    parser.add_argument("--program", help="folkmoot-transcripts, built before")
    parser.add_argument("--file", type=Path, help="says what this file is worth")
    parser.add_argument("--head", action="append", default=[], help="NUMBER.HEX on the line of that file")
    parser.add_argument("--ready", action="store_true", help="installs what it imports, and ends")
    parser.add_argument("--keep-going", action="store_true", help="lists every disagreement")
    return parser.parse_args()


def program(options):
    if options.program:
        return options.program
    subprocess.run(["cargo", "build", "--quiet", "-p", "folkmoot-transcripts"], cwd=ROOT, check=True)
    return str(TARGET / "debug" / "folkmoot-transcripts")


def frames(stream):
    """Text and file of each frame."""
    while head := stream.read(4):
        text = stream.read(int.from_bytes(head, "big"))
        yield json.loads(text), stream.read(int.from_bytes(stream.read(4), "big"))


def judged(data, heads=()):
    """The verdict of this reader; what it should never throw is shown as that."""
    from transcript import verdict

    try:
        return verdict(data, heads)
    except Exception as error:  # A fault of this reader: a disagreement in any case.
        return {"accepted": f"{type(error).__name__}: {error}"}


def same(ours, said):
    """Whether both readers say the same, and of a drawn file what its group says."""
    theirs = said["verdict"]
    agreed = all(ours.get(key) == theirs.get(key) for key in COMPARED)
    return agreed and all(theirs.get(key) == value for key, value in said["must"].items())


def show(number, said, ours, data):
    """A disagreement in full; the file goes under target/."""
    path = TARGET / f"disagreement-{number}.moot"
    path.write_bytes(data)
    print(f"DISAGREE seed {said['seed']}, {said['about']}: {path} {' '.join(said['heads'])}")
    print(f"  Rust    {json.dumps(said['verdict'], sort_keys=True)}")
    print(f"  Python  {json.dumps(ours, sort_keys=True)}")
    print(f"  must be {json.dumps(said['must'], sort_keys=True)}", flush=True)


def compare(options):
    counts, rules, differ = Counter(), Counter(), 0
    numbers = ["--transcripts", "--mutations", "--seed"]
    line = [program(options)]
    for name in numbers:
        line += [name, str(getattr(options, name[2:]))]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as drawer:
        for number, (said, data) in enumerate(frames(drawer.stdout)):
            ours, kind = judged(data, said["heads"]), "drawn" if said["about"] == "as drawn" else "changed"
            if same(ours, said):
                counts[kind, ours["accepted"]] += 1
                rules[ours.get("rule", "")] += 1
                continue
            differ += 1
            show(number, said, ours, data)
            if not options.keep_going:
                drawer.kill()
                break
        failed = drawer.wait() != 0 and not differ
    for (kind, accepted), count in sorted(counts.items()):
        print(f"{count} {kind} files agreed on: {'accepted' if accepted else 'refused'}")
    refused = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()) if rule)
    print(f"refused by rule: {refused}")
    print(f"{differ} disagreements")
    return 1 if failed or differ else 0


def main():
    enter_environment()
    sys.path.insert(0, str(HERE))
    import vectors

    options = arguments()
    if options.ready:
        return 0
    if options.file:
        print(json.dumps(judged(options.file.read_bytes(), options.head)))
        return 0
    print(vectors.check(ROOT / "testing" / "vectors" / "identity" / "mixed"))
    return compare(options)


if __name__ == "__main__":
    sys.exit(main())
