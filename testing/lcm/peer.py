"""Speaks and hears by the lcm of PyPI, for check.py. The same as peer.c.

peer.py hear URL            prints "CHANNEL SIZE HASH" for each message, until it is killed
peer.py say URL ROUNDS      reads lines "CHANNEL SIZE SEED", and publishes all of them in each round
peer.py read FILE           prints "CHANNEL SIZE HASH" for each event of a log
peer.py write FILE          reads lines "CHANNEL SIZE SEED", and writes them as a log
"""

import sys
import time

import lcm

from common import digest, payload


def show(channel, data):
    print(channel, len(data), digest(data), flush=True)


def wanted():
    for line in sys.stdin:
        channel, size, seed = line.split()
        yield channel, payload(int(size), int(seed))


def hear(url):
    bus = lcm.LCM(url)
    bus.subscribe(".*", show).set_queue_capacity(1000)
    print("ready 0 0", flush=True)
    while True:
        bus.handle()


def say(url, rounds):
    bus = lcm.LCM(url)
    messages = list(wanted())
    for _ in range(int(rounds)):
        for channel, data in messages:
            bus.publish(channel, data)
            time.sleep(0.002 + len(data) / 2e8)


def read(file):
    for event in lcm.EventLog(file, "r"):
        show(event.channel, event.data)


def write(file):
    log = lcm.EventLog(file, "w", overwrite=True)
    for number, (channel, data) in enumerate(wanted()):
        log.write_event(1_000_000 + number * 20_000, channel, data)
    log.close()


if __name__ == "__main__":
    {"hear": hear, "say": say, "read": read, "write": write}[sys.argv[1]](*sys.argv[2:])
