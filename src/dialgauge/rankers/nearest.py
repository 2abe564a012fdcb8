"""Nearest neighbour: answer with the reply that followed the most similar user utterance of the training dialogs.

Training utterances are grouped by their set of words; similarity is the number of shared words; the first group seen
wins a tie, and within a group the most frequent reply, the first seen among equals. The paper (Bordes et al. 2017,
section 4.2) says only "word overlap"; the rest is our choice, and it meets the printed 21.9 on task 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.rankers.bags import WordIndex, tokens
from dialgauge.rankers.episode import Point
from dialgauge.rankers.ranker import Ranker, ScoreMatrix, Tell, silent
from dialgauge.rankers.task import RankingTask


class NearestNeighbour(Ranker):
    """The reply to the training utterance that shares most words."""

    name = "nearest"
    summary = "nearest neighbour: the reply to the most similar training utterance"

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        groups: dict[tuple[str, ...], Counter[str]] = {}
        for episode in task.split("trn"):
            for at in episode.prompts:
                words = tuple(sorted(set(tokens(episode.lines[at].text))))
                groups.setdefault(words, Counter())[episode.lines[at + 1].text] += 1
        tell(f"{len(groups):,} different utterances in training")
        self.candidates = task.candidates
        answers = [max(replies, key=lambda reply: replies[reply]) for replies in groups.values()]
        self._prepare([" ".join(words) for words in groups], np.array([task.index[answer] for answer in answers]))

    def _prepare(self, groups: list[str], answers: NDArray[np.int64]) -> None:
        self._groups, self._answers = groups, answers
        self._vocabulary = WordIndex.of_texts(groups)
        self._bags = self._vocabulary.bags(groups).transposed()

    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        queries = self._vocabulary.bags([" ".join(dict.fromkeys(tokens(point.utterance))) for point in points])
        nearest = queries.times(self._bags).argmax(axis=1)
        scores = np.zeros((len(points), len(self.candidates)))
        scores[np.arange(len(points)), self._answers[nearest]] = 1.0
        return scores

    def understands(self, utterance: str) -> bool:
        return any(word in self._vocabulary.index for word in tokens(utterance))

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        index = {text: position for position, text in enumerate(candidates)}
        known = [self.candidates[answer] for answer in self._answers]
        missing = next((text for text in known if text not in index), None)
        if missing is not None:
            raise DialgaugeError(f"the model {self.name} learned the reply {missing!r}, which is no candidate there")
        self.candidates = tuple(candidates)
        self._answers = np.array([index[text] for text in known])

    def settings(self) -> dict[str, Any]:
        return {"utterances": self._groups}

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {"answers": self._answers}

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        groups, answers = list(settings["utterances"]), arrays["answers"]
        if answers.shape != (len(groups),) or not np.isin(answers, np.arange(len(self.candidates))).all():
            raise ValueError("the answers are not one candidate for each utterance")
        self._prepare(groups, answers)
