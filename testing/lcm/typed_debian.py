"""All .lcm files of Debian's source package lcm: Folkmoot reads them, and has lcm-gen's fingerprints.

The files are under the LGPL, so they are not in this repository. apt fetches the package into
target/, with the machine's own mirrors; nothing of the machine's settings changes.
"""

import os
import re
import subprocess
import tarfile
from pathlib import Path

from parts import call
from typed import Gens, compared

LISTS = Path("/etc/apt")
SECONDS = 120
NOT_CHECKED = ("NOT CHECKED: Debian's source package lcm cannot be fetched, so whether Folkmoot reads all of its "
               ".lcm files, with lcm-gen's fingerprints, stays open. Run this again when apt can fetch source packages")


def sources(folder):
    """The machine's lists of packages, for source packages."""
    folder.mkdir(parents=True, exist_ok=True)
    single = LISTS / "sources.list"
    for file in [*([single] if single.exists() else []), *(LISTS / "sources.list.d").glob("*")]:
        text = file.read_text(errors="replace")
        if file.suffix == ".sources":
            text = re.sub(r"(?m)^Types:.*$", "Types: deb-src", text)
        elif file.suffix == ".list":
            text = re.sub(r"(?m)^deb ", "deb-src ", text)
        else:
            continue
        (folder / file.name).write_text(text)
    return folder


def apt(folder):
    """Fetches the package as its authors made it, without Debian's changes."""
    lists, state, cache = sources(folder / "sources.list.d"), folder / "lists", folder / "cache"
    (state / "partial").mkdir(parents=True, exist_ok=True)
    (cache / "archives/partial").mkdir(parents=True, exist_ok=True)
    options = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": lists, "Dir::State::lists": state,
               "Dir::Cache": cache, "Acquire::Retries": 1, "Acquire::http::Timeout": 20}
    if os.geteuid() == 0:
        options["APT::Sandbox::User"] = "root"
    line = ["apt-get", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    quiet = {"capture_output": True, "cwd": folder, "timeout": SECONDS}
    # A list that cannot be fetched may be one that is not needed.
    updated = subprocess.run([*line, "update"], check=False, **quiet)
    fetched = subprocess.run([*line, "source", "--download-only", "--tar-only", "lcm"], check=False, **quiet)
    if fetched.returncode != 0:
        said = (updated.stderr + fetched.stderr).decode(errors="replace").strip().splitlines()
        raise OSError(said[0] if said else "apt-get source does not say why")


def unpack(folder, out):
    """The .lcm files alone, in their folders."""
    archives = sorted(folder.glob("lcm_*.orig.tar.*"))
    if not archives:
        raise FileNotFoundError("apt-get source brought no archive")
    part = out.with_suffix(".part")
    with tarfile.open(archives[-1]) as archive:
        for member in archive.getmembers():
            place = part / member.name
            if member.isfile() and place.suffix == ".lcm" and place.resolve().is_relative_to(part.resolve()):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.extractfile(member).read())
    # A run that ended in between has left no folder that looks whole.
    part.rename(out)


def files(parts):
    return sorted((parts.folder / "source/files").rglob("*.lcm"))


def fetch(parts):
    """Fetches the files, if they are not there; says so if they cannot be had."""
    if files(parts):
        return
    folder = parts.folder / "source"
    folder.mkdir(exist_ok=True)
    try:
        apt(folder)
        unpack(folder, folder / "files")
        why = "there are no .lcm files in it"
    except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
        why = error
    if not files(parts):
        print(f"{NOT_CHECKED}. What was in the way: {why}", flush=True)


def ours(parts, out):
    """The fingerprints in what our generator writes."""
    parts.ours("lcm", "gen", *files(parts), "--out", out)
    written = (out / "lcm_types.rs").read_text()
    found = re.findall(r'const NAME: &\'static str = "(.*?)";\s*const FINGERPRINT: u64 = 0x([0-9a-f]{16});', written)
    return dict(found)


def theirs(parts, folder, newer):
    """Those of an lcm-gen, of all types of which it writes a header.

    In C: what PyPI's writes for Python does not work if a type is in another and has no package.
    """
    gens = Gens(parts)
    folder.mkdir(parents=True)
    for file in files(parts):
        gens.c(file, folder, newer)
    names = sorted(header.stem for header in folder.glob("*.h"))
    includes = "".join(f'#include "{name}.h"\n' for name in names)
    prints = "".join(f'    printf("{name} %016llx\\n", (unsigned long long) __{name}_get_hash());\n' for name in names)
    program = folder / "fingerprints.c"
    program.write_text(f"#include <stdio.h>\n{includes}int main(void)\n{{\n{prints}    return 0;\n}}\n")
    line = [gens.compiled(program, folder, folder / "fingerprints")]
    told = call(line, "the types in C do not work", env=parts.environment)
    return dict(line.split() for line in told.splitlines())


def run(parts, folder):
    if not files(parts):
        return
    found = ours(parts, folder / "rust")
    # In C a name has no dots.
    found = {name.replace(".", "_"): fingerprint for name, fingerprint in found.items()}
    for who, newer in (("Debian's lcm-gen", False), ("PyPI's lcm-gen", True)):
        types = compared({who: theirs(parts, folder / f"c-{newer}", newer)}, found)
    print(f"Debian's source package: {len(files(parts))} .lcm files, {types} types, fingerprints as those of both "
          "lcm-gens", flush=True)
