"""Evidence on the GCDF1 paper's user: the tables of a scored run, and what was said and heard.

``scores``        of the released conversations and of people's (``whose``), with and without the canonical map
``lab_scores``, ``lab_bars``, ``lab_facts``   the same of conversations of lab runs, with ``run``
``bars``, ``bar_slots``, ``totals``   the paper's figures: heights by bar and domain, dialogues by slot, cases by domain
``behaviours``, ``patterns``, ``loops``, ``confusions``, ``conversation_facts``, ``normalisation``   tables of the run
``utterances``    dialogue, turn, speaker, text, whether it is known what was meant and what was heard
``exchanges``     every system turn with what the user heard of it, and answers
``free_answers``  every dontcare of the user: whether a question was meant, only heard, or an invitation to book
``goals``, ``map``, ``people``, ``people_acts``   goals; the canonical map; what people do in MultiWOZ 2.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from dialgauge import users
from dialgauge.data import dataset_file
from dialgauge.dialogue import Act, Dialogue, Turn, dialogue_key
from dialgauge.formats import SPECIAL, read
from dialgauge.reproduce.claims import Paper
from dialgauge.reproduce.evidence import ClaimTables, NotComputable
from dialgauge.runs import Run

_CONVERSATIONS, _MAP = "conversations", "multiwoz21_canonical_map.json"
_DOMAINS = ("attraction", "hotel", "restaurant", "taxi", "train")
_NOTBOOK = {
    "igcd_f1.constraints_not_in_goal.auto_matching.slot_value_pairs": {name: {"notbook": ["none"]} for name in _DOMAINS}
}
_FREE = "dontcare"
_PHRASES = ("specific ideas in mind", "anything in particular", "particular you are looking for")
_ASKED = ("name", "type")


def evidence(paper: Paper, data: Path | None, runs: Mapping[str, Run]) -> ClaimTables:
    """``runs`` are lab runs by name, whose conversations are scored as the released ones are."""
    user = _User(data, runs)
    names = (
        "scores", "lab_scores", "lab_bars", "lab_facts", "bars", "bars_listed", "bar_slots", "totals", "utterances",
        "exchanges", "free_answers", "goals", "map", "settings", "people", "people_acts",
    )  # fmt: skip
    tables: dict[str, Callable[[], pl.DataFrame]] = {name: getattr(user, name) for name in names}
    for name in ("behaviours", "patterns", "loops", "confusions", "conversation_facts", "normalisation"):
        tables[name] = partial(user.table, name)
    missing, datasets_to_get = [], []
    for dataset, path, what in (
        ("gcdf1", user.folder and user.map_file, "the released conversations and their canonical map"),
        ("multiwoz-2.1", user.test_file, "people's conversations in MultiWOZ 2.1"),
    ):
        if path is None:
            missing.append(f"{what} (dialgauge data get {dataset})")
            datasets_to_get.append(dataset)
    return ClaimTables(tables, missing_data=missing, datasets_to_get=datasets_to_get)


class _User:
    """The user of the released conversations, scored, and people beside it."""

    def __init__(self, data: Path | None, runs: Mapping[str, Run]) -> None:
        self.folder = dataset_file(data, "gcdf1", _CONVERSATIONS)
        self.map_file = dataset_file(data, "gcdf1", _MAP)
        self.test_file = dataset_file(data, "multiwoz-2.1", "test.json")
        self._runs = runs

    def _scored(self, path: Path | None, overrides: Mapping[str, Any] | None = None, *, mapped: bool = True) -> Run:
        if path is None or self.map_file is None:
            dataset = "gcdf1" if self.folder is None or self.map_file is None else "multiwoz-2.1"
            raise NotComputable("the conversations are not here", f"dialgauge data get {dataset}")
        values = self.map_file if mapped else None
        return users.score_users(path, canonical_map=values, overrides=overrides, resamples=0)[0]

    @cached_property
    def run(self) -> Run:
        return self._scored(self.folder)

    def table(self, name: str) -> pl.DataFrame:
        return self.run.table(name)

    @cached_property
    def _people(self) -> Run:
        return self._scored(self.test_file)

    @cached_property
    def _held(self) -> Sequence[Dialogue]:
        if self.folder is None:
            raise NotComputable("the conversations are not here", "dialgauge data get gcdf1")
        return read(self.folder).dialogues

    @cached_property
    def _test(self) -> Sequence[Dialogue]:
        if self.test_file is None:
            raise NotComputable("multiwoz-2.1/test.json is not here", "dialgauge data get multiwoz-2.1")
        return read(self.test_file).dialogues

    def scores(self) -> pl.DataFrame:
        runs = {("released", "map"): self.run, ("released", "no map"): self._scored(self.folder, mapped=False)}
        if self.test_file is not None:
            runs |= {("people", "map"): self._people, ("people", "no map"): self._scored(self.test_file, mapped=False)}
        rows = [(*of, *score) for of, run in runs.items() for score in _values(run)]
        return pl.DataFrame(rows, schema=["whose", "spelling", "measure", "value"], orient="row")

    @cached_property
    def _lab(self) -> dict[str, Run]:
        if not self._runs:
            raise NotComputable("no lab run is given: make one with 'dialgauge lab run' and add --run baseline=RUN")
        return {
            name: users.score_users(list(run.dialogues()), canonical_map=self.map_file, resamples=0)[0]
            for name, run in self._runs.items()
        }

    def lab_scores(self) -> pl.DataFrame:
        rows = [(name, *score) for name, run in self._lab.items() for score in _values(run)]
        return pl.DataFrame(rows, schema=["run", "measure", "value"], orient="row")

    def lab_bars(self) -> pl.DataFrame:
        frames = [_bars(users.paper_figures(run)).with_columns(run=pl.lit(name)) for name, run in self._lab.items()]
        return pl.concat(frames)

    def lab_facts(self) -> pl.DataFrame:
        return pl.concat(
            run.table("conversation_facts").with_columns(run=pl.lit(name)) for name, run in self._lab.items()
        )

    @cached_property
    def _figures(self) -> list[users.PaperFigure]:
        return users.paper_figures(self.run)

    def bars(self) -> pl.DataFrame:
        return _bars(self._figures)

    def bars_listed(self) -> pl.DataFrame:
        """The same where the configuration lists notbook=none as a pair to be matched."""
        return _bars(users.paper_figures(self._scored(self.folder, _NOTBOOK)))

    def bar_slots(self) -> pl.DataFrame:
        rows = [
            (figure.key, bar, domain, slot, count)
            for figure in self._figures
            for bar, domains in figure.slots.items()
            for domain, slots in domains.items()
            for slot, count in slots.items()
        ]
        return pl.DataFrame(rows, schema=["figure", "bar", "domain", "slot", "dialogues"], orient="row")

    def totals(self) -> pl.DataFrame:
        rows = [(figure.key, domain, count) for figure in self._figures for domain, count in figure.totals.items()]
        return pl.DataFrame(rows, schema=["figure", "domain", "cases"], orient="row")

    def settings(self) -> pl.DataFrame:
        distance = 1 - users.load_config().igcd_f1.value_matching.fuzzy_match_threshold
        return pl.DataFrame({"distance": [round(distance, 6)]})

    def utterances(self) -> pl.DataFrame:
        rows = [
            (dialogue.id, number, turn.speaker, turn.text or "", turn.acts is not None, turn.heard is not None,
             number == len(dialogue.turns) - 1)
            for dialogue in self._held
            for number, turn in enumerate(dialogue.turns)
        ]  # fmt: skip
        names = ["dialogue", "turn", "speaker", "text", "meant", "heard", "last"]
        return pl.DataFrame(rows, schema=names, orient="row")

    def goals(self) -> pl.DataFrame:
        """dialogue, its domains, whether a booking fails, whether it is of the MultiWOZ 2.1 test set."""
        known = {dialogue_key(dialogue.id) for dialogue in self._test}
        rows = [
            (dialogue.id, list(dialogue.goal.tasks), any(task.fail_book for task in dialogue.goal.tasks.values()),
             dialogue_key(dialogue.id) in known, len(known))
            for dialogue in self._held
            if dialogue.goal
        ]  # fmt: skip
        names = ["dialogue", "domains", "booking_fails", "in_test", "test_dialogues"]
        return pl.DataFrame(rows, schema=names, orient="row")

    def exchanges(self) -> pl.DataFrame:
        """Of attractions: whether a misleading phrase is said, and a request for name or type heard but not said."""
        rows = []
        for dialogue, number, turn, answer in _exchanges(self._held):
            free = [act for act in answer.acts or () if _FREE in act.values]
            constrained = any(
                act.domain == "attraction" and act.values and _FREE not in act.values
                for earlier in dialogue.turns[:number]
                for act in (earlier.acts or () if earlier.speaker == "user" else ())
            )
            heard = _asks(turn.heard)
            following = dialogue.turns[number + 2 : number + 3]
            rows.append((
                dialogue.id, number, _phrased(turn), heard, heard and not _asks(turn.acts), bool(free),
                any(act.slot in _ASKED for act in free), constrained, any(map(_phrased, following)),
            ))  # fmt: skip
        names = ["dialogue", "turn", "phrased", "heard", "misheard", "free", "free_here", "constrained", "again"]
        return pl.DataFrame(rows, schema=names, orient="row")

    def free_answers(self) -> pl.DataFrame:
        rows = []
        for dialogue, number, turn, answer in _exchanges(self._held):
            for act in (act for act in answer.acts or () if _FREE in act.values):
                meant = any(said.intent == "request" and said.slot == act.slot for said in turn.acts or ())
                heard = any(
                    one.intent in ("request", "select") and (one.slot, one.domain) == (act.slot, act.domain)
                    for one in turn.heard or ()
                )
                invited = any(said.intent == "offerbook" for said in turn.acts or ())
                rows.append((dialogue.id, number, act.domain or "", act.slot, meant, heard and not meant, invited))
        names = ["dialogue", "turn", "domain", "slot", "meant", "only_heard", "invited"]
        return pl.DataFrame(rows, schema=names, orient="row")

    def map(self) -> pl.DataFrame:
        """slot, list, canonical value, whether goals have it, text: every surface form of the canonical map."""
        if self.map_file is None:
            raise NotComputable("the canonical map is not here", "dialgauge data get gcdf1")
        rows = []
        for slot, content in users.load_map(self.map_file).items():
            for number, table in enumerate([content] if SPECIAL in content else content.values()):
                for place, (value, texts, in_goal) in enumerate(_lists(table)):
                    rows += [(slot, f"{number}.{place}", value, in_goal, text) for text in texts or [""]]
        return pl.DataFrame(rows, schema=["slot", "list", "value", "in_goal", "text"], orient="row")

    def people(self) -> pl.DataFrame:
        """behaviour, and in how many of how many test dialogues acts have values, so that they are scored."""
        coverage = self._people.coverage["dialogues"]
        frame = self._people.table("behaviours").select("behaviour")
        return frame.with_columns(scored=pl.lit(coverage.scored), of=pl.lit(coverage.read))

    def people_acts(self) -> pl.DataFrame:
        slots = [act.slot for dialogue in self._test for turn in dialogue.turns for act in turn.acts or ()]
        return pl.DataFrame({"slot": slots})


def _values(run: Run) -> list[tuple[str, float]]:
    return [(measure, score.value) for measure, score in run.scores.items() if score.value is not None]


def _bars(figures: Sequence[users.PaperFigure]) -> pl.DataFrame:
    """figure, bar, its words, domain, height: shares as fractions."""
    rows = [
        (figure.key, bar, users.BAR_WORDS[bar], domain, height / 100 if figure.unit == "percent" else float(height))
        for figure in figures
        for bar, heights in figure.bars.items()
        for domain, height in heights.items()
    ]
    return pl.DataFrame(rows, schema=["figure", "bar", "words", "domain", "height"], orient="row")


def _exchanges(held: Sequence[Dialogue]) -> Iterator[tuple[Dialogue, int, Turn, Turn]]:
    """Each system turn with its number and the user's answer."""
    for dialogue in held:
        for number, (turn, answer) in enumerate(zip(dialogue.turns, dialogue.turns[1:], strict=False)):
            if turn.speaker == "system":
                yield dialogue, number, turn, answer


def _asks(acts: Sequence[Act] | None) -> bool:
    return any(act.intent == "request" and act.domain == "attraction" and act.slot in _ASKED for act in acts or ())


def _phrased(turn: Turn) -> bool:
    return turn.speaker == "system" and any(phrase in (turn.text or "").casefold() for phrase in _PHRASES)


def _lists(table: Mapping[str, Any]) -> Iterator[tuple[str, list[str], bool]]:
    """The lists of surface forms of a slot: those of its values, and of values that no goal has."""
    yield from ((value, texts, True) for value, texts in table.items() if value != SPECIAL)
    for value, entry in table[SPECIAL]["not_in_goal"].items():
        if isinstance(entry, dict):
            yield from ((inner, texts, False) for inner, texts in entry.items())
        elif isinstance(entry, list):
            yield value, entry, False
