"""Evidence on trackers: the tables of runs, the MultiWOZ test set, and the dialogues that the papers print.

``systems``         system, ``how`` it is scored; whether it is ``whole`` (all of the test set), ``known`` to the
                    paper, a ``given`` run
``peers``           system and the ``peers`` that it may be ranked with: same profile, nearly the same dialogues
``scores``          system, measure, value, low, high; counts of turns and matches are measures, too
``turn_scores``     the table of that name of every run, with ``system``; ``domain_scores`` those by domain
``dialogues``       system, dialogue, turns, first_wrong (``turns`` where none is), exact_turns, exact_after that
``onsets``          system and shares of dialogues, with intervals: where their first errors are
``gold_turns``, ``gold_slots``, ``splits``, ``sgd``, ``relabelled_24``, ``relabelled_20``, ``rated_turns``
``example_turns``, ``example_scores``, ``example_states``, ``printed_turns``   worked examples, scored and compared
``forgetting``      λ by t_f and p
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from dialgauge.data import dataset_file
from dialgauge.dialogue import Dialogue, Ontology, SlotSpec, State, Turn, dialogue_key
from dialgauge.formats import read
from dialgauge.reproduce.claims import Example, Paper
from dialgauge.reproduce.evidence import ClaimTables, NotComputable
from dialgauge.runs import Run
from dialgauge.stats import ratio_intervals
from dialgauge.text import note_kind
from dialgauge.tracking import LAMBDAS, forgetting_rate, score

#: TRADE-style preprocessing drops this dialogue (one utterance is too long), so papers report 999 of 1,000.
DROPPED = "PMUL1455"
TEST_TURNS = 7368
#: Systems of neither paper whose states for the test set are public.
OTHERS = ("augpt", "dots", "mintl", "ubar")
#: What the authors of the FGA paper call a model's file.
_ARCHIVE = {"trade": "trade/trade_result", "hidst": "hi-dst/log_test_1", "somdst": "som-dst/som-dst_result",
            "trippy": "trippy/trippy_result"}  # fmt: skip
#: Their states of SOM-DST for 100 dialogues, with gold states: as fetched, or packed.
_RATED = ("human_evaluation_files", "somdst_human100.tar.gz")
#: How predictions are scored beside the test set, whose values they write in many ways.
_BESIDE_TEST = "canon"
#: The authors' script for Hi-DST calls more values equal than identical ones.
_HIDST = "hidst"
#: Two systems with this share of their dialogues in common are peers.
_SAME_DIALOGUES = 0.99
_PLAIN = "plain"
_RATES = (0, 0.1, *LAMBDAS, 2, 100)
_OF_FLAGS = ("JGA", "SA", "AGA", "RSA", "TurnMatch", *dict.fromkeys(f"FGA@{rate:g}" for rate in _RATES))
_MEASURES = (*_OF_FLAGS, "FGA@0.5(rule=code)", "FGA@0.5(rule=paper)", "RSA(empty=one)", "F1(average=turn)")
_OF_EXAMPLES = (*_MEASURES, "TurnLabel", "AGA(form=jaccard)", "AGA(form=jaccard-skip)")


def fga(paper: Paper, data: Path | None, runs: Mapping[str, Run]) -> ClaimTables:
    """Evidence of the FGA paper, whose authors compare values as they are written."""
    return _evidence(paper, data, runs, "verbatim")


def rsa(paper: Paper, data: Path | None, runs: Mapping[str, Run]) -> ClaimTables:
    """Evidence of the RSA paper."""
    return _evidence(paper, data, runs, _PLAIN)


def _evidence(paper: Paper, data: Path | None, runs: Mapping[str, Run], profile: str) -> ClaimTables:
    """``profile`` compares predictions with gold states of their own file."""
    files = _Files(data)
    models = next((list(grid.rows) for grid in paper.grids if grid.name == "table1"), [])
    systems = _Systems(files, models, runs, profile)
    examples = _Examples(paper.examples, files)
    return ClaimTables(
        {
            "systems": systems.systems,
            "peers": systems.peers,
            "scores": systems.scores,
            "turn_scores": partial(systems.each, "turn_scores"),
            "domain_scores": systems.domain_scores,
            "rating_correlations": partial(systems.each, "rating_correlations"),
            "dialogues": systems.dialogues,
            "onsets": systems.onsets,
            "example_turns": examples.turns,
            "example_scores": examples.scores,
            "example_states": examples.states,
            "printed_turns": examples.printed,
            "gold_turns": files.gold_turns,
            "gold_slots": files.gold_slots,
            "splits": files.splits,
            "sgd": files.sgd,
            "rated_turns": files.rated_turns,
            "relabelled_24": partial(files.relabelled, "2.4"),
            "relabelled_20": partial(files.relabelled, "2.0"),
            "forgetting": _forgetting,
        },
        missing_data=systems.missing,
        datasets_to_get=systems.datasets_to_get,
    )


class _Files:
    """Files below a data folder."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.read = cache(read)

    def multiwoz(self, split: str = "test", version: str = "2.1") -> list[Dialogue]:
        """The dialogues of a split, without the one that papers drop."""
        path = dataset_file(self.folder, f"multiwoz-{version}", f"{split}.json")
        if path is None:
            why = f"multiwoz-{version}/{split}.json is not here"
            raise NotComputable(why, f"dialgauge data get multiwoz-{version}")
        return [dialogue for dialogue in self.read(path).dialogues if dialogue_key(dialogue.id) != DROPPED.lower()]

    def predictions(self, model: str) -> Path | None:
        """A model's file, found by its name: that of the FGA paper's archive, or any in the folder."""
        if self.folder is None:
            return None
        folder, name = self.folder / "dst_predictions", _letters(model)
        named = [*folder.glob(f"{_ARCHIVE[name]}.*")] if name in _ARCHIVE else []
        named += [
            path
            for path in folder.glob("*")
            if _letters(path.name.partition(".")[0]).removeprefix("fga").removesuffix("result") == name
        ]
        return min(named, default=None)

    def rated_path(self) -> Path | None:
        """SOM-DST's states for the 100 dialogues that people rated."""
        return next((path for name in _RATED if (path := dataset_file(self.folder, "dst_predictions", name))), None)

    def gold_turns(self) -> pl.DataFrame:
        """dialogue, user_turn, slots filled, SA of predicting nothing."""
        test = self.multiwoz()
        turns = score(test, {"it": _silent(test)}, measures="SA", profile=_PLAIN, intervals=False)[0].table(
            "turn_scores"
        )
        return turns.select(pl.col("dialogue").cast(pl.String), "user_turn", filled="missed", sa_of_nothing="SA")

    def gold_slots(self) -> pl.DataFrame:
        """dialogue, user_turn, domain, slot of every filled slot of the test set."""
        return _frame(
            [
                (dialogue.id, number, domain, slot)
                for dialogue in self.multiwoz()
                for number, turn in enumerate(dialogue.user_turns())
                for domain, slots in (turn.state or {}).items()
                for slot, values in slots.items()
                if values
            ],
            "dialogue", "user_turn", "domain", "slot",
        )  # fmt: skip

    def splits(self) -> pl.DataFrame:
        """split, dialogues, turns, of those splits that are here."""
        rows = []
        for split, file in (("train", "train"), ("dev", "val"), ("test", "test")):
            if dataset_file(self.folder, "multiwoz-2.1", f"{file}.json") is not None:
                dialogues = self.multiwoz(file)
                turns = sum(1 for dialogue in dialogues for _ in dialogue.user_turns())
                rows.append((split, float(len(dialogues)), float(turns)))
        if not rows:
            raise NotComputable("MultiWOZ 2.1 is not here", "dialgauge data get multiwoz-2.1")
        return _frame(rows, "split", "dialogues", "turns")

    def sgd(self) -> pl.DataFrame:
        """SA of predicting nothing for each file of SGD's dev split, and how many slots its schema has."""
        names = ["schema.json", *(f"dialogues_{number:03}.json" for number in range(1, 21))]
        schema, *paths = (
            dataset_file(self.folder, "sgd", f"dev/{name}") or dataset_file(self.folder, "sgd", f"dev_{name}")
            for name in names
        )
        rows = []
        for path in paths:
            if path is not None and schema is not None:
                gold = self.read(path).dialogues
                systems = {"it": _silent(gold)}
                run = score(gold, systems, measures="SA", ontology=schema, profile="verbatim", intervals=False)[0]
                rows.append((path.name, run["SA"].value, run.details["evidence"]["slots"]))
        if not rows:
            raise NotComputable("SGD's dev split is not here", "dialgauge data get sgd")
        return _frame(rows, "file", "sa_of_nothing", "slots")

    def rated_turns(self) -> pl.DataFrame:
        """Whether a turn has its words and states, and whether the file's mark of a match is what the states say."""
        if (path := self.rated_path()) is None:
            raise NotComputable(f"dst_predictions/{_RATED[0]} is not here", "dialgauge data get dst_predictions")
        held = self.read(path)
        wrong = sum(count for note, count in held.notes.counts.items() if note_kind(note) == "contradicted_match")
        rows = []
        for dialogue in held.dialogues:
            for turn in dialogue.turns:
                is_user = turn.speaker == "user"
                whole = bool(turn.text) and not (is_user and None in (turn.state, turn.predicted))
                rows.append((dialogue_key(dialogue.id), whole, is_user, is_user and wrong <= 0))
                wrong -= is_user
        return _frame(rows, "dialogue", "whole", "marked", "marked_right")

    def relabelled(self, version: str) -> pl.DataFrame:
        """dialogue, user_turn, and whether another version of MultiWOZ has the same state."""
        states = [
            Dialogue(id=one.id, turns=tuple(Turn(speaker="user", predicted=turn.state) for turn in one.user_turns()))
            for one in self.multiwoz(version=version)
        ]
        return _same(self.multiwoz(), states)


class _Systems:
    """Systems whose predictions are here, scored, and those of stored runs."""

    def __init__(self, files: _Files, models: Sequence[str], runs: Mapping[str, Run], profile: str) -> None:
        self._files, self._models, self._given, self._profile = files, models, runs, profile
        self.missing: list[str] = []
        self.datasets_to_get: list[str] = []
        given = set(map(_letters, runs))
        self._paths = {
            name: path
            for name in (*models, *OTHERS)
            if _letters(name) not in given and (path := files.predictions(name)) is not None
        }
        if "SOM-DST" in models and "somdst" not in given and "SOM-DST" not in self._paths:
            self._paths |= {"SOM-DST": path} if (path := files.rated_path()) else {}
        lacking = [name for name in models if name not in self._paths and _letters(name) not in given]
        if lacking:
            self.missing.append(
                f"predictions of {', '.join(lacking)} (a file dst_predictions/NAME.*, or --run NAME=RUN)"
            )
            self.datasets_to_get.append("dst_predictions")
        if dataset_file(files.folder, "multiwoz-2.1", "test.json") is None:
            self.missing.append("the test set of MultiWOZ 2.1 (dialgauge data get multiwoz-2.1)")
            self.datasets_to_get.append("multiwoz-2.1")

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The runs by system; models are called as the paper calls them."""
        names = {_letters(name): name for name in self._models}
        given = {names.get(_letters(name), name): run for name, run in self._given.items()}
        runs = {**given, **{name: self._scored(name, path) for name, path in self._paths.items()}}
        if not runs:
            raise NotComputable("there are no predictions of any system", "dialgauge data get dst_predictions")
        return runs

    def _scored(self, name: str, path: Path) -> Run:
        """A file that has gold states is scored against them, another against the test set."""
        dialogues = self._files.read(path).dialogues
        turns = [turn for dialogue in dialogues for turn in dialogue.user_turns()]
        if any(turn.state is not None for turn in turns):
            gold, profile = None, _HIDST if self._profile == "verbatim" and name == "Hi-DST" else self._profile
        elif any(turn.judged is not None for turn in turns):
            gold, profile = self._gold_of_flags()
        else:
            gold, profile = self._files.multiwoz(), _BESIDE_TEST
        flags = all(turn.predicted is None for turn in turns)
        measures = _OF_FLAGS if flags else _MEASURES
        return score(gold, {name: dialogues}, measures=list(measures), profile=profile, exclude=[DROPPED])[0]

    def _gold_of_flags(self) -> tuple[Sequence[Dialogue], str]:
        """Flags do not say which slots gold fills: those of SOM-DST's file, as the authors took them, or the same
        labels from MultiWOZ 2.1 with TRADE's corrections."""
        path = self._files.predictions("SOM-DST")
        return (self._files.read(path).dialogues, _PLAIN) if path else (self._files.multiwoz(), "trade")

    def each(self, table: str) -> pl.DataFrame:
        """A table of every run that has it, with the name of the system."""
        frames = [
            run.table(table).with_columns(pl.lit(name).alias("system"), pl.col(pl.Categorical).cast(pl.String))
            for name, run in self.runs.items()
            if table in run.tables
        ]
        if not frames and table == "rating_correlations":
            raise NotComputable(
                "the ratings were not released; score with your own by 'dialgauge score --ratings FILE', and give the "
                "run by --run SOM-DST=RUN"
            )
        if not frames:
            raise NotComputable(f"no run has the table {table}")
        return pl.concat(frames, how="diagonal_relaxed")

    def domain_scores(self) -> pl.DataFrame:
        """system, domain, measure, turns that have the domain in the gold state, value, low, high."""
        parts = self.each("part_scores").filter(pl.col("by") == "domain")
        measure = pl.col("measure").str.replace(r"\[.*\]$", "")
        return parts.select("system", pl.col("part").alias("domain"), measure, "turns", "value", "low", "high")

    def systems(self) -> pl.DataFrame:
        rows = []
        for name, run in self.runs.items():
            dialogues, turns = (run.coverage[unit].scored or 0 for unit in ("dialogues", "turns"))
            whole = turns == TEST_TURNS
            how = f"profile {run.details['profile']}"
            if not whole:
                how = f"{dialogues:,} of the 999 dialogues, {turns:,} of the {TEST_TURNS:,} turns; {how}"
            rows.append((name, how, whole, name in self._models, name not in self._paths, float(dialogues)))
        return _frame(rows, "system", "how", "whole", "known", "given", "dialogues")

    def peers(self) -> pl.DataFrame:
        held = {
            name: (
                str(run.details["profile"]).replace(_HIDST, "verbatim"),
                set(map(dialogue_key, run.table("turn_scores")["dialogue"])),
            )
            for name, run in self.runs.items()
        }
        rows = []
        for name, (profile, ids) in held.items():
            alike = [
                other
                for other, (known, others) in held.items()
                if known == profile and len(ids & others) >= _SAME_DIALOGUES * len(ids | others)
            ]
            rows += [(", ".join(alike), name)] if len(alike) > 1 else []
        if not rows:
            why = "no two systems of the same dialogues and profile are here"
            raise NotComputable(why, "dialgauge data get dst_predictions")
        return _frame(rows, "peers", "system")

    def scores(self) -> pl.DataFrame:
        rows = []
        for name, run in self.runs.items():
            turns = run.table("turn_scores")
            counts = {"turns": len(turns), "exact matches (M1)": turns["exact"].sum()}
            counts |= {"turn-level matches (M2)": turns["TurnMatch"].sum()} if "TurnMatch" in turns.columns else {}
            rows += [(name, title, float(count), float(count), float(count)) for title, count in counts.items()]
            for measure, known in run.scores.items():
                if known.value is not None:
                    low, high = (known.value if end is None else end for end in (known.low, known.high))
                    rows.append((name, measure, known.value, low, high))
        return _frame(rows, "system", "measure", "value", "low", "high")

    def dialogues(self) -> pl.DataFrame:
        right, wrong = pl.col("exact"), ~pl.col("exact")
        known = self.each("turn_scores").group_by("system", "dialogue", maintain_order=True).agg(
            turns=pl.len().cast(pl.Int64),
            first_wrong=pl.when(wrong.any()).then(wrong.arg_max()).otherwise(pl.len()).cast(pl.Int64),
            exact_turns=right.sum().cast(pl.Int64),
            ends_wrong=wrong.last(),
        )  # fmt: skip
        return known.with_columns(exact_after=pl.col("exact_turns") - pl.col("first_wrong"))

    def onsets(self) -> pl.DataFrame:
        """Of the dialogues that end wrong: those exact again in between, those whose first error is early."""
        rows = []
        half = (pl.col("turns") + 1) // 2
        frame = self.dialogues().with_columns(
            early=2 * pl.col("first_wrong") < pl.col("turns"), again=pl.col("exact_after") > 0,
            chance=half / pl.col("turns"),
        )  # fmt: skip
        for (name,), all_of_it in frame.group_by("system", maintain_order=True):
            wrong = all_of_it.filter("ends_wrong")
            stays = wrong.filter(~pl.col("again"))
            ends = all_of_it["ends_wrong"]
            for what, true, of, chance in (
                ("end wrong", ends, ends | True, 0.0),
                ("exact again", ends & all_of_it["again"], ends, 0.0),
                ("early", wrong["early"], wrong["ends_wrong"], wrong["chance"].mean()),
                ("early, wrong to the end", stays["early"], stays["ends_wrong"], stays["chance"].mean()),
            ):
                if count := int(of.sum()):
                    low, high = ratio_intervals([true.cast(float)], [of.cast(float)], bounds=(0.0, 1.0))[0]
                    rows.append((name, what, int(true.sum()) / count, float(low), float(high), chance, count))
        return _frame(rows, "system", "what", "value", "low", "high", "chance", "dialogues")


class _Examples:
    """The papers' worked examples: scored, and beside the dialogue of the test set that they are."""

    def __init__(self, examples: Mapping[str, Example], files: _Files) -> None:
        self._examples, self._files = examples, files

    @cached_property
    def _runs(self) -> dict[str, Run]:
        runs = {}
        for name, example in self._examples.items():
            turns = tuple(
                Turn(speaker="user", state=_state(turn["gold"]), predicted=_state(turn["pred"]))
                for turn in example.turns
            )
            ontology = _ontology(example) if example.slots != 30 else None
            runs[name] = score(
                None, {name: [Dialogue(id="example", turns=turns)]}, measures=list(_OF_EXAMPLES), ontology=ontology,
                profile="verbatim" if ontology else _PLAIN, intervals=False,
            )[0]  # fmt: skip
        return runs

    def turns(self) -> pl.DataFrame:
        rows = []
        for name, run in self._runs.items():
            table = run.table("turn_scores")
            for measure in (column for column in table.columns if column in run.scores):
                values = enumerate(table[measure].to_list())
                rows += [(name, turn, measure, float(value)) for turn, value in values if value is not None]
        return _frame(rows, "example", "turn", "measure", "value")

    def scores(self) -> pl.DataFrame:
        rows = [
            (name, measure, known.value)
            for name, run in self._runs.items()
            for measure, known in run.scores.items()
            if known.value is not None
        ]
        return _frame(rows, "example", "measure", "value")

    def states(self) -> pl.DataFrame:
        rows = [
            (name, number, side, slot, value)
            for name, example in self._examples.items()
            for number, turn in enumerate(example.turns)
            for side, state in turn.items()
            for slot, value in state.items()
        ]
        return _frame(rows, "example", "turn", "side", "slot", "value")

    def printed(self) -> pl.DataFrame:
        """example, side (gold, or what SOM-DST predicts), turn, and whether it is the same as printed."""
        test, rated = {dialogue_key(one.id): one for one in self._files.multiwoz()}, {}
        if path := self._files.rated_path():
            rated = {dialogue_key(one.id): one for one in self._files.read(path).dialogues}
        frames = []
        for name, example in self._examples.items():
            key = dialogue_key(example.dialogue)
            printed = [{side: _state(state) for side, state in turn.items()} for turn in example.turns]
            gold = [turn.state or {} for turn in test[key].user_turns()] if key in test else []
            predicted = [turn.predicted or {} for turn in rated[key].user_turns()] if key in rated else []
            for side, pairs in (
                ("gold", [(turn["gold"], state) for turn, state in zip(printed, gold, strict=False)]),
                ("predicted", [(turn["pred"], state) for turn, state in zip(printed, predicted, strict=False)]),
            ):
                if pairs:
                    turns = tuple(Turn(speaker="user", state=state, predicted=other) for state, other in pairs)
                    same = _same(None, [Dialogue(id=name, turns=turns)])
                    frames.append(same.with_columns(side=pl.lit(side)))
        if not frames:
            raise NotComputable(
                "the test set that is here lacks the printed dialogues", "dialgauge data get multiwoz-2.1"
            )
        return pl.concat(frames).rename({"dialogue": "example", "user_turn": "turn"})


def _frame(rows: Iterable[tuple[Any, ...]], *names: str) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=list(names), orient="row", infer_schema_length=None)


def _letters(name: str) -> str:
    """``SOM-DST``, ``somdst`` and ``som_dst`` are the same model."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _silent(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """The predictions of a tracker that predicts nothing."""
    return [
        Dialogue(id=dialogue.id, turns=tuple(Turn(speaker="user", predicted={}) for _ in dialogue.user_turns()))
        for dialogue in dialogues
    ]


def _same(gold: Sequence[Dialogue] | None, others: Sequence[Dialogue]) -> pl.DataFrame:
    """dialogue, user_turn, and whether gold and predicted state are the same under the profile plain."""
    run = score(gold, {"it": others}, measures="JGA", profile=_PLAIN, intervals=False)[0]
    return run.table("turn_scores").select(pl.col("dialogue").cast(pl.String), "user_turn", same="exact")


def _state(flat: Mapping[str, str]) -> State:
    """A state from ``domain-slot`` to value, as the examples are written."""
    state: State = {}
    for name, value in flat.items():
        domain, slot = name.split("-", 1)
        state.setdefault(domain, {})[slot] = (value,)
    return state


def _ontology(example: Example) -> Ontology:
    """So many predefined slots, those of the example among them."""
    used = sorted({slot for turn in example.turns for state in turn.values() for slot in state})
    names = [*used, *(f"more-slot{number}" for number in range(example.slots - len(used)))]
    domains: dict[str, dict[str, SlotSpec]] = {}
    for domain, slot in (name.split("-", 1) for name in names):
        domains.setdefault(domain, {})[slot] = SlotSpec()
    return Ontology(domains=domains)


def _forgetting() -> pl.DataFrame:
    rows = [(turns, share / 20, forgetting_rate(turns, share / 20)) for turns in range(1, 20) for share in range(20)]
    return _frame(rows, "t_f", "p", "rate")
