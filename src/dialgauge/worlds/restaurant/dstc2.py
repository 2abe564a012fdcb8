"""DSTC2 as it was published, converted to dialogs of task 6.

The second Dialog State Tracking Challenge: M. Henderson, B. Thomson and J. Williams, SIGDIAL 2014. There is a folder
per call, and an ontology. ``log.json`` has the system's prompts and acts and what the recogniser heard (the system
speaks first in every turn), ``label.json`` the user's words, the constraints so far and what was asked for.

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
* results come from the knowledge base that was released with task 6. A call without constraints finds nothing;
* ratings from 0 to 10 are invented for each dialog so that venues are proposed in the order of their ratings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from dialgauge.dialogue import DONTCARE, Dialogue, Fact, State, Turn
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.formats import SILENCE, Part, decode, resolve
from dialgauge.worlds.restaurant.world import API_CALL

T = TypeVar("T")


class _Act(Struct):
    act: str
    #: Pairs of name and value; the value may be missing.
    slots: list[list[Any]] = []


class _Prompt(Struct, rename="kebab"):
    transcript: str
    dialog_acts: list[_Act] = []


class _Hypothesis(Struct, rename="kebab"):
    asr_hyp: str = ""


class _Recognised(Struct, rename="kebab"):
    #: The likeliest first.
    asr_hyps: list[_Hypothesis] = []


class _Input(Struct):
    """What reached the system during the call (``batch``, recognised again later, is not read)."""

    live: _Recognised = msgspec.field(default_factory=_Recognised)


class _Said(Struct, rename="kebab"):
    output: _Prompt
    turn_index: int
    input: _Input = msgspec.field(default_factory=_Input)


class _Label(Struct, rename="kebab"):
    transcription: str
    turn_index: int
    goal_labels: dict[str, str] = {}
    requested_slots: list[str] = []


class _Log(Struct, rename="kebab"):
    session_id: str
    turns: list[_Said]


class _Labels(Struct):
    turns: list[_Label]


class Session(Struct, frozen=True):
    """One call: in each turn the system speaks, then the user."""

    id: str
    turns: tuple[tuple[_Said, _Label], ...]


class Dstc2Ontology(Struct, frozen=True):
    """The values of each slot a user can constrain."""

    informable: dict[str, list[str]]


def read_sessions(folder: Path, listed: Path | None = None) -> Iterator[Session]:
    """All calls below a folder in the order of their paths, or those a list file names (one path a line)."""
    paths = _listed(folder, listed) if listed else sorted(path.parent for path in folder.rglob("log.json"))
    if not paths:
        raise DialgaugeError("there is no log.json below this folder", file=str(folder))
    for path in paths:
        log, labels = _decoded(_Log, path / "log.json"), _decoded(_Labels, path / "label.json")
        if not log.turns or [turn.turn_index for turn in log.turns] != [turn.turn_index for turn in labels.turns]:
            raise DialgaugeError(
                f"log.json has {len(log.turns)} turns and label.json {len(labels.turns)}, or they are numbered "
                "differently; both must describe the same call",
                file=str(path),
            )
        yield Session(log.session_id, tuple(zip(log.turns, labels.turns, strict=True)))


def read_ontology(folder: Path) -> Dstc2Ontology:
    """The only ``ontology*.json`` below the folder."""
    files = sorted(folder.rglob("ontology*.json"))
    if len(files) != 1:
        problem = "several files are" if files else "no file is"
        raise DialgaugeError(f"{problem} named ontology*.json below this folder; one is needed", file=str(folder))
    return _decoded(Dstc2Ontology, files[0])


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


def _decoded(kind: type[T], path: Path) -> T:
    part = _part(path)
    return decode(msgspec.json.Decoder(kind), part.read(), part)


def _part(path: Path) -> Part:
    if not path.is_file():
        raise DialgaugeError("there is no such file", file=str(path))
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


def _venue_of(prompt: _Prompt) -> str:
    """The venue the system speaks of, where it names exactly one."""
    slots = [slot for act in prompt.dialog_acts if act.act in NAMING for slot in act.slots if len(slot) == 2]
    names = {str(value) for slot, value in slots if slot == "name"}
    return one_word(names.pop()) if len(names) == 1 else ""


def venues_of(facts: Iterable[Fact]) -> Venues:
    """A knowledge base by venue and relation."""
    venues: Venues = {}
    for fact in facts:
        venues.setdefault(fact.entity, {})[fact.relation] = fact.value
    return venues


def convert(session: Session, venues: Venues, lexicon: Lexicon, *, seed: int = 0) -> Dialogue:
    """One call as a dialog of task 6; labelled states and requests are kept on the user's turns."""
    turns: list[Turn] = []
    ratings = _ratings(session, venues, seed)
    prompt = Turn(speaker="user", text=SILENCE, state={})
    last_call, constraints = "", dict[str, str]()
    for said, label in session.turns:
        reply = system_text(said.output.transcript, lexicon)
        call = " ".join((API_CALL, *(constraints.get(slot, relation) for slot, relation in CONSTRAINTS.items())))
        if call != last_call and (reply.startswith(REFUSAL) or lexicon.names_venue(reply)):
            fitting = [name for name in venues if constraints and _fits(venues[name], constraints)]
            results = tuple(fact for name in fitting for fact in _answer(name, venues[name], ratings[name]))
            turns += (prompt, Turn(speaker="system", text=call))
            prompt = Turn(speaker="user", text=SILENCE, state=prompt.state, results=results)
            last_call = call
        turns += (prompt, Turn(speaker="system", text=reply))
        prompt = _user_turn(label, lexicon)
        # What the system took the user to say; a log without hypotheses leaves the transcription.
        hypotheses = said.input.live.asr_hyps
        heard = constraints | lexicon.constraints_in(hypotheses[0].asr_hyp if hypotheses else label.transcription)
        constraints = {slot: value for slot, value in heard.items() if label.goal_labels.get(slot) != DONTCARE}
    turns += (prompt, Turn(speaker="system", text=CLOSING))
    return Dialogue(id=session.id, turns=tuple(turns), domains=(DOMAIN,))


def _user_turn(label: _Label, lexicon: Lexicon) -> Turn:
    text = " ".join(label.transcription.lower().split())
    slots = {slot: (value,) for slot, value in label.goal_labels.items() if value}
    state: State = {DOMAIN: dict(slots)} if slots else {}
    requested = {DOMAIN: tuple(label.requested_slots)} if label.requested_slots else {}
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
    proposed = dict.fromkeys(name for said, _ in session.turns if (name := _venue_of(said.output)) in venues)
    ratings = {name: max(BEST_RATING - index, 0) for index, name in enumerate(proposed)}
    most = max(min(BEST_UNPROPOSED, BEST_RATING - len(proposed)), 0)
    return {name: ratings[name] if name in ratings else draws.integer(0, most) for name in venues}
