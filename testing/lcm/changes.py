#!/usr/bin/env python3
"""Two bridges stay together, whatever becomes of their interfaces, and of their certificates.

changes.py --program target/debug/folkmoot --changes 1000

Two robots in network namespaces of their own (edge.py). Once a second something changes at one of
them: its interface goes down and up, is made anew, gets another name or address, or the route moves
to another interface and back. After each change, what the other robot says is heard within 5 s.
Meanwhile the day passes, by libfaketime: certificates for one day end, and the bridges go on with
new ones. The exit code is 1 if they are not together within 5 s, if a certificate ends and the
bridge does not say so, if something plain is heard outside, or if a bridge's memory grows. Needs
root. Without libfaketime no certificate ends, and the last line says so. --ready says whether it
can run here.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
import edge

TARGET = (Path(__file__).resolve().parents[2] / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
WITHIN = 5
# A certificate is renewed after so many changes.
RENEWED = 25
DAY = 86_400
# The first changes make threads, and fill queues and caches.
WARM = 100
# What memory may grow by, of each bridge, from then on: KiB.
GROWTH = 2_048
LIBRARY = "/usr/lib/*/faketime/libfaketime.so.1"


class Days:
    """The clock that both bridges see, and the programs that make their certificates."""

    def __init__(self, folder):
        found = sorted(Path("/").glob(LIBRARY[1:]))
        self.file, self.past = folder / "clock", 0
        self.library = str(found[0]) if found else None
        self.file.write_text("+0")

    def command(self, *command):
        if self.library is None:
            return command
        fake = [f"LD_PRELOAD={self.library}", f"FAKETIME_TIMESTAMP_FILE={self.file}", "FAKETIME_NO_CACHE=1"]
        return ("env", *fake, "FAKETIME_DONT_FAKE_MONOTONIC=1", *command)

    def pass_by(self, seconds):
        self.past += seconds
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"+{self.past}")
        fresh.rename(self.file)


class Robot:
    """One robot's bridge, its papers, and its interface."""

    def __init__(self, stage, days, place, host):
        self.stage, self.days, self.place, self.host = stage, days, place, host
        self.papers, self.process, self.port, self.address = 0, None, "eth0", host

    def ip(self, *words):
        return self.stage.ip(self.place, *words)

    def route(self):
        self.ip("route", "replace", "default", "dev", self.port, "metric", "200")

    def certify(self):
        self.papers += 1
        folder = self.stage.folder
        command = [self.stage.program, "lcm", "certify", "--root", str(folder / "root"), "--channel", "POSE", "--days", "1"]
        # A number is free when its certificate has ended, so each certificate has one of its own.
        number = self.host + 2 * self.papers
        command += ["--sender", str(number), "--out", str(self.folder()), "--lcm-url", "udpm://239.255.76.68:7668"]
        edge.run(*self.days.command(*command))

    def folder(self):
        return self.stage.folder / f"{self.place}{self.papers}"

    def start(self):
        log = f"{self.place}.log"
        command = [self.stage.program, "lcm", "bridge", "--secured", str(self.folder())]
        self.process = self.stage.start(self.place, *self.days.command(*command), out=log)

    def renew(self):
        """The bridge goes on with another certificate."""
        self.certify()
        self.stage.stop(self.process)
        self.start()

    def memory(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    # The changes.

    def down_and_up(self):
        self.ip("link", "set", self.port, "down")
        time.sleep(0.1)
        self.ip("link", "set", self.port, "up")
        self.route()

    def made_anew(self):
        self.ip("link", "del", self.port)
        self.port, self.address = "eth0", self.host
        time.sleep(0.1)
        self.stage.wire(self.place, self.host)

    def renamed(self):
        fresh = "eth0" if self.port == "eth1" else "eth1"
        self.ip("link", "set", self.port, "down")
        self.ip("link", "set", self.port, "name", fresh)
        self.port = fresh
        self.ip("link", "set", self.port, "up")
        self.route()

    def address_changed(self):
        fresh = self.host if self.address != self.host else self.host + 100
        self.ip("addr", "del", f"10.98.0.{self.address}/24", "dev", self.port)
        self.ip("addr", "add", f"10.98.0.{fresh}/24", "dev", self.port)
        self.address = fresh
        self.route()

    def route_moved(self):
        """A better way comes, to where nobody is, and goes."""
        nowhere = self.stage.space("wifi")
        self.ip("link", "add", "wlan0", "type", "veth", "peer", "name", f"w{self.host}", "netns", nowhere)
        self.stage.ip("wifi", "link", "set", f"w{self.host}", "up")
        self.ip("addr", "add", "10.97.0.1/24", "dev", "wlan0")
        self.ip("link", "set", "wlan0", "up")
        self.ip("route", "add", "default", "dev", "wlan0", "metric", "100")
        time.sleep(0.2)
        self.ip("link", "del", "wlan0")

    def change(self, generator):
        kinds = [self.down_and_up, self.made_anew, self.renamed, self.address_changed, self.route_moved]
        kind = generator.choice(kinds)
        kind()
        return kind.__name__


class Trial:
    def __init__(self, stage, days):
        self.stage, self.days = stage, days
        self.robots = [Robot(stage, days, "one", 1), Robot(stage, days, "two", 2)]
        self.took, self.memory, self.renewed, self.ended, self.slowest = {}, [], 0, 0, []

    def together(self, what, ears, within=WITHIN):
        """Both hear what the other one says from now on."""
        begin = time.time()
        while time.time() < begin + within:
            if all(any(float(line.split()[-1]) > begin for line in ear.since(begin, word)) for ear, word in ears):
                return time.time() - begin
            time.sleep(0.02)
        raise edge.Failed(f"{what}: not together within {within} s")

    def term(self, number, ears):
        """Hours pass, and one of them has a new certificate; every fourth time its own has ended."""
        turn = self.renewed + 1
        robot = self.robots[turn % 2]
        if turn % 4 < 3:
            self.days.pass_by(DAY // 3)
            robot.renew()
            self.renewed += 1
        else:
            # The other one's is new by then.
            other = next(one for one in self.robots if one is not robot)
            self.days.pass_by(DAY // 3)
            other.renew()
            self.together(f"renewed at {number}", ears, 20)
            self.days.pass_by(DAY // 2)
            if robot.process.wait(15) != 5 or "its certificate ended at" not in self.said(robot):
                raise edge.Failed(f"change {number}: a certificate has ended, and the bridge says {self.said(robot)[-300:]}")
            self.stage.processes.remove(robot.process)
            robot.certify()
            robot.start()
            self.renewed += 1
            self.ended += 1
        # A bridge that starts has its keys after a while.
        self.together(f"renewed at {number}", ears, 20)

    def said(self, robot):
        return (self.stage.folder / f"{robot.place}.log").read_text()

    def play(self, changes, seed):
        generator = random.Random(seed)
        run = self.days.command(self.stage.program, "lcm", "root", "new", str(self.stage.folder / "root"))
        edge.run(*run)
        self.stage.wire("two", 2)
        for robot in self.robots:
            robot.certify()
            robot.start()
            self.stage.python(robot.place, edge.SPEAK, f"secret-{robot.place}", "0")
        sniffers = [edge.Ear(self.stage.python(place, edge.SNIFF)) for place in ("lan", "switch", "wifi")]
        hears = [edge.Ear(self.stage.python(robot.place, edge.HEAR)) for robot in self.robots]
        ears = list(zip(hears, ("secret-two", "secret-one")))
        self.together("at first", ears, 20)
        for number in range(1, changes + 1):
            begun = time.time()
            what = generator.choice(self.robots).change(generator)
            took = self.together(f"change {number}, {what}", ears)
            self.took.setdefault(what, []).append(took)
            # The memory of a bridge that is not started anew is judged in the first half.
            if number > changes // 2 and number % RENEWED == 0 and self.days.library:
                self.term(number, ears)
            for ear in hears:
                ear.lines.clear()
            self.memory.append([robot.memory() for robot in self.robots])
            for ear in sniffers:
                if ear.lines:
                    raise edge.Failed(f"change {number}, {what}: something plain outside: {ear.lines[0][1]}")
            if number % 50 == 0:
                print(f"{number} changes, memory {self.memory[-1]} KiB", file=sys.stderr)
            time.sleep(max(0, begun + 1 - time.time()))
        return self.told(changes)

    def told(self, changes):
        growth = None
        half = changes // 2
        if half >= 2 * WARM:

            def most(some):
                return [max(one[place] for one in some) for place in (0, 1)]

            early, late = most(self.memory[WARM // 2 : WARM]), most(self.memory[half - WARM // 2 : half])
            growth = [after - before for before, after in zip(early, late)]
            if max(growth) > GROWTH:
                raise edge.Failed(f"memory grew by {growth} KiB")
        kinds = {
            kind: {"count": len(took), "median_s": round(sorted(took)[len(took) // 2], 2), "most_s": round(max(took), 2)}
            for kind, took in sorted(self.took.items())
        }
        return {
            "changes": changes,
            "slowest_s": round(max(max(took) for took in self.took.values()), 2),
            "kinds": kinds,
            "memory_most_kib": max(max(one) for one in self.memory),
            "memory_growth_kib": growth,
            "certificates_renewed": self.renewed,
            "of_these_ended": self.ended,
            "not_checked": [] if self.days.library else ["terms that end: there is no libfaketime here (apt install faketime)"],
        }


def play(program, folder, changes, seed):
    stage = edge.Stage(program, folder)
    try:
        stage.build()
        return Trial(stage, Days(Path(folder))).play(changes, seed)
    finally:
        stage.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=TARGET / "debug/folkmoot")
    parser.add_argument("--changes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ready", action="store_true")
    arguments = parser.parse_args()
    if arguments.ready:
        return edge.ready()
    program = shutil.which(os.path.abspath(arguments.program))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        try:
            told = play(program, folder, arguments.changes, arguments.seed)
        except (edge.Failed, subprocess.SubprocessError) as why:
            print(f"FAILED: {why}", file=sys.stderr)
            for log in ("one.log", "two.log"):
                path = Path(folder) / log
                if path.exists():
                    print(f"--- {log}\n{path.read_text()[-1500:]}", file=sys.stderr)
            return 1
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
