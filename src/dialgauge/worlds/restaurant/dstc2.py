"""DSTC2 as it was published, converted to dialogs of task 6.

The second Dialog State Tracking Challenge: M. Henderson, B. Thomson and J. Williams, SIGDIAL 2014. There is a folder
per call, and an ontology. What is read:

* ``log.json``: ``session-id``, and per turn ``output`` with the system's ``transcript`` and ``dialog-acts``
  (``{"act": "offer", "slots": [["name", "cote"]]}``); the system speaks first in every turn;
* ``label.json``: per turn the user's ``transcription``, the ``goal-labels`` (cumulative constraints) and
  ``requested-slots``;
* the ontology: ``informable`` with the values of ``food``, ``area``, ``pricerange`` and ``name``.

The conversion behind task 6 was not published; these rules follow what the released files show:

* entities of several words become one word, and contact details become words made from the venue's name;
* the user's side is the transcription, silence where there is none; the last user turn is answered by `` you are
  welcome`` (with the release's leading space);
* before the system first offers a venue, or says that none fits, an API call with the labelled constraints is
  inserted, its results follow, and the system's real words answer silence; a new call is made when the constraints
  have changed since the last one. A constraint that is not set, or does not matter, is written ``R_cuisine``,
  ``R_location``, ``R_price``;
* results come from the knowledge base, or, where none is given, from what the systems said in all calls;
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


class LogTurn(Struct, frozen=True):
    """One turn of the log."""

    output: SystemOutput
    index: int = field(name="turn-index")


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


def read_ontology(folder: Path, given: Path | None = None) -> Dstc2Ontology:
    """The ontology that was named, or the only ``ontology*.json`` below the folder."""
    files = [given] if given else sorted(folder.rglob("ontology*.json"))
    if len(files) != 1:
        problem = "several files are" if files else "no file is"
        raise DialgaugeError(
            f"{problem} named ontology*.json below this folder; name one with --ontology", file=str(folder)
        )
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
    return Session(id=log.session, exchanges=tuple(Exchange(said.output, heard) for said, heard in pairs))


def _decoded(decoder: msgspec.json.Decoder[T], path: Path) -> T:
    part = _part(path)
    return decode(decoder, part.read(), part)


def _part(path: Path) -> Part:
    if not path.is_file():
        raise DialgaugeError("there is no such file", file=os.fspath(path))
    return resolve(path)[0]


#: What DSTC2 calls contact details, and the ending task 6 gives them.
CONTACT = {"phone": "phone", "addr": "address", "postcode": "post_code"}

_NOT_WORD = re.compile(r"[^\w]+")


def one_word(entity: str) -> str:
    """An entity as one word: ``modern european`` becomes ``modern_european``.

    >>> one_word("Modern European")
    'modern_european'
    """
    return _NOT_WORD.sub("_", entity.strip().lower()).strip("_")


class Joiner:
    """Writes every known entity of several words as one word, wherever it stands in a text."""

    def __init__(self, entities: Iterable[str]) -> None:
        several = {entity.strip().lower() for entity in entities if len(entity.split()) > 1}
        longest_first = sorted(several, key=lambda entity: (-len(entity), entity))
        self._pattern = _any_of(longest_first) if longest_first else None

    def __call__(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda entity: one_word(entity[0]), text)


def system_text(output: SystemOutput, venue: str, joiner: Joiner) -> str:
    """The system's words with contact details replaced: ``{name}_phone``, ``{name}_address``, ``{name}_post_code``."""
    text = output.transcript.strip()
    for act in output.acts:
        for slot, value in act.pairs():
            if slot in CONTACT and venue and value.strip():
                text = _any_of([value.strip().lower()]).sub(f"{one_word(venue)}_{CONTACT[slot]}", text)
    return joiner(text)


def venue_of(output: SystemOutput) -> str:
    """The venue the system speaks of, where it names exactly one."""
    names = {value for act in output.acts for slot, value in act.pairs() if slot == "name"}
    return names.pop() if len(names) == 1 else ""


def _any_of(entities: list[str]) -> re.Pattern[str]:
    alternatives = "|".join(r"\s+".join(map(re.escape, entity.split())) for entity in entities)
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)


CLOSING = " you are welcome"
DOMAIN = "restaurant"

#: The slots of a call in its order, and the relation that is each one's placeholder.
CONSTRAINTS = {"food": "R_cuisine", "area": "R_location", "pricerange": "R_price"}
RESULT_ORDER = ("R_post_code", "R_cuisine", "R_location", "R_phone", "R_address", "R_price")
BEST_RATING = 10

Venues = dict[str, dict[str, str]]


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
            known = venues.setdefault(name, {f"R_{end}": f"{name}_{end}" for end in CONTACT.values()})
            for act in exchange.system.acts:
                if act.act in ("offer", "inform"):
                    said = (pair for pair in act.pairs() if pair[0] in CONSTRAINTS and pair[1] != DONTCARE)
                    known.update({CONSTRAINTS[slot]: one_word(value) for slot, value in said})
    return dict(sorted(venues.items()))


def entities_of(ontology: Dstc2Ontology) -> list[str]:
    """The names and values that are written as one word."""
    return [value for slot in ("food", "name") for value in ontology.informable.get(slot, [])]


def convert(session: Session, venues: Venues, joiner: Joiner, *, seed: int = 0) -> Dialogue:
    """One call as a dialog of task 6; labelled states and requests are kept on the user's turns."""
    turns: list[Turn] = []
    ratings = _ratings(session, venues, seed)
    prompt = Turn(speaker="user", text=SILENCE, state={})
    last_call, venue, constraints = "", "", dict[str, str]()
    for exchange in session.exchanges:
        venue = venue_of(exchange.system) or venue
        call = _call(constraints)
        if _consults(exchange.system) and call != last_call:
            fitting = [name for name in venues if _fits(venues[name], constraints)]
            results = tuple(fact for name in fitting for fact in _answer(name, venues[name], ratings[name]))
            turns += (prompt, Turn(speaker="system", text=call))
            prompt = Turn(speaker="user", text=SILENCE, state=prompt.state, results=results)
            last_call = call
        turns += (prompt, Turn(speaker="system", text=system_text(exchange.system, venue, joiner)))
        prompt = _user_turn(exchange.user, joiner)
        constraints = {slot: one_word(value) for slot, value in exchange.user.goals.items() if slot in CONSTRAINTS}
    turns += (prompt, Turn(speaker="system", text=CLOSING))
    return Dialogue(id=session.id, turns=tuple(turns), domains=(DOMAIN,))


def _user_turn(label: LabelTurn, joiner: Joiner) -> Turn:
    text = " ".join(label.transcription.lower().split())
    slots = {slot: (value,) for slot, value in label.goals.items() if value}
    state: State = {DOMAIN: dict(slots)} if slots else {}
    requested = {DOMAIN: tuple(label.requested)} if label.requested else {}
    return Turn(speaker="user", text=joiner(text) or SILENCE, state=state, requested=requested)


def _consults(output: SystemOutput) -> bool:
    """Does the system need the knowledge base for what it says?"""
    return any(act.act in ("offer", "canthelp") for act in output.acts)


def _set_constraints(constraints: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((relation, constraints.get(slot, DONTCARE)) for slot, relation in CONSTRAINTS.items())


def _call(constraints: dict[str, str]) -> str:
    words = [relation if value == DONTCARE else value for relation, value in _set_constraints(constraints)]
    return " ".join((API_CALL, *words))


def _fits(venue: dict[str, str], constraints: dict[str, str]) -> bool:
    return all(value in (DONTCARE, venue.get(relation)) for relation, value in _set_constraints(constraints))


def _answer(name: str, venue: dict[str, str], rating: int) -> Iterator[Fact]:
    yield from (Fact(name, relation, venue[relation]) for relation in RESULT_ORDER if relation in venue)
    yield Fact(name, "R_rating", str(rating))


def _ratings(session: Session, venues: Venues, seed: int) -> dict[str, int]:
    """A rating for every venue: the first proposed has the best one alone, later ones never rise, the rest are drawn.

    Venues that are never proposed lie below all that are, as long as there are ratings left to give.
    """
    draws = Draws(seed, "dstc2", session.id)
    named = (one_word(venue_of(exchange.system)) for exchange in session.exchanges)
    proposed = [name for name in dict.fromkeys(named) if name in venues]
    ratings = {name: max(BEST_RATING - place, 0) for place, name in enumerate(proposed)}
    most = max(BEST_RATING - max(len(proposed), 1), 0)
    return {name: ratings[name] if name in ratings else draws.integer(0, most) for name in venues}
