#!/usr/bin/env python3
"""Members that are cut off together with a thief: nobody says "excluded" before it is so.

apart.py --program target/debug/folkmoot

Three robots with bridges, and a thief with a copy of the fourth certificate, in network namespaces
of their own (edge.py). The link between two switches goes down: robots one and three are on one
side, two and the thief on the other. The fourth certificate is excluded where one is. The command
says that two has not confirmed it, with exit code 6. All three are started again, and the link
comes back. Two hears of it from the others, without another command, and the thief hears no word
more, however often it comes back. The exit code is 1 if any of that is otherwise.
Needs root. --ready says whether it can run here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
import edge

# Sender numbers, and at which switch each one is.
ROBOTS = {"one": (1, "br0"), "two": (2, "br1"), "three": (3, "br0"), "thief": (4, "br1")}
THIEF = 4
# An agreement without those who are out of reach comes about after others have failed: in 12 s.
WITHIN = 60
# Its standard error goes into a file, and the standard output is for its reports.
QUIETLY = ["sh", "-c", 'exec "$@" 2>>"$0"']


class Robot:
    """A bridge that may be started again, a plain program that speaks, and one that listens."""

    def __init__(self, stage, place):
        self.stage, self.place = stage, place
        self.sender, switch = ROBOTS[place]
        stage.wire(place, self.sender, switch=switch)
        self.folder, self.log = stage.folder / place, str(stage.folder / f"{place}.log")
        self.process, self.said = None, None
        stage.python(place, edge.SPEAK, f"secret-{place}", "0")
        self.hears = edge.Ear(stage.python(place, edge.HEAR))

    def start(self):
        bridge = [self.stage.program, "--json", "lcm", "bridge", "--secured", str(self.folder)]
        self.process = self.stage.start(self.place, *QUIETLY, self.log, *bridge)
        self.said = edge.Ear(self.process)

    def end(self, kill=False):
        if kill:
            self.process.kill()
        self.stage.stop(self.process)

    def keys(self, since=0):
        """With whom it has shared each key since then, in that order."""
        told = [json.loads(line) for line in self.said.since(since, '"keys":')]
        return [[key["members"] for key in one["keys"]] for one in told if "outward" not in one]

    def shares(self, members):
        last = self.keys()[-1:]
        return bool(last) and last[0] == [members] * 2

    def has_heard(self, place, since):
        """Whether it has heard what that robot has said since then."""
        said = self.hears.since(since, f"secret-{place} ")
        return any(float(line.split()[-1]) > since for line in said)


class Story:
    def __init__(self, stage):
        self.stage, self.told = stage, []
        stage.spaces()
        for switch in ("br0", "br1"):
            stage.switch(switch)
        stage.ip("switch", "link", "add", "trunk0", "type", "veth", "peer", "name", "trunk1")
        for number in ("0", "1"):
            stage.ip("switch", "link", "set", f"trunk{number}", "master", f"br{number}", "up")
        papers(stage.program, stage.folder)
        self.one, self.two, self.three, self.thief = [Robot(stage, place) for place in ROBOTS]

    def link(self, state):
        self.stage.ip("switch", "link", "set", "trunk0", state)

    def until(self, what, holds):
        begin = time.time()
        while not holds():
            if time.time() > begin + WITHIN:
                keys = {one.place: one.keys()[-1:] for one in (self.one, self.two, self.three, self.thief)}
                raise edge.Failed(f"{what}: not within {WITHIN} s; keys: {keys}")
            time.sleep(0.05)
        self.told.append({"step": what, "seconds": round(time.time() - begin, 1)})
        print(f"{what}: after {self.told[-1]['seconds']} s", file=sys.stderr)

    def share(self, what, robots, members):
        self.until(what, lambda: all(robot.shares(members) for robot in robots))

    def hear(self, what, pairs):
        """Each first one hears what the second one says from now on."""
        begin = time.time()
        self.until(what, lambda: all(robot.has_heard(other.place, begin) for robot, other in pairs))

    def exclude(self, *words, code):
        """The command where one is; what it says."""
        command = [self.stage.program, *words, "--root", str(self.stage.folder / "root")]
        space = ["ip", "netns", "exec", self.stage.space("one")]
        done = subprocess.run(space + command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != code:
            raise edge.Failed(f"{' '.join(words)}: exit code {done.returncode}, and not {code}: {done.stdout}{done.stderr}")
        return done.stdout if "--json" in words else done.stdout + done.stderr

    def again(self, wait, code, confirmed, missing):
        said = json.loads(self.exclude("--json", "lcm", "exclude", "--again", "--wait", wait, code=code))
        (one,) = said["exclusions"]
        expected = {"done": not missing, "excluded": not missing, "confirmed": confirmed, "missing": missing}
        found = {"done": said["done"], "excluded": one["excluded"]}
        found |= {name: one["groups"][0][name] for name in ("confirmed", "missing")}
        if found != expected:
            raise edge.Failed(f"lcm exclude --again says {found}, and not {expected}")

    def never_with_thief(self, what, robots, since):
        for robot in robots:
            if any(THIEF in members for keys in robot.keys(since) for members in keys):
                raise edge.Failed(f"{what}: {robot.place} shares a key with the thief: {robot.keys(since)}")

    def play(self):
        all_of_them = [self.one, self.two, self.three, self.thief]
        for robot in all_of_them:
            robot.start()
        self.share("all are together", all_of_them, [1, 2, 3, 4])
        self.hear("the thief hears all", [(self.thief, robot) for robot in all_of_them[:3]])
        self.link("down")
        self.cut_off()
        self.starts_again()
        healed = time.time()
        self.link("up")
        self.share("two hears of it when the link is back", [self.one, self.two, self.three], [1, 2, 3])
        shared = time.time()
        self.never_with_thief("the link is back", [self.one, self.three], healed)
        self.again("10", 0, [1, 2, 3], [])
        pairs = [(self.one, self.two), (self.two, self.three), (self.three, self.one)]
        self.hear("the three hear one another", pairs)
        self.comes_back(shared)
        return self.told

    def cut_off(self):
        """The exclusion, while two and the thief are out of reach."""
        certificate = str(self.stage.folder / "four" / "member.crt")
        said = self.exclude("lcm", "exclude", certificate, "--now", "--wait", "6", code=6)
        wanted = "CN=four, sender 4 is not excluded everywhere: 2 members on 239.255.76.68:7668 confirmed it, not CN=two (sender 2)"
        if wanted not in said or "1 member did not confirm it" not in said or "is excluded" in said:
            raise edge.Failed(f"lcm exclude --now says: {said}")
        self.share("one and three have a key without it", [self.one, self.three], [1, 3])
        # That is so, and this is why nobody may call it excluded.
        self.hear("the thief is with two still", [(self.thief, self.two), (self.two, self.thief)])
        if not self.two.shares([1, 2, 3, 4]):
            raise edge.Failed(f"two has keys of {self.two.keys()}")
        self.again("2", 6, [1, 3], [2])

    def starts_again(self):
        begun = time.time()
        for robot in (self.one, self.two):
            robot.end(kill=True)
        self.three.end()
        for robot in (self.one, self.two, self.three):
            robot.start()
        self.share("two was started again, and has a key with the thief alone", [self.two, self.thief], [2, 4])
        self.share("one and three were started again", [self.one, self.three], [1, 3])
        self.never_with_thief("started again", [self.one, self.three], begun)
        self.again("2", 6, [1, 3], [2])

    def comes_back(self, since):
        """The thief's program ends when it hears of it. Another one would not."""
        for turn in range(3):
            self.until("the thief's bridge is out", lambda: self.thief.process.poll() is not None)
            if self.thief.process.returncode != 5:
                raise edge.Failed(f"the thief's bridge ended with {self.thief.process.returncode}")
            self.stage.processes.remove(self.thief.process)
            # Once with the state that it had, and then as if it had never been there.
            for name in ("excluded", "state") if turn else ("excluded",):
                shutil.rmtree(self.thief.folder / name, ignore_errors=True)
            self.thief.start()
        self.until("the thief's last bridge is out", lambda: self.thief.process.poll() is not None)
        robots = [self.one, self.two, self.three]
        self.never_with_thief("the thief came back", robots, since)
        self.hear("the three still hear one another", list(zip(robots, robots[1:] + robots[:1])))
        for robot in robots:
            if self.thief.has_heard(robot.place, since):
                raise edge.Failed(f"the thief hears {robot.place}: {self.thief.hears.since(since, f'secret-{robot.place}')[-1]}")
            if robot.has_heard("thief", since):
                raise edge.Failed(f"{robot.place} hears the thief: {robot.hears.since(since, 'secret-thief')[-1]}")


def papers(program, folder):
    edge.run(program, "lcm", "root", "new", str(folder / "root"))
    for number, name in enumerate(("one", "two", "three", "four"), 1):
        command = [program, "lcm", "certify", "--root", str(folder / "root"), "--sender", str(number), "--channel", "POSE"]
        edge.run(*command, "--out", str(folder / name), "--lcm-url", "udpm://239.255.76.68:7668")
    shutil.copytree(folder / "four", folder / "thief")


def play(program, folder):
    stage = edge.Stage(program, folder, [*ROBOTS, "switch"])
    try:
        return Story(stage).play()
    finally:
        stage.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    parser.add_argument("--ready", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.ready:
        return edge.ready()
    program = shutil.which(os.path.abspath(arguments.program))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        try:
            told = play(program, folder)
        except edge.Failed as why:
            print(f"FAILED: {why}", file=sys.stderr)
            for path in sorted(Path(folder).glob("*.log")):
                print(f"--- {path.name}\n{path.read_text()[-800:]}", file=sys.stderr)
            return 1
    print(json.dumps({"steps": told}) if arguments.json else "nobody said excluded before it was so, and the thief hears no word more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
