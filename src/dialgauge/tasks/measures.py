"""The task measures, as cards. The evidence is :class:`TaskEvidence`: a unit is a dialogue of the gold file.

Inform and Success take a rule set and a domain: ``Success``, ``Success(rules=grounded)``, ``Inform[hotel]``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Card, Floats, Parameter, Settings, UnitNumbers, Units
from dialgauge.tasks.delexical import GOAL_DOMAINS
from dialgauge.tasks.rules import RULES, DialogueVerdict, Rules
from dialgauge.tasks.texts import STATISTICS, bleu_of, richness

INFORM, SUCCESS, BLEU, COMBINED = "Inform", "Success", "BLEU", "Combined"
OFFER_PRECISION, REQUEST_PRECISION, REQUEST_RECALL, STUFFED = "OfferP", "ReqP", "ReqR", "stuffed"
#: What the standard evaluator prints of richness, and the rest of it.
RICHNESS = ("tokens", "unigrams", "bigrams", "trigrams", "entropy", "conditional entropy", "MSTTR-50")
#: Less than so much of the humans' share of what they tell that was asked for looks gamed.
LEAST_ASKED = 0.6
COMPANIONS = (OFFER_PRECISION, REQUEST_PRECISION, REQUEST_RECALL, STUFFED)
DEFAULT = (
    INFORM, SUCCESS, BLEU, COMBINED, f"{INFORM}(rules=grounded)", f"{SUCCESS}(rules=grounded)", *COMPANIONS,
)  # fmt: skip
#: Inform and Success of each domain that goals have.
BY_DOMAIN = tuple(
    f"{name}{rules}[{domain}]"
    for rules in ("", "(rules=grounded)")
    for name in (INFORM, SUCCESS)
    for domain in sorted(GOAL_DOMAINS)
)

_STANDARD = "Nekvinda and Dušek 2021, Shades of BLEU, Flavours of Success: The Case of MultiWOZ"
_BUDZIANOWSKI = "Budzianowski et al. 2018, MultiWOZ; rules: " + _STANDARD
_OURS = "dialgauge: credit only for what the response and the database support"
_RULES = Parameter("rules", "mwzeval", RULES, "the standard evaluator's rules, or ours, which are harder to game")


class TaskEvidence(Units):
    """The verdicts on the dialogues of a gold file, and the responses as texts.

    Under ``mwzeval`` a dialogue that the system lacks has no verdict; under ``grounded`` it has failed. ``turns`` are
    the numbers of scored responses of each dialogue, ``bleu`` the sums behind BLEU, (sums, dialogues), or why there are
    none, and ``responses`` all cleaned texts in the system's order. A part is a domain of the goals.
    """

    domain = ""

    def __init__(
        self,
        verdicts: Mapping[Rules, Sequence[DialogueVerdict | None]],
        turns: Sequence[int],
        bleu: NDArray[np.float64] | str,
        responses: Sequence[str],
    ) -> None:
        self.verdicts = verdicts
        self.turns = np.array(turns, np.float64)
        self.bleu = bleu
        self.responses = responses
        self.dialogues = len(turns)
        self.dialogue: NDArray[np.integer[Any]] = np.arange(len(turns))

    @cached_property
    def domains(self) -> list[str]:
        """The domains of the goals, by name."""
        return sorted({domain for verdict in self.verdicts["grounded"] if verdict for domain in verdict.domains})

    def part(self, name: str) -> TaskEvidence:
        """One domain."""
        if name not in self.domains:
            raise DialgaugeError(f"no goal has the domain '{name}'")
        other = copy.copy(self)
        other.domain = name
        return other

    def flags(self, aspect: Literal["inform", "success"], rules: Rules) -> UnitNumbers:
        """1 of 1 for each dialogue that has a verdict and meets it; of one domain, or of all."""
        parts = [
            verdict.domains.get(self.domain) if verdict and self.domain else verdict for verdict in self.verdicts[rules]
        ]
        met = [part is not None and getattr(part, aspect) for part in parts]
        return np.array([met, [part is not None for part in parts]], np.float64)

    @cached_property
    def richness(self) -> dict[str, float]:
        return richness(self.responses)

    def counts(self, above: str, below: str) -> Floats:
        """Two counts that ``grounded`` keeps, by dialogue."""
        verdicts = self.verdicts["grounded"]
        return np.array([[getattr(each, name) for each in verdicts] for name in (above, below)], np.float64)


def _flags(aspect: Literal["inform", "success"], evidence: TaskEvidence, settings: Settings) -> UnitNumbers:
    return evidence.flags(aspect, "grounded" if settings["rules"] == "grounded" else "mwzeval")


def _counts(above: str, below: str, evidence: TaskEvidence, settings: Settings) -> UnitNumbers:
    return evidence.counts(above, below)


def _stuffed(evidence: TaskEvidence, settings: Settings) -> UnitNumbers:
    return evidence.counts("stuffed", "stuffed")[0], evidence.turns


def _bleu_sums(evidence: TaskEvidence, settings: Settings) -> NDArray[np.float64]:
    return np.zeros((STATISTICS, evidence.dialogues)) if isinstance(evidence.bleu, str) else evidence.bleu


def _combined_sums(evidence: TaskEvidence, settings: Settings) -> NDArray[np.float64]:
    (inform, counted), (success, _) = evidence.flags("inform", "mwzeval"), evidence.flags("success", "mwzeval")
    return np.concatenate([_bleu_sums(evidence, settings), np.stack([inform, success, counted])])


def _combined(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    inform, success, dialogues = (sums[..., STATISTICS + index] for index in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        done: NDArray[np.float64] = 50 * (inform / dialogues + success / dialogues)
    return bleu_of(sums[..., :STATISTICS]) + done


def _no_references(evidence: TaskEvidence, settings: Settings) -> str | None:
    return evidence.bleu if isinstance(evidence.bleu, str) else None


def _richness(name: str, evidence: TaskEvidence, settings: Settings) -> float:
    return evidence.richness[name]


def _share(
    name: str, title: str, summary: str, formula: str, units: Callable[..., UnitNumbers], **more: Any
) -> Card[Any]:
    return Card(name=name, family="tasks", title=title, summary=summary, formula=formula, units=units, **more)


_UNITS = {
    "tokens": ("words per response", "words per response", "sum of words / responses"),
    "unigrams": ("words", "different words", "|{w}|"),
    "bigrams": ("pairs", "different pairs of words", "|{(v, w)}|"),
    "trigrams": ("triples", "different triples of words", "|{(u, v, w)}|"),
    "entropy": ("bits", "entropy of words", "-sum p(w) log2 p(w)"),
    "conditional entropy": ("bits", "entropy of a word given the one before", "-sum c(v, w)/T log2 c(v, w)/c(v)"),
    "MSTTR-50": ("share", "mean share of different words in windows of fifty", "mean of distinct / 50"),
}

_SYMBOLS = {
    "u": "the word two before",
    "v": "the word before",
    "w": "a word",
    "p(w)": "the share of the words that are w",
    "c(v, w)": "how often w follows v",
    "c(v)": "how often v occurs",
    "T": "words in all",
}
_LETTERS = {
    "unigrams": ("w",),
    "bigrams": ("v", "w"),
    "trigrams": ("u", "v", "w"),
    "entropy": ("w", "p(w)"),
    "conditional entropy": ("v", "w", "c(v, w)", "c(v)", "T"),
}

CARDS: tuple[Card[Any], ...] = (
    _share(
        INFORM, "offers fit the goal",
        "Share of the dialogues in which something that fits the goal was offered in every domain.",
        "dialogues with a fitting offer in each goal domain / dialogues", partial(_flags, "inform"),
        source=_BUDZIANOWSKI, parameters=(_RULES,), parts=True,
    ),
    _share(
        SUCCESS, "answers all requests",
        "Share of the dialogues that are informed and in which every request was answered.",
        "informed dialogues with every request met / dialogues", partial(_flags, "success"),
        source=_BUDZIANOWSKI, parameters=(_RULES,), parts=True,
    ),
    Card(
        name=BLEU, family="tasks", title="BLEU", unit="points", upper=100.0, source="Papineni et al. 2002; sacreBLEU",
        summary="How much of their wording responses share with the human ones, values replaced by classes.",
        formula="BP exp(mean of log precisions of 1- to 4-grams)",
        symbols={"BP": "brevity penalty, below 1 if the responses are shorter than the human ones"},
        sums=_bleu_sums, of=bleu_of, obstacle=_no_references,
    ),
    Card(
        name=COMBINED, family="tasks", title="Combined", unit="points", upper=200.0, source="Mehri et al. 2019",
        summary="BLEU plus the mean of Inform and Success (rule set mwzeval), all in percent.",
        formula="BLEU + 0.5 (Inform + Success)", sums=_combined_sums, of=_combined,
        obstacle=_no_references,
    ),
    _share(
        OFFER_PRECISION, "precision of offers", "Share of the offers made while the state matched only fitting rows.",
        "valid offers / offers", partial(_counts, "valid_offers", "offers"), source=_OURS,
    ),
    _share(
        REQUEST_PRECISION, "precision of what is told",
        "Share of what was told (phone, address, ...) that was asked for.",
        "told and asked for / told", partial(_counts, "hits", "told"), source=_OURS,
    ),
    _share(
        REQUEST_RECALL, "recall of requests", "Share of what was asked for (phone, address, ...) that was told at all.",
        "told and asked for / asked for", partial(_counts, "hits", "wanted"), source=_OURS,
    ),
    _share(
        STUFFED, "stuffed responses", "Share of the responses that say so much that they answer nothing.",
        "responses with four of five request classes, or a venue and a train / responses", _stuffed, source=_OURS,
        higher_is_better=False,
    ),
    *(
        Card(
            name=name, family="tasks", title=title, summary=f"Richness: {title}.", formula=formula, unit=unit,
            upper=1.0 if unit == "share" else float("inf"), source=_STANDARD,
            symbols={letter: _SYMBOLS[letter] for letter in _LETTERS.get(name, ())}, value=partial(_richness, name),
            higher_is_better=None,
        )
        for name, (unit, title, formula) in _UNITS.items()
    ),
)  # fmt: skip
