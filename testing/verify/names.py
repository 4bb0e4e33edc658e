"""`ID-90`: the names that people and devices may have (RFC 8265, UsernameCasePreserved, and less)."""

import unicodedata

SIGNS = "-._'@+"
MARKS_MAX = 4
# RFC 8264, section 9.6: what is decided one by one.
VALID = {0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007}
NOT_VALID = {0x640, 0x7FA, 0x302E, 0x302F, *range(0x3031, 0x3036), 0x303B}
LETTERS_AND_DIGITS = ("Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc")
ARABIC, EXTENDED = range(0x660, 0x66A), range(0x6F0, 0x6FA)
# Default ignorable, and of one of the categories above.
IGNORED = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0}
IGNORED |= {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
OLD_JAMO = {*range(0x1100, 0x1200), *range(0xA960, 0xA97D), *range(0xD7B0, 0xD7FC)}


def is_name(text):
    """Whether it is in the one form of names."""
    return 1 <= len(text.encode()) <= 64 and all(is_word(word) for word in text.split(" "))


def is_word(word):
    allowed = word != "" and all(is_allowed(word, at) for at in range(len(word)))
    one_form = allowed and unicodedata.is_normalized("NFC", word)
    return one_form and has_direction(word) and has_few_marks(word)


def is_allowed(word, at):
    """RFC 8264, section 8, of IdentifierClass, without joiners and with less of ASCII."""
    one, code = word[at], ord(word[at])
    if code < 0x80:
        return one.isalnum() or one in SIGNS
    if code in VALID:
        return True
    if code in NOT_VALID or code in IGNORED or code in OLD_JAMO:
        return False
    if code in ARABIC or code in EXTENDED:
        return not any(ord(other) in (EXTENDED if code in ARABIC else ARABIC) for other in word)
    if one in "\u00b7\u0375\u05f3\u05f4\u30fb":
        return stands_well(word, at)
    return unicodedata.normalize("NFKC", one) == one and unicodedata.category(one) in LETTERS_AND_DIGITS


def stands_well(word, at):
    """RFC 8264, section 9.6: signs that stand beside letters of some script only (RFC 5892, A.3 to A.7)."""
    before, after = word[at - 1:at], word[at + 1:at + 2]
    if word[at] == "\u00b7":
        return before == after == "l"
    if word[at] == "\u0375":
        return is_of(after, "GREEK")
    if word[at] == "\u30fb":
        return any(is_of(one, "HIRAGANA LETTER", "KATAKANA LETTER", "CJK", "IDEOGRAPHIC") for one in word)
    return is_of(before, "HEBREW")


def is_of(one, *scripts):
    return one != "" and unicodedata.name(one, "").startswith(scripts)


def has_direction(word):
    """RFC 5893, section 2, of a word written from right to left; and marks at its end only."""
    kinds = [unicodedata.bidirectional(one) for one in word]
    if not {"R", "AL", "AN"} & set(kinds):
        return True
    while kinds[-1] == "NSM":
        kinds.pop()
    inside = {"R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN"}
    fits = kinds[0] in ("R", "AL") and kinds[-1] in ("R", "AL", "EN", "AN")
    return fits and set(kinds) <= inside and not {"EN", "AN"} <= set(kinds)


def has_few_marks(word):
    """Each letter has at most four combining marks, and none stands before the first letter."""
    marks = MARKS_MAX
    for one in word:
        marks = marks + 1 if unicodedata.category(one)[0] == "M" else 0
        if marks > MARKS_MAX:
            return False
    return True
