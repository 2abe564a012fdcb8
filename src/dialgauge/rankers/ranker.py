"""What a ranker is: fitted on a task's training and development dialogs, it gives every candidate a score.

A ranker is one module with one class. Ours stand in the table below, those of other packages are entry points of the
group ``dialgauge.rankers``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge import plugins
from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rankers.episode import Episode, Line, Point, points_of
from dialgauge.rankers.identity import code_of, files_named
from dialgauge.rankers.task import RankingTask

#: Strings, because learned rankers need torch, and the bot of hand-written rules lives above this room.
BUILT_IN = {
    "embeddings": "dialgauge.rankers.neural.models:Embeddings",
    "embeddings-bigrams": "dialgauge.rankers.neural.models:EmbeddingsBigrams",
    "embeddings-type": "dialgauge.rankers.neural.models:EmbeddingsTypes",
    "memn2n": "dialgauge.rankers.neural.models:MemN2N",
    "memn2n-type": "dialgauge.rankers.neural.models:MemN2NTypes",
    "nearest": "dialgauge.rankers.nearest:NearestNeighbour",
    "rules": "dialgauge.agents.rules:Rules",
    "tfidf": "dialgauge.rankers.tfidf:TfIdf",
    "tfidf-dev": "dialgauge.rankers.tfidf:TfIdfChosen",
    "tfidf-type": "dialgauge.rankers.tfidf:TfIdfTypes",
    "tfidf-type-dev": "dialgauge.rankers.tfidf:TfIdfTypesChosen",
    "typed": "dialgauge.rankers.neural.models:Typed",
}
#: Options that say where a model works, not what comes out.
RUNTIME_OPTIONS = frozenset({"device"})
#: Every generator of random numbers takes seeds below this.
SEEDS = 2**63

#: Points × candidates.
ScoreMatrix: TypeAlias = NDArray[np.float64]
#: Called with a line about the work while it goes on.
Tell: TypeAlias = Callable[[str], None]


def silent(_: str) -> None:
    """Report nothing."""


class Provenance(msgspec.Struct, frozen=True):
    """Where a fitted model comes from: a checksum of all it was fitted on, and the code that did it."""

    data: str
    code: str

    @classmethod
    def of(cls, model: ReplyModel, task: RankingTask) -> Provenance:
        """The provenance of a model about to be fitted on a task; files that its options name are data too."""
        named = files_named(model.options)
        return cls("-".join([task.training_digest(), *named.values()]), code_of(model))


class ReplyModel(ABC):
    """A bot that is fitted on a task. It answers by ranking candidates (:class:`Ranker`) or by saying a sentence."""

    #: The name in tables and on the command line, and one line about it.
    name: ClassVar[str]
    summary: ClassVar[str]
    #: Does fitting draw random numbers? If so, several seeds are worth running.
    seeded: ClassVar[bool] = False
    #: The names :attr:`options` may have.
    settable: ClassVar[tuple[str, ...]] = ()

    candidates: tuple[str, ...] = ()
    #: A file for checkpoints while fitting; None keeps none, and models that fit at once need none.
    checkpoint: Path | None = None

    def __init__(self, seed: int = 0) -> None:
        if not 0 <= seed < SEEDS:
            raise DialgaugeError(f"the seed of a model must be from 0 to {SEEDS - 1} (got {seed})")
        self.seed = seed
        #: Settings by name, as given on the command line; what they mean is the model's business.
        self.options: dict[str, str] = {}
        #: What it was fitted on and by which code, as :func:`fit_model` and :func:`load_ranker` note it.
        self.provenance: Provenance | None = None
        #: What happened while fitting, one record per epoch, for the run store.
        self.log: list[dict[str, Any]] = []

    @abstractmethod
    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        """Learn from the task's ``trn`` split, choose on its ``dev`` split; nothing else of it may be looked at."""

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        """Replace candidates and knowledge base without learning anything new."""
        del facts
        if tuple(candidates) != self.candidates:
            raise DialgaugeError(f"the model {self.name} cannot move to other candidates than it was fitted with")

    def understands(self, utterance: str) -> bool:
        """Whether the model knows anything in an utterance."""
        del utterance
        return True

    def settings(self) -> dict[str, Any]:
        """Settings that restore the model together with its arrays, as plain JSON values."""
        return {}

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The numbers that were learned."""
        return {}

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what :meth:`settings` and :meth:`arrays` gave; ``candidates`` is already set."""
        del settings, arrays


def fit_model(model: ReplyModel, task: RankingTask, tell: Tell = silent) -> None:
    """Fit a model on a task, of which it sees no test dialogs, and note where it comes from."""
    model.provenance = None
    model.fit(task.for_fitting(), tell)
    model.provenance = Provenance.of(model, task)


class Ranker(ReplyModel):
    """A model that gives every candidate a score."""

    @abstractmethod
    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        """A score per point and candidate (points × candidates); the highest wins, ties go to the first in the file."""


def ranker_names() -> list[str]:
    """The names of all models."""
    return plugins.names(plugins.RANKERS, BUILT_IN)


def ranker_class(name: str) -> type[ReplyModel]:
    """The model of that name, or an error with the nearest names, the package it lacks, or what is wrong with it."""
    return plugins.load_class(plugins.RANKERS, name, ReplyModel, BUILT_IN)


def options_by_model(models: Iterable[str], given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The options each model takes; one that none of them takes is an error with the nearest names."""
    takers = {model: ranker_class(model).settable for model in models}
    known = {name for names in takers.values() for name in names}
    for name in given:
        if name not in known:
            raise DialgaugeError(f"there is no setting '{name}' of {' or '.join(takers)}.{nearest(name, known)}")
    return {model: {name: given[name] for name in sorted(given) if name in names} for model, names in takers.items()}


def fresh_model(name: str, seed: int, options: Mapping[str, str]) -> ReplyModel:
    """A model that is still to be fitted, with the options given."""
    model = ranker_class(name)(seed)
    model.options = options_by_model([name], options)[name]
    return model


def checked_scores(ranker: Ranker, points: Sequence[Point]) -> ScoreMatrix:
    """The ranker's scores, or an error when they are not one number per point and candidate."""
    scores = np.asarray(ranker.scores(points), dtype=np.float64)
    wanted = (len(points), len(ranker.candidates))
    if scores.shape != wanted:
        raise DialgaugeError(
            f"the model {ranker.name} returned scores of shape {scores.shape} for {wanted[0]} replies among "
            f"{wanted[1]:,} candidates; it must be {wanted}"
        )
    if np.isnan(scores).any():
        at = points[int(np.isnan(scores).any(axis=1).argmax())]
        raise DialgaugeError(
            f"the model {ranker.name} returned a score that is not a number", dialogue=at.dialogue, turn=at.turn
        )
    return scores


def accuracy(ranker: Ranker, dialogs: Iterable[Episode], batch: int = 512) -> float:
    """The share of replies for which the gold one comes first: what models choose their settings by on dev."""
    index = {text: position for position, text in enumerate(ranker.candidates)}
    every, right = points_of(dialogs), 0
    for start in range(0, len(every), batch):
        points = every[start : start + batch]
        scores = checked_scores(ranker, points)
        gold = np.array([index[point.reply] for point in points])
        right += int(((scores.argmax(axis=1) == gold) & (scores.max(axis=1) > -np.inf)).sum())
    return right / len(every)


# Where a memory network looks before it answers: the weight of every memory in every hop.


class Attention(msgspec.Struct, frozen=True):
    """The memories at a point, and per hop one weight for each; the weights of a hop sum to 1."""

    memories: tuple[Line, ...]
    hops: tuple[tuple[float, ...], ...]


@runtime_checkable
class Attentive(Protocol):
    """A ranker that can say where it looks."""

    def attention(self, point: Point) -> Attention:
        """Where it looks before it answers at a point."""


def attentive(bot: Any) -> Attentive:
    """The bot, if it is one that can say where it looks; else an error."""
    if isinstance(bot, ReplyModel) and isinstance(bot, Attentive):
        return bot
    raise DialgaugeError(f"the model {bot.name} has no attention to show; memory networks have")
