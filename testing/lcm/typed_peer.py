"""Messages of lcm-gen's types in Python, for typed.py. The same as testing/types/src/main.rs.

typed_peer.py FOLDER fingerprints [TYPE]...  prints "TYPE FINGERPRINT" for each
typed_peer.py FOLDER fixed TYPE              writes the value that every language makes by itself
typed_peer.py FOLDER say TYPE SEED COUNT     writes so many drawn values
typed_peer.py FOLDER again TYPE              reads messages, and writes each again

FOLDER has what lcm-gen wrote. Messages have their length before them, as u32.
"""

import importlib
import random
import struct
import sys

# As testing/types has them, without those whose lengths are not decimal.
NAMES = ["everything_t", "inner_t", "node_t", "ping_t", "pong_t", "lengths_t"]
TYPES = [f"folkmoot.test.{name}" for name in NAMES]
TYPES += ["other.stamp_t", "other.dotted_t", "apart.later_t", "plain_t"]


def kind(name):
    module = importlib.import_module(name)
    return getattr(module, name.rpartition(".")[2])


def made(name, /, **fields):
    """A value with these fields, each of which the type has."""
    value = kind(name)()
    for field, content in fields.items():
        assert field in value.__slots__, field
        setattr(value, field, content)
    return value


def inner(numbers, last):
    return made("folkmoot.test.inner_t", length=len(numbers), numbers=numbers, last=last)


def fixed_inner(length):
    return inner([number * -3 for number in range(length)], length % 2 == 0)


def node(name, *children):
    return made("folkmoot.test.node_t", name=name, count=len(children), children=list(children))


def stamp(utime, frame=None):
    return made("other.stamp_t", utime=utime, frame=frame or f"frame {utime}")


def fixed():
    return made(
        "folkmoot.test.everything_t",
        i8=-8, i16=-1_600, i32=-320_000, i64=-(2**40), f32=1.5, f64=-2.25, text="größer ✓", flag=True, raw=200,
        position=[1.0, 2.0, -3.5],
        matrix=[[row * 3.0 + column for column in range(3)] for row in range(3)],
        many=[number * -7 for number in range(100)],
        wide=[number * 100_000 for number in range(40)],
        switches=[[True, False], [False, True]],
        names=["x", "y"],
        eight=[1, 2, 3, 4, 5, 6, 7, 8],
        three=[-1, -2, -3],
        n=3, rows=2, cols=4,
        data=bytes([1, 2, 255]),
        flags=[True, False, True],
        words=["", "a", "größe"],
        grid=[[row * 10 + column + 0.5 for column in range(4)] for row in range(2)],
        points=[[number, number + 0.5, -number] for number in range(3)],
        cube=[[[layer * 100 + row * 10 + column for column in range(3)] for row in range(2)] for layer in range(2)],
        page=[[f"{row}{column}" for column in range(4)] for row in "ab"],
        one=fixed_inner(2),
        some=[fixed_inner(length) for length in (0, 1, 5)],
        pair=[fixed_inner(3), fixed_inner(4)],
        stamp=stamp(1_234_567_890_123),
        stamps=[[stamp(1), stamp(2)], [stamp(3), stamp(4)]],
        tree=node("root", node("left", node("leaf")), node("right")),
        type=1, self=2, match=3, fn=4, super=5, to=6, x=7, v_to=8,
    )


def fixed_lengths():
    return made(
        "folkmoot.test.lengths_t",
        count=2, position=[1.0, 2.0, -3.5], one=[0.25],
        many=[number * 11 for number in range(70)],
        wide=[number * -100_000 for number in range(40)],
        raw=bytes([1, 2, 255]),
        matrix=[[row * 3.0 + column for column in range(3)] for row in range(3)],
        switches=[[True, False], [False, True]],
        points=[[number, number + 0.5, -number] for number in range(2)],
        rows=[[row * 10 + column for column in range(2)] for row in range(2)],
        cube=[[[layer * 100 + row * 10 + column for column in range(2)] for row in range(3)] for layer in range(2)],
        names=["x", "größe"],
        pair=[fixed_inner(length) for length in (3, 4)],
        grid=[[fixed_inner(length) for length in row] for row in ((0, 1), (2, 5))],
        last=[1, 2, 3, 4, -(2**40)],
    )


class Drawn:
    """Values that a seed decides."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self, bits):
        return self.random.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))

    def real(self):
        return self.random.choice([0.0, -0.0, 1.0, float("inf"), 1e-40, self.number(20) / 64])

    def flag(self):
        return self.random.random() < 0.5

    def text(self):
        return "".join(self.random.choices("aZ öß✓🦀\n\t\"\\", k=self.random.randrange(9)))

    def array(self, make, *lengths):
        """An array of these dimensions."""
        if not lengths:
            return make()
        return [self.array(make, *lengths[1:]) for _ in range(lengths[0])]

    def inner(self):
        return inner([self.number(16) for _ in range(self.random.randrange(4))], self.flag())

    def stamp(self):
        return stamp(self.number(64), self.text())

    def node(self, depth):
        return node(self.text(), *[self.node(depth - 1) for _ in range(self.random.randrange(depth + 1))])

    def numbers(self, bits, *lengths):
        return self.array(lambda: self.number(bits), *lengths)

    def lengths(self):
        count, numbers = self.random.randrange(5), self.numbers
        return made(
            "folkmoot.test.lengths_t",
            count=count, position=self.array(self.real, 3), one=[self.real()], many=numbers(16, 70),
            wide=numbers(32, 40), raw=self.random.randbytes(3), matrix=self.array(self.real, 3, 3),
            switches=self.array(self.flag, 2, 2), points=self.array(self.real, count, 3),
            rows=numbers(32, 2, count), cube=numbers(16, 2, 3, 2), names=self.array(self.text, 2),
            pair=self.array(self.inner, 2), grid=self.array(self.inner, count, 2), last=numbers(64, 5),
        )

    def dotted(self):
        later = made("apart.later_t", name=self.text())
        return made("other.dotted_t", x=self.number(8), y=self.numbers(8, 2), inner=self.inner(), later=later)

    def everything(self):
        n, rows, cols = (self.random.randrange(5) for _ in range(3))
        numbers = self.numbers
        return made(
            "folkmoot.test.everything_t",
            i8=numbers(8), i16=numbers(16), i32=numbers(32), i64=numbers(64), f32=self.real(), f64=self.real(),
            text=self.text(), flag=self.flag(), raw=self.random.randrange(256),
            position=self.array(self.real, 3), matrix=self.array(self.real, 3, 3),
            many=numbers(16, 100), wide=numbers(32, 40), switches=self.array(self.flag, 2, 2),
            names=self.array(self.text, 2), eight=numbers(8, 8), three=numbers(8, 3),
            n=n, rows=rows, cols=cols,
            data=self.random.randbytes(n), flags=self.array(self.flag, n), words=self.array(self.text, n),
            grid=self.array(self.real, rows, cols), points=self.array(self.real, n, 3),
            cube=numbers(32, 2, rows, 3), page=self.array(self.text, rows, cols),
            one=self.inner(), some=self.array(self.inner, n), pair=self.array(self.inner, 2),
            stamp=self.stamp(), stamps=self.array(self.stamp, rows, 2), tree=self.node(3),
            type=numbers(8), self=numbers(8), match=numbers(8), fn=numbers(8), super=numbers(8),
            to=numbers(16), x=numbers(16), v_to=numbers(16),
        )


FIXED = {"folkmoot.test.everything_t": fixed, "folkmoot.test.lengths_t": fixed_lengths}
DRAWN = {
    "folkmoot.test.everything_t": Drawn.everything,
    "folkmoot.test.lengths_t": Drawn.lengths,
    "other.dotted_t": Drawn.dotted,
}


def write(message):
    sys.stdout.buffer.write(struct.pack(">I", len(message)) + message)


def messages():
    data, place = sys.stdin.buffer.read(), 0
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        yield data[place + 4 : place + 4 + length]
        place += 4 + length


def main(folder, command, *words):
    sys.path.insert(0, folder)
    if command == "fingerprints":
        for name in words or TYPES:
            print(name, kind(name)._get_packed_fingerprint().hex())
    elif command == "fixed":
        write(FIXED[words[0]]().encode())
    elif command == "say":
        name, seed, count = words
        drawn = Drawn(int(seed))
        for _ in range(int(count)):
            write(DRAWN[name](drawn).encode())
    elif command == "again":
        for message in messages():
            write(kind(words[0]).decode(message).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
