"""Responses in which values are replaced by placeholders: their classes, and the text that BLEU compares.

Systems name placeholders each in their own way (``[hotel_name]``, ``[value_name]``, ``[name]``); a class is what they
have in common. Rules and tables are those of the standard evaluator (Nekvinda and Dušek 2021): lower case, placeholders
to classes, split plurals and adverbs deleted, and then the surface that Moses' tokeniser and detokeniser leave.
"""

from __future__ import annotations

import re
from collections import Counter

NAME, TRAINID, PHONE, ADDRESS, POST, REFERENCE = "NAME", "TRAINID", "PHONE", "ADDRESS", "POST", "REFERENCE"
TIME, TYPE = "TIME", "TYPE"
#: What a goal can ask for.
REQUEST_CLASSES = (PHONE, ADDRESS, POST, REFERENCE, TRAINID)

DOMAINS = ("restaurant", "hotel", "attraction", "train", "taxi", "police", "hospital")
#: Those that goals of the test dialogues have.
GOAL_DOMAINS = DOMAINS[:5]

_SPELLINGS = {
    ADDRESS: "address value_address {attraction hospital hotel police restaurant}_address",
    "AREA": "area value_area {attraction restaurant hotel}_area",
    TIME: "time value_time booktime duration value_duration train_duration arriveby arrive+by value_arrive "
    "taxi_arriveby train_arriveby train_arrive leaveat leave+at value_leave train_leaveat train_leave taxi_leaveat",
    "DAY": "day value_day bookday train_day",
    "PLACE": "destination value_destination departure value_departure value_place {train taxi}_departure "
    "{train taxi}_destination",
    "FOOD": "food value_food restaurant_food",
    NAME: "name value_name {attraction hospital hotel police restaurant}_name",
    PHONE: "phone value_phone {attraction hospital hotel police restaurant taxi}_phone",
    POST: "postcode value_postcode {attraction hospital hotel police restaurant}_postcode",
    "PRICE": "price value_price train_price attraction_price entrancefee entrance+fee attraction_entrancefee "
    "pricerange price+range value_pricerange {attraction hotel restaurant}_pricerange",
    REFERENCE: "ref reference value_reference {attraction hotel restaurant train}_reference",
    "COUNT": "stars value_stars hotel_stars stay bookstay value_stay people bookpeople value_people choice "
    "value_choice value_count {attraction hotel restaurant train}_choice",
    TYPE: "type value_type car value_car taxi_type taxi_car {restaurant hotel attraction}_type",
    TRAINID: "trainid train_id train_trainid value_id id train",
    "INTERNET": "internet hotel_internet",
    "PARKING": "parking hotel_parking",
    "ID": "hospital_id attraction_id restaurant_id",
    "DEPARTMENT": "department value_department hospital_department",
    "OPEN": "openhours",
}
_GROUP = re.compile(r"\{([^}]*)\}(\w+)|(\S+)")


def _names() -> dict[str, str]:
    """Placeholder to class; ``{a b}_x`` stands for ``a_x`` and ``b_x``, ``+`` for a space."""
    names: dict[str, str] = {}
    for word, spellings in _SPELLINGS.items():
        for owners, ending, plain in _GROUP.findall(spellings):
            listed = [f"{owner}{ending}" for owner in owners.split()] if owners else [plain.replace("+", " ")]
            names.update(dict.fromkeys(listed, word))
    return names


CLASSES = _names()

_PLACEHOLDER = re.compile(r"\[([\w\s]+)\]")
_PLURAL_PLACEHOLDER = re.compile(r"\[([\w\s]+)\](?:es|s|-s|-es)?")


def placeholders(response: str) -> tuple[str, ...]:
    """The names in brackets of a response, in lower case, in order."""
    return tuple(_PLACEHOLDER.findall(response.lower()))


def classed(response: str) -> str:
    """The response in lower case, with classes for placeholders; unknown ones vanish.

    >>> classed("The [hotel_name] has [value_choice]s of [nonsense].")
    'the NAME has COUNT of .'
    """
    return _PLURAL_PLACEHOLDER.sub(lambda match: CLASSES.get(match[1], ""), response.lower())


def cleaned(response: str) -> str:
    """The response as BLEU and richness see it."""
    return surface(classed(response).replace("-s", "").replace("-ly", ""))


# What Moses' tokeniser followed by its detokeniser makes of an English text.

_CONTROL = re.compile(r"[\x00-\x1f]")
_PADDED = re.compile(r"[^\w .',`\-]|_")
_DOTS = re.compile(r"(\.{2,})")
_COMMA_BEFORE = re.compile(r"(\D),")
_COMMA_AFTER = re.compile(r",(\D)")
_COMMA_LAST = re.compile(r"(\d),$")
_LETTER, _NOT_LETTER, _NEITHER = r"[^\W\d_]", r"(?:[\W\d_])", r"[\W_]"
_APOSTROPHES = (
    (re.compile(rf"({_NOT_LETTER})'({_NOT_LETTER})"), r"\1 ' \2"),
    (re.compile(rf"({_NEITHER})'({_LETTER})"), r"\1 ' \2"),
    (re.compile(rf"({_LETTER})'({_NOT_LETTER})"), r"\1 ' \2"),
    (re.compile(rf"({_LETTER})'({_LETTER})"), r"\1 '\2"),
    (re.compile(r"(\d)'s"), r"\1 's"),
)
_OPENING = re.compile(r"[$£€¥¢(\[{¿¡]+")
_CLOSING = re.compile(r"[,.?!:;\\%}\])]+")
_CONTRACTED = re.compile(rf"'{_LETTER}")
_QUOTES = re.compile("['\"`„“]+")
_DOUBLE_QUOTES = re.compile("[„“”]+")


def surface(text: str) -> str:
    """The text with spaces where Moses' tokeniser and then its detokeniser would leave them.

    >>> surface("is 9:30 ok , or a/b ?"), surface("you 're welcome")
    ('is 9: 30 ok, or a / b?', "you 're welcome")
    """
    return joined_tokens(moses_tokens(_CONTROL.sub("", " ".join(text.split()))))


def moses_tokens(text: str) -> list[str]:
    """What Moses' tokeniser makes of a text with single spaces."""
    text = _PADDED.sub(r" \g<0> ", text)
    text = _DOTS.sub(r" \1 ", text)
    if "," in text:
        text = _COMMA_LAST.sub(r"\1 ,", _COMMA_AFTER.sub(r" , \1", _COMMA_BEFORE.sub(r"\1 , ", text)))
    for pattern, replacement in _APOSTROPHES if "'" in text else ():
        text = pattern.sub(replacement, text)
    text = " ".join(text.split())
    if text.endswith(".'"):
        text = f"{text[:-2]} . '"
    return text.split()


def joined_tokens(tokens: list[str]) -> str:
    """Tokens glued together again; punctuation decides where no space goes."""
    pieces: list[str] = []
    space = ""
    quotes: Counter[str] = Counter()
    for number, word in enumerate(tokens):
        if word.isalnum():
            pieces += (space, word)
            space = " "
        elif _OPENING.fullmatch(word):
            pieces += (space, word)
            space = ""
        elif _CLOSING.fullmatch(word) or (number and _CONTRACTED.match(word)):
            pieces.append(word)
            space = " "
        elif _QUOTES.fullmatch(word):
            kind = '"' if _DOUBLE_QUOTES.fullmatch(word) else word
            if quotes[kind] % 2 == 0 and not (word == "'" and number and tokens[number - 1].endswith("s")):
                pieces += (space, word)
                space = ""
                quotes[kind] += 1
            else:
                quotes[kind] += quotes[kind] % 2
                pieces.append(word)
                space = " "
        else:
            pieces += (space, word)
            space = " "
    return " ".join("".join(pieces).split())
