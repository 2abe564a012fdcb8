"""What a text says of a dialogue state: an object of JSON or Python in it, or slots with their values in words.

``hotel-area=north; hotel-stars=4``, ``hotel area north, hotel stars 4``, ``[hotel] area north stars 4``, lists by line
and more. Texts are of models, and models write what they like: whatever of a text is neither slot nor value is handed
back as *unread*, so that nobody takes a part of a state for the whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import starmap
from typing import Any, NamedTuple, TypeAlias

import msgspec

from dialgauge.formats.json_text import literal
from dialgauge.formats.predictions.belief_spans import DOMAIN_TAG, SPAN_SLOTS, of_spans
from dialgauge.formats.predictions.loose import MOST_TEXT, answer_before, answer_in, is_next_turn
from dialgauge.formats.predictions.written_calls import written_calls

Triple: TypeAlias = tuple[str, str, Any]

#: What people and models write in place of a state that is empty.
_EMPTY = re.compile(
    r"[\[(<\"']?(?:none|null|nan|empty|n/a|-|set\(\)|(?:no|empty)\s(?:\w+\s){0,2}?(?:slots?|values?|states?|information|"
    r"constraints?|preferences?)(?:\s(?:is|are|was|were|has|have|been|mentioned|given|specified|provided|filled|found|"
    r"known|by|the|user|yet|so\sfar)){0,8})?[\])>\"']?[.!]?",
    re.IGNORECASE,
)
#: Domains that names such as hotel_area may begin with; others must be told by a sign, or have several columns.
DOMAINS = frozenset("attraction bus hospital hotel police restaurant taxi train".split())  # noqa: SIM905
_NAME_SEPARATORS = "-.:/_ "
#: Two levels of names of pandas, as one text.
_LEVELS = re.compile(r"\('([^']{1,40})', '([^']{1,40})'\)")
_DASHES = str.maketrans("–—−", "---")
#: Slots of two words, as states in words name them; others have one word.
_TWO_WORDS = r"(?:book|semi)[ _-]\w++|leave at|arrive by|price range"
_SLOT_THEN_VALUE = re.compile(rf"({_TWO_WORDS}|\w++)[-:=\s]\s*+(?:is\s++)?+(.*)", re.DOTALL)
_COLON_NAME = re.compile(r"[A-Za-z]\w*+(?:[-._/ ][A-Za-z_]++){0,2}")
_COLON_SLOT = re.compile(r"[A-Za-z]\w*+:\s*+\w[\w ]*+:\s")
_HEADER = re.compile(r"[A-Za-z]\w*+:\s*")
_SEPARATOR = re.compile(r"([;,|\n]|<sep>|\[SEP\])")
#: Where the next slot begins in a text without separators: ``hotel-area=north hotel-stars=4``.
_NEXT_SLOT = re.compile(r"(?<!\s)\s++(?:(?:and|[#/&+])\s++)?(?=[A-Za-z]\w*+-[A-Za-z]\w*+(?: \w++)?\s?=)")
_TAG = re.compile(r"<\|[\w ]{1,40}\|>|</?s>|<pad>|<[sbe]os_b(?:elief)?>")
#: Where a text says that the state begins, and where that something else does.
_BELIEF_BEGINS = re.compile(r"<\|belief\w{0,20}\|>|<[sb]os_b(?:elief)?>")
_BELIEF_ENDS = re.compile(r"<\|(?:endofbelief\w{0,20}|action|response|dbsearch)\|>|<eos_b(?:elief)?>")
_LEAD = re.compile(
    r"(?:^|\n)[ *#>]{0,9}(?:(?:the|my|final|current|predicted|updated|new|dialogue|dialog|belief)\s){0,5}"
    r"(?:state|belief|answer|output|prediction|assistant|slots|dst)(?:\s(?:is|are))?[ *]{0,3}:[ *]{0,3}(?:\s|$)",
    re.IGNORECASE,
)
#: A line that says what it is, and that is no state.
_ASIDE = re.compile(
    r"(?:^|\n)[ *#>]{0,9}(?:note|comment|explanation|justification|reasoning|rationale|thoughts?|response|system|sys|"
    r"agent)[ *]{0,3}:[^\n{[=]*(?=\n|$)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```\w{0,20}\s(.*?)(?:```|\Z)", re.DOTALL)
#: Bullets and numbers before the lines of a list, bold letters and code; headings; arrows.
_BULLET = re.compile(r"(?:^|(?<=\n))[ \t]{0,9}(?:[-*+•]|[0-9]{1,3}[.)])\s++|\*\*|`")
_HEADING = re.compile(r"^(?:#{1,6} |\[)(\w{1,40})[]:]?[ \t]{0,9}$", re.MULTILINE)
_ARROW = re.compile(r"[→⇒]|=>")
#: ``[hotel] area = north, stars is 4``: where a domain or a piece begins, its slot, and what stands before the value.
_TAGGED_PAIR = re.compile(r"((?:\[\w{1,40}\]|[,;\n])\s{0,20}+\w++(?: \w++)??)(?:\s*+=|\s++is\s)\s*+")
_BRACED = re.compile(r"\b([A-Za-z]\w*+)\s*+[({]([^(){}]*+)[)}]\s*+[,;|]?\s*+")
_BRACKETED = re.compile(r"\(([^(),]{1,100}),([^(),]{1,100})(?:,([^()]{1,500}))?\)")
#: The domain of a slot that is clearly one: ``"hotel": {``, ``"hotel-area":``, ``hotel-area=``.
_CLEAR_DOMAIN = re.compile(
    r"""\b([A-Za-z][A-Za-z0-9]{0,40}+)(?:["']\s?:\s?\{|[-._ ][\w ]{1,40}["']\s?:|"""
    r"""[-.][A-Za-z]\w{0,40}+(?: \w{1,20}+)?\s?=)"""
)
#: A service of SGD behind a separator: ``, Hotels_4 location``.
_SERVICE = re.compile(r"[,;|\n]\s?([A-Z][A-Za-z]{1,40}+)_[0-9][\s-]")
#: A domain of MultiWOZ behind a separator, with one of its slots: ``, attraction type``.
_LATER_DOMAIN = re.compile(
    rf"[,;|\n]\s{{0,3}}({'|'.join(sorted(DOMAINS))})[ :]\s?"
    rf"(?:{SPAN_SLOTS.pattern}|book|price range|leave at|arrive by)\b",
    re.IGNORECASE,
)
#: What names and values look like; anything else in their place was not understood.
_DOMAIN = re.compile(r"[^\W\d_][\w-]*+")
_SLOT = re.compile(r"\w[\w.'/-]*+(?: [\w.'/-]++){0,3}")
_NO_VALUE = re.compile(r"\s[^\w\s]+$|^[^(]*\)|^\s*[^\w\s\"'£$€?(-]|[={}\n;]|[-.]\w+:\s|</?\w|\[\w|\s//")
_MOST_WORDS = 12
#: Letters of an empty fence with the name of its language.
_SHORT = 20
#: Words that sentences begin with, and no state does.
_NO_DOMAIN = re.compile(
    r"an?|and|apologies|api|as|at|based|because|but|cannot|currently|error|exception|failed|for|from|given|http|here|"
    r"however|i|if|in|it|let|my|no|none|not|nothing|of|okay|on|our|please|request|since|so|sorry|sure|thanks?|that|the|"
    r"there|these|they|this|timeout|to|unable|unfortunately|warning|we|what|when|with|yes|your?",
    re.IGNORECASE,
)


class TextReading(NamedTuple):
    """An object, or slots with their values, and what of the text was not understood."""

    literal: Any = None
    triples: tuple[Triple, ...] = ()
    unread: str = ""


class TextReader:
    """The texts of one file.

    Texts do not say where a value ends: commas stand inside of names, too. So all texts are shown first
    (:meth:`learn`): only words that one of them begins with are taken for domains. Where other states name theirs
    clearly, as JSON does, a word that none of them names may also begin a sentence.
    """

    def __init__(self) -> None:
        self._domains: set[str] = set()
        self._clear: set[str] = set()
        self._pieces: dict[tuple[str, str, bool, bool], Triple | None] = {}
        self._readings: dict[tuple[str, str], TextReading] = {}
        self._bared: dict[str, tuple[str, str]] = {}
        self._learned: set[str] = set()
        #: Texts of slots, and those of them that end in a full stop.
        self._texts = self._stopped = 0
        #: Does the model go on with the next turn behind a state? Then it does so behind an empty one, too.
        self._runs_on = False

    def learn_domains(self, names: Iterable[str]) -> None:
        """Take a look at what is clearly a domain."""
        self._forget()
        known = {name.lower() for name in names}
        self._domains |= known
        self._clear |= known

    def learn(self, text: str) -> None:
        """Take a look at a text before the first is read."""
        self._readings.clear()
        answer = answer_before(text)
        self._runs_on |= answer != text
        bare = self._bare(answer)[0]
        if not _EMPTY.fullmatch(bare):
            self._texts += 1
            self._stopped += bare.endswith(".")
        if answer in self._learned:
            return
        self._learned.add(answer)
        self._forget()
        word = re.match(r"[^\w]*+([A-Za-z]\w*+)(?!['’])", bare[:200])
        if word and not _NO_DOMAIN.fullmatch(word[1]):
            self._domains.add(word[1].partition("_")[0].lower())
        for later in (_SERVICE, _LATER_DOMAIN):
            self._domains.update(name.lower() for name in later.findall(bare[:2000]))
        self._clear.update(name.lower() for name in _CLEAR_DOMAIN.findall(bare[:2000]))

    def read(self, text: str, domain: str = "") -> TextReading:
        """What it says; ``domain``: that of slots which are named without one. Equal texts are read once."""
        if (text, domain) not in self._readings:
            self._readings[text, domain] = self._read(text, domain)
        return self._readings[text, domain]

    def is_whole(self, text: str) -> bool:
        """Is it a state of several slots, or an empty one, and no single slot?"""
        if not _SEPARATOR.search(text):
            return _EMPTY.fullmatch(text.strip()) is not None
        _, triples, unread = self.read(text)
        return len(triples) > 1 and not unread

    def _read(self, text: str, domain: str) -> TextReading:
        bare, unread = self._bare(text)
        if self._runs_on and is_next_turn(text):
            unread = text
        if bare[:1] == bare[-1:] == '"' and isinstance(inner := literal(bare), str):
            bare = inner  # JSON in JSON
        fences = _FENCE.findall(bare)
        if _EMPTY.fullmatch(bare) or (fences and not fences[0].strip() and len(bare) < _SHORT):
            return TextReading(unread=unread)
        if len(bare) > MOST_TEXT:
            return TextReading(unread=bare)
        held = literal(f"{{{bare}}}" if bare[0] in "\"'" else bare) if bare[0] in "{[(\"'" else None
        if held is None and "{" in bare and any(sign in bare for sign in ('"', "'", "{}")):
            held, sure = answer_in(bare, _names_domains)
            unread = unread if sure else bare
        if isinstance(held, set):
            held = sorted(held, key=str)
        if isinstance(held, Mapping | list | tuple):
            return TextReading(_with_repeated_keys(bare, held), unread=unread)
        if held is not None:
            return TextReading(unread=bare)
        if calls := written_calls(fences[0] if len(fences) == 1 else bare):
            return TextReading({"tool_calls": calls}, unread=unread)
        words = self._in_words(bare, fences, domain)
        return words._replace(unread=words.unread or unread)

    def _in_words(self, text: str, fences: list[str], domain: str) -> TextReading:
        whole = text
        if text.startswith("(") and (bracketed := _BRACKETED.findall(text)):
            groups = [
                (name.strip(), slot_name(slot), value) if value else (*(split_name(name) or (name, "")), slot.strip())
                for name, slot, value in bracketed
            ]
            return _checked(groups, _BRACKETED.sub("", text).strip(" ,;\n"), whole)
        text = fences[0].strip() if fences else text
        if text[:1] == "{" and text[-1:] == "}" and text.count("{") == 1:
            text = text[1:-1]
        if self._texts == self._stopped > 1:
            text = text.removesuffix(".")
        text = _HEADING.sub(r"\1:", text)
        if DOMAIN_TAG.match(text) and _TAGGED_PAIR.match(text):
            text = DOMAIN_TAG.sub(r";\1:", _TAGGED_PAIR.sub(r"\1=", text))
        if DOMAIN_TAG.match(text):
            return _checked(*of_spans(text), whole)
        if domain and not re.match(rf"\W*{re.escape(domain)}\b", text, re.IGNORECASE):
            text = f"{domain}: {text}"
        triples, rest = self._of_pieces(_ARROW.sub("->", _BULLET.sub("", text)))
        if self._clear and any(name.lower() in self._domains - self._clear for name, _, _ in triples):
            rest = rest or whole
        return _checked(triples, rest or (whole if len(fences) > 1 else ""), whole)

    def _of_pieces(self, text: str) -> tuple[list[Triple], str]:
        """Pieces between separators, and those that are neither a slot nor a part of the value before.

        A comma may stand in a value, so a piece behind one that is nothing of its own belongs to the value before it.
        """
        if text.endswith((")", "}")) and not _BRACED.sub("", text):
            text = _BRACED.sub(lambda group: f"{group[1]}: {group[2]};", text)
        triples: list[Triple] = []
        rest: list[str] = []
        if not _SEPARATOR.search(text):
            rest += re.findall(r"\.;", text := _NEXT_SLOT.sub(";", text))  # does the stop end a value or a word?
        current, separator, header = "", "", False
        for number, piece in enumerate(_SEPARATOR.split(text)):
            if number % 2:
                separator = piece
                continue
            bare = piece.strip()
            if separator in ("", "\n") and _HEADER.fullmatch(piece):
                current, header = bare[:-1], True  # the domain of the lines below
                continue
            own = _COLON_SLOT.match(bare) is not None
            triple = self.piece(bare, current, alone=own, header=header and not own) if bare else None
            if triple is not None:
                triples.append(triple)
                current, header = triple[0], header or own
            elif bare and triples:
                triples[-1] = (*triples[-1][:2], f"{triples[-1][2]}{separator}{piece.rstrip()}")
            elif bare:
                rest.append(bare)
        return triples, " ".join(rest)

    def piece(self, text: str, current: str, *, alone: bool = False, header: bool = False) -> Triple | None:
        """A slot and its value; equal texts, of which a file has many, are taken apart once."""
        asked = (text, current, alone, header)
        if asked not in self._pieces:
            self._pieces[asked] = self._piece(*asked)
        return self._pieces[asked]

    def _piece(self, text: str, current: str, alone: bool, header: bool) -> Triple | None:
        """``hotel-area=north``, ``hotel-area: north``, ``hotel-area-north``, ``hotel area north``; None if it is none.

        ``current`` is the domain of a slot that is named without one: ``hotel: area=north, stars=4``. ``alone``: it
        can be no part of another piece's value. ``header``: the domain stands in a line of its own.
        """
        name, sign, value = text.partition("=" if "=" in text else "->" if "->" in text else ":")
        name = name.strip().removesuffix(":").strip()
        if sign and (sign != ":" or header):
            bare = current and name and not any(separator in name for separator in "-.:/")
            pair = (current, name) if bare and not self._is_domain(re.split("[ _]", name)[0]) else split_name(name)
            return (*pair, value.lstrip("= ")) if pair else None
        if sign and _COLON_NAME.fullmatch(name):
            pair = split_name(name)
            if pair is not None:
                return (*pair, value.strip()) if value.strip() else None
            inner = _SLOT_THEN_VALUE.fullmatch(value.strip())
            return (name, slot_name(inner[1]), inner[2]) if inner and (alone or self._is_domain(name)) else None
        first = re.match(r"[A-Za-z]\w*+", text)
        if first is None or not (alone or self._is_domain(first[0].partition("_")[0])):
            return None
        rest = text[first.end() :]
        domain, _, slot = first[0].partition("_") if rest[:1].isspace() else (first[0], "", "")
        if slot and not slot.isdigit():  # hotel_area north
            return domain, slot_name(slot), re.sub(r"^is\s+", "", rest.strip())
        inner = _SLOT_THEN_VALUE.fullmatch(rest[1:].strip())
        return (first[0], slot_name(inner[1]), inner[2]) if inner and inner[2] else None

    def _forget(self) -> None:
        """What was read may read otherwise now."""
        self._pieces.clear()
        self._readings.clear()

    def _bare(self, text: str) -> tuple[str, str]:
        if text not in self._bared:
            self._bared[text] = _bare(text)
        return self._bared[text]

    def _is_domain(self, word: str) -> bool:
        return word.lower() in self._domains


def _checked(triples: list[Triple], rest: str, whole: str) -> TextReading:
    """The reading of a text in words: all of it is unread where a name or a value does not look like one."""
    sound = triples and not rest and all(starmap(_is_sound, triples))
    return TextReading(triples=tuple(triples), unread="" if sound else whole)


@lru_cache(maxsize=1 << 16)
def _is_sound(domain: str, slot: str, value: str) -> bool:
    return bool(
        _DOMAIN.fullmatch(domain)
        and _SLOT.fullmatch(slot)
        and not slot.isdigit()
        and not _NO_VALUE.search(value)
        and value.count(" ") < _MOST_WORDS
    )


def _bare(text: str) -> tuple[str, str]:
    """A text without what models and templates put around a state, and the text where that leaves a doubt."""
    whole = text = text[: MOST_TEXT + 1]
    _, thought, text = text.rpartition("</think>")
    unread = whole if (thought and not text.strip()) or "<think>" in text else ""
    if begin := _BELIEF_BEGINS.search(text):
        text = text[begin.end() :]
    if end := _BELIEF_ENDS.search(text):
        text = text[: end.start()]
    tagless = _TAG.sub(" ", text)
    text = _ASIDE.sub("", tagless).strip()
    if not text and tagless.strip() and "\n" not in (tagless[0], tagless[-1]):
        unread = whole  # with an empty line beside it, the state is empty
    leads = list(_LEAD.finditer(text))
    if not leads:
        return text, unread
    return text[leads[-1].end() :].strip(), unread or (whole if len(leads) > 1 else "")


def _with_repeated_keys(text: str, held: Any) -> Any:
    """What JSON in a text holds, with objects as pairs that have a key twice, of which a parser keeps one."""
    if not drops_keys(text.encode(errors="replace"), held):
        return held
    inside = (
        text if text[0] in "{[" else f"{{{text}}}" if text[0] == '"' else text[text.find("{") : text.rfind("}") + 1]
    )
    try:
        return json.loads(inside, object_pairs_hook=pairs_of_repeated)
    except (ValueError, RecursionError):
        return held


def drops_keys(content: bytes, held: Any) -> bool:
    """Has JSON a key twice? Then there are fewer where what a parser makes of it is written again."""
    try:
        return content.count(b'":') > msgspec.json.encode(held).count(b'":')
    except (TypeError, ValueError, OverflowError, RecursionError):  # Python, which JSON cannot say
        return False


def pairs_of_repeated(pairs: list[tuple[str, Any]]) -> Any:
    """An object of JSON, or its members as pairs where a key comes twice."""
    names = dict(pairs)
    return names if len(names) == len(pairs) else [list(pair) for pair in pairs]


def _names_domains(written: dict[Any, Any]) -> bool:
    """Is it an object of slots with their domains, or an empty one?"""
    return not written or any(isinstance(value, Mapping) or split_name(str(key)) for key, value in written.items())


@lru_cache(maxsize=1 << 14)
def split_name(name: str) -> tuple[str, str] | None:
    """Domain and slot of a flat name; None where it has no two parts.

    >>> split_name("hotel-area"), split_name("hotel.book.people"), split_name("Hotels_4_location"), split_name("area")
    (('hotel', 'area'), ('hotel', 'book people'), ('Hotels_4', 'location'), None)
    """
    name = name.translate(_DASHES).strip()
    if levels := _LEVELS.fullmatch(name):
        return levels[1], slot_name(levels[2])
    for separator in _NAME_SEPARATORS:
        domain, separated, slot = name.partition(separator)
        if not separated:
            continue
        number, more, rest = slot.partition(separator)
        if separator == "_" and more and number.isdigit():  # a service of SGD
            domain, slot = f"{domain}_{number}", rest
        domain, slot = domain.strip(), slot.lstrip(">").strip()
        return (domain, slot_name(slot)) if domain and slot else None
    return None


def is_domain(name: object) -> bool:
    """Is it a domain that is known?"""
    return isinstance(name, str) and name.lower() in DOMAINS


def names_domain(name: str) -> bool:
    """Does the name of a slot begin with its domain? ``book people`` and ``semi-area`` do not."""
    pair = split_name(name)
    if pair is None or pair[0].lower() in ("book", "semi"):
        return False
    return pair[0].lower() in DOMAINS or bool(re.search(r"[-.:/]|_[0-9]", name))


@lru_cache(maxsize=1 << 14)
def slot_name(name: str) -> str:
    """The slot without MultiWOZ's ``semi``, and with a space behind ``book``."""
    part, _, rest = re.sub(r"[-.:/]", "\0", name.strip(), count=1).partition("\0")
    if rest and part.lower() in ("semi", "book"):
        return rest if part.lower() == "semi" else f"book {rest}"
    return name.strip()
