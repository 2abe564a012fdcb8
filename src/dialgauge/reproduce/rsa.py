"""Kim et al., ACL 2022: relative slot accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dialgauge.comparison import spreads
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.report import correlation_heatmap, domain_bars, error_onset, mean_spread, slot_histogram
from dialgauge.reproduce.papers import (
    HUMAN_100,
    NO_TEST,
    PROFILE,
    Sources,
    example,
    marks,
    published,
    silent,
    user_turns,
)
from dialgauge.reproduce.reproduction import PrintedNumber, Reproduction
from dialgauge.runs import Run
from dialgauge.stats import correlation_matrix, pearson, ratio_intervals
from dialgauge.tracking import TrackedSystem, score, slots_per_dialogue

#: F1 is averaged over turns in TRADE's and SOM-DST's code, from which the paper's numbers most likely come.
_MEASURES = {"JGA": "JGA", "SA": "SA", "F1": "F1(average=turn)", "RSA": "RSA"}
_F1_NOTE = (
    "F1 is averaged over turns here: F1(average=turn). The F1 of 'dialgauge score' is over all slots of all turns, "
    "which is another number."
)
_SAMPLE_NOTE = "another training of SOM-DST, on 100 of the 999 dialogues; 95% bootstrap interval"
_OTHERS = ("augpt", "dots", "mintl", "ubar")
_ABSENT = f"dst_predictions/{HUMAN_100} is not present"


def reproduce(data: Path | None) -> Reproduction:
    """Every table, example and figure of the paper."""
    paper = published("rsa")
    record = Reproduction("rsa", paper["title"], paper["citation"])
    sources = Sources(data)
    sample = sources.human_100()
    record.missing.append("predictions of the ten models of Table 1 on the 999 test dialogues (not released)")
    if sample is None:
        record.lacks("dst_predictions", f"SOM-DST's states for 100 dialogues: dst_predictions/{HUMAN_100}")
    scores = _scored(sample) if sample else None
    _figure_1(record, paper["figure1"], scores)
    _figure_2(record, paper["figure2"], sources)
    _table_1(record, paper["table1"], scores)
    _figure_4(record, paper["table1"], paper["ranges"])
    _figure_3(record, paper["figure3"], scores, sources)
    _table_2(record, paper["table2"], sample)
    _table_3(record, paper["table3"])
    _appendix(record, paper)
    _figure_a1(record, sources)
    return record


def _scored(dialogues: Sequence[Dialogue], gold: Sequence[Dialogue] | None = None, profile: str = PROFILE) -> Run:
    return score(gold, {"system": dialogues}, measures=[*_MEASURES.values(), "RSA(empty=one)"], profile=profile)[0]


def _turns(scores: Run) -> int:
    return scores.coverage["turns"].scored or 0


def _interval(scores: Run, measure: str) -> tuple[float, float]:
    bounds = scores[measure]
    return bounds.low or 0.0, bounds.high or 0.0


def _figure_1(record: Reproduction, figure: dict[str, int], scores: Run | None) -> None:
    part = "Figure 1"
    wrong, whole, again = figure["last_turn_wrong"], figure["dialogues"], figure["right_again"]
    ends, repairs = f"{wrong / whole:.3f}", f"{again / wrong:.3f}"
    titles = ("share of dialogues that end wrong", "of those, share that is exact again after the first error")
    claim = "the first error falls mainly into the beginning of the dialogue"
    if scores is None:
        for title, text in zip(titles, (ends, repairs), strict=True):
            record.impossible(part, title, text, _ABSENT)
        record.impossible(part, claim, "claimed", _ABSENT)
        return
    onset = TrackedSystem(scores).faults.first_errors()
    ids = scores.table("turn_scores")["dialogue"].unique(maintain_order=True).to_list()
    ended = [float(name in onset.position) for name in ids]
    repaired = [float(name in onset.recovering) for name in ids]
    shares = ratio_intervals([ended, repaired], [[1.0] * len(ids), ended], bounds=(0.0, 1.0))
    record.sampled(
        part, titles[0], ends, sum(ended) / len(ids), _pair(shares[0]), note=f"{wrong} of {whole}; {_SAMPLE_NOTE}"
    )
    record.sampled(
        part,
        titles[1],
        repairs,
        sum(repaired) / sum(ended),
        _pair(shares[1]),
        note=f"{again} of {wrong}; {_SAMPLE_NOTE}",
    )
    positions = list(onset.position.values())
    early = sum(position < 0.5 for position in positions) / len(positions)
    record.claim(part, claim, holds=early > 0.5, ours=f"{early:.1%} in the first half", note=_SAMPLE_NOTE)
    note = f"SOM-DST, {len(positions)} of {len(ids)} dialogues end wrong; position t / N of the first wrong turn"
    record.figures["rsa_figure1_first_error"] = lambda: error_onset(onset.histogram(), note=note)


def _figure_2(record: Reproduction, figure: dict[str, Any], sources: Sources) -> None:
    part, what = "Figure 2", f"share of test dialogues with fewer than {figure['slots']} slots"
    test = sources.multiwoz("test")
    if test is None:
        record.lacks("multiwoz-2.1", "the test dialogues of MultiWOZ 2.1: multiwoz-2.1/test.json")
        record.impossible(part, what, figure["share"], NO_TEST)
        return
    scores = score(test, {"nothing": silent(test)}, measures="JGA", profile=PROFILE, intervals=False)[0]
    counts = slots_per_dialogue(TrackedSystem(scores).counts).tolist()
    share = sum(count < figure["slots"] for count in counts) / len(counts)
    record.printed(
        part, what, figure["share"], share, note="largest number of gold slots in one turn; printed as about 85%"
    )
    note = f"MultiWOZ 2.1 test, {len(counts)} dialogues"
    record.figures["rsa_figure2_slots"] = lambda: slot_histogram(counts, threshold=figure["slots"], note=note)


def _table_1(record: Reproduction, table: dict[str, Any], scores: Run | None) -> None:
    record.notes.setdefault("Table 1", []).append(_F1_NOTE)
    for model, printed in table["rows"].items():
        for name, text in zip(table["columns"], printed, strict=True):
            if model == "SOM-DST" and scores is not None:
                score = scores[_MEASURES[name]]
                interval = (score.low or 0.0, score.high or 0.0)
                record.sampled(
                    "Table 1", f"{model}, {name}", text, float(scores[_MEASURES[name]]), interval, note=_SAMPLE_NOTE
                )
            else:
                why = f"the predictions of the paper's {model} are not released"
                record.impossible("Table 1", f"{model}, {name}", text, why)


def _figure_4(record: Reproduction, table: dict[str, Any], ranges: dict[str, str]) -> None:
    names = table["columns"]
    values = [[PrintedNumber.parse(text).value for text in row] for row in table["rows"].values()]
    measured = spreads(names, values)
    for spread in measured:
        if spread.measure in ranges:
            record.printed(
                "Section 4.1", f"{spread.measure}, largest minus smallest", ranges[spread.measure], spread.range or 0.0,
                note="from Table 1 as printed",
            )  # fmt: skip
    for spread in measured:
        record.pictured(
            "Figure 4",
            f"{spread.measure}, mean ± standard deviation of the ten models",
            f"{spread.mean:.2%} ± {spread.population_std:.2%} (sample {spread.sample_std:.2%})",
            note="from Table 1 as printed; population and sample standard deviation",
        )
    deviation = {spread.measure: spread.population_std or 0.0 for spread in measured}
    record.claim(
        "Figure 4",
        "RSA deviates more between models than SA",
        holds=deviation["RSA"] > deviation["SA"],
        ours=f"RSA {deviation['RSA']:.2%}, SA {deviation['SA']:.2%}",
        note="from Table 1 as printed; population standard deviation",
    )
    record.figures["rsa_figure4_mean_spread"] = lambda: mean_spread(
        names,
        [spread.mean or 0.0 for spread in measured],
        [spread.population_std or 0.0 for spread in measured],
        points={name: [row[place] for row in values] for place, name in enumerate(names)},
        percent=True,
        note="Ten models of Table 1, population standard deviation",
    )


def _columns(scores: Run, rsa: str = "RSA") -> list[Any]:
    names = [_MEASURES["JGA"], _MEASURES["SA"], _MEASURES["F1"], rsa]
    return [scores.table("turn_scores")[name].to_numpy() for name in names]


def _figure_3(record: Reproduction, figure: dict[str, str], scores: Run | None, sources: Sources) -> None:
    part, what = "Figure 3", "over turns, JGA correlates less with RSA than with SA"
    test = sources.multiwoz("test")
    if test is None:
        record.impossible(part, "turns of the test set", figure["turns"], NO_TEST)
    else:
        record.printed(part, "turns of the test set", figure["turns"], user_turns(test), note="without PMUL1455")
    if scores is None:
        record.impossible(part, what, "claimed", _ABSENT)
        return
    jga, slot, _, zero = _columns(scores)
    one = _columns(scores, "RSA(empty=one)")[3]
    numbers = {"SA": pearson(jga, slot), "RSA": pearson(jga, zero), "RSA(empty=one)": pearson(jga, one)}
    shown = ", ".join(f"{name} {value:.3f}" for name, value in numbers.items() if value is not None)
    record.claim(
        part,
        what,
        holds=(numbers["RSA"] or 0) < (numbers["SA"] or 0),
        ours=f"JGA with {shown}",
        note=f"Pearson over {_turns(scores)} turns; most of the gap comes from scoring two empty states 0",
    )
    record.figures["rsa_figure3_correlation"] = lambda: _heatmap(scores, "SOM-DST, 100 dialogues")


def _heatmap(scores: Run, who: str) -> Any:
    note = f"{who}: Pearson over {_turns(scores):,} turns; F1 per turn; RSA scores two empty states 0"
    return correlation_heatmap(list(_MEASURES), correlation_matrix(_columns(scores)), note=note)


def _table_2(record: Reproduction, table: dict[str, list[str]], sample: Sequence[Dialogue] | None) -> None:
    by_domain: dict[str, dict[str, float | None]] = {}
    ends: dict[str, dict[str, tuple[float, float]]] = {}
    turns: dict[str, int] = {}
    for domain, printed in table.items():
        scores = _scored(restricted(sample, domain)) if sample else None
        for name, text in zip(("JGA", "SA", "RSA"), printed, strict=True):
            if scores is None:
                record.impossible("Table 2", f"{domain}, {name}", text, _ABSENT)
                continue
            by_domain.setdefault(domain, {})[name] = scores[name].value
            interval = _interval(scores, name)
            ends.setdefault(domain, {})[name] = interval
            turns[domain] = _turns(scores)
            note = f"{_turns(scores)} turns whose gold state has the domain"
            record.sampled("Table 2", f"{domain}, {name}", text, float(scores[name]), interval, note=note)
    printed_sa, printed_rsa = ({name: float(row[place]) for name, row in table.items()} for place in (1, 2))
    _hotel_and_taxi(record, printed_sa, printed_rsa, "from the printed numbers")
    if by_domain:
        sa, rsa = ({name: row[measure] or 0.0 for name, row in by_domain.items()} for measure in ("SA", "RSA"))
        _hotel_and_taxi(record, sa, rsa, "SOM-DST, 100 dialogues")
        notes = [
            "SOM-DST, 95% intervals over 100 dialogues; SA over all 30 slots",
            "n: turns whose gold state has the domain",
        ]
        record.figures["rsa_table2_domains"] = lambda: domain_bars(
            by_domain, percent=True, counts=turns, intervals=ends, note=notes
        )


def _hotel_and_taxi(record: Reproduction, sa: dict[str, float], rsa: dict[str, float], note: str) -> None:
    """Section 4.1: by slot accuracy hotel is the harder domain, by relative slot accuracy taxi is."""
    record.claim(
        "Table 2",
        f"SA puts hotel below taxi, RSA taxi below hotel ({note})",
        holds=sa["hotel"] < sa["taxi"] and rsa["taxi"] < rsa["hotel"],
        ours=f"SA {sa['hotel']:.2%} and {sa['taxi']:.2%}, RSA {rsa['hotel']:.2%} and {rsa['taxi']:.2%}",
    )


def _table_3(record: Reproduction, table: dict[str, Any]) -> None:
    for model, facts in table["models"].items():
        scores = example([{"gold": table["gold"], "pred": facts["pred"]}], ["JGA", "AGA", "RSA"])
        for name, text in facts["printed"].items():
            record.printed("Table 3", f"model {model}, {name}", text, float(scores[name]))


def _appendix(record: Reproduction, paper: dict[str, Any]) -> None:
    for name in ("tableA3", "tableA4"):
        table = paper[name]
        exact = marks(example(table["turns"], ["JGA"]).table("turn_scores")["exact"].to_list())
        record.text(f"Table {name[5:]}, {table['dialogue']}", "JGA, turn by turn", table["exact"], exact)
    for measures, count in paper["tableA5"].items():
        record.impossible(
            "Table A5", f"papers that report {measures}", str(count), "a survey of papers, not a measurement"
        )
    table = paper["tableA6"]
    turns = example(table["turns"], ["SA", "RSA"]).table("turn_scores")
    for name in ("SA", "RSA"):
        for turn, text in enumerate(table[name.lower()]):
            record.printed(f"Table A6, {table['dialogue']}", f"{name} of turn {turn}", text, turns[name][turn])


def _figure_a1(record: Reproduction, sources: Sources) -> None:
    """The same matrices for other models: the paper's are not released, other systems' states are."""
    record.impossible(
        "Figure A1", "correlation matrices of the other models", "pictures", "their predictions are not released"
    )
    test = sources.multiwoz("test")
    for name in _OTHERS:
        predictions = sources.predictions(name)
        if test is not None and predictions is not None:
            scores = _scored(predictions, test, "canon")
            jga, slot, _, relative = _columns(scores)
            with_sa, with_rsa = pearson(jga, slot), pearson(jga, relative)
            record.claim(
                "Figure A1, other systems",
                f"{name}: JGA correlates less with RSA than with SA",
                holds=(with_rsa or 0) < (with_sa or 0),
                ours=f"SA {with_sa:.3f}, RSA {with_rsa:.3f}",
                note=f"not one of the paper's models; {_turns(scores):,} turns",
            )
            record.figures[f"rsa_figureA1_{name}"] = lambda scores=scores, name=name: _heatmap(scores, name)  # type: ignore[misc]


def _pair(interval: Sequence[float]) -> tuple[float, float]:
    return float(interval[0]), float(interval[1])


# Dialogues cut down to one domain (RSA paper, Table 2).


def restricted(dialogues: Sequence[Dialogue], domain: str) -> list[Dialogue]:
    """The dialogues with both states cut to the domain; turns whose gold state lacks it have no state and no score."""
    return [
        replace(dialogue, turns=tuple(_restricted(turn, domain) for turn in dialogue.turns)) for dialogue in dialogues
    ]


def _restricted(turn: Turn, domain: str) -> Turn:
    if not (turn.state or {}).get(domain):
        return replace(turn, state=None, predicted=None)
    return replace(turn, state=_only(turn.state, domain), predicted=_only(turn.predicted, domain))


def _only(state: State | None, domain: str) -> State | None:
    return None if state is None else {name: slots for name, slots in state.items() if name == domain}
