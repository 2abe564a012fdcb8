"""Canonical maps of one's own: from an ontology or the folder of a domain, with spellings from recorded dialogues.

The values that goals can have are known; how people write them is not. What dialogues say is put under the nearest
value where it is near enough, and listed for a person to place where it is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from dialgauge.formats import Corpus, read, read_ontology
from dialgauge.rendering import Table
from dialgauge.users.scorer_settings import ScorerSettings, UserOptions
from dialgauge.users.turns import ActLexicon
from dialgauge.values import NOT_IN_GOAL, SPECIAL, Candidates
from dialgauge.worlds.domain import DOMAIN_FILE, read_domain

#: The similarity from which the evaluator takes a spelling for a value (GCDF1, 3.1).
NEAR = 0.9
_BOOKED = ("day", "people", "stay", "time")
_FREE = ("dontcare", "dont care", "do nt care", "don't care", "do n't care")
_NUMBERS = {
    str(number): word
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}


class Unplaced(Struct, frozen=True):
    """What dialogues say of a slot that no value is near enough to."""

    slot: str
    value: str
    times: int
    nearest: str
    similarity: float


class BuiltMap(Struct, frozen=True):
    """The content of a map, and what could not be put into it."""

    content: dict[str, Any]
    values: int
    forms: int
    #: Slots without known values: texts such as names of people.
    open_slots: list[str]
    unplaced: list[Unplaced]

    def table(self, most: int = 20) -> Table:
        """How much it holds, and what a person should place."""
        table = Table(
            f"Canonical map: {len(self.content)} slots, {self.values:,} values, {self.forms:,} ways of writing them",
            ["slot", "said", "times", "nearest value", "similarity"],
        )
        for each in self.unplaced[:most]:
            table.add(each.slot, each.value, each.times, each.nearest or None, f"{each.similarity:.2f}")
        if self.unplaced:
            table.notes.append(
                f"{len(self.unplaced):,} texts of the dialogues are {NEAR} similar to no value: put those that mean "
                "one into the file by hand."
            )
        if self.open_slots:
            table.notes.append(f"Not in the map, as any value is allowed: {', '.join(self.open_slots)}.")
        return table


def build_map(source: str | Path, dialogues: str | Path | None = None, options: UserOptions | None = None) -> BuiltMap:
    """A map from an ontology (MultiWOZ, an SGD schema) or the folder of a domain.

    A slot has the values of all domains together: people also say a value in a domain that has none of them.
    """
    known = _domain_values(Path(source)) if (Path(source) / DOMAIN_FILE).is_file() else _ontology_values(source)
    spellings: dict[str, dict[str, list[str]]] = {}
    for (_, slot), values in known.items():
        for value in map(str.lower, values):
            spellings.setdefault(slot, {})[value] = list(dict.fromkeys(_ways(value)))
    unplaced = [] if dialogues is None else _add_said(spellings, read(dialogues), options or UserOptions())
    forms = [texts for table in spellings.values() for texts in table.values()]
    closed = {"dontcare": list(_FREE), SPECIAL: {NOT_IN_GOAL: {}}}
    return BuiltMap(
        {slot: {**table, **closed} for slot, table in sorted(spellings.items())},
        len(forms),
        sum(map(len, forms)),
        sorted(f"{domain}-{slot}" for (domain, slot), values in known.items() if not values),
        unplaced,
    )


def _ontology_values(source: str | Path) -> dict[tuple[str, str], list[str]]:
    ontology = read_ontology(source)
    known: dict[tuple[str, str], list[str]] = {}
    for domain, slots in ontology.domains.items():
        for slot, spec in slots.items():
            known.setdefault((domain.lower(), _goal_slot(slot, domain)), []).extend(
                value for value in spec.values if value.strip() and value.lower() not in ("none", "dontcare")
            )
    return known


def _goal_slot(slot: str, domain: str) -> str:
    """A slot as goals write it; MultiWOZ's ontologies put the domain or ``book`` before it.

    >>> _goal_slot("book day", "hotel"), _goal_slot("Price Range", "hotel"), _goal_slot("hotel-bookstay", "hotel")
    ('day', 'pricerange', 'stay')
    """
    name = slot.lower().removeprefix(f"{domain.lower()}-").replace(" ", "")
    booked = name.removeprefix("book")
    return booked if booked in _BOOKED else name


def _domain_values(folder: Path) -> dict[tuple[str, str], list[str]]:
    known: dict[tuple[str, str], list[str]] = {}
    for name, service in read_domain(folder).services.items():
        wishes = {slot: wish.values for slot, wish in service.wishes.items()}
        taken = {slot: kind.some() for slot, kind in service.book.takes.items()} if service.book else {}
        for slot, values in (*wishes.items(), *taken.items()):
            known.setdefault((name.lower(), slot.lower()), []).extend(values)
    return known


def _ways(value: str) -> Iterable[str]:
    """A value, and other ways of writing it that need no dialogues."""
    yield value
    if value in _NUMBERS:
        yield _NUMBERS[value]
    if value.startswith("the "):
        yield value.removeprefix("the ")
    plain = " ".join(value.replace("-", " ").replace("'", "").split())
    if plain != value:
        yield plain


def _add_said(spellings: dict[str, dict[str, list[str]]], corpus: Corpus, options: UserOptions) -> list[Unplaced]:
    """Put what dialogues say under the nearest value, and give back what is near none."""
    lexicon = ActLexicon(ScorerSettings.load(options, corpus.format).profile, merge_values=True, strict=False)
    spoken = Counter(
        (lexicon.slot(act), value.lower().strip())
        for dialogue in corpus.dialogues
        for turn in dialogue.turns
        for act in turn.acts or ()
        for value in act.values
    )
    unplaced = []
    for (slot, value), times in sorted(spoken.items(), key=lambda item: (-item[1], item[0])):
        table = spellings.get(slot)
        if table is None or value in ("", "?", "none", *_FREE):
            continue
        owner = {text: canonical for canonical, texts in table.items() for text in texts}
        if value in owner:
            continue
        nearest, similarity = Candidates(owner).nearest(value)
        if similarity >= NEAR:
            table[owner[nearest]].append(value)
        else:
            unplaced.append(Unplaced(slot, value, times, owner.get(nearest, ""), similarity))
    return unplaced
