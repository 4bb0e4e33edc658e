"""The public part of a sharing of the group's key: what a state holds (signing.md)."""

from functools import lru_cache

import curves
from codec import is_sorted
from keys import ED25519_HEAD, GroupKey
from refused import Refused, digest, need


class Sharing:
    """Key, share-epoch, threshold and holders."""

    def __init__(self, spki, epoch, threshold, holders):
        need(1 <= threshold <= len(holders) <= 256, "a sharing has impossible counts", "SHR-02")
        need(is_sorted(holders), "holders are not sorted", "SHR-02")
        self.key, self.epoch = GroupKey(spki), epoch
        self.threshold, self.holders = threshold, holders


@lru_cache(maxsize=256)
def facts(scheme, data):
    """Reads the public part by the charter's scheme."""
    if scheme == "ts-dsa":
        return of_ts_dsa(data)
    if scheme == "frost":
        return of_frost(data)
    if scheme == "shoup-rsa":
        raise NotImplementedError("sharings of shoup-rsa are not read here")
    raise Refused("the scheme has no shares", "LINE-71")


def split(data, size, count):
    return [data[at : at + size] for at in range(0, size * count, size)]


def of_ts_dsa(data):
    name = b"\x01\x10\x00\x04p256"
    need(data[:8] == name, "it is no sharing over P-256", "SHR-02")
    threshold = int.from_bytes(data[8:10], "big")
    at = 10 + 33 * threshold
    commitments, count = data[10:at], int.from_bytes(data[at : at + 2], "big")
    need(1 <= threshold <= 256 and len(data) == at + 2 + 32 * count, "it is cut short", "SHR-02")
    points = [curves.p256_decode(one) for one in split(commitments, 33, threshold)]
    epoch = digest(b"folkmoot share-epoch v1\0p256\0", commitments)
    return Sharing(curves.p256_spki(points[0]), epoch, threshold, split(data[at + 2 :], 32, count))


def of_frost(data):
    need(len(data) >= 5 and data[0] == 1, "it is no sharing of FROST", "FRO-16")
    threshold, count = int.from_bytes(data[1:3], "big"), int.from_bytes(data[3:5], "big")
    at = 5 + 32 * threshold
    need(1 <= threshold and len(data) == at + 32 * count, "it is cut short", "FRO-16")
    commitments = data[5:at]
    for one in split(commitments, 32, threshold):
        curves.edwards_decode(one)
    epoch = digest(b"folkmoot frost share epoch v1\0", commitments)
    return Sharing(ED25519_HEAD + commitments[:32], epoch, threshold, split(data[at:], 32, count))
