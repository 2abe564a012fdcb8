"""The only door between these tests and dialgauge: the public API, `--json` and stored tables.

Everything comes back as plain values (numbers, texts, dictionaries), so a rebuilt house changes this file alone.
A section for each family; a test that needs more adds a function here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

import dialgauge
from dialgauge.data import data_folder
from dialgauge.measures import Card, Measure
from dialgauge.trials import audit_log, read_log
from dialgauge.worlds.tools import ToolCall, ToolDomain, load_tool_domain

Interval = tuple[float | None, float | None]
Act = tuple[str, str, tuple[str, ...]]


# Any run


def values(run: dialgauge.Run) -> dict[str, float | None]:
    """The scores of a run by measure, as fractions."""
    return {name: score.value for name, score in run.scores.items()}


def intervals(run: dialgauge.Run) -> dict[str, Interval]:
    """The 95% interval of every score."""
    return {name: (score.low, score.high) for name, score in run.scores.items()}


def by_dialogue(run: dialgauge.Run, measure: str) -> dict[str, tuple[float, float]]:
    """Numerator and denominator of a measure in every dialogue."""
    rows = run.table("dialogue_scores").filter(measure=measure).select("dialogue", "num", "den").iter_rows()
    return {dialogue: (num, den) for dialogue, num, den in rows}


def rows(run: dialgauge.Run, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of a stored table, the columns named or all of them."""
    frame = run.table(table)
    return frame.select(columns).rows() if columns else frame.rows()


def refused(call: Any, *arguments: Any, **options: Any) -> bool:
    """Whether a call ends with one of our errors."""
    try:
        call(*arguments, **options)
    except dialgauge.DialgaugeError:
        return True
    return False


def command(*words: str, exit_codes: tuple[int, ...] = (0,), folder: Path | None = None) -> Any:
    """The JSON document that a command writes, as typed in an empty folder or in `folder`."""
    with tempfile.TemporaryDirectory() as empty:
        work = folder or Path(empty)
        call = [sys.executable, "-m", "dialgauge", *words, "--json", str(Path(empty) / "output.json")]
        environment = {**os.environ, "DIALGAUGE_RUNS": str(work / "runs"), "COLUMNS": "80"}
        done = subprocess.run(call, cwd=work, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in exit_codes, done.stderr
        return json.loads((Path(empty) / "output.json").read_text())


# Tracking

#: Nothing stops a score: these tests mean what they write.
_ACCEPTED = "turns,roles,ids"
_COUNTS = "correct", "wrong_value", "missed", "spurious"

Counts = tuple[int, int, int, int]


def tracking(gold: Any, predicted: Any, **options: Any) -> dialgauge.Run:
    """One tracker scored, without intervals unless they are asked for.

    Gold and predictions are files, or by dialogue the state of every user turn: {"hotel-area": "north"}, with a tuple
    for several acceptable values, None where the turn has no state.
    """
    return trackers(gold, {"system": predicted}, **options)["system"]


def trackers(gold: Any, predicted: Mapping[str, Any], **options: Any) -> dict[str, dialgauge.Run]:
    """Several trackers scored under one profile, by name."""
    systems = {name: _dialogues(each, "predicted") for name, each in predicted.items()}
    settings = {"intervals": False, "accept": _ACCEPTED, **options}
    runs = {run.name: run for run in dialgauge.score(_dialogues(gold, "state"), systems, **settings).runs}
    for name, run in runs.items():
        _INPUTS[run] = _dialogues(gold, "state"), systems[name], {**settings, "measures": None}
    return runs


#: What was scored, so that other measures of it can be asked for later.
_INPUTS: weakref.WeakKeyDictionary[dialgauge.Run, tuple[Any, Any, dict[str, Any]]] = weakref.WeakKeyDictionary()


def _again(run: dialgauge.Run, measures: Sequence[Any]) -> dialgauge.Run:
    """The same tracker scored by other measures."""
    gold, predicted, settings = _INPUTS[run]
    return dialgauge.score(gold, {run.name: predicted}, **{**settings, "measures": list(measures)}).runs[0]


def trackers_under(
    profiles: Sequence[str], gold: Any, predicted: Mapping[str, Any], **options: Any
) -> dict[tuple[str, str], dialgauge.Run]:
    """Several trackers scored under several profiles, by profile and name."""
    settings = {"intervals": False, "accept": _ACCEPTED, **options}
    runs = dialgauge.score(gold, dict(predicted), profile=list(profiles), **settings).runs
    return {(_tracked(run)["profile"], run.name): run for run in runs}


def tracking_file(gold: Any, predictions: Any, layout: str, **options: Any) -> dialgauge.Run:
    """A tracker scored from a JSON file in a named layout."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "system.json"
        path.write_text(json.dumps(predictions))
        return tracking(gold, path, pred_format=layout, **options)


def _dialogues(states: Any, side: str) -> Any:
    if not isinstance(states, Mapping):
        return states
    return [
        dialgauge.Dialogue(id=name, turns=tuple(_turn(state, side) for state in turns))
        for name, turns in states.items()
    ]


def _turn(state: Mapping[str, Any] | None, side: str) -> dialgauge.Turn:
    if state is None:
        return dialgauge.Turn(speaker="user")
    nested: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, value in state.items():
        domain, _, slot = name.partition("-")
        nested.setdefault(domain, {})[slot] = (value,) if isinstance(value, str) else tuple(value)
    if side == "state":
        return dialgauge.Turn(speaker="user", state=nested)
    return dialgauge.Turn(speaker="user", predicted=nested)


def counts(run: dialgauge.Run) -> dict[tuple[str, int], Counts]:
    """Correct, wrong value, missed, spurious of every scored turn."""
    return {(d, t): (c, v, m, s) for d, t, c, v, m, s in rows(run, "turn_scores", "dialogue", "user_turn", *_COUNTS)}


def counts_by_domain(run: dialgauge.Run) -> dict[tuple[str, int, str], Counts]:
    """The same for the slots of each domain, where either state has some."""
    errors: dict[tuple[str, int, str], list[int]] = {}
    for d, t, domain, kind in rows(run, "slot_errors", "dialogue", "user_turn", "domain", "kind"):
        errors.setdefault((d, t, domain), [0, 0, 0])[("wrong", "missed", "spurious").index(kind)] += 1
    names = [f"{_RIGHT.name}[{domain}]" for domain in _domains(run)]
    again = _again(run, [Measure(_RIGHT, part=domain) for domain in _domains(run)]) if names else run
    right = {
        (d, t, name[len(_RIGHT.name) + 1 : -1]): value
        for name in names
        for (d, t), value in turn_values(again, name).items()
        if value is not None
    }
    return {place: (int(right.get(place, 0)), *errors.get(place, (0, 0, 0))) for place in right.keys() | errors.keys()}


def _domains(run: dialgauge.Run) -> list[str]:
    """The domains that any gold state has."""
    return sorted({row[1].partition("-")[0] for row, counted in counts_by_slot(run).items() if any(counted[:3])})


def _right_slots(counts: Any, settings: Any) -> Any:
    return counts.turns.correct, np.ones(len(counts))


def own_measure(run: dialgauge.Run, numbers: Sequence[Any] | None) -> float | None:
    """A measure of another package that gives these numbers of the units, or fails."""

    def units(counts: Any, settings: Any) -> Any:
        return 1 / 0 if numbers is None else numbers

    card: Card[Any] = Card(
        name="Own", family="tracking", title="", summary="", formula="", source="", units=units, upper=float("inf")
    )
    return values(_again(run, [Measure(card)]))["Own"]


#: A measure of our own: how many slots of a turn are right.
_RIGHT: Card[Any] = Card(
    name="Right", family="tracking", title="", summary="", formula="C", source="", units=_right_slots, parts=True,
    unit="slots", upper=float("inf"),
)  # fmt: skip


def counts_by_slot(run: dialgauge.Run) -> dict[tuple[str, str], Counts]:
    """The same for each dialogue and slot, summed over its turns."""
    table = rows(run, "slot_scores", "dialogue", "domain", "slot", *_COUNTS)
    return {(d, f"{domain}-{slot}"): (c, v, m, s) for d, domain, slot, c, v, m, s in table}


def turn_values(run: dialgauge.Run, measure: str) -> dict[tuple[str, int], float | None]:
    """A measure in every scored turn; None where the turn does not count."""
    return {(d, t): value for d, t, value in rows(run, "turn_scores", "dialogue", "user_turn", measure)}


def error_types(run: dialgauge.Run) -> dict[tuple[str, int], str]:
    """exact, type1 or type2 for every scored turn, by the rule that FGA uses if none is named."""
    return {(d, t): kind for d, t, kind in rows(run, "turn_scores", "dialogue", "user_turn", "error_type")}


def wrong_slots(run: dialgauge.Run) -> set[tuple[str, int, str, str]]:
    """Dialogue, turn, slot and kind (wrong, missed, spurious) of every slot that is not right."""
    table = rows(run, "slot_errors", "dialogue", "user_turn", "domain", "slot", "kind")
    return {(d, t, f"{domain}-{slot}", kind) for d, t, domain, slot, kind in table}


def totals(run: dialgauge.Run) -> dict[str, int]:
    """Sums over all turns: counts, exact turns, turn matches, empty states."""
    return dict(_tracked(run)["counts"])


def coverage(run: dialgauge.Run) -> dict[str, Any]:
    """How many dialogues and turns gold and predictions have, and how many were scored."""
    known = dict(_tracked(run)["coverage"])
    return {**known, "n_dialogues_missing": len(known["missing_dialogues"]),
            "dialogues_missing": known["missing_dialogues"]}  # fmt: skip


def ceiling(run: dialgauge.Run) -> dict[str, float]:
    """What gold scored against itself gets, where that is not 1."""
    return dict(_tracked(run)["gold_against_itself"])


def parts(run: dialgauge.Run, by: str) -> dict[str, dict[str, Any]]:
    """The measures and counts of every domain, slot, turn or number of domains (n-domains)."""
    return {"domain": _by_domain, "slot": _by_slot, "turn": _by_turn, "n-domains": _by_size}[by](run)


def _by_domain(run: dialgauge.Run) -> dict[str, dict[str, Any]]:
    again = _again(run, ["JGA"])
    kept = {row["part"]: row for row in again.table("part_scores").filter(by="domain").iter_rows(named=True)}
    names = {"dialogues": "dialogues", "turns": "turns", "spurious_domain_turns": "spurious_turns"}
    sizes = {name: {what: row[column] for what, column in names.items()} for name, row in kept.items()}
    scored = [name for name, row in kept.items() if row["turns"]]
    found = _of_parts(run, [name for name in run.scores if "average=" not in name or "turn" in name], scored)
    own = _of_parts(run, ["SA(T=part)"], scored) if "SA" in run.scores else {}
    return {
        name: {**sizes[name], **found.get(name, {}), "SA(T=domain)": own.get(name, {}).get("SA(T=part)")}
        for name in kept
    }


def _by_slot(run: dialgauge.Run) -> dict[str, dict[str, Any]]:
    sums: dict[str, list[int]] = {}
    for (_, slot), counted in counts_by_slot(run).items():
        sums[slot] = [a + b for a, b in zip(sums.get(slot, [0] * 4), counted, strict=True)]
    found = _of_parts(run, ["JGA", "Precision", "Recall", "F1"], list(sums))
    return {
        slot: {**dict(zip(_COUNTS, sums[slot], strict=True)), **found[slot], "Accuracy": found[slot]["JGA"]}
        for slot in sums
    }


def _by_turn(run: dialgauge.Run) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[str]] = {}
    for dialogue, turn in counts(run):
        groups.setdefault(str(turn), []).append(dialogue)
    return _sized(run, "turn", groups)


def _by_size(run: dialgauge.Run) -> dict[str, dict[str, Any]]:
    domains: dict[str, set[str]] = {}
    for (dialogue, slot), counted in counts_by_slot(run).items():
        if any(counted[:3]):
            domains.setdefault(dialogue, set()).add(slot.partition("-")[0])
    groups: dict[str, list[str]] = {}
    for dialogue, _ in counts(run):
        groups.setdefault(str(len(domains.get(dialogue, ()))), []).append(dialogue)
    return _sized(run, "domains", groups)


def _sized(run: dialgauge.Run, what: str, groups: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Any]]:
    measures = [name for name in run.scores if "average=" not in name or "turn" in name]
    found = _of_parts(run, measures, [f"{what}={number}" for number in groups])
    return {
        number: {"dialogues": len(set(some)), "turns": len(some), **found[f"{what}={number}"]}
        for number, some in groups.items()
    }


def _of_parts(run: dialgauge.Run, measures: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """The values of measures on each part."""
    if not names:
        return {}
    found = values(_again(run, [f"{measure}[{name}]" for name in names for measure in measures]))
    return {name: {measure: found[f"{measure}[{name}]"] for measure in measures} for name in names}


def dialogue_errors(run: dialgauge.Run) -> dict[str, Any]:
    """Where errors begin: dialogues that end wrong, first wrong turns, recoveries; slots per dialogue; episodes."""
    from dialgauge import tracking

    first = tracking.first_errors(run)
    return {
        "first_error": {
            "dialogues": len(first.turn), "turn": first.turn, "position": first.position,
            "recovering": first.recovering,
        },
        "slots_per_dialogue": np.bincount(tracking.slots_per_dialogue(tracking.read_counts(run))).tolist(),
        "slots": [
            {"pair": each.slot, "episodes": each.episodes, "recovered": each.recovered,
             "mean_origin": each.mean_origin, "mean_turns": each.mean_turns}
            for each in tracking.slot_episodes(run)
        ],
    }  # fmt: skip


def turn_correlations(run: dialgauge.Run, kind: str) -> list[list[float]]:
    """The correlations of the run's measures with each other over turns."""
    from dialgauge.report import run_page

    table: list[dict[str, Any]] = [*run_page(run, ["correlation"]).tables["correlation"].records()]
    of_turns = {row["measure"]: row for row in table if (row["kind"], row["over"]) == (kind, "turns")}
    return [[of_turns[name][other] for other in run.scores] for name in run.scores]


def rated(gold: Any, predicted: Any, ratings: Sequence[tuple[str, str, float]], **options: Any) -> Any:
    """What ratings (dialogue, rater, rating) say of one tracker's measures: agreement, correlations."""
    with tempfile.TemporaryDirectory() as folder:
        lines = ["dialogue,rater,rating", *(",".join(map(str, row)) for row in ratings)]
        (Path(folder) / "ratings.csv").write_text("\n".join(lines))
        run = tracking(gold, predicted, ratings=Path(folder) / "ratings.csv", **options)
        facts = dict(rows(run, "rating_facts", "fact", "value"))
        found: dict[str, dict[str, Any]] = {}
        for row in run.table("rating_correlations").iter_rows(named=True):
            measure = found.setdefault(row["measure"], {"measure": row["measure"], "behind": None})
            for what in ("mean", "single"):
                measure.setdefault(what, {})[row["kind"]] = row[what]
            measure.setdefault("intervals", {})[row["kind"]] = row["low"], row["high"]
            if row["behind"] is not None:
                measure["behind"] = row["behind"], row["behind_low"], row["behind_high"]
    agreement = {name: value for name, value in facts.items() if "kappa" in name or "alpha" in name}
    return {"agreement": agreement, "correlations": list(found.values())}


def _tracked(run: dialgauge.Run) -> dict[str, Any]:
    return dict(run.details)


def accumulated(batches: Sequence[tuple[Any, Any]], *, merged: bool = False, **options: Any) -> dict[str, float]:
    """The measures over batches of gold and predicted states, added to one accumulator or merged from one for each."""
    total = dialgauge.Accumulator(**options)
    for gold, predicted in batches:
        part = dialgauge.Accumulator(**options) if merged else total
        part.update(_dialogues(gold, "state"), _dialogues(predicted, "predicted"))
        if merged:
            total.merge(part)
    return total.compute()


def computed(references: Any, predictions: Any, **options: Any) -> dict[str, float]:
    """The measures over lists of states, without ids."""
    return dialgauge.compute(references=references, predictions=predictions, **options)


def sgd_scores(
    gold: Path | str, predicted: Path | str, schema: Path, *options: str
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, tuple[float, float]]]]:
    """SGD's official scores of every group of services; and by score the sums of every dialogue."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        words = ["-m", "JGA", "--resamples", "0", *(f"--accept={kind}" for kind in _ACCEPTED.split(","))]
        command("score", str(gold), str(predicted), "--schema", str(schema), *options, *words, folder=work)
        run = dialgauge.Store(work / "runs").open("latest")
        sums = {name: by_dialogue(run, name) for name in run.scores if name.startswith("SGD-")}
        page = command("show", "latest", "--only", "sgd", folder=work)["page"]
    groups = {row.pop("services"): row for row in page["tables"]["sgd"]["rows"]}
    official = {
        group: {name: value for name, value in row.items() if value is not None} for group, row in groups.items()
    }
    return official, sums


def spread(systems: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Mean, standard deviations and range of each measure over a table of systems, and correlations of measures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "systems.csv"
        names = list(next(iter(systems.values())))
        lines = [[system, *(str(scores[name]) for name in names)] for system, scores in systems.items()]
        path.write_text("\n".join(",".join(line) for line in [["system", *names], *lines]))
        tables = command("compare", "--printed", str(path))["page"]["tables"]
    facts = {"std (population)": "population_std", "std (sample)": "sample_std"}
    return {
        "spread": [{facts.get(name, name): value for name, value in row.items()} for row in tables["spread"]["rows"]],
        "measures": names,
        "correlations": {
            kind: [[row[other] for other in names] for row in tables[kind]["rows"]]
            for kind in ("pearson", "spearman", "kendall")
        },
    }


def published_fga() -> dict[str, Any]:
    """What a reproduction of the FGA paper gives as the paper's own numbers; shares of table 1 in percent."""
    theirs, _ = _reproduction("fga")
    counts = {"turns": "turns", "M1": "exact matches (M1)", "M2": "turn-level matches (M2)"}
    measures = ("JGA", "SA", "AGA", "FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1")
    sizes = {"dialogues": "conversations", "turns": "turns", "mean": "turns per conversation"}
    return {
        "table1": {
            model: {name: _number(theirs[f"Table 1, {model}", what])
                    for name, what in {**counts, **dict(zip(measures, measures, strict=True))}.items()}
            for model in ("TRADE", "Hi-DST", "SOM-DST", "Trippy")
        },
        "table2": {
            split: {name: _number(theirs["Table 2", f"{split}, {what}"]) for name, what in sizes.items()}
            for split in ("train", "dev", "test")
        },
        "SA of nothing": _number(theirs["Section 2.2", "slot accuracy of predicting nothing"]),
        "ratings": {
            name: _number(theirs["Section 4, human evaluation", f"Pearson correlation of {name} with ratings"])
            for name in ("JGA", "FGA@0.5")
        },
    }  # fmt: skip


def published_rsa() -> dict[str, Any]:
    """What a reproduction of the RSA paper gives as the paper's own numbers."""
    theirs, survey = _reproduction("rsa")
    numbers: dict[str, dict[str, dict[str, float]]] = {"Table 1": {}, "Table 2": {}}
    for (part, what), text in theirs.items():
        if part in numbers and text != "not in the paper":
            system, _, measure = what.rpartition(", ")
            numbers[part].setdefault(system, {})[measure] = _number(text)
    again = "of those, share that is exact again after the first error"
    return {
        "table1": numbers["Table 1"],
        "table2": numbers["Table 2"],
        "ending wrong": _number(theirs["Figure 1", "share of dialogues that end wrong"]),
        "right again": _number(theirs["Figure 1", again]),
        "measures used": {row["method"]: row["measures"].split(", ") for row in survey["table-a5-as-printed"]["rows"]},
    }


def _reproduction(paper: str) -> tuple[dict[tuple[str, str], str], Any]:
    with tempfile.TemporaryDirectory() as folder:
        tables = command("reproduce", paper, "--all", "--data", folder, exit_codes=(0, 1))["page"]["tables"]
    lines = [(table["title"], row) for table in tables.values() for row in table["rows"] if "theirs" in row]
    return {(part, row["what"]): row["theirs"] for part, row in lines}, tables


def _number(text: str) -> float:
    return float(text.rstrip("%").replace(",", ""))


def response_scores(gold: Path, predicted: Mapping[str, Path]) -> dict[str, dict[str, float | None]]:
    """Inform and Success by domain and in all, and richness, of systems that answer MultiWOZ's users."""
    runs = dialgauge.score_tasks(
        gold, {name: str(path) for name, path in predicted.items()}, measures="default,richness", resamples=0
    ).runs
    return {run.name: values(run) for run in runs}


# Responses: bAbI and rankers

Reply = tuple[str, int, str, str, str, bool, int]


def simulated_restaurants(folder: Path, *, tasks: str, dialogues: int, seed: int) -> Path:
    """A folder of simulated bAbI files: dialogs of some tasks, candidates and knowledge base."""
    words = ("babi", "simulate", "--out", str(folder), "--tasks", tasks, "--dialogues", str(dialogues))
    command(*words, "--seed", str(seed))
    return folder


def reply_scores(folder: Path, data: Path, models: str, tasks: str, splits: str) -> dict[tuple[str, int, str], Any]:
    """What models score on tasks and splits: values, classes of replies, and the stored run (see `ranked_replies`)."""
    words = ("babi", "table", "--data", str(data), "--models", models, "--tasks", tasks, "--splits", splits)
    found = command(*words, "--table", str(folder / "tables.json"), folder=folder)
    return {
        (run["config"]["model"], run["config"]["task"], run["config"]["split"]): _replies(folder, run["id"])
        for run in found["runs"]
    }


def task_statistics(folder: Path) -> dict[str, dict[str, float]]:
    """Averages per training dialog of the tasks that `reply_scores` last scored in this folder (Table 1)."""
    return {row["task"]: row for row in _shown(folder, "statistics")}


def printed_accuracies(folder: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Per-response and per-dialog accuracy of the paper, as shown beside ours: model, task (T1, ...) and split."""
    cells = {row["cell"]: (row["paper"], row["paper per-dialog"]) for row in _shown(folder, "accuracy")}
    return {(model, task, split): cell for name, cell in cells.items() for task, split, model in [name.split()]}


def _shown(folder: Path, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder / "tables.json").read_text())["page"]["tables"][table]["rows"]
    return rows


def bot_scores(folder: Path, data: Path, url: str, task: int, measures: str = "default") -> dict[str, Any]:
    """What a bot behind an address scores on the splits of a task."""
    words = ("babi", "evaluate", "--data", str(data), "--model", url, "--task", str(task), "--measures", measures)
    runs = command(*words, folder=folder)["runs"]
    return {run["config"]["split"]: _replies(folder, run["id"]) for run in runs}


def _replies(folder: Path, id: str) -> dict[str, Any]:
    run = dialgauge.Store(folder / "runs").open(id)
    return {
        "values": values(run),
        "intervals": intervals(run),
        "classes": {name: (right, total) for name, (right, total) in run.details["by_class"].items()},
        "unanswered": run.details["unanswered"],
        "top_ties": run.details["top_ties"],
        "run": run,
    }


def ranked_replies(run: dialgauge.Run) -> list[Reply]:
    """Of every reply: dialogue, turn, class, gold text, chosen text, whether it is right, rank of the gold text."""
    return rows(run, "replies", "dialogue", "turn", "class", "gold", "chosen", "correct", "rank")


def restaurant_dialogs(path: Path) -> list[list[tuple[str, str]]]:
    """The lines of every dialog of a bAbI file: who speaks (`user`, `system`, `fact`) and what; facts first."""
    return [_lines(dialogue) for dialogue in dialgauge.read(path)]


def _lines(dialogue: dialgauge.Dialogue) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for turn in dialogue.turns:
        if turn.results is not None:
            facts = [f"{fact.entity} {fact.relation} {fact.value}" for fact in turn.results]
            lines += [("fact", text) for text in facts or ["api_call no result"]]
        lines.append((turn.speaker, turn.text))
    return lines


# Users: GCDF1

GCDF1 = ("I-GCDF1", "R-GCDF1")
Triple = tuple[float, float, float]
#: Dialogue, measure, domain, item, verdict, turn, labels, true positives, false positives, false negatives.
Verdict = tuple[str, str, str, str, str, int | None, tuple[str, ...], int, int, int]
#: Dialogue, measure, label, domain, item, turns, how often, what was expected instead.
Behaviour = tuple[str, str, str, str, str, tuple[int, ...], int, str]


def users(conversations: Path | list[Any], canonical_map: Path | dict[str, Any] | None = None, **options: Any) -> Any:
    """One user model scored: a folder, or records in the layout of GCDF1. No intervals unless they are asked for."""
    with tempfile.TemporaryDirectory() as folder:
        source = _written(conversations, Path(folder) / "dialogues_1.json")
        mapping = _written(canonical_map, Path(folder) / "map.json")
        [run] = dialgauge.score_users(source, canonical_map=mapping, **{"resamples": 0, **options}).runs
        return run


def heard_users(
    turns: Sequence[tuple[Sequence[tuple[str, str, str]], Sequence[tuple[str, str, str]] | None]],
) -> Any:
    """One conversation about a hotel in the north and its phone: acts that each turn says, and as which it is heard."""

    def made(acts: Sequence[tuple[str, str, str]]) -> tuple[dialgauge.Act, ...]:
        return tuple(dialgauge.Act(name=name, domain="hotel", slot=slot, values=(value,)) for name, slot, value in acts)

    goal = dialgauge.Goal(tasks={"hotel": dialgauge.Task(info={"area": "north"}, requests=("phone",))})
    spoken = [
        dialgauge.Turn(
            speaker=("user", "system")[place % 2], acts=made(said), heard=None if heard is None else made(heard)
        )
        for place, (said, heard) in enumerate(turns)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "talks.jsonl"
        dialgauge.write([dialgauge.Dialogue(id="d", turns=tuple(spoken), goal=goal)], path, format="native")
        return users(path)


def heard_by(run: dialgauge.Run) -> tuple[int, int]:
    """In how many conversations it is known what the system heard, and what the user did."""
    return run.details["heard"]["system"], run.details["heard"]["user"]


def _written(content: Any, path: Path) -> Any:
    if isinstance(content, list | dict):
        path.write_text(json.dumps(content))
        return path
    return content


def user_scores(run: dialgauge.Run) -> dict[str, dict[str, dict[str, Triple]]]:
    """Measure to dialogue to domain (or `combined`) to F1, precision, recall."""
    parts: dict[str, dict[str, dict[str, dict[str, float]]]] = {measure: {} for measure in GCDF1}
    for dialogue, name, num, den in rows(run, "dialogue_scores"):
        measure, aspect, domain = _aspect(name)
        parts[measure].setdefault(dialogue, {}).setdefault(domain, {})[aspect] = num / den
    return {
        measure: {dialogue: {domain: _triple(found) for domain, found in of.items()} for dialogue, of in scores.items()}
        for measure, scores in parts.items()
    }


def shown_scores(run: dialgauge.Run, dialogue: str) -> dict[str, dict[str, Triple]]:
    """Measure to domain (or `combined`) to F1, precision, recall, as the page of one dialogue shows them."""
    from dialgauge.report import transcript_of

    shown: dict[str, dict[str, Triple]] = {measure: {} for measure in GCDF1}
    rows: list[dict[str, Any]] = [*transcript_of(run, dialogue).tables["scores"].records()]
    for row in rows:
        shown[row["measure"]][row["domain"]] = _triple(row)
    return shown


def user_means(run: dialgauge.Run) -> dict[str, dict[str, Triple]]:
    """Measure to domain (or `combined`) to mean F1, precision, recall over dialogues."""
    means: dict[str, dict[str, dict[str, float]]] = {measure: {} for measure in GCDF1}
    for name, value in values(run).items():
        measure, aspect, domain = _aspect(name)
        if value is not None:
            means[measure].setdefault(domain, {})[aspect] = value
    return {measure: {domain: _triple(found) for domain, found in of.items()} for measure, of in means.items()}


def _aspect(name: str) -> tuple[str, str, str]:
    """`I-GCDF1 precision[hotel]` in its three parts."""
    whole, _, domain = name.removesuffix("]").partition("[")
    measure, _, aspect = whole.partition(" ")
    return measure, aspect or "f1", domain or "combined"


def _triple(found: dict[str, float]) -> Triple:
    return found["f1"], found["precision"], found["recall"]


def lost_shares(run: dialgauge.Run) -> dict[str, dict[str, float]]:
    """Measure to whose fault to the mean share of F1 that it takes, of a run scored with these measures."""
    names = {name: name.partition(" lost to ") for name in run.scores if " lost to " in name and "[" not in name}
    shares: dict[str, dict[str, float]] = {measure: {} for measure in GCDF1}
    for name, (measure, _, fault) in names.items():
        shares[measure][fault] = values(run)[name] or 0.0
    return shares


def user_verdicts(run: dialgauge.Run) -> list[Verdict]:
    """What became of every mention, and of everything that was not mentioned."""
    columns = "dialogue", "measure", "domain", "item", "verdict", "turn", "behaviours", "tp", "fp", "fn"
    return [(*row[:6], tuple(row[6]), *row[7:]) for row in rows(run, "verdicts", *columns)]


def lost_points(run: dialgauge.Run) -> list[tuple[str, str, str, str, str, int]]:
    """Every verdict that costs points: measure, domain, item, verdict, whose fault it is, how many."""
    columns = "measure", "domain", "item", "verdict", "cause", "fp", "fn"
    found = [row for row in rows(run, "verdicts", *columns) if row[3] != "pooled"]
    return [(*row[:5], row[5] + row[6]) for row in found if row[5] + row[6]]


def user_behaviours(run: dialgauge.Run) -> list[Behaviour]:
    """Every behaviour that was noticed."""
    columns = "dialogue", "measure", "behaviour", "domain", "item", "at_turns", "count", "expected"
    return [(*row[:5], tuple(row[5]), row[6] or 0, row[7] or "") for row in rows(run, "behaviours", *columns)]


def mishearings(run: dialgauge.Run) -> list[tuple[int, str, str, str]]:
    """Every act that was heard otherwise: turn, kind of error, what was said and what was heard."""
    return rows(run, "confusions", "turn", "error", "said", "heard")


def normalised_values(run: dialgauge.Run) -> list[tuple[str, str, str, str, int]]:
    """Every value that is no canonical one: dialogue, who said it, outcome, method, how often it is recorded."""
    found = rows(run, "normalisation", "dialogue", "source", "matched", "method", "times")
    return [
        (name, who, "values_matched" if matched else "matching_failures", method, times)
        for name, who, matched, method, times in found
    ]


def requests_removed(run: dialgauge.Run) -> dict[str, list[str]]:
    """Dialogue to the domains whose requests a failed search removed from the goal; every scored dialogue."""
    return dict(rows(run, "conversation_facts", "dialogue", "requests_removed"))


def failed_dialogues(run: dialgauge.Run) -> dict[str, int | None]:
    """The dialogues that could not be scored, with the turn to blame."""
    return dict(rows(run, "failures", "dialogue", "turn"))


#: The bar of Figure 3 that shows a behaviour (specification, section 9).
OUTSIDE_BARS = {
    "auto_matched_value": "auto_matched",
    "auto_matched_slot": "auto_matched",
    "auto_matched_slot_value_pair": "auto_matched",
    "elicited_by_booking_failure": "sys_book",
    "elicited_by_booking_acceptance": "sys_book",
    "elicited_by_sys_offer": "sys_offer",
    "elicited_by_sys_question": "sys_q",
    "elicited_by_recommendation": "sys_recom",
    "unmatched": "nomatch",
    "first_turn": "first_turn_nomatch",
}


def user_figures(run: dialgauge.Run) -> dict[str, Any]:
    """Figures 1 to 7 of the GCDF1 paper as numbers."""
    from dialgauge import users as room

    figures = {figure.key: msgspec.to_builtins(figure) for figure in room.paper_figures(run)}
    sets = Counter("+".join(sorted(domains)) for (domains,) in rows(run, "conversation_facts", "domains"))
    constraints: dict[str, Any] = {}
    for label, domain, slot, item in rows(run, "behaviours", "behaviour", "domain", "slot", "item"):
        tree, _, name = label.rpartition("/")
        if tree == "constraints_not_in_goal":
            of_slot = constraints.setdefault(OUTSIDE_BARS[name], {}).setdefault(domain, {}).setdefault(slot, Counter())
            of_slot[item] += 1
    return {**figures, "sets": dict(sets), "constraints": constraints}


def likeness(people: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
    """A user model beside people: by dialogue and user turn the acts said, each a slot and a value."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{side}.jsonl" for side in ("people", "user")]
        for path, said in zip(paths, (people, user), strict=True):
            dialgauge.write([_talk(name, turns) for name, turns in said.items()], path, format="native")
        document = command("users", "likeness", str(paths[1]), "--corpus", str(paths[0]))
    found = {row["measure"]: row for row in document["page"]["tables"]["likeness"]["rows"]}
    keys = {
        "dialogues": "dialogues that both have",
        "turns": "user turns",
        "corpus_turns": "people's turns",
        "kl_acts": "KL of acts, bits",
        "kl_turns": "KL of turns per dialogue, bits",
        "cvm_turns": "Cramér–von Mises, turns per dialogue",
        "cvm_acts": "Cramér–von Mises, acts per turn",
    }
    rates = {
        kind: {name: found[f"act {title}{words}"]["user"] for name, title in _RATES.items()}
        | {end: found[f"act F1{words}"][f"user {end}"] for end in ("low", "high")}
        for kind, words in (("acts", ""), ("values", " with values"))
    }
    return {key: found[title]["user"] for key, title in keys.items()} | rates


_RATES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def _talk(name: str, said: Sequence[Sequence[tuple[str, str]]]) -> dialgauge.Dialogue:
    turns = []
    for acts in said:
        made = [dialgauge.Act(name="Hotel-Inform", domain="hotel", slot=slot, values=(value,)) for slot, value in acts]
        turns += [dialgauge.Turn(speaker="user", acts=tuple(made)), dialgauge.Turn(speaker="system", acts=())]
    goal = dialgauge.Goal(tasks={"hotel": dialgauge.Task(info={"area": "north"})})
    return dialgauge.Dialogue(id=name, turns=tuple(turns), goal=goal)


def reference_layout(conversations: list[Any], canonical_map: dict[str, Any]) -> Any:
    """Scored conversations as `runs export --to gcdf1` writes them."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        source, mapping = _written(conversations, work / "talks.json"), _written(canonical_map, work / "map.json")
        scored = ("users", "score", str(source), "--canonical-map", str(mapping), "--resamples", "0")
        command(*scored, exit_codes=(0, 1), folder=work)
        words = ("runs", "export", "latest", "--to", "gcdf1", "-o", "tree.json")
        call = [sys.executable, "-m", "dialgauge", *words, "--store", str(work / "runs")]
        subprocess.run(call, cwd=work, check=True, capture_output=True)
        return json.loads((work / "tree.json").read_text())


# Tasks: Inform, Success, BLEU


def responses(gold: Path, systems: Mapping[str, Any], **options: Any) -> dict[str, dialgauge.Run]:
    """Systems scored by their responses, with every measure and without intervals unless they are asked for."""
    runs = dialgauge.score_tasks(gold, systems, **{"measures": "all", "resamples": 0, "human": False, **options}).runs
    return {run.name: run for run in runs}


def job_flags(run: dialgauge.Run, rules: str) -> dict[str, dict[str, tuple[bool, bool]]]:
    """Inform and Success of every dialogue and domain under a rule set, ``mwzeval`` or ``grounded``."""
    found: dict[str, dict[str, tuple[bool, bool]]] = {}
    for dialogue, judged, *flags in rows(run, "task_verdicts", "dialogue", "rules", "domain", "inform", "success"):
        domain, inform, success = flags
        if judged == rules:
            found.setdefault(_plain(dialogue), {})[domain] = inform, success
    return found


def job_rows(run: dialgauge.Run, rules: str) -> dict[tuple[str, str], tuple[int | None, int | None]]:
    """Rows that were offered and rows that fit the goal, by dialogue and domain."""
    columns = "dialogue", "rules", "domain", "offered", "fitting"
    return {(_plain(d), domain): (o, f) for d, r, domain, o, f in rows(run, "task_verdicts", *columns) if r == rules}


def job_facts(run: dialgauge.Run) -> dict[str, Any]:
    """What the responses were judged by, how many there are, and what the human responses reach."""
    units = run.coverage.units
    return {
        "states": run.details["states"],
        "active_domains": run.details["domains"],
        "dialogues": units["dialogues"].scored,
        "turns": units["turns"].scored,
        "stuffed": run.details["stuffed_responses"],
        "human": run.details["human"],
    }


def normal_states(run: dialgauge.Run) -> dict[str, list[dict[str, dict[str, str]]]]:
    """The states of a system as they are compared with the database."""
    return {
        _plain(dialogue.id): [
            {domain: {slot: value for slot, (value,) in slots.items()} for domain, slots in state.items()}
            for turn in dialogue.user_turns()
            if (state := turn.predicted) is not None
        ]
        for dialogue in run.dialogues()
    }


def bleu_counts(run: dialgauge.Run) -> dict[str, list[int]]:
    """Matches and totals of 1- to 4-grams and both lengths, by dialogue."""
    found: dict[str, dict[int, int]] = {}
    for dialogue, measure, place, number in rows(run, "dialogue_sums", "dialogue", "measure", "place", "sum"):
        if measure == "BLEU":
            found.setdefault(_plain(dialogue), {})[place] = int(number)
    return {dialogue: [sums.get(place, 0) for place in range(10)] for dialogue, sums in found.items()}


def _plain(dialogue: str) -> str:
    return dialogue.lower().removesuffix(".json")


# Trials: logs of agents


def trials(log: Path, **options: Any) -> dialgauge.Run:
    """A log of an agent scored, without intervals unless they are asked for."""
    [run] = dialgauge.review(log, **{"resamples": 0, **options}).runs
    return run


def rerun_interval(run: dialgauge.Run) -> Interval:
    """The interval of pass^1 for these very tasks, where only trials vary."""
    same = run.details["pass_1_on_these_tasks"]
    return same["low"], same["high"]


def trial_counts(run: dialgauge.Run) -> dict[str, Any]:
    """How many conversations and tasks were planned, and how many scored."""
    units = run.coverage.units
    return {
        "tasks_planned": units["tasks"].expected,
        "conversations_planned": units["conversations"].expected,
        "tasks": units["tasks"].scored,
        "conversations": units["conversations"].scored,
    }


def paired_difference(measure: str, first: Path, second: Path) -> tuple[float, Interval, bool]:
    """By how much the second log is better, with its interval, and whether the test finds a difference."""
    results = dialgauge.review([first, second], resamples=0)
    comparison = dialgauge.compare(results, measures=[measure], resamples=200)
    found = comparison.difference(second.stem, first.stem, measure)
    return found.difference, (found.low, found.high), found.significant


def graders(verdicts: Sequence[tuple[int, int, str, bool]], truth: str) -> Any:
    """What is told of graders by their verdicts: task, trial, grader, passed; one grader is taken for the truth."""
    with tempfile.TemporaryDirectory() as folder:
        lines = ["task,trial,grader,verdict", *(",".join(map(str, row)) for row in verdicts)]
        (Path(folder) / "verdicts.csv").write_text("\n".join(lines))
        said = [{"role": "user", "content": "hello"}]
        tried = dict.fromkeys(row[:2] for row in verdicts)
        log = [{"task_id": str(task), "trial": trial, "messages": said} for task, trial in tried]
        (Path(folder) / "log.jsonl").write_text("\n".join(map(json.dumps, log)))
        judged = ["--judge", str(Path(folder) / "verdicts.csv"), "--truth", truth]
        document = command("review", str(Path(folder) / "log.jsonl"), *judged, exit_codes=(0, 1))
    [manifest] = document["runs"]
    return manifest["details"]["graders"]


def audit(log: Path) -> Any:
    """What replaying a log gives, and what is known of its tasks."""
    read = read_log(log)
    found = audit_log(read, read.domain(None, data_folder().root))
    with tempfile.TemporaryDirectory() as folder:
        command("review", str(log), folder=Path(folder))
        page = command("show", "latest", "--only", "split", folder=Path(folder))["page"]
        run = dialgauge.Store(Path(folder) / "runs").open("latest")
        trials, replays = run.table("trials"), run.table("replays")
    groups = {"something must change": "writes_needed", "nothing may change": "null_pass"}
    split = {groups[row["tasks in which"]]: row for row in page["tables"]["split"]["rows"]}
    passed = trials.filter("success").select("dialogue").join(replays, on="dialogue")
    split["all"] = {"tasks": len(found.tasks), "conversations": trials.height, "passed": passed.height}
    split["all"] |= {name: value for name, value in values(run).items() if name.startswith("pass^")}
    same = [one for one in found.conversations if one.recorded_parts.get("DB") == one.replay_parts["DB"]]
    confirmed = {"same": replays.filter(pl.col("recorded") == pl.col("replayed")).height, "of": replays.height}
    of_data = {"same": len(same), "of": sum("DB" in one.recorded_parts for one in found.conversations)}
    database, reward = found.idle or (None, None)
    return {
        "tasks": json.loads(msgspec.json.encode(found.facts)),
        "null_agent": {"database": database, "reward": reward, "tasks_with_reward": list(found.idle_passes)},
        "logs": [
            {
                "conversations": json.loads(msgspec.json.encode(found.conversations)),
                "calls": dict(found.drift),
                "reproduced": {"rewards": confirmed, "DB": of_data},
                "split": split,
                "passed_without_any_write_call": passed.filter(writes_done=0, writes_failed=0).height,
                "passed_without_successful_write": passed.filter(writes_done=0).height,
                "differences": [one.id for one in found.differences],
            }
        ],
    }


def call_tools(
    sequences: Sequence[tuple[str, Sequence[Mapping[str, Any]]]],
) -> list[tuple[list[str], list[Any], dict[str, Any]]]:
    """For each domain and list of calls, on a fresh world: outcomes, results, and the records that changed."""
    return [_called(load_tool_domain(domain, root=data_folder().root), calls) for domain, calls in sequences]


def _called(domain: ToolDomain, calls: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[Any], dict[str, Any]]:
    world = domain.world()
    outcomes = world.call_all([ToolCall(call["name"], call.get("arguments", {})) for call in calls])
    results, changed = json.loads(msgspec.json.encode([[each.result for each in outcomes], world.changes()]))
    return ["ok" if each.ok else "error" for each in outcomes], results, changed


# The lab


def conversations(**options: Any) -> dialgauge.Run:
    """The built-in user and system in conversation, judged, without intervals unless they are asked for."""
    [run] = dialgauge.converse(**{"resamples": 0, **options}).runs
    return run


def with_paper_errors(goals: Path, count: int) -> dict[str, float | None]:
    """The paper's user and system act by act, with the paper's errors of understanding: scores by measure."""
    agents = ["--user", "agenda-baseline", "--system", "rule-baseline", "--channel", "paper2021"]
    settings = ["--failures", "paper", "--exchanges", "21", "--resamples", "0", "--goals", str(goals), "-n", str(count)]
    return {
        name: score["value"] for name, score in command("lab", "run", *agents, *settings)["runs"][0]["scores"].items()
    }


def recorded_conversations(
    corpus: Path, database: Path
) -> tuple[dict[str, float | None], dict[str, dict[str, tuple[float, float]]]]:
    """Recorded conversations, said again in the lab and judged: scores, and sums by measure and dialogue."""
    agents = [word for side in ("user", "system") for word in (f"--{side}", f"corpus-{side}")]
    agents += [word for side in ("user", "system") for word in (f"--{side}-set", f"corpus={corpus}")]
    settings = ["--failures", "paper", "--exchanges", "50", "--resamples", "0"]
    with tempfile.TemporaryDirectory() as folder:
        place = ["--goals", str(corpus), "--database", str(database)]
        document = command("lab", "run", *agents, *settings, *place, folder=Path(folder))
        run = dialgauge.Store(Path(folder) / "runs").open(document["runs"][0]["id"])
        return values(run), {measure: by_dialogue(run, measure) for measure in run.scores}


def goals_and_turns(source: Path) -> Iterator[tuple[Mapping[str, Any], list[tuple[str, list[Act], list[Act]]]]]:
    """Dialogues as plain values: the tasks of the goal, and for each turn its speaker, acts said and acts heard."""
    for dialogue in dialgauge.read(source):
        turns = [(str(turn.speaker), _acts(turn.acts), _acts(turn.heard)) for turn in dialogue.turns]
        yield ({} if dialogue.goal is None else dialogue.goal.tasks), turns


def _acts(acts: Sequence[dialgauge.Act] | None) -> list[Act]:
    return [(act.name, act.slot, act.values) for act in acts or ()]


def first_tries(goals: Path) -> tuple[int, int]:
    """Constraints to try first: how many would find something after all, and how many find nothing."""
    tables = command("lab", "goals", "--goals", str(goals))["page"]["tables"]
    stale = sum(row["tasks"] for row in tables["findings"]["rows"] if row["what"].startswith("the first try would"))
    return stale, sum(row["first try fails"] for row in tables["goals"]["rows"])


# Comparison


def exit_code(*words: str) -> int:
    """The exit code of a command."""
    call = [sys.executable, "-m", "dialgauge", *words]
    with tempfile.TemporaryDirectory() as empty:
        return subprocess.run(call, cwd=empty, capture_output=True, check=False).returncode


def agent_by_verdicts(trials: dict[str, list[bool]], *, name: str = "agent", **options: Any) -> dialgauge.Run:
    """An agent scored by its verdicts: for each task those of its trials."""
    records = [
        {"task_id": task, "trial": number, "success": success}
        for task, passed in trials.items()
        for number, success in enumerate(passed)
    ]
    return agent(records, name=name, **options)


def agent(records: list[dict[str, Any]], *, name: str = "agent", **options: Any) -> dialgauge.Run:
    """An agent scored by the records of a log, one for each trial of a task."""
    [run] = dialgauge.review({name: records}, **options).runs
    return run


def task_responses(gold: Path, systems: dict[str, Path], **options: Any) -> dict[str, dialgauge.Run]:
    """The responses of systems scored, by system."""
    return {run.name: run for run in dialgauge.score_tasks(gold, systems, human=False, **options).runs}


def shares_of_cases(counts: list[int], cases: int, **options: Any) -> dict[int, dict[str, Interval]]:
    """Intervals by measure of trackers that are right in so many of some dialogues of one turn."""
    gold = {f"d{number}": [{"hotel-area": "north"}] for number in range(cases)}
    silent: dict[str, list[dict[str, str]]] = {name: [{}] for name in gold}
    named = list(gold.items())
    systems = {str(count): silent | dict(named[:count]) for count in counts}
    scored = dialgauge.score(gold, systems, **{"measures": "JGA,FinalJGA,DialogueExact", **options})
    return {int(run.name): intervals(run) for run in scored.runs}


def compared(gold: Any, systems: dict[str, Any], **options: Any) -> dialgauge.Comparison:
    """Trackers compared with each other."""
    return dialgauge.compare(gold, systems, **options)


def compared_runs(*runs: dialgauge.Run, **options: Any) -> dialgauge.Comparison:
    """Scored systems compared with each other."""
    return dialgauge.compare(list(runs), **options)


def compared_score(comparison: dialgauge.Comparison, system: str, measure: str) -> tuple[float | None, Interval]:
    """The value and the interval of one system in a comparison."""
    score = comparison[system][measure]
    return score.value, (score.low, score.high)


def verdicts(comparison: dialgauge.Comparison) -> list[dict[str, Any]]:
    """What the sentence of a comparison says by each measure, the headline first: leader, lead, p, clear or not."""
    return [{name: getattr(each, name) for name in each.__struct_fields__} for each in comparison.verdict.measures]


def difference(comparison: dialgauge.Comparison, first: str, second: str, measure: str) -> dict[str, Any]:
    """One pair of systems by one measure: difference, low, high, p, adjusted, wins, ties, losses, significant."""
    pair = comparison.difference(first, second, measure)
    names = "difference", "low", "high", "p", "adjusted", "wins", "ties", "losses", "significant"
    return {name: getattr(pair, name) for name in names}


def told_apart(comparison: dialgauge.Comparison) -> list[dict[str, Any]]:
    """For each measure what the dialogues tell apart: noise_floor, resolved, detectable, discriminative_power."""
    heads = {
        "noise_floor": "noise floor",
        "resolved": "resolved",
        "detectable": "detectable",
        "discriminative_power": "pairs separated",
    }
    rows = comparison.page(["resolution"]).tables["resolution"].records()
    return [{name: row[head] for name, head in heads.items()} for row in rows]


def in_bold(result: dialgauge.Comparison | Mapping[str, dialgauge.Run]) -> set[tuple[str, str]]:
    """The systems and measures whose scores are printed in bold."""
    scores = result.table() if isinstance(result, dialgauge.Comparison) else dialgauge.RunSet(result.values()).table()
    heads = [column.name for column in scores.columns]
    cells = [
        (str(row[0].value), head, cell.strong) for row in scores.rows for head, cell in zip(heads, row, strict=True)
    ]
    return {(name, measure) if heads[0] == "system" else (measure, name) for name, measure, bold in cells if bold}


def scored_together(gold: Any, systems: dict[str, Any], **options: Any) -> Mapping[str, dialgauge.Run]:
    """Trackers scored and not compared."""
    return dialgauge.score(gold, systems, **options)
