"""Canonical values and their paraphrases: finding the canonical form of a value by fuzzy matching.

The map says, for each slot (and for some slots each domain), which values goals use and how people write them. The
similarity is the one of the GCDF1 evaluator: of the sorted tokens, ``100 · (1 − d / L)`` rounded half to even, with *d*
the insertion and deletion distance and *L* the summed length (``fuzz.ratio`` of rapidfuzz), as a fraction.

Everything that depends on the map alone is prepared once and every answer is remembered, because simulated users say
the same few values over and over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from dialgauge.errors import DialgaugeError

SPECIAL = "special_keys"
NOT_IN_GOAL = "not_in_goal"

_LATIN_SUPPLEMENT = re.compile("[\u0080-\u00ff]")
_WORD = re.compile(r"\w+")


def sorted_tokens(text: str) -> str:
    """The text as the similarity sees it: without accented letters and punctuation, lower case, tokens sorted.

    >>> sorted_tokens("The Ashley, Hotel")
    'ashley hotel the'
    """
    if text.isascii():
        return " ".join(sorted(_WORD.findall(text.lower())))
    return " ".join(sorted([word.lower() for word in _WORD.findall(_LATIN_SUPPLEMENT.sub("", text))]))


class Candidates:
    """Ways of writing something, among which the one nearest to a given text is sought."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        self._nearest: dict[str, tuple[str, float]] = {}

    def __bool__(self) -> bool:
        return bool(self.texts)

    @cached_property
    def _prepared(self) -> list[str]:
        return [sorted_tokens(text) for text in self.texts]

    def nearest(self, value: str) -> tuple[str, float]:
        """The most similar text and its similarity; of equally similar ones the first in the file."""
        if value not in self._nearest:
            import numpy as np
            from rapidfuzz import fuzz, process

            ratios = process.cdist([sorted_tokens(value)], self._prepared, scorer=fuzz.ratio, dtype=np.float64)[0]
            scores = np.rint(ratios) / 100
            best = int(scores.argmax())
            self._nearest[value] = self.texts[best], float(scores[best])
        return self._nearest[value]


class ValueTable:
    """The values of one slot in one domain: canonical ones, their paraphrases, and those no goal uses."""

    def __init__(self, table: Mapping[str, Any], domain: str) -> None:
        self._paraphrases: dict[str, list[str]] = {key: texts for key, texts in table.items() if key != SPECIAL}
        outside: Mapping[str, Any] = table[SPECIAL].get(NOT_IN_GOAL, {})
        # A list under the domain's name belongs to a value of that name (a guesthouse's type may be "hotel").
        of_domain = outside.get(domain)
        split: Mapping[str, Any] = of_domain if isinstance(of_domain, Mapping) else outside
        chosen = split or outside
        self.known = frozenset([*self._paraphrases, *chosen])
        inside_texts = [text for texts in self._paraphrases.values() for text in texts]
        # Iterating an entry gives a list's members or an object's keys: both are what the reference takes.
        self.candidates = Candidates([*inside_texts, *(text for entry in chosen.values() for text in entry)])
        self._canonical: dict[str, str] = {}
        for key, texts in [*self._paraphrases.items(), *split.items()]:
            for text in texts:
                self._canonical.setdefault(text, key)

    def paraphrases(self, canonical: str) -> list[str] | None:
        """How a canonical value is written; None when the table does not have it among the values goals use."""
        return self._paraphrases.get(canonical)

    def canonical(self, paraphrase: str) -> str:
        """The first canonical value, in file order, that lists the paraphrase; the text itself when none does."""
        return self._canonical.get(paraphrase, paraphrase)


class CanonicalMap:
    """All value tables of a map, prepared when first needed."""

    def __init__(self, content: Mapping[str, Mapping[str, Any]]) -> None:
        self._content = content
        self._tables: dict[tuple[str, str], ValueTable | None] = {}

    def table(self, slot: str, domain: str) -> ValueTable | None:
        """The values of a slot in a domain, or None when the map lacks the slot.

        A slot that is split by domain has no table for any other domain; asking for one is an error.
        """
        key = (slot, domain)
        if key not in self._tables:
            self._tables[key] = self._prepare(slot, domain)
        return self._tables[key]

    def _prepare(self, slot: str, domain: str) -> ValueTable | None:
        entry = self._content.get(slot)
        if entry is None:
            return None
        split = entry.get(domain)
        table = split if isinstance(split, Mapping) else entry
        if not isinstance(table.get(SPECIAL), Mapping):
            raise DialgaugeError(
                f"the canonical map splits the slot '{slot}' by domain and has nothing for the domain '{domain}'; "
                "add that domain to the map"
            )
        return ValueTable(table, domain)


class MapProblem(NamedTuple):
    """Something in a map that makes matching depend on the order of the file, or never matches."""

    kind: str
    slot: str
    text: str
    values: tuple[str, ...]


def map_problems(content: Mapping[str, Mapping[str, Any]]) -> list[MapProblem]:
    """Texts that stand under several values of one slot, values that are not among their own texts, and empty lists."""
    problems = []
    for slot, entry in content.items():
        tables = {slot: entry} if SPECIAL in entry else {f"{slot}.{domain}": table for domain, table in entry.items()}
        for name, table in tables.items():
            owners: dict[str, dict[str, None]] = {}
            for value, texts in table.items():
                if value == SPECIAL:
                    continue
                if not texts:
                    problems.append(MapProblem("empty", name, value, ()))
                elif sorted_tokens(value) not in map(sorted_tokens, texts):
                    problems.append(MapProblem("unwritten", name, value, ()))
                for text in texts:
                    owners.setdefault(sorted_tokens(text), {})[value] = None
            problems += [MapProblem("shared", name, text, tuple(own)) for text, own in owners.items() if len(own) > 1]
    return problems
