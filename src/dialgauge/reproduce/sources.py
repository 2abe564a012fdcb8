"""Where the papers' numbers come from: files of a data folder, our files of what is printed, printed dialogues."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from dialgauge.data import dataset_file
from dialgauge.dialogue import Dialogue, State, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.rendering import Column, Table
from dialgauge.reproduce.reproduction import Reproduction
from dialgauge.runs import Run
from dialgauge.text import note_kind
from dialgauge.tracking import score
from dialgauge.yaml_file import shipped_yaml

#: Said where the test dialogues are missing.
NO_TEST = "multiwoz-2.1/test.json is not present"

#: Systems that are none of the papers', but whose states for the test set are public.
OTHER_SYSTEMS = ("augpt", "dots", "mintl", "ubar")

#: How predictions without gold states are scored, beside those of MultiWOZ 2.1: systems and the test set write values
#: in many ways (``18 :00``), which this profile brings together.
BESIDE_TEST = "canon"

#: A model, and the names its result file may have: first that in the archive of the FGA paper's authors.
RESULT_FILES = {
    "TRADE": ("trade/trade_result", "fga_trade"),
    "Hi-DST": ("hi-dst/log_test_1", "fga_hi-dst", "fga_hidst"),
    "SOM-DST": ("som-dst/som-dst_result", "fga_som-dst", "fga_somdst"),
    "Trippy": ("trippy/trippy_result", "fga_trippy", "trippy_result"),
}

#: TRADE-style preprocessing drops this dialogue (one utterance is too long), so papers report 999 of 1,000.
DROPPED = "PMUL1455"

#: As fetched, a folder; or packed, by hand.
HUMAN_100 = "human_evaluation_files"
_HUMAN_100_PACKED = "somdst_human100.tar.gz"


_PREDICTIONS = "dst_predictions"


class Sources:
    """Files below a data folder; a file that is not there is None."""

    def __init__(self, folder: Path | None, systems: Mapping[str, Path] | None = None) -> None:
        self.folder = folder
        self._given = dict(systems or {})
        #: Many statements are about the same few files.
        self._read = cache(read)

    def given(self, model: str) -> Sequence[Dialogue] | None:
        """A system's predictions that the caller named."""
        named = (path for name, path in self._given.items() if _letters(name) == _letters(model))
        path = next(named, None)
        return None if path is None else self._read(path).dialogues

    def given_beside(self, models: Iterable[str]) -> list[str]:
        known = {_letters(model) for model in models}
        return [name for name in self._given if _letters(name) not in known]

    def archived(self, model: str) -> Sequence[Dialogue] | None:
        """A model's result file of the FGA paper's authors."""
        return self.predictions(*archive_names(model))

    def human_100(self) -> Sequence[Dialogue] | None:
        """SOM-DST's states for the 100 dialogues of the FGA paper's human evaluation, gold beside them."""
        path = self._human_100_path()
        return self._read(path).dialogues if path else None

    def _human_100_path(self) -> Path | None:
        names = (HUMAN_100, _HUMAN_100_PACKED)
        return next((path for name in names if (path := dataset_file(self.folder, _PREDICTIONS, name))), None)

    def wrongly_marked(self) -> int:
        """In how many turns of those 100 dialogues the authors' mark of a match contradicts the states."""
        path = self._human_100_path()
        notes = self._read(path).notes.counts if path else {}
        return sum(count for note, count in notes.items() if note_kind(note) == "contradicted_match")

    def multiwoz(self, split: str, version: str = "2.1") -> list[Dialogue] | None:
        """The dialogues of MultiWOZ (``test``, ``val`` or ``train``), without the one that papers drop."""
        path = dataset_file(self.folder, f"multiwoz-{version}", f"{split}.json")
        if path is None:
            return None
        return [dialogue for dialogue in self._read(path).dialogues if dialogue_key(dialogue.id) != DROPPED.lower()]

    def predictions(self, *names: str) -> Sequence[Dialogue] | None:
        """A system's predictions on the whole test set: ``dst_predictions/NAME.*``, the first name that is there."""
        for name in names if self.folder else ():
            for path in sorted(self.folder.glob(f"{_PREDICTIONS}/{name}.*") if self.folder else ()):
                return self._read(path).dialogues
        return None


def _letters(name: str) -> str:
    """``SOM-DST``, ``somdst`` and ``som_dst`` are the same model."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def archive_names(model: str) -> tuple[str, ...]:
    """The names that a model's result file may have; none for a model that is not in the archive."""
    return next((names for name, names in RESULT_FILES.items() if _letters(name) == _letters(model)), ())


#: The MultiWOZ 2.1 test set as papers score it.
TEST_DIALOGUES, TEST_TURNS = 999, 7368


def part_of_test(scores: Run) -> str:
    """Where a file is not the whole test set: what it has of it; else empty."""
    dialogues, turns = (scores.coverage[unit].scored or 0 for unit in ("dialogues", "turns"))
    if (dialogues, turns) == (TEST_DIALOGUES, TEST_TURNS):
        return ""
    return f"this file has {dialogues:,} of the {TEST_DIALOGUES} dialogues, {turns:,} of the {TEST_TURNS:,} turns"


def scored(
    name: str,
    dialogues: Sequence[Dialogue],
    measures: Sequence[str] | None,
    profile: str,
    gold: Sequence[Dialogue] | None = None,
    exclude: Sequence[str] = (),
) -> Run:
    """One system's scores; an error names it, and advises no option that ``reproduce`` lacks."""
    try:
        return score(gold, {name: dialogues}, measures=measures, profile=profile, exclude=exclude)[0]
    except DialgaugeError as error:
        if error.finding == error.message:
            raise
        raise DialgaugeError(
            error.finding,
            file=error.file,
            example=error.example,
            advice="reproduce takes the file as it is: correct it, or use 'dialgauge score', which can be told",
        ) from error


def interval_of(scores: Run, measure: str) -> tuple[float, float]:
    """The interval of a score."""
    return scores[measure].low or 0.0, scores[measure].high or 0.0


def with_gold(predictions: Sequence[Dialogue], gold: Sequence[Dialogue] | None) -> tuple[list[Dialogue], str] | None:
    """Predictions with gold states inside, and the profile to score them with: their own, or those of the test set.

    None where neither is there, or where there are marks of what is right and no states.
    """
    if any(turn.state is not None for dialogue in predictions for turn in dialogue.user_turns()):
        return list(predictions), PROFILE
    if gold is None or all(turn.predicted is None for dialogue in predictions for turn in dialogue.user_turns()):
        return None
    joined = _joined(
        gold, {prediction.id: [turn.predicted for turn in prediction.user_turns()] for prediction in predictions}
    )
    return joined, BESIDE_TEST


def _joined(gold: Sequence[Dialogue], states_of: Mapping[str, Sequence[State | None]]) -> list[Dialogue]:
    """Gold states beside those of the same dialogues."""
    by_id = {dialogue_key(name): states for name, states in states_of.items()}
    joined = []
    for dialogue in gold:
        states = by_id.get(dialogue_key(dialogue.id))
        if states is None:
            continue
        labels = [turn.state for turn in dialogue.user_turns()]
        if len(states) != len(labels):
            raise DialgaugeError(
                f"it has {len(states)} user turns, where the test set has {len(labels)}", file=dialogue.id
            )
        pairs = zip(labels, states, strict=True)
        turns = (Turn(speaker="user", state=label, predicted=state) for label, state in pairs)
        joined.append(Dialogue(id=dialogue.id, turns=tuple(turns)))
    if not joined:
        raise DialgaugeError("none of the predicted dialogues is in the MultiWOZ 2.1 test set")
    return joined


def relabelled(record: Reproduction, part: str, what: str, sources: Sources, version: str) -> None:
    """How many states of MultiWOZ 2.1 are others in another version; many, or some mended: at least one turn in 100."""
    ours, theirs = sources.multiwoz("test"), sources.multiwoz("test", version)
    if ours is None or theirs is None:
        why = (
            f"the labels of MultiWOZ {version} are not present: 'dialgauge data get multiwoz-{version}', then run again"
        )
        record.impossible(part, what, "claimed", NO_TEST if ours is None else why)
        return
    joined = _joined(ours, {one.id: [turn.state for turn in one.user_turns()] for one in theirs})
    run = score(None, {version: joined}, measures="JGA", profile=PROFILE, intervals=False)[0]
    exact = run.table("turn_scores")["exact"].to_list()
    note = f"turns of the test set with another state in {version}, compared under the profile plain"
    record.share(part, what, len(exact) - sum(exact), len(exact), "turns", more_than=0.01, note=note)


def other_systems(sources: Sources, measures: Sequence[str]) -> dict[str, Run]:
    """Systems that are none of the papers', on the whole test set."""
    test = sources.multiwoz("test")
    states = {
        name: predicted for name in OTHER_SYSTEMS if test and (predicted := sources.predictions(name)) is not None
    }
    return {
        name: score(test, {name: dialogues}, measures=measures, profile=BESIDE_TEST, intervals=False)[0]
        for name, dialogues in states.items()
    }


#: The authors' script for Hi-DST calls more values equal than identical ones; the paper ranks it with the others.
_SAME_RULES = {"hidst": "verbatim"}
#: Systems that have this share of their dialogues in common are ranked together.
_SAME_DIALOGUES = 0.99


def rankable(runs: Mapping[str, Run]) -> list[list[str]]:
    """Names of the systems that may be ranked together: of the same profile and, nearly, of the same dialogues."""
    groups: list[tuple[str, set[str], list[str]]] = []
    for name, run in runs.items():
        profile = str(run.details["profile"])
        rules, ids = _SAME_RULES.get(profile, profile), set(map(dialogue_key, run.table("turn_scores")["dialogue"]))
        for others, known, names in groups:
            if rules == others and len(ids & known) >= _SAME_DIALOGUES * len(ids | known):
                names.append(name)
                break
        else:
            groups.append((rules, ids, [name]))
    return [names for *_, names in groups]


def unranked(groups: Sequence[Sequence[str]]) -> list[str]:
    """A sentence about systems that are not ranked together."""
    if len(groups) < 2:
        return []
    shown = "; ".join(", ".join(names) for names in groups)
    return [f"Not compared with each other, as their dialogues or profiles differ: {shown}."]


def user_turns(dialogues: Sequence[Dialogue]) -> int:
    """The number of user turns."""
    return sum(1 for dialogue in dialogues for _ in dialogue.user_turns())


def silent(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """The predictions of a tracker that predicts nothing."""
    return [
        Dialogue(id=dialogue.id, turns=tuple(Turn(speaker="user", predicted={}) for _ in dialogue.user_turns()))
        for dialogue in dialogues
    ]


# What the papers print, from our YAML files, and their worked examples as scored dialogues.

#: The examples' states, written as the papers print them; slot accuracy counts MultiWOZ's 30 slots.
PROFILE = "plain"


def published(paper: str) -> dict[str, Any]:
    """The content of our file with what a paper prints."""
    return shipped_yaml("dialgauge.reproduce", "published", f"{paper}.yaml").as_mapping("what a paper prints")


def example(turns: Sequence[Mapping[str, Mapping[str, str]]], measures: Sequence[str]) -> Run:
    """Scores of one dialogue given as gold and predicted states; keys are ``domain-slot``."""
    states = [Turn(speaker="user", state=state_of(turn["gold"]), predicted=state_of(turn["pred"])) for turn in turns]
    dialogue = Dialogue(id="example", turns=tuple(states))
    return score(None, {"example": [dialogue]}, measures=measures, profile=PROFILE, intervals=False)[0]


def state_of(flat: Mapping[str, str]) -> State:
    """A state from ``domain-slot`` to value, as our files of printed examples have it."""
    state: State = {}
    for name, value in flat.items():
        domain, slot = name.split("-", 1)
        state.setdefault(domain, {})[slot] = (value,)
    return state


def marks(values: Sequence[object]) -> str:
    """A row of ones and zeros, as the papers' examples are kept in our files.

    >>> marks([True, False, True])
    '1 0 1'
    """
    return " ".join("1" if value else "0" for value in values)


# The papers' printed dialogues beside the test set.


def accumulates(record: Reproduction, part: str, what: str, sources: Sources) -> None:
    """Whether a gold state of the test set has the slots of the one before."""
    test = sources.multiwoz("test")
    if test is None:
        record.impossible(part, what, "claimed", NO_TEST)
        return
    kept = turns = 0
    for dialogue in test:
        states = [_slots(turn.state) for turn in dialogue.user_turns()]
        turns += len(states) - 1
        kept += sum(before <= after for before, after in pairwise(states))
    note = "turns of the test set that keep every slot of the turn before"
    record.share(part, what, kept, turns, "turns", more_than=0.95, note=note)


def _slots(state: State | None) -> set[tuple[str, str]]:
    return {(domain, slot) for domain, slots in (state or {}).items() for slot, values in slots.items() if values}


def gold_of_test(record: Reproduction, part: str, table: Mapping[str, Any], sources: Sources) -> None:
    """Whether a printed dialogue has the gold states of the test set."""
    what = "the gold states are those of the test set"
    gold = _test_dialogue(table, sources)
    if gold is None:
        record.impossible(part, what, "claimed", NO_TEST)
        return
    shared = same_turns(table["turns"], "gold", [turn.state or {} for turn in gold.user_turns()])
    note = f"{table['dialogue']}, compared under the profile plain"
    record.share(part, what, shared, len(table["turns"]), "turns", note=note)


def words_of_test(record: Reproduction, part: str, table: Mapping[str, Any], sources: Sources) -> None:
    """Whether a printed dialogue has the words of the test set, and those words as a table.

    Our files have a checksum of each printed turn, never its words.
    """
    what = "the utterances are those of the test set"
    dialogue = _test_dialogue(table, sources)
    if dialogue is None:
        record.impossible(part, what, "claimed", NO_TEST)
        return
    heard = _exchanges(dialogue)
    shared = sum(digest == checksum(*texts) for digest, texts in zip(table["words"], heard, strict=False))
    note = f"{table['dialogue']}, by letters and digits, n't, 'm and 'd written out"
    record.share(part, what, shared, len(table["words"]), "turns", note=note)
    shown = Table(f"{part}: the words", [Column("turn", align="right"), "system", "user"])
    for turn, (system, user) in enumerate(heard[: len(table["words"])]):
        shown.add(turn, system or None, user)
    record.tables.setdefault(part, []).append(shown)


def _test_dialogue(table: Mapping[str, Any], sources: Sources) -> Dialogue | None:
    key = dialogue_key(table["dialogue"])
    return next((dialogue for dialogue in sources.multiwoz("test") or () if dialogue_key(dialogue.id) == key), None)


def _exchanges(dialogue: Dialogue) -> list[tuple[str, str]]:
    """What the system said, and what the user then said, turn by turn."""
    question, pairs = "", []
    for turn in dialogue.turns:
        if turn.speaker == "user":
            pairs.append((question, turn.text or ""))
        question = turn.text or ""
    return pairs


_WRITTEN_OUT = {"n't": " not", "'m": " am", "'d": " would"}


def checksum(*texts: str) -> str:
    """The checksum of the letters and digits of texts, whatever their case, spaces and marks.

    >>> checksum("I do n't care .") == checksum("i do not care")
    True
    """
    joined = " ".join(texts).casefold()
    for short, long in _WRITTEN_OUT.items():
        joined = joined.replace(short, long)
    return hashlib.sha256("".join(filter(str.isalnum, joined)).encode()).hexdigest()[:8]


def same_turns(printed: Sequence[Mapping[str, Mapping[str, str]]], side: str, states: Sequence[State]) -> int:
    """In how many turns printed states are these."""
    pairs = zip(printed, states, strict=False)
    turns = (Turn(speaker="user", state=state_of(turn[side]), predicted=state) for turn, state in pairs)
    dialogue = Dialogue(id="printed", turns=tuple(turns))
    scores = score(None, {"it": [dialogue]}, measures="JGA", profile=PROFILE, intervals=False)[0]
    return int(sum(scores.table("turn_scores")["exact"].to_list()))
