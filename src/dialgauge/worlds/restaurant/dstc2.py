"""DSTC2 as it was published, converted to dialogs of task 6.

The second Dialog State Tracking Challenge: M. Henderson, B. Thomson and J. Williams, SIGDIAL 2014. There is a folder
per call, and an ontology. What is read:

* ``log.json``: ``session-id``, and per turn ``output`` with the system's ``transcript`` and ``dialog-acts``
  (``{"act": "offer", "slots": [["name", "cote"]]}``), and ``input`` with what the recogniser heard; the system speaks
  first in every turn;
* ``label.json``: per turn the user's ``transcription``, the ``goal-labels`` (cumulative constraints) and
  ``requested-slots``;
* the ontology: ``informable`` with the values of ``food``, ``area``, ``pricerange`` and ``name``.

The conversion behind task 6 was not published. These rules were read off the 3,235 released dialogs and the wording of
DSTC2's prompts (``docs/babi.md`` has the counts):

* the welcome is one sentence; counts of restaurants are left out; answers with a phone number, an address or a post
  code end in one word made from the venue's name; every other prompt stands as it was said;
* foods and names of two to five words become one word, with whatever letters follow (``golden_woks``); longer names
  stay apart;
* the user's side is the transcription, silence where there is none; the last user turn is answered by `` you are
  welcome`` (with the release's leading space);
* an API call, its results and silence come before a reply that names a venue as one word or begins with ``Sorry there
  is no``, if the constraints are not those of the last call. No other refusal is preceded by a call;
* constraints are values the system heard in so many words (``center`` is not ``centre``), the latest of each slot,
  unless labelled as not mattering. An open one is written ``R_cuisine``, ``R_location``, ``R_price``;
* results come from the knowledge base, or, where none is given, from what the systems said in all calls. A call without
  constraints finds nothing;
* ratings from 0 to 10 are invented for each dialog so that venues are proposed in the order of their ratings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field

from dialgauge.dialogue import DONTCARE, Dialogue, Fact, State, Turn
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.formats import SILENCE, Part, decode, resolve
from dialgauge.worlds.restaurant.phrases import API_CALL

T = TypeVar("T")


class SystemAct(Struct, frozen=True):
    """One act of the system, with slots as pairs of name and value."""

    act: str
    slots: list[list[Any]] = []

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The slots with a value, as texts."""
        return ((str(slot[0]), str(slot[1])) for slot in self.slots if len(slot) == 2)


class SystemOutput(Struct, frozen=True):
    """What the system said."""

    transcript: str
    acts: list[SystemAct] = field(name="dialog-acts", default_factory=list)


class Hypothesis(Struct, frozen=True):
    """One thing the recogniser may have heard."""

    text: str = field(name="asr-hyp", default="")


class Recognised(Struct, frozen=True):
    """What the recogniser heard, the likeliest first."""

    hypotheses: list[Hypothesis] = field(name="asr-hyps", default_factory=list)


class UserInput(Struct, frozen=True):
    """What reached the system during the call (``batch``, recognised again later, is not read)."""

    live: Recognised = Recognised()


class LogTurn(Struct, frozen=True):
    """One turn of the log."""

    output: SystemOutput
    index: int = field(name="turn-index")
    input: UserInput = UserInput()


class LabelTurn(Struct, frozen=True):
    """One turn of the labels."""

    transcription: str
    index: int = field(name="turn-index")
    goals: dict[str, str] = field(name="goal-labels", default_factory=dict)
    requested: list[str] = field(name="requested-slots", default_factory=list)


class Exchange(Struct, frozen=True):
    """One turn of a call: the system speaks, the user answers."""

    system: SystemOutput
    user: LabelTurn
    recognised: Recognised

    @property
    def heard(self) -> str:
        """What the system took the user to say; a log without hypotheses leaves the transcription."""
        hypotheses = self.recognised.hypotheses
        return hypotheses[0].text if hypotheses else self.user.transcription


class Session(Struct, frozen=True):
    """One call."""

    id: str
    exchanges: tuple[Exchange, ...]


class _Log(Struct, frozen=True):
    session: str = field(name="session-id")
    turns: list[LogTurn]


class _Label(Struct, frozen=True):
    session: str = field(name="session-id")
    turns: list[LabelTurn]


class Dstc2Ontology(Struct, frozen=True):
    """The values of each slot a user can constrain."""

    informable: dict[str, list[str]]


_LOG = msgspec.json.Decoder(_Log)
_LABEL = msgspec.json.Decoder(_Label)
_ONTOLOGY = msgspec.json.Decoder(Dstc2Ontology)


def read_sessions(folder: Path, listed: Path | None = None) -> Iterator[Session]:
    """All calls below a folder in the order of their paths, or those a list file names (one path a line)."""
    paths = _listed(folder, listed) if listed else sorted(path.parent for path in folder.rglob("log.json"))
    if not paths:
        raise DialgaugeError("there is no log.json below this folder", file=str(folder))
    for path in paths:
        yield _session(path)


def read_ontology(folder: Path) -> Dstc2Ontology:
    """The only ``ontology*.json`` below the folder."""
    files = sorted(folder.rglob("ontology*.json"))
    if len(files) != 1:
        problem = "several files are" if files else "no file is"
        raise DialgaugeError(f"{problem} named ontology*.json below this folder; one is needed", file=str(folder))
    return _decoded(_ONTOLOGY, files[0])


def _listed(folder: Path, listed: Path) -> list[Path]:
    paths = []
    for number, raw in _part(listed).lines():
        name = raw.decode("utf-8", "replace").strip()
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts:
            raise DialgaugeError(f"'{name}' points outside the folder; it is refused", file=str(listed), line=number)
        if name:
            paths.append(folder / name)
    return paths


def _session(path: Path) -> Session:
    log, label = _decoded(_LOG, path / "log.json"), _decoded(_LABEL, path / "label.json")
    if [turn.index for turn in log.turns] != [turn.index for turn in label.turns]:
        raise DialgaugeError(
            f"log.json has {len(log.turns)} turns and label.json {len(label.turns)}, or they are numbered differently; "
            "both must describe the same call",
            file=str(path),
        )
    if not log.turns:
        raise DialgaugeError("the call has no turns", file=str(path))
    pairs = zip(log.turns, label.turns, strict=True)
    return Session(
        id=log.session, exchanges=tuple(Exchange(logged.output, label, logged.input.live) for logged, label in pairs)
    )


def _decoded(decoder: msgspec.json.Decoder[T], path: Path) -> T:
    part = _part(path)
    return decode(decoder, part.read(), part)


def _part(path: Path) -> Part:
    if not path.is_file():
        raise DialgaugeError("there is no such file", file=os.fspath(path))
    return resolve(path)[0]


DOMAIN = "restaurant"
CLOSING = " you are welcome"
WELCOME = (
    "Hello , welcome to the Cambridge restaurant system . You can ask for restaurants by area , price range or food "
    "type . How may I help you ?"
)
#: The one refusal that follows a call, and the act of naming a venue: what the knowledge base is consulted for.
REFUSAL = "Sorry there is no "
NAMING = ("offer", "inform")

#: The slots of a call in its order, and the relation that is each one's placeholder.
CONSTRAINTS = {"food": "R_cuisine", "area": "R_location", "pricerange": "R_price"}
#: The endings of the words that stand for contact details, and the order of a venue's facts.
CONTACT = ("phone", "address", "post_code")
RESULT_ORDER = ("R_post_code", "R_cuisine", "R_location", "R_phone", "R_address", "R_price")
#: The best rating, and the best of a venue that is never proposed.
BEST_RATING, BEST_UNPROPOSED = 10, 4
#: Names of more words than this stay apart.
LONGEST_JOINED = 5

Venues = dict[str, dict[str, str]]

_NOT_WORD = re.compile(r"[^\w]+")
_WELCOME = re.compile(r"Hello , welcome to the Cambridge restaurant system\b")
_COUNT = re.compile(r"^There are \d+ restaurants\b")
_ANSWERS = {
    "phone": re.compile(r"^(The phone number of )(.+?)( is ).*"),
    "post_code": re.compile(r"^(The post code of )(.+?)( is ).*"),
    "address": re.compile(r"^(Sure , |)(.+?)( is on ).*"),
}


def one_word(entity: str) -> str:
    """An entity as one word: ``modern european`` becomes ``modern_european``.

    >>> one_word("Modern European")
    'modern_european'
    """
    return _NOT_WORD.sub("_", entity.strip().lower()).strip("_")


class Lexicon:
    """The ontology's words: entities of several words written as one, values a user constrains, venues named."""

    def __init__(self, ontology: Dstc2Ontology, venues: Venues) -> None:
        values = {slot: ontology.informable.get(slot, []) for slot in (*CONSTRAINTS, "name")}
        several = [
            entity for slot in ("food", "name") for entity in values[slot] if 1 < len(entity.split()) <= LONGEST_JOINED
        ]
        self._several = _any_of(several)
        self._venues = {one_word(name) for name in values["name"]} | set(venues)
        served = {venue.get(CONSTRAINTS["food"]) for venue in venues.values()}
        foods = [food for food in map(one_word, values["food"]) if "_" not in food or food in served]
        self._values = {
            "food": _any_of(foods, r"(?!\w)"),
            "area": _any_of(map(one_word, values["area"]), r"(?!\w)"),
            "pricerange": _any_of(map(one_word, values["pricerange"])),
        }

    def joined(self, text: str) -> str:
        """The text with every food and name of two to five words as one word, in the spelling of the ontology."""
        return self._several.sub(lambda entity: one_word(entity[0]), text)

    def constraints_in(self, text: str) -> dict[str, str]:
        """The value of each slot that a text names last; ``moderately`` names ``moderate``.

        A food of several words that no venue serves is not one of the released calls' values.
        """
        matches = {slot: pattern.findall(self.joined(text.lower())) for slot, pattern in self._values.items()}
        return {slot: values[-1] for slot, values in matches.items() if values}

    def names_venue(self, reply: str) -> bool:
        """Does a reply name a venue as one word?"""
        return reply != WELCOME and not self._venues.isdisjoint(reply.split())


def _any_of(entities: Iterable[str], end: str = "") -> re.Pattern[str]:
    """Any of these at the start of a word, the longest that fits; with nothing to find, a pattern without a match."""
    longest_first = sorted({entity.strip() for entity in entities}, key=lambda entity: (-len(entity), entity))
    alternatives = "|".join(map(re.escape, filter(None, longest_first))) or r"(?!)"
    return re.compile(rf"(?<!\w)(?:{alternatives}){end}")


def system_text(transcript: str, lexicon: Lexicon) -> str:
    """A prompt of DSTC2 as task 6 writes it.

    >>> system_text("There are 57 restaurants in the cheap price range .", Lexicon(Dstc2Ontology({}), {}))
    'There are restaurants in the cheap price range .'
    """
    text = " ".join(transcript.split())
    if _WELCOME.match(text):
        return WELCOME
    text = _COUNT.sub("There are restaurants", text)
    for ending, answer in _ANSWERS.items():
        if match := answer.match(text):
            before, name, between = match.groups()
            text = f"{before}{name}{between}{name.replace(' ', '_')}_{ending}"
            break
    return lexicon.joined(text)


def venue_of(output: SystemOutput) -> str:
    """The venue the system speaks of, where it names exactly one."""
    acts = (act for act in output.acts if act.act in NAMING)
    names = {value for act in acts for slot, value in act.pairs() if slot == "name"}
    return names.pop() if len(names) == 1 else ""


def venues_of(facts: Iterable[Fact]) -> Venues:
    """A knowledge base by venue and relation."""
    venues: Venues = {}
    for fact in facts:
        venues.setdefault(fact.entity, {})[fact.relation] = fact.value
    return venues


def venues_mentioned(sessions: Iterable[Session]) -> Venues:
    """What the systems said about venues: the knowledge base where none is given."""
    venues: Venues = {}
    for session in sessions:
        for exchange in session.exchanges:
            name = one_word(venue_of(exchange.system))
            if not name:
                continue
            known = venues.setdefault(name, {f"R_{end}": f"{name}_{end}" for end in CONTACT})
            for act in exchange.system.acts:
                if act.act in NAMING:
                    pairs = (pair for pair in act.pairs() if pair[0] in CONSTRAINTS and pair[1] != DONTCARE)
                    known.update({CONSTRAINTS[slot]: one_word(value) for slot, value in pairs})
    ordered = {name: [relation for relation in RESULT_ORDER if relation in venues[name]] for name in sorted(venues)}
    return {name: {relation: venues[name][relation] for relation in relations} for name, relations in ordered.items()}


def convert(session: Session, venues: Venues, lexicon: Lexicon, *, seed: int = 0) -> Dialogue:
    """One call as a dialog of task 6; labelled states and requests are kept on the user's turns."""
    turns: list[Turn] = []
    ratings = _ratings(session, venues, seed)
    prompt = Turn(speaker="user", text=SILENCE, state={})
    last_call, constraints = "", dict[str, str]()
    for exchange in session.exchanges:
        reply = system_text(exchange.system.transcript, lexicon)
        call = " ".join((API_CALL, *(constraints.get(slot, relation) for slot, relation in CONSTRAINTS.items())))
        if call != last_call and (reply.startswith(REFUSAL) or lexicon.names_venue(reply)):
            fitting = [name for name in venues if constraints and _fits(venues[name], constraints)]
            results = tuple(fact for name in fitting for fact in _answer(name, venues[name], ratings[name]))
            turns += (prompt, Turn(speaker="system", text=call))
            prompt = Turn(speaker="user", text=SILENCE, state=prompt.state, results=results)
            last_call = call
        turns += (prompt, Turn(speaker="system", text=reply))
        prompt = _user_turn(exchange.user, lexicon)
        heard = constraints | lexicon.constraints_in(exchange.heard)
        constraints = {slot: value for slot, value in heard.items() if exchange.user.goals.get(slot) != DONTCARE}
    turns += (prompt, Turn(speaker="system", text=CLOSING))
    return Dialogue(id=session.id, turns=tuple(turns), domains=(DOMAIN,))


def _user_turn(label: LabelTurn, lexicon: Lexicon) -> Turn:
    text = " ".join(label.transcription.lower().split())
    slots = {slot: (value,) for slot, value in label.goals.items() if value}
    state: State = {DOMAIN: dict(slots)} if slots else {}
    requested = {DOMAIN: tuple(label.requested)} if label.requested else {}
    return Turn(speaker="user", text=lexicon.joined(text) or SILENCE, state=state, requested=requested)


def _fits(venue: dict[str, str], constraints: dict[str, str]) -> bool:
    return all(venue.get(CONSTRAINTS[slot]) == value for slot, value in constraints.items())


def _answer(name: str, venue: dict[str, str], rating: int) -> Iterator[Fact]:
    yield from (Fact(name, relation, value) for relation, value in venue.items())
    yield Fact(name, "R_rating", str(rating))


def _ratings(session: Session, venues: Venues, seed: int) -> dict[str, int]:
    """A rating for every venue: the first proposed has the best one alone, later ones never rise, the rest are drawn.

    Venues that are never proposed lie below all that are, as long as there are ratings left to give.
    """
    draws = Draws(seed, "dstc2", session.id)
    named = (one_word(venue_of(exchange.system)) for exchange in session.exchanges)
    proposed = [name for name in dict.fromkeys(named) if name in venues]
    ratings = {name: max(BEST_RATING - index, 0) for index, name in enumerate(proposed)}
    most = max(min(BEST_UNPROPOSED, BEST_RATING - len(proposed)), 0)
    return {name: ratings[name] if name in ratings else draws.integer(0, most) for name in venues}
