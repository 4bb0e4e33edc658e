#!/usr/bin/env python3
"""Programs of liblcm and this project's talk to each other: plain LCM, both ways, 100 B to 10 MB.
Programs of liblcm talk through two bridges, sealed outside. And types of lcm-gen and this project's
have the same bytes (typed.py), and Folkmoot reads all that are in LCM's own source (typed_debian.py).

check.py --program target/debug/folkmoot --types target/debug/folkmoot-types

liblcm is Debian's, for a program in C that this compiles, and PyPI's, for Python. Both go into a
folder under target/, and nothing is installed on the machine. As root all of it runs in a network
namespace of its own. The exit code is 1 if a message does not come, or comes with other bytes.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

# The folder of this script stays as it is in the repository.
sys.dont_write_bytecode = True

import typed
import typed_debian
from common import digest, payload
from parts import TARGET, Parts

# More room than the system's default, if it allows that: long messages come sooner.
URL = "udpm://239.255.76.67:{port}?ttl=0&recv_buf_size=4194304"
# Short and long; on both sides of the longest short message with a name of 8 bytes; of 160 fragments.
SIZES = [0, 100, 1_000, 10_000, 65_490, 65_491, 100_000, 1_000_000, 10_000_000]
# UDP may lose any datagram, and a long message has many. So each is said until all have come.
ROUNDS, ATTEMPTS = 4, 40
SECONDS = 60


class Failed(Exception):
    """What is told, and the exit code is 1."""


def messages(speaker):
    """Channel, size and seed of each message of one speaker; names have 8 bytes."""
    return [(f"{speaker}_SIZE_{number}", size, number + 11) for number, size in enumerate(SIZES)]


def lines(wanted):
    return "".join(f"{channel} {size} {seed}\n" for channel, size, seed in wanted).encode()


def expected(wanted):
    return {(channel, size): digest(payload(size, seed)) for channel, size, seed in wanted}


class Hearer:
    """A process that prints what it hears, or records it in a file."""

    def __init__(self, name, command, output, environment):
        self.name, self.output, self.begin = name, output, 0
        with open(output, "wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env=environment)

    def forget(self):
        """What was heard so far does not count."""
        self.begin = self.output.stat().st_size

    def heard(self):
        for line in self.output.read_bytes()[self.begin :].decode().splitlines():
            words = line.split()
            if len(words) == 3:
                yield words[0], int(words[1]), words[2]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed(f"{self.name} does not end") from None


class Recorder(Hearer):
    """The same for what writes a log: PyPI's lcm reads it."""

    def __init__(self, name, command, file, parts, environment):
        self.file, self.parts = file, parts
        super().__init__(name, command, file.with_suffix(".out"), environment)

    def heard(self):
        told = self.parts.python("read", self.file) if self.file.exists() else ""
        for line in told.splitlines():
            channel, size, crc = line.split()
            yield channel, int(size), crc


def lacks(hearer, wanted):
    """What has not come; fails at once if something came with other bytes."""
    if hearer.process.poll() is not None:
        raise Failed(f"{hearer.name} ended: {hearer.process.stderr.read().decode(errors='replace')}")
    want = dict(wanted)
    names = {channel for channel, _ in wanted}
    for channel, size, crc in hearer.heard():
        if channel in names and crc != wanted.get((channel, size)):
            raise Failed(f"{hearer.name} heard {size} bytes on {channel} that nobody said")
        want.pop((channel, size), None)
    return want


def deliver(what, say, hearers, wanted):
    """Says all until all hearers have heard all."""
    begun, wanted = time.monotonic(), expected(wanted)
    for attempt in range(1, ATTEMPTS + 1):
        say()
        time.sleep(0.3)
        left = {hearer.name: lacks(hearer, wanted) for hearer in hearers}
        if not any(left.values()):
            names = ", ".join(left)
            print(f"{what} -> {names}: {len(wanted)} messages to {max(size for _, size in wanted):,} bytes, attempt {attempt}, "
                  f"{time.monotonic() - begun:.1f} s", flush=True)
            return
    told = {name: [f"{channel} ({size} bytes)" for channel, size in want]
            for name, want in left.items() if want}
    raise Failed(f"{what}: after {ATTEMPTS} attempts this did not come: {told}")


def await_ready(hearer, told):
    """Until the process has said that it listens."""
    end = time.monotonic() + 15
    while time.monotonic() < end:
        if told(hearer):
            return
        if hearer.process.poll() is not None:
            raise Failed(f"{hearer.name} ended: {hearer.process.stderr.read().decode(errors='replace')}")
        time.sleep(0.05)
    raise Failed(f"{hearer.name} does not listen")


def ours_log(parts, file):
    command = [parts.program, "lcm", "log", file]
    return Recorder("folkmoot lcm log", command, file, parts, parts.environment)


def their_log(parts, file):
    command = [parts.tool("lcm-logger"), "-q", file]
    return Recorder("lcm-logger", command, file, parts, parts.environment)


def begin(recorder):
    """A recorder's file is there when it listens, or shortly before."""
    await_ready(recorder, lambda one: one.file.exists())
    time.sleep(0.3)
    return recorder


def by_c(parts, wanted, rounds):
    line = [parts.peer, "say", parts.url, str(rounds)]
    subprocess.run(line, input=lines(wanted), env=parts.environment, check=True, timeout=SECONDS)


def run(parts, folder):
    hears = [
        Hearer("liblcm in C", [parts.peer, "hear", parts.url], folder / "c.out", parts.environment),
        Hearer("PyPI's lcm", parts.python_line("hear", parts.url), folder / "py.out", parts.environment),
    ]
    try:
        for hearer in hears:
            await_ready(hearer, lambda one: ("ready", 0, "0") in one.heard())
        they_speak(parts, folder)
        we_speak(parts, folder, hears)
        echo(parts, hears[0])
        replay(parts, folder, hears)
    finally:
        for hearer in hears:
            hearer.process.kill()
    bridged(parts, folder)


def they_speak(parts, folder):
    ours = begin(ours_log(parts, folder / "heard.lcm"))
    try:
        deliver("liblcm in C", lambda: by_c(parts, messages("C"), ROUNDS), [ours], messages("C"))
        told = lines(messages("P"))
        deliver("PyPI's lcm", lambda: parts.python("say", parts.url, ROUNDS, told=told), [ours], messages("P"))
        ours.stop()
    finally:
        ours.process.kill()


def we_speak(parts, folder, hears):
    """From a log that PyPI's lcm wrote."""
    parts.python("write", folder / "play.lcm", told=lines(messages("F")))

    def say():
        for _ in range(ROUNDS):
            parts.ours("lcm", "play", folder / "play.lcm")

    deliver("folkmoot lcm play", say, hears, messages("F"))


def echo(parts, hearer):
    """What liblcm says on one channel comes back on another."""
    ping = [("PING", size, 5) for size in (100, 100_000)]
    pong = [("PONG", size, seed) for _, size, seed in ping]
    command = [parts.program, "lcm", "echo", "PING", "PONG"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=parts.environment) as process:
        try:
            process.stderr.readline()
            deliver("folkmoot lcm echo", lambda: by_c(parts, ping, ROUNDS), [hearer], pong)
        finally:
            process.kill()


def replay(parts, folder, hears):
    """Each plays what the other recorded."""
    wanted = [(f"R{channel}", size, seed) for channel, size, seed in messages("C") if size <= 100_000]
    logs = [begin(ours_log(parts, folder / "ours.lcm")), begin(their_log(parts, folder / "theirs.lcm"))]
    try:
        deliver("liblcm in C", lambda: by_c(parts, wanted, 1), logs, wanted)
        for recorder in logs:
            recorder.stop()
    finally:
        for recorder in logs:
            recorder.process.kill()
    again = begin(ours_log(parts, folder / "again.lcm"))
    try:
        theirs = [parts.tool("lcm-logplayer"), folder / "ours.lcm"]
        quiet = {"env": parts.environment, "check": True, "timeout": SECONDS, "stdout": subprocess.DEVNULL}
        for hearer in hears:
            hearer.forget()
        deliver("lcm-logplayer of our log", lambda: subprocess.run(theirs, **quiet), [again, *hears], wanted)
        for hearer in hears:
            hearer.forget()
        line = ["lcm", "play", folder / "theirs.lcm"]
        deliver("folkmoot lcm play of lcm-logger's log", lambda: parts.ours(*line), hears, wanted)
    finally:
        again.process.kill()


class Bridge:
    """One that runs, and what it prints."""

    def __init__(self, parts, folder, inside, outside):
        command = [parts.program, "--json", "lcm", "bridge", "--secured", folder, "--inside", inside, "--outside", outside]
        self.name = f"the bridge of {folder.name}"
        self.output = folder.with_suffix(".out")
        with open(self.output, "wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env=parts.environment)

    def said(self):
        return [json.loads(line) for line in self.output.read_text().splitlines() if line.endswith("}")]

    def is_with(self, members):
        """Whether its keys are of these senders."""
        keys = [line["keys"] for line in self.said() if "keys" in line]
        return bool(keys) and all(key["members"] == members for key in keys[-1])

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(10) != 0:
            raise Failed(f"{self.name} ended badly: {self.process.stderr.read().decode(errors='replace')}")
        return self.said()[-1]


def bridged(parts, folder):
    """Programs of liblcm on two hosts, as it were: each has a group of its own, and a bridge."""
    # liblcm hears whatever comes to its port, of every group that somebody on the host is in.
    group, rest = parts.url.split("?")
    address, port = group.rsplit(":", 1)
    outside, there = (f"{address[:-2]}{67 + more}:{int(port) + more}?{rest}" for more in (1, 2))
    wanted = {speaker: messages(speaker) for speaker in ("X", "Y")}
    rights = [word for all in wanted.values() for channel, _, _ in all for word in ("--channel", channel)]
    parts.ours("lcm", "root", "new", folder / "root")
    running = []
    try:
        for sender, inside in ((1, parts.url), (2, there)):
            papers = folder / f"robot{sender}"
            certify = ["lcm", "certify", "--root", folder / "root", "--sender", sender, "--out", papers, "--lcm-url", outside]
            parts.ours(*certify, *rights)
            running.append(Bridge(parts, papers, inside, outside))
        bridges = list(running)
        for bridge in bridges:
            await_ready(bridge, lambda one: one.is_with([1, 2]))
        # An outsider, who must hear nothing of it.
        hears = [
            Hearer("liblcm in C, on the other side", [parts.peer, "hear", there], folder / "there.out", parts.environment),
            Hearer("PyPI's lcm, on this side", parts.python_line("hear", parts.url), folder / "here.out", parts.environment),
            Hearer("liblcm in C, outside", [parts.peer, "hear", outside], folder / "outside.out", parts.environment),
        ]
        running += hears
        for hearer in hears:
            await_ready(hearer, lambda one: ("ready", 0, "0") in one.heard())
        deliver("liblcm in C, through two bridges", lambda: by_c(parts, wanted["X"], ROUNDS), hears[:1], wanted["X"])
        told = lines(wanted["Y"])
        deliver("PyPI's lcm, through two bridges", lambda: parts.python("say", there, ROUNDS, told=told), hears[1:2], wanted["Y"])
        heard = [channel for channel, _, _ in hears[2].heard() if "_SIZE_" in channel]
        if heard:
            raise Failed(f"outside, plain programs hear {heard[0]}")
        for bridge in bridges:
            last = bridge.stop()
            print(f"{bridge.name}: outward {last['outward']['messages']} messages, inward {last['inward']['messages']}", flush=True)
    finally:
        for one in running:
            one.process.kill()


def isolate(words):
    """Runs this again in a network namespace; None if that cannot be made here."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return None
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode != 0:
        return None
    inside = ["unshare", "--net", sys.executable, __file__, *words, "--inside"]
    return subprocess.run(inside, check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=TARGET / "debug/folkmoot")
    parser.add_argument("--types", type=Path, default=TARGET / "debug/folkmoot-types")
    parser.add_argument("--ready", action="store_true", help="fetch what the test needs, and do no more")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    # On a network that others use, too, on a port that they do not.
    url = URL.format(port=7667 if options.inside else 20_000 + os.getpid() % 20_000)
    try:
        parts = Parts(options.program.resolve(), url)
        if not options.types.exists():
            sys.exit(f"plain LCM: {options.types} is missing. Build it: cargo build -p folkmoot-types")
        if not options.inside:
            # Inside is no network to fetch it from.
            typed_debian.fetch(parts)
        if options.ready:
            return 0
        if not options.inside and (code := isolate(sys.argv[1:])) is not None:
            return code
        if options.inside:
            for line in ("link set lo up multicast on", "route add 224.0.0.0/4 dev lo"):
                subprocess.run(["ip", *line.split()], check=True)
        else:
            print("no network namespace can be made here: this is the machine's own network")
        folder = parts.folder / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        typed.run(parts, options.types.resolve(), folder / "types")
        typed_debian.run(parts, folder / "debian")
        run(parts, folder)
        shutil.rmtree(folder)
    except (Failed, typed.Wrong, OSError, subprocess.SubprocessError) as error:
        print(f"LCM: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
