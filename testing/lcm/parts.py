"""What the test needs, in a folder under target/: Debian's liblcm, PyPI's lcm, the program in C."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
PACKAGES = ["liblcm1", "liblcm-dev", "liblcm-bin"]
# What liblcm needs and most machines have.
FURTHER = "libglib2.0-0"


def call(line, why, **options):
    """Runs a command; if it fails, the test ends with what it said."""
    try:
        done = subprocess.run(list(map(str, line)), capture_output=True, check=False, **options)
    except OSError as error:
        sys.exit(f"plain LCM: {why}: {error}")
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()[-2_000:]
        sys.exit(f"plain LCM: {why}: {' '.join(map(str, line))}\n{said}")
    return done.stdout.decode(errors="replace")


class Parts:
    def __init__(self, program, url):
        self.url = url
        self.folder = TARGET / "lcm"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = program
        if not program.exists():
            sys.exit(f"plain LCM: {program} is missing. Build it: cargo build -p folkmoot-cli")
        self.root = self.folder / "debian"
        self.debian()
        libraries = self.one("usr/lib/*/liblcm.so.1").parent
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries), "LCM_DEFAULT_URL": url}
        self.peer = self.folder / "peer"
        line = ["cc", "-O2", "-Wall", "-o", self.peer, HERE / "peer.c", f"-I{self.root}/usr/include",
                libraries / "liblcm.so.1", "-Wl,--allow-shlib-undefined"]
        call(line, "the program in C is not compiled")
        self.interpreter = self.folder / "python" / "bin" / "python"
        self.pypi()

    @classmethod
    def libraries_alone(cls):
        """The folder of Debian's packages, for the bench."""
        parts = cls.__new__(cls)
        parts.folder = TARGET / "lcm"
        parts.folder.mkdir(parents=True, exist_ok=True)
        parts.root = parts.folder / "debian"
        parts.debian()
        return parts.root

    def one(self, pattern):
        found = sorted(self.root.glob(pattern))
        if not found:
            sys.exit(f"plain LCM: Debian's packages have no {pattern}")
        return found[0]

    def debian(self):
        """Fetches and unpacks the packages; nothing is installed."""
        if (self.root / "usr/bin/lcm-logger").exists():
            return
        if "libglib-2.0.so.0" not in call(["/sbin/ldconfig", "-p"], "the libraries cannot be listed"):
            sys.exit(f"plain LCM: liblcm needs GLib. Run: sudo apt-get install -y {FURTHER}")
        why = "Debian's liblcm cannot be fetched (apt-get of Debian or Ubuntu, and the network, are needed)"
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            sys.exit(f"plain LCM: {why}")
        if subprocess.run(["apt-cache", "show", *PACKAGES], capture_output=True, check=False).returncode != 0:
            call(["apt-get", "update"], why)
        debs = self.folder / "debs"
        debs.mkdir(exist_ok=True)
        call(["apt-get", "download", *PACKAGES], why, cwd=debs)
        for deb in sorted(debs.glob("*.deb")):
            call(["dpkg-deb", "-x", deb, self.root], why)

    def pypi(self):
        """A virtual environment with what requirements.txt names."""
        why = "what testing/lcm/requirements.txt names cannot be installed (Python 3.11 and PyPI are needed)"
        if not self.interpreter.exists():
            call([sys.executable, "-m", "venv", self.interpreter.parent.parent], why)
        pip = [self.interpreter, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        have = subprocess.run([self.interpreter, "-c", "import lcm"], capture_output=True, check=False)
        if have.returncode != 0:
            call([*pip, "--requirement", HERE / "requirements.txt"], why)

    def tool(self, name):
        """One of liblcm's own programs."""
        return self.root / "usr/bin" / name

    def python_line(self, *words):
        return [str(self.interpreter), "-B", str(HERE / "peer.py"), *map(str, words)]

    def python(self, *words, told=b""):
        return call(self.python_line(*words), "the program in Python fails", input=told, timeout=60)

    def ours(self, *words):
        return call([self.program, *words], "ours fails", env=self.environment, timeout=60)



if __name__ == "__main__":
    print(Parts.libraries_alone())
