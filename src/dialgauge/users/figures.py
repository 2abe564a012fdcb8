"""The analyses of the GCDF1 paper, Figures 1 to 7, as numbers, tables and drawings; confusions and loops.

All are made from the tables of a run. Counts are of dialogues: distinct (behaviour, domain, dialogue) triples.
Percentages have the denominators of the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Goal
from dialgauge.rendering import INK, SHADES, Column, Table, altair, data, styled
from dialgauge.runs import Run
from dialgauge.stats import share_interval
from dialgauge.text import counted
from dialgauge.users.causes import CAUSES, main_confusion
from dialgauge.users.labels import OUTSIDE, OUTSIDE_BARS, REPEATED, REPEATED_REQUESTS, REPETITION_BARS, REQUEST_BARS
from dialgauge.users.patterns import PATTERNS
from dialgauge.users.sentences import misheard_sentences
from dialgauge.users.verdicts import MEASURES, VERDICTS, MeasureName

PROVISIONS = ("no_prov", "prov_some", "prov_all")

#: The bars of all figures in words; programs go by the names above, which are the paper's.
BAR_WORDS = {
    "goals": "goals",
    "booking_rep": "while booking",
    "confirms_choice": "confirms a choice",
    "domain_switch": "switches domains",
    "nlu_fail": "system misheard",
    "nobooking": "booking failed",
    "nooffer": "nothing was offered",
    "rep_on_answer": "while answering",
    "rep_on_req": "while requesting",
    "sys_q": "system asked",
    "unmatched": "no reason found",
    "auto_matched": "matched by the profile",
    "sys_book": "system booked or failed to",
    "sys_offer": "system offered it",
    "sys_recom": "system recommended it",
    "nomatch": "no reason found",
    "first_turn_nomatch": "no reason, first turn",
    "delayed_resp": "answer came late",
    "repeat_after_answer": "despite the answer",
    "user_prempts": "user asked too early",
    "noise": "annotation error",
    "no_miss_one": "all, in one turn",
    "no_miss_mult": "all, over several turns",
    "miss_one": "some, in one turn",
    "miss_mult": "some, over several turns",
    "miss_all": "none",
    "missed": "never discussed",
    "no_prov": "none answered unasked",
    "prov_some": "some answered unasked",
    "prov_all": "all answered unasked",
}

#: The paper's numbers of figures to what each shows; files are named so.
FIGURE_NAMES = {
    "1": "goals_per_domain",
    "2": "repeated_constraints",
    "3": "constraints_outside_goal",
    "4a": "search_constraints_expressed",
    "4b": "booking_constraints_expressed",
    "5": "domains_never_discussed",
    "6a": "requests_expressed",
    "6b": "requests_answered_unasked",
    "7": "repeated_requests",
}

NOTHING = "(nothing)"

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
    #: Domain to the dialogues whose goal has it.
    goals: Mapping[str, int] = {}
    #: Whose conversations these are, and how many.
    source: str = ""
    dialogues: int = 0

    @property
    def name(self) -> str:
        """What it shows, as the name of a file."""
        return FIGURE_NAMES[self.key]

    @property
    def domains(self) -> list[str]:
        return sorted({domain for heights in self.bars.values() for domain in heights} | set(self.totals))


def paper_figures(run: Run) -> list[PaperFigure]:
    """All figures, in the paper's order."""
    goals = Counter(domain for _, domains in _goals(run) for domain in domains)
    own = {"source": run.name, "dialogues": run.coverage["dialogues"].scored or 0, "goals": dict(sorted(goals.items()))}
    figures = [
        goals_per_domain(run),
        _behaviours(run, "2", "Why users repeat constraints", REPEATED, REPETITION_BARS),
        _behaviours(run, "3", "Constraints outside the goal", OUTSIDE, OUTSIDE_BARS),
        _expression(run, "4a", "How search constraints are expressed", "search"),
        _expression(run, "4b", "How booking constraints are expressed", "booking"),
        missed_domains(run),
        _expression(run, "6a", "How requests are expressed", "request"),
        provisions(run),
        _behaviours(run, "7", "Why users repeat requests", REPEATED_REQUESTS, REQUEST_BARS, "R-GCDF1"),
    ]
    return [msgspec.structs.replace(figure, **own) for figure in figures]


def goals_per_domain(run: Run) -> PaperFigure:
    """Figure 1: how many goals have each domain."""
    counts = Counter(domain for _, domains in _goals(run) for domain in domains)
    heights = {domain: float(counts[domain]) for domain in sorted(counts)}
    return PaperFigure("1", "Goals per domain", "goals", {"goals": heights})


def goals_per_domain_set(run: Run) -> Counter[str]:
    """How many goals have exactly which domains, written ``hotel+train``."""
    return Counter("+".join(sorted(domains)) for _, domains in _goals(run))


def _goals(run: Run) -> list[tuple[str, list[str]]]:
    """Every scored dialogue with the domains of its goal."""
    decode = msgspec.json.Decoder(Goal).decode
    rows = run.table("conversation_facts").select("dialogue", "goal").iter_rows()
    return [(dialogue, list(decode(goal).tasks)) for dialogue, goal in rows]


def _behaviours(
    run: Run,
    key: str,
    title: str,
    tree: str,
    names: Mapping[str, tuple[str, ...]],
    measure: MeasureName = "I-GCDF1",
) -> PaperFigure:
    """Figures 2, 3 and 7: in how many dialogues a behaviour was seen, by domain, and for which slots."""
    bar_of = {f"{tree}/{label}": bar for bar, labels in names.items() for label in labels}
    columns = ("measure", "behaviour", "domain", "slot", "dialogue")
    seen: set[tuple[str, str, str]] = set()
    seen_slots: set[tuple[str, str, str, str]] = set()
    for of, label, domain, slot, dialogue in run.table("behaviours").select(columns).iter_rows():
        if of == measure and label in bar_of:
            seen.add((label, domain, dialogue))
            seen_slots.add((bar_of[label], domain, slot, dialogue))
    counts = Counter((bar_of[label], domain) for label, domain, _ in seen)
    slots: dict[str, dict[str, dict[str, int]]] = {}
    for (bar, domain, slot), count in sorted(Counter(row[:3] for row in seen_slots).items()):
        slots.setdefault(bar, {}).setdefault(domain, {})[slot] = count
    return PaperFigure(key, title, "dialogues", _bars(counts, names), slots=slots)


def constraint_counts(run: Run) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """For Figure 3: bar to domain to slot to constraint to the number of records."""
    bar_of = {f"{OUTSIDE}/{label}": bar for bar, labels in OUTSIDE_BARS.items() for label in labels}
    counts: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
    for label, domain, slot, item in run.table("behaviours").select("behaviour", "domain", "slot", "item").iter_rows():
        if label in bar_of:
            of_slot = counts.setdefault(bar_of[label], {}).setdefault(domain, {}).setdefault(slot, {})
            of_slot[item] = of_slot.get(item, 0) + 1
    return counts


def _expression(run: Run, key: str, title: str, kind: str) -> PaperFigure:
    """Figures 4 and 6a: expression patterns, in percent of the parts of goals that want more than one thing."""
    rows = run.table("patterns").select("kind", "pattern", "domain").iter_rows()
    counts = Counter((pattern, domain) for of, pattern, domain in rows if of == kind)
    totals: Counter[str] = Counter()
    for (_, domain), count in counts.items():
        totals[domain] += count
    return _percentages(key, title, counts, totals, PATTERNS)


def missed_domains(run: Run) -> PaperFigure:
    """Figure 5: domains of the goal that the user never spoke of, in percent of the dialogues scored there."""
    rows = run.table("domain_scores").select("measure", "dialogue", "domain").iter_rows()
    scored = {(dialogue, domain) for measure, dialogue, domain in rows if measure == "I-GCDF1"}
    totals = Counter(domain for dialogue, domains in _goals(run) for domain in domains if (dialogue, domain) in scored)
    behaviours = run.table("behaviours").select("behaviour", "domain").iter_rows()
    counts = Counter(("missed", domain) for label, domain in behaviours if label == "missed_domain")
    return _percentages("5", "Domains of the goal that are never discussed", counts, totals, ("missed",))


def provisions(run: Run) -> PaperFigure:
    """Figure 6b: did the system give the requested information unasked? Of the same goals as Figure 6a."""
    given: dict[str, set[tuple[str, str]]] = {"provision_entire_domain": set(), "provision_slots": set()}
    for label, dialogue, domain in run.table("behaviours").select("behaviour", "dialogue", "domain").iter_rows():
        if label in given:
            given[label].add((dialogue, domain))
    totals: Counter[str] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for kind, dialogue, domain in run.table("patterns").select("kind", "dialogue", "domain").iter_rows():
        if kind == "request":
            totals[domain] += 1
            whole, some = ((dialogue, domain) in pairs for pairs in given.values())
            counts["prov_all" if whole else "prov_some" if some else "no_prov", domain] += 1
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


def figure_table(figure: PaperFigure) -> Table:
    """A figure's numbers: a row for each bar, a column for each domain."""
    digits = 2 if figure.unit == "percent" else 0
    columns = [Column(figure.unit), *(Column(domain, digits=digits) for domain in figure.domains)]
    table = Table(figure.title, columns)
    for bar, heights in figure.bars.items():
        if any(heights.values()):
            table.add(BAR_WORDS[bar], *(heights.get(domain) for domain in figure.domains))
    if figure.totals:
        table.add("of", *(figure.totals.get(domain) for domain in figure.domains))
    return table


def slot_table(figure: PaperFigure) -> Table:
    """In how many dialogues a behaviour concerned which slot."""
    table = Table(f"{figure.title}, by slot", ["behaviour", "domain", "slot", "dialogues"])
    for bar, by_domain in figure.slots.items():
        for domain, slots in by_domain.items():
            for slot, count in sorted(slots.items(), key=lambda item: (-item[1], item[0])):
                table.add(BAR_WORDS[bar], domain, slot, count)
    return table


def confusion_table(run: Run, most: int = 15) -> Table:
    """The commonest differences between what was said and what was heard."""
    rows = list(
        run.table("confusions").select("speaker", "fault", "said", "heard", "dialogue").drop_nulls().iter_rows()
    )
    counts = Counter(row[:4] for row in rows)
    dialogues = Counter(row[:4] for row in set(rows))
    said_and_heard = [Column("said", exact=True), Column("heard", exact=True)]
    table = Table(
        "What was said against what was heard",
        ["speaker", "fault", *said_and_heard, "times", Column("dialogues", drop=1)],
    )
    ranked = sorted(counts, key=lambda each: (-counts[each], each[2], each[3], each[0]))
    for confusion in ranked[:most]:
        speaker, fault, said, heard = confusion
        table.add(speaker, fault, said or NOTHING, heard or NOTHING, counts[confusion], dialogues[confusion])
    if len(ranked) > most:
        table.notes.append(f"{len(ranked) - most} rarer confusions not shown")
    return table


def loop_table(run: Run, most: int = 15) -> Table:
    """Loops by domain and cause: how many, how long, and the main confusion behind them."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for loop in run.table("loops").drop_nulls().to_dicts():
        group = (", ".join(loop["domains"]), loop["cause"], main_confusion(loop))
        groups.setdefault(group, []).append(loop["repeats"])
    columns: list[str | Column] = ["domain", "cause", Column("main confusion", exact=True), "loops", "longest"]
    columns.append(Column("mean length", digits=1))
    table = Table("Loops: the same user acts three or more times in a row", columns)
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    for (domains, cause, detail), repeats in ranked[:most]:
        table.add(domains, cause, detail or NOTHING, len(repeats), max(repeats), sum(repeats) / len(repeats))
    if len(ranked) > most:
        table.notes.append(f"{len(ranked) - most} rarer kinds not shown")
    used = {cause for _, cause, _ in groups}
    table.notes += [f"{cause}: {meaning}" for cause, meaning in CAUSES.items() if cause in used]
    return table


def verdict_table(run: Run) -> Table:
    """How often each verdict was given, for both measures."""
    counts = Counter(run.table("verdicts").select("measure", "verdict").iter_rows())
    table = Table("Verdicts on single mentions", ["verdict", *MEASURES, "meaning"])
    for verdict, meaning in VERDICTS.items():
        row = [counts[measure, verdict] for measure in MEASURES]
        if any(row):
            table.add(verdict, *row, meaning)
    return table


def figure_numbers(run: Run) -> dict[str, Any]:
    """Everything that ``dialgauge users figures`` shows, for JSON."""
    return {
        "signature": run.signature,
        "coverage": msgspec.to_builtins(run.coverage.units),
        "figures": {figure.key: msgspec.to_builtins(figure) for figure in paper_figures(run)},
        "goals_per_domain_set": dict(sorted(goals_per_domain_set(run).items())),
        "constraints_not_in_goal": constraint_counts(run),
        "confusions": confusion_table(run, most=1000).records(),
        "loops": loop_table(run, most=1000).records(),
        "sentences": [msgspec.to_builtins(sentence) for sentence in misheard_sentences(run)],
    }


def draw(figure: PaperFigure) -> Any:
    """A figure as a chart, in one hue: domains stand beside each other, behaviours below each other.

    A figure with a single bar for each domain needs no panels: there the domains stand below each other. Percentages
    have 95% intervals, and their axis ends at 100. A bar of height 0 has its label and its interval too.
    """
    alt = altair()
    shown = [bar for bar, heights in figure.bars.items() if any(heights.values())] or list(figure.bars)
    rows = [_bar(figure, bar, domain) for bar in shown for domain in figure.domains]
    shares = figure.unit == "percent"
    largest = max((row["value"] for row in rows), default=1.0)
    single = len(shown) == 1
    x = alt.X(
        "value:Q",
        title="%" if shares else figure.unit,
        scale={"domain": [0, 100] if shares else [0, largest * 1.25], "nice": False},
        axis={"grid": False, "tickCount": 3},
    )
    domains = [_label(figure, domain) for domain in figure.domains]
    words = [BAR_WORDS[bar] for bar in shown]
    y = alt.Y("domain:N", sort=domains, title=None) if single else alt.Y("bar:N", sort=words, title=None)
    base = alt.Chart().encode(x=x, y=y)
    layers = [base.mark_bar(color=SHADES[2], stroke=INK, strokeWidth=0.6)]
    if shares:
        layers.append(base.mark_rule(color=INK, strokeWidth=1.4).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")))
    layers.append(base.mark_text(align="left", dx=4, fontSize=10).encode(x=alt.X("high:Q"), text=alt.Text("text:N")))
    panel = alt.layer(*layers, data=data(rows)).properties(width=320 if single else 130, height=alt.Step(20))
    header = {"labelFontSize": 11}
    drawn = panel if single else panel.facet(column=alt.Column("domain:N", title=None, sort=domains, header=header))
    note = f"{figure.source}: {counted(figure.dialogues, 'dialogue')}" if figure.source else ""
    notes = {"percent": "; 95% intervals", "dialogues": "; n: dialogues with the domain in the goal", "goals": ""}
    return styled(drawn, title=figure.title, note=f"{note}{notes[figure.unit] if note else ''}")


def _bar(figure: PaperFigure, bar: str, domain: str) -> dict[str, Any]:
    height = figure.bars[bar].get(domain, 0.0)
    row = {"domain": _label(figure, domain), "bar": BAR_WORDS[bar], "value": height}
    if figure.unit != "percent":
        return {**row, "low": height, "high": height, "text": f"{height:.0f}"}
    low, high = share_interval(round(figure.counts[bar].get(domain, 0)), figure.totals[domain])
    return {**row, "low": 100 * low, "high": 100 * high, "text": f"{height:.1f}"}


def _label(figure: PaperFigure, domain: str) -> str:
    """A domain with the number of cases behind its bars; where the bars are that number, the domain alone."""
    if figure.unit == "goals":
        return domain
    return f"{domain} (n = {(figure.totals or figure.goals).get(domain, 0):,})"
