"""Kim et al., ACL 2022: relative slot accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from dialgauge.comparison import spreads
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.rendering import (
    Column,
    Table,
    correlation_heatmap,
    domain_bars,
    error_onset,
    mean_spread,
    slot_histogram,
)
from dialgauge.reproduce.reproduction import PrintedNumber, Reproduction
from dialgauge.reproduce.rsa_statements import early_errors, statements, taxi_is_lowest
from dialgauge.reproduce.sources import (
    BESIDE_TEST,
    HUMAN_100,
    NO_TEST,
    PROFILE,
    Sources,
    archive_names,
    example,
    interval_of,
    marks,
    other_systems,
    part_of_test,
    published,
    rankable,
    scored,
    silent,
    unranked,
    user_turns,
    with_gold,
)
from dialgauge.runs import Run
from dialgauge.stats import correlation_matrix, pearson, ratio_intervals
from dialgauge.tracking import first_errors, read_counts, score, slots_per_dialogue

#: F1 is averaged over turns in TRADE's and SOM-DST's code, from which the paper's numbers most likely come.
_MEASURES = {"JGA": "JGA", "SA": "SA", "F1": "F1(average=turn)", "RSA": "RSA"}
_F1_NOTE = (
    "F1 is averaged over turns here: F1(average=turn). The F1 of 'dialgauge score' is over all slots of all turns, "
    "which is another number."
)
_INTERVAL = "In brackets: 95% bootstrap intervals over dialogues."
_OTHER_SAMPLE = "another training of SOM-DST, on 100 of the 999 dialogues"
_FGA_TRAINING = "the training of the FGA paper's authors, not this paper's"
_MODEL = "SOM-DST"
#: Models of Table 1 whose states are in the archive of the FGA paper's authors; of TripPy it has marks only.
_ARCHIVED = ("SOM-DST", "TRADE")
_OTHER_TRAINING = "another training than the paper's, or another version of the test set, unless the file is theirs"
_NOT_RELEASED = "the paper's predictions are not released; --system NAME=FILE takes yours"
_ABSENT = f"dst_predictions/{HUMAN_100} is not present, nor --system {_MODEL}=FILE"


class _System(NamedTuple):
    """What is known of one system: its states with gold inside, their scores, and how its numbers are to be read."""

    name: str
    dialogues: Sequence[Dialogue]
    profile: str
    scores: Run
    #: Which dialogues it has, and how they are scored.
    note: str
    #: Why its numbers need not be the paper's.
    why: str
    #: Whether it is scored on the dialogues of the paper, so that a number that differs differs.
    whole: bool

    def beside(self, record: Reproduction, part: str, what: str, theirs: str, measure: str, scores: Run) -> None:
        """A number of the paper and ours."""
        self.shown(record, part, what, theirs, float(scores[measure]), interval_of(scores, measure))

    def shown(
        self, record: Reproduction, part: str, what: str, theirs: str, ours: float, interval: tuple[float, float]
    ) -> None:
        """The same for any number of ours with an interval."""
        if self.whole:
            record.printed(part, what, theirs, ours, note=self.note, why=self.why)
        else:
            record.sampled(part, what, theirs, ours, interval, note=self.note, why=self.why)
            if _INTERVAL not in record.notes.setdefault(part, []):
                record.notes[part].append(_INTERVAL)


def reproduce(data: Path | None, systems: Mapping[str, Path] | None = None) -> Reproduction:
    """Every table, example and figure of the paper."""
    paper = published("rsa")
    record = Reproduction("rsa", paper["title"], paper["citation"])
    sources = Sources(data, systems)
    known = _systems(sources, paper["table1"]["rows"])
    given = [model for model in known if sources.given(model) is not None]
    absent = [model for model in paper["table1"]["rows"] if model not in given]
    if absent:
        record.missing.append(
            f"predictions of {', '.join(absent)} on the 999 test dialogues (not released; yours: --system NAME=FILE)"
        )
    for model in _ARCHIVED:
        if model not in given and sources.archived(model) is None:
            file = f"dst_predictions/{archive_names(model)[0]}.json"
            record.lacks("dst_predictions", f"states of {model} by the FGA paper's authors, another training: {file}")
    if _MODEL not in known:
        record.lacks("dst_predictions", f"SOM-DST's states for 100 dialogues: dst_predictions/{HUMAN_100}")
    _figure_1(record, paper["figure1"], known.get(_MODEL))
    _figure_2(record, paper["figure2"], sources)
    _table_1(record, paper["table1"], known)
    others = other_systems(sources, [*_MEASURES.values()])
    _figure_4(record, paper["table1"], paper["ranges"], [_runs(known), others])
    _figure_3(record, paper["figure3"], known.get(_MODEL), sources)
    _table_2(record, paper["table2"], known.get(_MODEL))
    _table_3(record, paper["table3"])
    _appendix(record, paper)
    _figure_a1(record, others, known)
    statements(record, paper, sources, {name: (system.scores, system.note) for name, system in known.items()})
    return record


def _runs(known: Mapping[str, _System]) -> dict[str, Run]:
    return {name: system.scores for name, system in known.items()}


def _systems(sources: Sources, models: Iterable[str]) -> dict[str, _System]:
    """Those of the paper and the caller's whose predictions are there; of SOM-DST at least 100 dialogues."""
    known = {}
    for name in [*models, *sources.given_beside(models)]:
        predictions = sources.given(name)
        if predictions is not None:
            labelled = with_gold(predictions, sources.multiwoz("test"))
            if labelled is None:
                lack = NO_TEST if sources.multiwoz("test") is None else "no predicted ones: RSA needs states"
                raise DialgaugeError(f"the file of {name} has no gold states, and {lack}")
            scores = _scored(labelled[0], labelled[1], name=name)
            part = part_of_test(scores)
            note = "; ".join(filter(None, [part, f"profile {labelled[1]}"]))
            known[name] = _System(name, *labelled, scores, note, _OTHER_TRAINING, whole=not part)
        elif archived := with_gold(sources.archived(name) or (), sources.multiwoz("test")):
            scores = _scored(*archived, name=name)
            note = "; ".join(filter(None, [part_of_test(scores), f"the FGA authors' file; profile {archived[1]}"]))
            known[name] = _System(name, *archived, scores, note, _FGA_TRAINING, whole=not part_of_test(scores))
        elif name == _MODEL and (sample := sources.human_100()):
            note = f"100 of the 999 dialogues; profile {PROFILE}"
            known[name] = _System(name, sample, PROFILE, _scored(sample, PROFILE), note, _OTHER_SAMPLE, whole=False)
    return known


def _scored(
    dialogues: Sequence[Dialogue], profile: str, gold: Sequence[Dialogue] | None = None, name: str = _MODEL
) -> Run:
    return scored(name, dialogues, [*_MEASURES.values(), "RSA(empty=one)"], profile, gold)


def _turns(scores: Run) -> int:
    return scores.coverage["turns"].scored or 0


def _figure_1(record: Reproduction, figure: dict[str, int], system: _System | None) -> None:
    part = "Figure 1"
    wrong, whole, again = figure["last_turn_wrong"], figure["dialogues"], figure["right_again"]
    ends, repairs = f"{wrong / whole:.3f}", f"{again / wrong:.3f}"
    titles = ("share of dialogues that end wrong", "of those, share that is exact again after the first error")
    claim = "the first error falls mainly into the beginning of the dialogue"
    if system is None:
        for title, text in zip(titles, (ends, repairs), strict=True):
            record.impossible(part, title, text, _ABSENT)
        record.impossible("Section 2.1", claim, "claimed", _ABSENT)
        return
    onset = first_errors(system.scores)
    ids = system.scores.table("turn_scores")["dialogue"].unique(maintain_order=True).to_list()
    ended = [float(name in onset.position) for name in ids]
    repaired = [float(name in onset.recovering) for name in ids]
    shares = ratio_intervals([ended, repaired], [[1.0] * len(ids), ended], bounds=(0.0, 1.0))
    for title, text, counts, ours, bounds in (
        (titles[0], ends, f"theirs {wrong} of {whole}", sum(ended) / len(ids), shares[0]),
        (titles[1], repairs, f"theirs {again} of {wrong}", sum(repaired) / (sum(ended) or 1.0), shares[1]),
    ):
        low, high = (float(end) for end in bounds)
        system._replace(note=f"{counts}; {system.note}").shown(record, part, title, text, ours, (low, high))
    positions = list(onset.position.values())
    early_errors(record, "Section 2.1", claim, system.scores, onset.position, system.note)
    histogram = onset.histogram()
    bars = Table(f"Figure 1: where the first error falls ({_who(system)})", ["of the dialogue", "dialogues"])
    for index, count in enumerate(histogram):
        bars.add(f"{10 * index} to {10 * (index + 1)}%", count)
    record.tables[part] = [bars]
    note = f"{system.name}, {len(positions)} of {len(ids)} dialogues end wrong; position t / N of the first wrong turn"
    record.figures["rsa_figure1_first_error"] = lambda: error_onset(histogram, note=note)


def _figure_2(record: Reproduction, figure: dict[str, Any], sources: Sources) -> None:
    part, what = "Figure 2", f"share of test dialogues with fewer than {figure['slots']} slots"
    test = sources.multiwoz("test")
    if test is None:
        record.lacks("multiwoz-2.1", "the test dialogues of MultiWOZ 2.1: multiwoz-2.1/test.json")
        record.impossible(part, what, figure["share"], NO_TEST)
        return
    scores = score(test, {"nothing": silent(test)}, measures="JGA", profile=PROFILE, intervals=False)[0]
    counts = slots_per_dialogue(read_counts(scores)).tolist()
    share = sum(count < figure["slots"] for count in counts) / len(counts)
    record.printed(
        part, what, figure["share"], share, note="largest number of gold slots in one turn; printed as about 85%"
    )
    bars = Table("Figure 2: slots in the fullest state of a dialogue", ["slots", "dialogues"])
    for slots in range(min(counts), max(counts) + 1):
        bars.add(slots, counts.count(slots))
    record.tables[part] = [bars]
    note = f"MultiWOZ 2.1 test, {len(counts)} dialogues"
    record.figures["rsa_figure2_slots"] = lambda: slot_histogram(counts, threshold=figure["slots"], note=note)


def _table_1(record: Reproduction, table: dict[str, Any], known: Mapping[str, _System]) -> None:
    part = "Table 1"
    record.notes.setdefault(part, []).append(_F1_NOTE)
    if any(system.profile == BESIDE_TEST for system in known.values()):
        record.notes[part].append(
            f"Predictions without gold states: against MultiWOZ 2.1 under the profile {BESIDE_TEST}, as other systems."
        )
    for model, printed in table["rows"].items():
        for name, text in zip(table["columns"], printed, strict=True):
            if system := known.get(model):
                system.beside(record, part, f"{model}, {name}", text, _MEASURES[name], system.scores)
            else:
                record.impossible(part, f"{model}, {name}", text, _NOT_RELEASED)
    for model in [model for model in known if model not in table["rows"]]:
        scores = known[model].scores
        for name in table["columns"]:
            note = "; ".join(filter(None, [part_of_test(scores), f"profile {known[model].profile}"]))
            record.own(part, f"{model}, {name}", f"{float(scores[_MEASURES[name]]):.2%}", note=note)


def _figure_4(
    record: Reproduction, table: dict[str, Any], ranges: dict[str, str], groups: Sequence[Mapping[str, Run]]
) -> None:
    """Figure 4 and what the text says of it: as printed, and on two or more systems whose predictions are there."""
    names = table["columns"]
    values = [[PrintedNumber.parse(text).value for text in row] for row in table["rows"].values()]
    for spread in spreads(names, values):
        if spread.measure in ranges:
            record.printed(
                "Section 4.1", f"{spread.measure}, largest minus smallest", ranges[spread.measure], spread.range or 0.0,
                note="from Table 1 as printed",
            )  # fmt: skip
        record.pictured(
            "Figure 4",
            f"{spread.measure}, mean ± standard deviation of the ten models",
            f"{spread.mean:.2%} ± {spread.population_std:.2%} (sample {spread.sample_std:.2%})",
            note="from Table 1 as printed; population and sample standard deviation",
        )
    _more_deviation(record, names, values, "", "from Table 1 as printed")
    notes = record.notes.setdefault("Section 4.1", [])
    notes.append(
        "Ranges and deviations are those of the printed models; two or more systems of your own (--system NAME=FILE), "
        "of the same dialogues and profile, get lines of their own."
    )
    for group in groups:
        parts = rankable(group)
        notes += unranked(parts)
        for together in parts:
            if len(together) > 1:
                rows = [[float(group[model][_MEASURES[name]]) for name in names] for model in together]
                profile = f"profile {group[together[0]].details['profile']}"
                _more_deviation(record, names, rows, f" ({', '.join(together)})", profile)
    record.figures["rsa_figure4_mean_spread"] = lambda: mean_spread(
        {name: [row[index] for row in values] for index, name in enumerate(names)},
        percent=True,
        note="Ten models of Table 1, population standard deviation",
    )


def _more_deviation(
    record: Reproduction, names: Sequence[str], values: Sequence[Sequence[float]], suffix: str, note: str
) -> None:
    by_measure = {spread.measure: spread for spread in spreads(names, values)}
    slot, relative = by_measure["SA"], by_measure["RSA"]
    for what, ours, how in (
        ("RSA deviates more between models than SA", (relative.population_std or 0.0, slot.population_std or 0.0),
         "population standard deviation"),
        ("RSA shows a wider range of models than SA", (relative.range or 0.0, slot.range or 0.0),
         "largest minus smallest"),
    ):  # fmt: skip
        record.claim(
            "Section 4.1", f"{what}{suffix}", holds=ours[0] > ours[1], ours=f"RSA {ours[0]:.2%}, SA {ours[1]:.2%}",
            note=f"{note}; {how}", why="other systems than the paper's",
        )  # fmt: skip


def _columns(scores: Run, rsa: str = "RSA") -> list[Any]:
    names = [_MEASURES["JGA"], _MEASURES["SA"], _MEASURES["F1"], rsa]
    return [scores.table("turn_scores")[name].to_numpy() for name in names]


def _figure_3(record: Reproduction, figure: dict[str, str], system: _System | None, sources: Sources) -> None:
    part, what = "Figure 3", "over turns, JGA correlates less with RSA than with SA"
    test = sources.multiwoz("test")
    turns, note = user_turns(test) if test is not None else None, "without PMUL1455"
    record.printed(part, "turns of the test set", figure["turns"], turns, note=note, absent=NO_TEST)
    if system is None:
        record.impossible("Section 4.1", what, "claimed", _ABSENT)
        return
    scores = system.scores
    jga, slot, _, zero = _columns(scores)
    ones = _columns(scores, "RSA(empty=one)")[3]
    numbers = {"SA": pearson(jga, slot), "RSA": pearson(jga, zero), "RSA(empty=one)": pearson(jga, ones)}
    shown = ", ".join(f"{name} {value:.3f}" for name, value in numbers.items() if value is not None)
    record.claim(
        "Section 4.1",
        what,
        holds=(numbers["RSA"] or 0) < (numbers["SA"] or 0),
        ours=f"JGA with {shown}",
        note=f"{system.note}; Pearson over {_turns(scores)} turns; most of the gap is from scoring two empty states 0",
        why=system.why,
    )
    record.tables[part] = [_matrix(scores, f"{part}: {_who(system)}")]
    record.figures["rsa_figure3_correlation"] = lambda: _heatmap(scores, _who(system))


def _matrix(scores: Run, title: str) -> Table:
    rows = zip(_MEASURES, correlation_matrix(_columns(scores)), strict=True)
    columns = [Column("Pearson over turns"), *(Column(name, digits=3) for name in _MEASURES)]
    return Table(title, columns, [(name, *row) for name, row in rows])


def _heatmap(scores: Run, who: str) -> Any:
    note = f"{who}: Pearson over {_turns(scores):,} turns; F1 per turn; RSA scores two empty states 0"
    return correlation_heatmap(list(_MEASURES), correlation_matrix(_columns(scores)), note=note)


def _who(system: _System) -> str:
    return f"{system.name}, {system.scores.coverage['dialogues'].scored} dialogues"


def _table_2(record: Reproduction, table: dict[str, list[str]], system: _System | None) -> None:
    by_domain: dict[str, dict[str, float | None]] = {}
    ends: dict[str, dict[str, tuple[float, float]]] = {}
    turns: dict[str, int] = {}
    for domain, printed in table.items():
        scores = _scored(restricted(system.dialogues, domain), system.profile) if system else None
        for name, text in zip(("JGA", "SA", "RSA"), printed, strict=True):
            if system is None or scores is None:
                record.impossible("Table 2", f"{domain}, {name}", text, _ABSENT)
                continue
            by_domain.setdefault(domain, {})[name] = scores[name].value
            ends.setdefault(domain, {})[name] = interval_of(scores, name)
            turns[domain] = _turns(scores)
            note = f"{_turns(scores)} turns whose gold state has the domain; {system.note}"
            system._replace(note=note).beside(record, "Table 2", f"{domain}, {name}", text, name, scores)
    printed_sa, printed_rsa = ({name: float(row[column]) for name, row in table.items()} for column in (1, 2))
    _hotel_and_taxi(record, printed_sa, printed_rsa, "from the printed numbers")
    taxi_is_lowest(record, printed_rsa, "from the printed numbers")
    if system is not None:
        sa, rsa = ({name: row[measure] or 0.0 for name, row in by_domain.items()} for measure in ("SA", "RSA"))
        _hotel_and_taxi(record, sa, rsa, _who(system), why=system.why)
        sizes = "turns here: " + ", ".join(f"{domain} {count}" for domain, count in turns.items())
        taxi_is_lowest(record, rsa, _who(system), note=sizes, why=system.why)
        notes = [
            f"{_who(system).replace(', ', ', 95% intervals over ')}; SA over all 30 slots",
            "n: turns whose gold state has the domain",
        ]
        record.figures["rsa_table2_domains"] = lambda: domain_bars(
            by_domain, percent=True, counts=turns, intervals=ends, note=notes
        )


def _hotel_and_taxi(
    record: Reproduction, sa: dict[str, float], rsa: dict[str, float], whose: str, why: str = ""
) -> None:
    """Section 4.1: by slot accuracy hotel is the harder domain, by relative slot accuracy taxi is."""
    record.claim(
        "Section 4.1",
        f"SA puts hotel below taxi, RSA taxi below hotel ({whose})",
        holds=sa["hotel"] < sa["taxi"] and rsa["taxi"] < rsa["hotel"],
        ours=f"SA {sa['hotel']:.2%} and {sa['taxi']:.2%}, RSA {rsa['hotel']:.2%} and {rsa['taxi']:.2%}",
        why=why,
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
    table = paper["tableA6"]
    turns = example(table["turns"], ["SA", "RSA"]).table("turn_scores")
    for name in ("SA", "RSA"):
        for turn, text in enumerate(table[name.lower()]):
            record.printed(f"Table A6, {table['dialogue']}", f"{name} of turn {turn}", text, turns[name][turn])


def _figure_a1(record: Reproduction, others: Mapping[str, Run], known: Mapping[str, _System]) -> None:
    """The same matrices for other models: the paper's are not released, other systems' states are."""
    own = {name: scores for name, scores in _runs(known).items() if name != _MODEL}
    if not own:
        record.impossible(
            "Figure A1", "correlation matrices of the other models", "pictures",
            "their predictions are not released; --system NAME=FILE takes yours",
        )  # fmt: skip
    for part, systems, whose in (
        ("Figure A1", own, "predictions given with --system"),
        ("Figure A1, other systems", others, f"not one of the paper's models; profile {BESIDE_TEST}"),
    ):
        for name, scores in systems.items():
            jga, slot, _, relative = _columns(scores)
            with_sa, with_rsa = pearson(jga, slot) or 0.0, pearson(jga, relative) or 0.0
            profile = f"; profile {known[name].profile}" if name in known else ""
            record.claim(
                part,
                f"{name}: JGA correlates less with RSA than with SA",
                holds=with_rsa < with_sa,
                ours=f"SA {with_sa:.3f}, RSA {with_rsa:.3f}",
                note=f"{whose}{profile}; {_turns(scores):,} turns",
                why="another system than the paper's, or another training",
            )
            record.tables.setdefault(part, []).append(_matrix(scores, f"Figure A1: {name}"))
            file = "".join(letter if letter.isalnum() else "-" for letter in name)
            record.figures[f"rsa_figureA1_{file}"] = lambda scores=scores, name=name: _heatmap(scores, name)  # type: ignore[misc]


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
