"""Contacts of a charter: locators, each in its one spelling (`ID-70`)."""

import ipaddress
import re

from refused import need

FORM = re.compile(r"[a-z][a-z0-9-]{0,31}/[!-+\--~]+")
UDP = re.compile(r"(?:([0-9.]+)|\[([0-9a-f:]+)\]):([1-9][0-9]{0,4})")


def checked(text):
    need(isinstance(text, str), "a contact is no text", "ID-70")
    need(len(text) <= 255 and FORM.fullmatch(text), "it is no contact", "ID-70")
    scheme, place = text.split("/", 1)
    need(scheme != "udp" or is_udp(place), "it is no contact of udp", "ID-70")
    return text


def is_udp(place):
    match = UDP.fullmatch(place)
    if match is None or int(match[3]) > 65535:
        return False
    kind, text = (ipaddress.IPv6Address, match[2]) if match[2] else (ipaddress.IPv4Address, match[1])
    try:
        address = kind(text)
    except ValueError:
        return False
    mapped = address.version == 6 and address.ipv4_mapped is not None
    return str(address) == text and not address.is_unspecified and not mapped


def contacts(texts):
    """A charter's list, in any order."""
    found = {checked(text) for text in texts}
    need(len(found) == len(texts), "a contact is there twice", "ID-70")
    return found


def contacts_of_word(word):
    """The word of a vote: sorted, each once, commas between; `none` for none."""
    if word == "none":
        return set()
    texts = word.split(",")
    need(texts == sorted(set(texts)), "contacts are not sorted", "LINE-42")
    return {checked(text) for text in texts}
