#!/usr/bin/env python3
"""Where plain meets sealed: whatever becomes of the network, no plain byte leaves a host.

edge.py --program target/debug/folkmoot

Two robots with bridges on a wired network, and a Wi-Fi, all in network namespaces of their own. An
outsider is on both networks: it hears every datagram and speaks plainly to the group inside, also
in the name of the robots. Meanwhile routes change, interfaces come, go and are made anew, bridges
are started again, and one robot has no network at first. The exit code is 1 if something plain is
heard outside, if what the outsider says is carried, or if the robots are not together again within
the time that each step says. Needs root. --ready says whether it can run here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True

GROUP, PORT = "239.255.76.67", 7667
SECRET, FORGED = b"secret", b"forged"
# Robots, the outsider's two hosts, and the switch between robots and outsider.
ALL = ["one", "two", "lan", "wifi", "switch"]

SPEAK = """
import socket, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(0, socket.IP_MULTICAST_TTL, int(sys.argv[2]))
if sys.argv[2] == '0':
    # On loopback: whatever leaves is the doing of a bridge.
    s.setsockopt(0, socket.IP_ADD_MEMBERSHIP, socket.inet_aton('%(group)s') + bytes(4))
    s.setsockopt(0, socket.IP_MULTICAST_IF, struct.pack('4s4si', bytes(4), bytes(4), socket.if_nametoindex('lo')))
    s.setsockopt(0, socket.IP_ADD_MEMBERSHIP, struct.pack('4s4si', socket.inet_aton('%(group)s'), bytes(4), socket.if_nametoindex('lo')))
number = 0
while True:
    for channel in (b'POSE', b'folkmoot://bridge') if sys.argv[1] == 'forged' else (b'POSE',):
        said = b'folkmoot lcm bridge v1 239.255.76.68:7668 1' if b'/' in channel else sys.argv[1].encode()
        said = said if b'/' in channel else said + b' %%.3f' %% time.time()
        try: s.sendto(b'LC02' + struct.pack('>I', number) + channel + b'\\0' + said, ('%(group)s', %(port)d))
        except OSError: pass
        number += 1
    time.sleep(.02)
""" % {"group": GROUP, "port": PORT}

# The same in the name of another host, by a socket that writes IP headers itself.
SPOOF = """
import socket, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
s.setsockopt(0, socket.IP_MULTICAST_IF, socket.inet_aton(sys.argv[1]))
while True:
    for source in sys.argv[2:]:
        data = b'LC02' + struct.pack('>I', 7) + b'POSE\\0forged in the name of ' + source.encode()
        udp = struct.pack('>HHHH', %(port)d, %(port)d, 8 + len(data), 0) + data
        ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(udp), 0, 0, 1, 17, 0, socket.inet_aton(source), socket.inet_aton('%(group)s'))
        try: s.sendto(ip + udp, ('%(group)s', 0))
        except OSError: pass
    time.sleep(.05)
""" % {"group": GROUP, "port": PORT}

# What a plain program hears, one line for each message.
HEAR = """
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('', %(port)d))
try: s.setsockopt(0, socket.IP_ADD_MEMBERSHIP, struct.pack('4s4si', socket.inet_aton('%(group)s'), bytes(4), socket.if_nametoindex('lo')))
except OSError: pass
while True:
    data, source = s.recvfrom(70000)
    print(source[0], data[8:80].split(b'\\0')[-1].decode(errors='replace'), flush=True)
""" % {"group": GROUP, "port": PORT}

# Every datagram of UDP on every interface, if it is plain and its TTL let it leave its host.
SNIFF = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
while True:
    data, where = s.recvfrom(70000)
    if where[2] != socket.PACKET_OUTGOING and data[9] == 17 and (b'secret' in data or data[8] == 0):
        print(where[0], socket.inet_ntoa(data[12:16]), data[28:100], flush=True)
"""


class Failed(Exception):
    """What is told, and the exit code is 1."""


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


class Stage:
    """The namespaces, and every process in them."""

    def __init__(self, program, folder, places=ALL):
        self.program, self.folder, self.name = program, Path(folder), f"fmedge{os.getpid() % 10_000}"
        self.places = places
        self.processes = []

    def space(self, place):
        return f"{self.name}-{place}"

    def ip(self, place, *words, check=True):
        return run("ip", "-n", self.space(place), *words, check=check)

    def spaces(self):
        for place in self.places:
            run("ip", "netns", "add", self.space(place))
            self.ip(place, "link", "set", "lo", "up")

    def switch(self, name):
        self.ip("switch", "link", "add", name, "type", "bridge", "mcast_snooping", "0")
        self.ip("switch", "link", "set", name, "up")

    def build(self):
        self.spaces()
        self.switch("br0")
        self.wire("one", 1)
        self.wire("lan", 9)
        # The second robot has no network yet.

    def wire(self, place, host, metric=200, switch="br0"):
        port = f"p{host}"
        self.ip(place, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", self.space("switch"))
        self.ip("switch", "link", "set", port, "master", switch, "up")
        self.ip(place, "addr", "add", f"10.98.0.{host}/24", "dev", "eth0")
        self.ip(place, "link", "set", "eth0", "up")
        self.ip(place, "route", "add", "default", "dev", "eth0", "metric", str(metric))

    def radio(self):
        """A Wi-Fi comes up at the first robot, with a better route."""
        self.ip("one", "link", "add", "wlan0", "type", "veth", "peer", "name", "wlan0", "netns", self.space("wifi"))
        self.ip("wifi", "addr", "add", "10.97.0.9/24", "dev", "wlan0")
        self.ip("wifi", "link", "set", "wlan0", "up")
        self.ip("wifi", "route", "add", "default", "dev", "wlan0")
        self.ip("one", "addr", "add", "10.97.0.1/24", "dev", "wlan0")
        self.ip("one", "link", "set", "wlan0", "up")
        self.ip("one", "route", "add", "default", "dev", "wlan0", "metric", "100")

    def start(self, place, *command, out=None):
        output = subprocess.PIPE if out is None else open(self.folder / out, "ab")
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.space(place), *command],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT if out else None, text=out is None,
        )
        self.processes.append(process)
        return process

    def python(self, place, script, *words):
        return self.start(place, sys.executable, "-c", script, *words)

    def bridge(self, place):
        log = f"{place}.log"
        return self.start(place, self.program, "lcm", "bridge", "--secured", str(self.folder / place), out=log)

    def stop(self, process):
        process.terminate()
        process.wait(10)
        self.processes.remove(process)

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
        for place in self.places:
            run("ip", "netns", "del", self.space(place), check=False)


class Ear:
    """Reads the lines of a process as they come."""

    def __init__(self, process):
        self.lines, self.process = [], process
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.time(), line.strip()))

    def since(self, begin, word):
        return [line for at, line in list(self.lines) if at >= begin and word in line]


class Edge:
    def __init__(self, stage):
        self.stage, self.told = stage, []

    def step(self, what, within, ears):
        """Everybody hears what the other robot says from some moment on, soon."""
        begin = time.time()
        while time.time() < begin + within:
            if all(any(float(line.split()[-1]) > begin for line in ear.since(begin, "secret")) for ear in ears):
                took = time.time() - begin
                self.told.append({"step": what, "seconds": round(took, 1)})
                print(f"{what}: heard after {took:.1f} s", file=sys.stderr)
                return
            time.sleep(0.05)
        raise Failed(f"{what}: not heard within {within} s")

    def check(self, sniffers, ears):
        for name, ear in sniffers.items():
            if ear.lines:
                raise Failed(f"{len(ear.lines)} plain datagrams on {name}: {ear.lines[0][1]}")
        # Whoever listens plainly hears the network. What a bridge said comes from its own host.
        for name, (ear, own) in ears.items():
            forged = [line for line in ear.since(0, "forged") if line.split()[0] in own]
            if forged:
                raise Failed(f"{name} carried {len(forged)} words of the outsider: {forged[0]}")

    def silent(self, what, ear):
        """Nothing goes over."""
        begin = time.time()
        time.sleep(1)
        said = [line for line in ear.since(begin, "secret") if float(line.split()[-1]) > begin]
        if said:
            raise Failed(f"{what}: {len(said)} messages went over")


def play(program, folder):
    stage = Stage(program, folder)
    try:
        edge = Edge(stage)
        stage.build()
        papers(program, Path(folder))
        sniffers = {place: Ear(stage.python(place, SNIFF)) for place in ("lan", "wifi", "switch")}
        bridges = {place: stage.bridge(place) for place in ("one", "two")}
        stage.python("one", SPEAK, "secret", "0")
        two = Ear(stage.python("two", HEAR))
        time.sleep(2)
        stage.wire("two", 2)
        edge.step("the network comes after the start", 10, [two])
        outsider = stage.python("lan", SPEAK, "forged", "1")
        spoof = (SPOOF, "10.98.0.9", "10.98.0.1", "10.98.0.2", "127.0.0.1")
        spoofer = stage.python("lan", *spoof)
        time.sleep(2)
        edge.step("an outsider speaks inside, and stands in for bridges", 5, [two])
        # The bridge looks once a second whether somebody turned this on.
        setting = "net.ipv4.conf.eth0.accept_local"
        stage.stop(spoofer)
        run("ip", "netns", "exec", stage.space("one"), "sysctl", "-q", f"{setting}=1")
        time.sleep(1.5)
        spoofer = stage.python("lan", *spoof)
        edge.silent("addresses can be forged", two)
        run("ip", "netns", "exec", stage.space("one"), "sysctl", "-q", f"{setting}=0")
        edge.step("addresses can be forged no more", 5, [two])
        stage.radio()
        time.sleep(2)
        stage.ip("one", "route", "del", "default", "dev", "wlan0")
        edge.step("a better route came and went", 5, [two])
        stage.ip("one", "link", "del", "eth0")
        time.sleep(2)
        stage.wire("one", 1)
        edge.step("the interface is made anew", 5, [two])
        stage.ip("two", "link", "set", "eth0", "down")
        time.sleep(1)
        stage.ip("two", "link", "set", "eth0", "up")
        stage.ip("two", "route", "add", "default", "dev", "eth0")
        edge.step("the interface was down", 5, [two])
        stage.stop(bridges["one"])
        bridges["one"] = stage.bridge("one")
        edge.step("the bridge is started again", 15, [two])
        stage.ip("one", "addr", "add", "10.98.0.77/24", "dev", "eth0")
        stage.ip("one", "addr", "del", "10.98.0.1/24", "dev", "eth0")
        stage.ip("one", "route", "replace", "default", "dev", "eth0")
        edge.step("the address is another", 5, [two])
        cut_off = "there is no network outside"
        before = (Path(folder) / "one.log").read_text().count(cut_off)
        stage.ip("one", "link", "del", "wlan0")
        stage.ip("one", "addr", "flush", "dev", "eth0")
        stage.ip("one", "route", "replace", "default", "dev", "eth0")
        time.sleep(2)
        if (Path(folder) / "one.log").read_text().count(cut_off) == before:
            raise Failed("the host has no address, and the bridge does not say so")
        stage.ip("one", "addr", "add", "10.98.0.1/24", "dev", "eth0")
        edge.step("the address is back", 5, [two])
        # Nobody here listens, and a log is played.
        stage.stop(bridges["two"])
        quiet(stage, program, Path(folder))
        stage.stop(outsider)
        edge.check(sniffers, {"two": (two, ("10.98.0.2", "127.0.0.1"))})
        said = (Path(folder) / "one.log").read_text()
        for wanted in ("10.98.0.9, another host", "accept_local is on", "there is no network outside"):
            if wanted not in said:
                raise Failed(f"the bridge does not say that {wanted}: {said[-300:]}")
        return edge.told
    finally:
        stage.end()


def papers(program, folder):
    run(program, "lcm", "root", "new", str(folder / "root"))
    # The lowest number is the one that the outsider stands in with.
    for number, name in enumerate(("one", "two"), 2):
        run(program, "lcm", "certify", "--root", str(folder / "root"), "--sender", str(number), "--channel", "POSE",
            "--out", str(folder / name), "--lcm-url", "udpm://239.255.76.68:7668")


def quiet(stage, program, folder):
    """A log that is played where nobody listens."""
    import struct

    with open(folder / "a.lcm", "wb") as file:
        for number in range(30):
            channel, said = b"POSE", b"secret %d" % number
            head = struct.pack(">IqqII", 0xEDA1DA01, number, 1_700_000_000_000_000, len(channel), len(said))
            file.write(head + channel + said)
    player = stage.start("two", program, "lcm", "play", "--speed", "0", str(folder / "a.lcm"), out="play.log")
    if player.wait(20) != 0:
        raise Failed("lcm play: " + (folder / "play.log").read_text())
    time.sleep(0.5)


def ready():
    name = f"fmedge{os.getpid() % 10_000}-ready"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    print("ready" if made else "no network namespaces can be made here")
    return 0 if made else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    parser.add_argument("--ready", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.ready:
        return ready()
    program = shutil.which(os.path.abspath(arguments.program))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        try:
            told = play(program, folder)
        except Failed as why:
            print(f"FAILED: {why}", file=sys.stderr)
            for log in ("one.log", "two.log"):
                path = Path(folder) / log
                if path.exists():
                    print(f"--- {log}\n{path.read_text()[-800:]}", file=sys.stderr)
            return 1
    print(json.dumps({"steps": told}) if arguments.json else "no plain byte left its host, and nothing of the outsider went over")
    return 0


if __name__ == "__main__":
    sys.exit(main())
