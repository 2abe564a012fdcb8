"""The analyses of the GCDF1 paper, Figures 1 to 7, for any evaluation (spec section 10).

Counts are of dialogues: distinct (behaviour, domain, dialogue) triples. Percentages have the denominators of the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dialgauge.report import INK, SHADES, altair, data, styled
from dialgauge.users.evaluation import UserEvaluation
from dialgauge.users.patterns import PATTERNS
from dialgauge.users.records import Measure
from dialgauge.users.run_tables import slot_of

#: What the bars of Figure 2 are called, and the behaviours they show.
REPETITION_BARS = {
    "booking_rep": ("repeated_while_booking",),
    "confirms_choice": ("confirmed_choice_params",),
    "domain_switch": ("switched_between_domains",),
    "nlu_fail": ("failed_sys_nlu",),
    "nobooking": ("elicited_by_booking_failure",),
    "nooffer": ("elicited_by_no_offers",),
    "rep_on_answer": ("repeated_when_answering_request",),
    "rep_on_req": ("repeated_while_requesting_info",),
    "sys_q": ("elicited_by_sys_question",),
    "unmatched": ("unmatched",),
}
#: Figure 3.
OUTSIDE_BARS = {
    "auto_matched": ("auto_matched_value", "auto_matched_slot", "auto_matched_slot_value_pair"),
    "sys_book": ("elicited_by_booking_failure", "elicited_by_booking_acceptance"),
    "sys_offer": ("elicited_by_sys_offer",),
    "sys_q": ("elicited_by_sys_question",),
    "sys_recom": ("elicited_by_recommendation",),
    "nomatch": ("unmatched",),
    "first_turn_nomatch": ("first_turn",),
}
#: Figure 7.
REQUEST_BARS = {
    "delayed_resp": ("delayed_response",),
    "nlu_fail": ("system_req_nlu_failure",),
    "repeat_after_answer": ("repeated_despite_receiving_answer",),
    "user_prempts": ("user_prempted_request",),
    "noise": ("spurious_annotation",),
}
PROVISIONS = ("no_prov", "prov_some", "prov_all")

#: Bar to domain to its height.
Bars = dict[str, dict[str, float]]


@dataclass(frozen=True)
class PaperFigure:
    """One figure: bars by domain, the unit of their heights, and where it applies the number of cases per domain."""

    key: str
    title: str
    unit: Literal["dialogues", "goals", "percent"]
    bars: Bars
    counts: Bars = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)
    #: Bar to domain to slot to dialogues, where the paper's text quotes such numbers.
    slots: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)

    @property
    def domains(self) -> list[str]:
        """The domains that occur, by name."""
        return sorted({domain for heights in self.bars.values() for domain in heights} | set(self.totals))


def paper_figures(evaluation: UserEvaluation) -> list[PaperFigure]:
    """All figures, in the paper's order."""
    return [
        goals_per_domain(evaluation),
        _behaviours(evaluation, "2", "Why users repeat constraints", "multiple_constraint_informs", REPETITION_BARS),
        _behaviours(evaluation, "3", "Constraints outside the goal", "constraints_not_in_goal", OUTSIDE_BARS),
        _expression(evaluation, "4a", "How search constraints are expressed", "search"),
        _expression(evaluation, "4b", "How booking constraints are expressed", "booking"),
        missed_domains(evaluation),
        _expression(evaluation, "6a", "How requests are expressed", "request"),
        provisions(evaluation),
        _behaviours(evaluation, "7", "Why users repeat requests", "multiple_slot_requests", REQUEST_BARS, "R-GCDF1"),
    ]


def goals_per_domain(evaluation: UserEvaluation) -> PaperFigure:
    """Figure 1: how many goals have each domain."""
    counts = Counter(domain for score in evaluation.scores for domain in score.goal.tasks)
    heights = {domain: float(counts[domain]) for domain in sorted(counts)}
    return PaperFigure("1", "Goals per domain", "goals", {"goals": heights})


def goals_per_domain_set(evaluation: UserEvaluation) -> Counter[str]:
    """How many goals have exactly which domains, written ``hotel+train``."""
    return Counter("+".join(sorted(score.goal.tasks)) for score in evaluation.scores)


def _behaviours(
    evaluation: UserEvaluation,
    key: str,
    title: str,
    tree: str,
    names: Mapping[str, tuple[str, ...]],
    measure: Measure = "I-GCDF1",
) -> PaperFigure:
    """Figures 2, 3 and 7: in how many dialogues a behaviour was seen, by domain, and for which slots."""
    bar_of = {f"{tree}/{label}": bar for bar, labels in names.items() for label in labels}
    seen: set[tuple[str, str, str]] = set()
    seen_slots: set[tuple[str, str, str, str]] = set()
    for score in evaluation.scores:
        for each in score.behaviours:
            if each.measure == measure and each.label in bar_of:
                seen.add((each.label, each.domain, score.id))
                slot = slot_of(measure, each.domain, each.item)
                seen_slots.add((bar_of[each.label], each.domain, slot, score.id))
    counts = Counter((bar_of[label], domain) for label, domain, _ in seen)
    slots: dict[str, dict[str, dict[str, int]]] = {}
    for (bar, domain, slot), count in sorted(Counter(row[:3] for row in seen_slots).items()):
        slots.setdefault(bar, {}).setdefault(domain, {})[slot] = count
    return PaperFigure(key, title, "dialogues", _bars(counts, names), slots=slots)


def constraint_counts(evaluation: UserEvaluation) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """For Figure 3: bar to domain to slot to constraint to the number of records."""
    bar_of = {f"constraints_not_in_goal/{label}": bar for bar, labels in OUTSIDE_BARS.items() for label in labels}
    found: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
    for score in evaluation.scores:
        for each in score.behaviours:
            if each.label in bar_of:
                by_slot = found.setdefault(bar_of[each.label], {}).setdefault(each.domain, {})
                counts = by_slot.setdefault(slot_of(each.measure, each.domain, each.item), {})
                counts[each.item] = counts.get(each.item, 0) + 1
    return found


def _expression(evaluation: UserEvaluation, key: str, title: str, kind: str) -> PaperFigure:
    """Figures 4 and 6a: expression patterns, in percent of the parts of goals that want more than one thing."""
    found = [each for score in evaluation.scores for each in score.patterns if each.kind == kind]
    totals = Counter(each.domain for each in found)
    counts = Counter((each.pattern, each.domain) for each in found)
    return _percentages(key, title, counts, totals, PATTERNS)


def missed_domains(evaluation: UserEvaluation) -> PaperFigure:
    """Figure 5: domains of the goal that the user never spoke of, in percent of the dialogues scored there."""
    totals: Counter[str] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for score in evaluation.scores:
        totals.update(domain for domain in score.goal.tasks if domain in score.scores["I-GCDF1"])
        counts.update(("missed", each.domain) for each in score.behaviours if each.label == "missed_domain")
    return _percentages("5", "Domains of the goal that are never discussed", counts, totals, ("missed",))


def provisions(evaluation: UserEvaluation) -> PaperFigure:
    """Figure 6b: did the system give the requested information unasked? Of the same goals as Figure 6a."""
    totals: Counter[str] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for score in evaluation.scores:
        labels = {(each.label, each.domain) for each in score.behaviours}
        for each in score.patterns:
            if each.kind != "request":
                continue
            totals[each.domain] += 1
            if ("provision_entire_domain", each.domain) in labels:
                counts["prov_all", each.domain] += 1
            elif ("provision_slots", each.domain) in labels:
                counts["prov_some", each.domain] += 1
            else:
                counts["no_prov", each.domain] += 1
    return _percentages("6b", "Requests that the system answers unasked", counts, totals, PROVISIONS)


def _percentages(
    key: str, title: str, counts: Counter[tuple[str, str]], totals: Counter[str], order: Iterable[str]
) -> PaperFigure:
    shares: Bars = {}
    for bar in order:
        shares[bar] = {domain: 100.0 * counts[bar, domain] / totals[domain] for domain in sorted(totals)}
    return PaperFigure(key, title, "percent", shares, _bars(counts, order), dict(sorted(totals.items())))


def _bars(counts: Counter[tuple[str, str]], order: Iterable[str]) -> Bars:
    domains = sorted({domain for _, domain in counts})
    return {bar: {domain: float(counts[bar, domain]) for domain in domains if counts[bar, domain]} for bar in order}


# The paper's figures drawn: one panel for each domain, one bar for each behaviour, every bar with its number.

_UNITS = {"dialogues": "dialogues", "goals": "goals", "percent": "percent"}


def chart(figure: PaperFigure) -> Any:
    """A figure as a chart, in one hue: domains stand beside each other, behaviours below each other.

    A figure with a single bar for each domain needs no panels: there the domains stand below each other.
    """
    alt = altair()
    digits = 1 if figure.unit == "percent" else 0
    shown = [bar for bar, heights in figure.bars.items() if any(heights.values())]
    heights = [
        (domain, bar, height) for bar in shown for domain in figure.domains if (height := figure.bars[bar].get(domain))
    ]
    rows = [
        {"domain": domain, "bar": bar, "value": height, "text": f"{height:.{digits}f}"}
        for domain, bar, height in heights
    ]
    largest = max((height for *_, height in heights), default=1.0)
    single = len(shown) == 1
    x = alt.X(
        "value:Q",
        title=_UNITS[figure.unit],
        scale=alt.Scale(domain=[0, largest * 1.25], nice=False),
        axis=alt.Axis(grid=False, tickCount=3),
    )
    y = alt.Y("domain:N", sort=figure.domains, title=None) if single else alt.Y("bar:N", sort=shown, title=None)
    base = alt.Chart(data(rows)).encode(x=x, y=y)
    bars = base.mark_bar(color=SHADES[1], stroke=INK, strokeWidth=0.6)
    numbers = base.mark_text(align="left", dx=4, fontSize=10).encode(text="text:N")
    panel = (bars + numbers).properties(width=320 if single else 120, height=alt.Step(20))
    drawn = panel if single else panel.facet(column=alt.Column("domain:N", title=None, sort=figure.domains))
    return styled(drawn, title=f"Figure {figure.key}. {figure.title}")
