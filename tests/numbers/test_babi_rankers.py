"""The rankers without training on simulated bAbI dialogs, reply by reply, against a second implementation.

Notices: one reply or dialogue missing, the rank or the chosen text of another reply, tasks, splits or models swapped,
the last digit of a score.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import babi_oracle as oracle
import numpy as np
import pytest
import surface
from documents import long

TASKS = (1, 3, 5)
SPLITS = ("tst", "tst-OOV")
CELLS = [(task, split) for task in TASKS for split in SPLITS]


class Release:
    """A folder of bAbI files, read here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.candidates = oracle.candidates(folder / "dialog-babi-candidates.txt")
        self.types = oracle.knowledge_base(folder / "dialog-babi-kb-all.txt")

    def dialogs(self, task: int, split: str) -> list[list[oracle.Question]]:
        [path] = self.folder.glob(f"dialog-babi-task{task}-*-{split}.txt")
        return oracle.dialogs(path)

    def scores(self, model: str, task: int, asked: list[oracle.Question]) -> Any:
        if model == "nearest":
            return oracle.nearest(self.dialogs(task, "trn"), asked, self.candidates)
        if model == "tfidf":
            return oracle.tfidf(asked, self.candidates, {}, 0)
        return oracle.tfidf(asked, self.candidates, self.types, self._weight(task))

    @cache  # noqa: B019
    def _weight(self, task: int) -> float:
        """The first weight that gets most replies of the development dialogs right."""
        asked = [question for dialog in self.dialogs(task, "dev") for question in dialog]
        gold = [self.candidates.index(question.reply) for question in asked]
        right = [
            sum(rank == 1 for _, rank in oracle.ranking(oracle.tfidf(asked, self.candidates, self.types, weight), gold))
            for weight in oracle.TYPE_WEIGHTS
        ]
        return oracle.TYPE_WEIGHTS[int(np.argmax(right))]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("simulated") / "babi"
    return Release(surface.simulated_restaurants(folder, tasks="1,3,5", dialogues=4, seed=3))


@pytest.fixture(scope="module")
def found(release: Release, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int, str], Any]:
    folder = tmp_path_factory.mktemp("rankers")
    models = "rules,nearest,tfidf,tfidf-type"
    return surface.reply_scores(folder, release.folder, models, "1,3,5", ",".join(SPLITS))


@pytest.mark.parametrize("model", [long("nearest"), "tfidf", long("tfidf-type")])
def test_every_reply(model: str, release: Release, found: dict[tuple[str, int, str], Any]) -> None:
    for task, split in CELLS:
        asked = [question for dialog in release.dialogs(task, split) for question in dialog]
        gold = [release.candidates.index(question.reply) for question in asked]
        scores = release.scores(model, task, asked)
        expected = oracle.ranking(scores, gold)
        replies = surface.ranked_replies(found[model, task, split]["run"])
        assert [row[3] for row in replies] == [question.reply for question in asked]
        assert [(row[4], row[6]) for row in replies] == [
            (release.candidates[chosen], rank) for chosen, rank in expected
        ], (task, split)
        assert [row[5] for row in replies] == [rank == 1 for _, rank in expected]
        ties = sum(int((row == row.max()).sum() > 1) for row in scores)
        assert found[model, task, split]["top_ties"] == ties


def test_the_rules_solve_the_tasks(found: dict[tuple[str, int, str], Any]) -> None:
    """Which includes that gold replies score 1 in every measure."""
    for task, split in CELLS:
        assert set(found["rules", task, split]["values"].values()) == {1}
        assert found["rules", task, split]["unanswered"] == 0


def test_scores_follow_from_ranks(release: Release, found: dict[tuple[str, int, str], Any]) -> None:
    for (_, task, split), cell in found.items():
        by_dialog: dict[str, list[int]] = {}
        for dialogue, *_, rank in surface.ranked_replies(cell["run"]):
            by_dialog.setdefault(dialogue, []).append(rank)
        dialogs = release.dialogs(task, split)
        assert [len(ranks) for ranks in by_dialog.values()] == [len(dialog) for dialog in dialogs]
        assert cell["values"] == pytest.approx(oracle.measures(list(by_dialog.values())), abs=1e-12)
        for name in ("per-response", "per-dialog"):
            sums = surface.by_dialogue(cell["run"], name)
            assert sums.keys() == by_dialog.keys()
            for dialogue, (num, den) in sums.items():
                right = [rank == 1 for rank in by_dialog[dialogue]]
                assert (num, den) == ((sum(right), len(right)) if name == "per-response" else (all(right), 1))


def test_classes_of_replies(release: Release, found: dict[tuple[str, int, str], Any]) -> None:
    for (_, task, split), cell in found.items():
        classes: list[str] = []
        for dialog in release.dialogs(task, split):
            calls = 0
            for question in dialog:
                classes.append(oracle.reply_class(question.reply, calls))
                calls += question.reply.startswith("api_call ")
        replies = surface.ranked_replies(cell["run"])
        assert [row[2] for row in replies] == classes
        right = Counter(row[2] for row in replies if row[5])
        assert cell["classes"] == {name: (right[name], total) for name, total in Counter(classes).items()}
