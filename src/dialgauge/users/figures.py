"""Figures 1 to 7 of the GCDF1 paper, from the tables of a run: as numbers, and as tables with charts.

Counts are of dialogues: distinct (behaviour, domain, dialogue) triples. Percentages have the denominators of the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import polars as pl
from msgspec import Struct

from dialgauge.report import PERCENT, Cell, Chart, Column, Table
from dialgauge.runs import Run
from dialgauge.stats import share_interval
from dialgauge.users.labels import OUTSIDE, REPEATED, REPEATED_REQUESTS
from dialgauge.users.scorer import PATTERNS

#: The bars of all figures in words; the names are the paper's, and what programs go by.
BAR_WORDS = {
    "goals": "goals",
    "booking_rep": "while booking",
    "confirms_choice": "system counted matches",
    "domain_switch": "switches domains",
    "nlu_fail": "system misheard",
    "nobooking": "booking failed",
    "nooffer": "nothing was offered",
    "rep_on_answer": "while answering",
    "rep_on_req": "while requesting",
    "sys_q": "system asked",
    "unmatched": "no reason found",
    "auto_matched": "matched by the profile",
    "sys_book": "system booked, or could not",
    "sys_offer": "system offered it",
    "sys_recom": "system recommended it",
    "nomatch": "no reason found",
    "first_turn_nomatch": "no reason, first turn",
    "delayed_resp": "answer came late",
    "repeat_after_answer": "despite the answer",
    "user_prempts": "system asked back",
    "noise": "annotation error",
    "no_miss_one": "all, in one turn",
    "no_miss_mult": "all, over several turns",
    "miss_one": "some, in one turn",
    "miss_mult": "some, over several turns",
    "miss_all": "none",
    "missed": "never discussed",
    "no_prov": "none",
    "prov_some": "some",
    "prov_all": "all",
}

#: The paper's numbers of figures, and what each shows.
FIGURES = {
    "1": "Goals per domain",
    "2": "Why users repeat constraints",
    "3": "Constraints outside the goal",
    "4a": "How search constraints are expressed",
    "4b": "How booking constraints are expressed",
    "5": "Domains of the goal that are never discussed",
    "6a": "How requests are expressed",
    "6b": "Requests that the system answers unasked",
    "7": "Why users repeat requests",
}
#: Figure 2.
_REPETITIONS = {
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
_OUTSIDE = {
    "auto_matched": ("auto_matched_value", "auto_matched_slot", "auto_matched_slot_value_pair"),
    "sys_book": ("elicited_by_booking_failure", "elicited_by_booking_acceptance"),
    "sys_offer": ("elicited_by_sys_offer",),
    "sys_q": ("elicited_by_sys_question",),
    "sys_recom": ("elicited_by_recommendation",),
    "nomatch": ("unmatched",),
    "first_turn_nomatch": ("first_turn",),
}
#: Figure 7.
_REQUESTS = {
    "delayed_resp": ("delayed_response",),
    "nlu_fail": ("system_req_nlu_failure",),
    "repeat_after_answer": ("repeated_despite_receiving_answer",),
    "user_prempts": ("user_prempted_request",),
    "noise": ("spurious_annotation",),
}
#: The figures whose bars are behaviours: their tree of labels, and the labels of each bar.
BEHAVIOURS: dict[str, tuple[str, Mapping[str, tuple[str, ...]]]] = {
    "2": (REPEATED, _REPETITIONS),
    "3": (OUTSIDE, _OUTSIDE),
    "7": (REPEATED_REQUESTS, _REQUESTS),
}
_PART_OF_GOAL = {"4a": "search", "4b": "booking", "6a": "request"}
_PROVISIONS = ("no_prov", "prov_some", "prov_all")

#: Bar to domain to its height.
Bars = dict[str, dict[str, float]]


class PaperFigure(Struct, frozen=True):
    """One figure: bars by domain, the unit of their heights, and where it applies the number of cases per domain."""

    key: str
    title: str
    unit: Literal["dialogues", "goals", "percent"]
    bars: Bars
    counts: Bars = {}
    totals: Mapping[str, int] = {}
    #: Bar to domain to slot to dialogues, where the paper's text quotes such numbers.
    slots: Mapping[str, Mapping[str, Mapping[str, int]]] = {}

    @property
    def domains(self) -> list[str]:
        return sorted({domain for heights in self.bars.values() for domain in heights} | set(self.totals))


def paper_figures(run: Run) -> list[PaperFigure]:
    """All figures, in the paper's order."""
    return [paper_figure(run, key) for key in FIGURES]


def paper_figure(run: Run, key: str) -> PaperFigure:
    """One figure by its number in the paper."""
    if key in BEHAVIOURS:
        return _behaviours(run, key)
    if key in _PART_OF_GOAL:
        rows = _rows(run, "patterns", "kind", "pattern", "domain")
        counts = Counter((pattern, domain) for kind, pattern, domain in rows if kind == _PART_OF_GOAL[key])
        totals = Counter(domain for _, domain in counts.elements())
        return _percentages(key, counts, totals, PATTERNS)
    if key == "5":
        return _missed_domains(run)
    if key == "6b":
        return _provisions(run)
    goals = Counter(domain for _, domains in _goals(run) for domain in domains)
    return PaperFigure(key, FIGURES[key], "goals", {"goals": {name: float(goals[name]) for name in sorted(goals)}})


def figure_table(figure: PaperFigure) -> Table:
    """A figure's numbers: a row for each bar, a column for each domain; shares with their 95% intervals."""
    share = figure.unit == "percent"
    columns = [Column(domain, PERCENT) if share else Column(domain) for domain in figure.domains]
    table = Table(figure.title, [figure.unit, *columns], chart=Chart("heat", tuple(figure.domains)))
    for bar, heights in figure.bars.items():
        if any(heights.values()):
            cells = (_cell(figure, bar, domain) for domain in figure.domains)
            table.add(BAR_WORDS[bar], *cells)
    if figure.totals:
        table.notes.append(f"Of: {', '.join(f'{domain} {count:,}' for domain, count in figure.totals.items())}.")
    return table


def slot_table(figure: PaperFigure) -> Table:
    """In how many dialogues a behaviour concerned which slot."""
    table = Table(f"{figure.title}, by slot", ["behaviour", "domain", "slot", "dialogues"], first=15)
    for bar, by_domain in figure.slots.items():
        for domain, slots in by_domain.items():
            for slot, count in sorted(slots.items(), key=lambda item: (-item[1], item[0])):
                table.add(BAR_WORDS[bar], domain, slot, count)
    return table


def _cell(figure: PaperFigure, bar: str, domain: str) -> Cell:
    height = figure.bars[bar].get(domain)
    if height is None or figure.unit != "percent":
        return Cell(None if height is None else int(height))
    count = round(figure.counts[bar].get(domain, 0))
    return Cell(height / 100, *share_interval(count, figure.totals[domain]))


def _rows(run: Run, table: str, *columns: str) -> Iterator[tuple[str, ...]]:
    return run.table(table).select(columns).iter_rows()


def _goals(run: Run) -> list[tuple[str, list[str]]]:
    """Every scored dialogue with the domains of its goal."""
    return run.table("conversation_facts").select("dialogue", "domains").rows()


def _bar_of(key: str) -> dict[str, str]:
    tree, bars = BEHAVIOURS[key]
    return {f"{tree}/{label}": bar for bar, labels in bars.items() for label in labels}


def _behaviours(run: Run, key: str) -> PaperFigure:
    """In how many dialogues a behaviour was seen, by domain, and for which slots."""
    bar_of = _bar_of(key)
    rows = [row for row in _rows(run, "behaviours", "behaviour", "domain", "dialogue", "slot") if row[0] in bar_of]
    counts = Counter((bar_of[label], domain) for label, domain, _ in {row[:3] for row in rows})
    concerned = Counter(row[:3] for row in {(bar_of[label], domain, slot, name) for label, domain, name, slot in rows})
    slots: dict[str, dict[str, dict[str, int]]] = {}
    for (bar, domain, slot), count in sorted(concerned.items()):
        slots.setdefault(bar, {}).setdefault(domain, {})[slot] = count
    return PaperFigure(key, FIGURES[key], "dialogues", _bars(counts, BEHAVIOURS[key][1]), slots=slots)


def _missed_domains(run: Run) -> PaperFigure:
    """Domains of the goal that the user never spoke of, of the dialogues scored there."""
    points = run.table("verdicts").filter(pl.col("measure") == "I-GCDF1", pl.sum_horizontal("tp", "fp", "fn") > 0)
    scored = set(points.select("dialogue", "domain").iter_rows())
    totals = Counter(domain for dialogue, domains in _goals(run) for domain in domains if (dialogue, domain) in scored)
    behaviours = _rows(run, "behaviours", "behaviour", "domain")
    counts = Counter(("missed", domain) for label, domain in behaviours if label == "missed_domain")
    return _percentages("5", counts, totals, ("missed",))


def _provisions(run: Run) -> PaperFigure:
    """Did the system give the requested information unasked? Of the same goals as Figure 6a."""
    behaviours = set(_rows(run, "behaviours", "behaviour", "dialogue", "domain"))
    totals: Counter[str] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for kind, dialogue, domain in _rows(run, "patterns", "kind", "dialogue", "domain"):
        if kind == "request":
            totals[domain] += 1
            if ("provision_entire_domain", dialogue, domain) in behaviours:
                counts["prov_all", domain] += 1
            elif ("provision_slots", dialogue, domain) in behaviours:
                counts["prov_some", domain] += 1
            else:
                counts["no_prov", domain] += 1
    return _percentages("6b", counts, totals, _PROVISIONS)


def _percentages(key: str, counts: Counter[tuple[str, str]], totals: Counter[str], order: Iterable[str]) -> PaperFigure:
    shares = {bar: {domain: 100.0 * counts[bar, domain] / totals[domain] for domain in sorted(totals)} for bar in order}
    return PaperFigure(key, FIGURES[key], "percent", shares, _bars(counts, order), dict(sorted(totals.items())))


def _bars(counts: Counter[tuple[str, str]], order: Iterable[str]) -> Bars:
    domains = sorted({domain for _, domain in counts})
    return {bar: {domain: float(counts[bar, domain]) for domain in domains if counts[bar, domain]} for bar in order}
