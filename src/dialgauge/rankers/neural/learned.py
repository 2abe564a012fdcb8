"""The base of the learned rankers: vocabulary, batches, training, answering, saving."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.rankers.bags import tokens
from dialgauge.rankers.episode import AnsweredPoint, Episode, Point, points_of
from dialgauge.rankers.neural.config import Hyperparameters, updated
from dialgauge.rankers.neural.entities import Entities, RelationSchema
from dialgauge.rankers.neural.networks import Batch, Counts, Ints, Network, Points, Ragged, margin_loss
from dialgauge.rankers.neural.training import Progress, Training, device_named, set_weights, weights_of, within_memory
from dialgauge.rankers.ranker import Ranker, ScoreMatrix, Tell, silent
from dialgauge.rankers.task import RankingTask

EVALUATION_BATCH = 512
#: The words for who said a line; no text has a word with a space in it. Facts count as the user's.
SPEAKERS = {"user": "the user", "bot": "the bot", "fact": "the user"}


def all_settings_but(*unread: str) -> tuple[str, ...]:
    """The names of the settings, without those that a model does not read."""
    return tuple(name for name in (*Hyperparameters.__struct_fields__, "preset") if name not in unread)


class LearnedRanker(Ranker):
    """A ranker with weights. A subclass says how it reads a dialog."""

    seeded = True

    @abstractmethod
    def preset_config(self, task: int, preset: str) -> Hyperparameters:
        """The configuration of a preset for a task."""

    @abstractmethod
    def reader(self) -> nn.Module:
        """Turns dialogs into vectors."""

    def learn_world(self) -> Entities:
        """The entities of the knowledge base."""
        return Entities()

    def line_words(self, text: str) -> list[str]:
        """The words of a line."""
        return tokens(text)

    def memory_words(self, kind: str, text: str) -> list[str]:
        """The words of a line of the history."""
        return [*self.line_words(text), SPEAKERS[kind]]

    def candidate_words(self, text: str) -> list[str]:
        """The words of a candidate."""
        return tokens(text)

    def view(self, point: Point) -> Point:
        """The point as the model reads it."""
        return point

    @within_memory()
    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        options = dict(self.options)
        self.config = updated(self.preset_config(task.number, options.pop("preset", "default")), options)
        self.candidates, self.facts, self.schema = task.candidates, task.facts, RelationSchema.of(task.facts)
        self.entities = self.learn_world()
        of_candidates = dict.fromkeys(chain.from_iterable(map(self.candidate_words, task.candidates)))
        of_lines = dict.fromkeys(word for dialog in task.split("trn") for word in self._words_of(dialog))
        if self.config.shared:
            of_lines = of_candidates = of_lines | of_candidates
        self._build(list(of_lines), list(of_candidates))
        train, dev = (self._encoded(points_of(task.split(name))) for name in ("trn", "dev"))
        identity = [self.name, self.seed, msgspec.structs.replace(self.config, device=""), task.training_digest()]
        checksum = hashlib.sha256(msgspec.json.encode(identity)).hexdigest()
        training = Training(self.module, self.config, Progress(checksum), self.checkpoint)
        log = training.run(lambda epoch: self._losses(train, epoch), lambda: self._accuracy(dev), tell)
        self.log = [msgspec.structs.asdict(epoch) for epoch in log]

    def _words_of(self, dialog: Episode) -> Iterator[str]:
        """The words of a dialog as the model reads it: the last reply has all other lines in its history."""
        for point in map(self.view, dialog.points()[-1:]):
            for line in point.history:
                yield from self.memory_words(*line)
            yield from self.line_words(point.utterance)

    def _build(self, of_lines: Sequence[str], of_candidates: Sequence[str]) -> None:
        torch.set_num_threads(1)  # two threads were slower than one on these sizes
        self.device = device_named(self.config.device)
        self._words = {word: number for number, word in enumerate(of_lines)}
        self._candidate_words = {word: number for number, word in enumerate(of_candidates)}
        listed = {word.lower() for fact in self.facts for word in (fact.entity, fact.value)}
        self._is_entity = np.array([word in listed for word in of_lines], dtype=bool)
        self.module = Network(self.reader(), self.config, len(of_lines), len(of_candidates), self.entities.features)
        generator = torch.Generator().manual_seed(self.seed)
        for weights in self.module.parameters():
            nn.init.normal_(weights, std=self.config.std, generator=generator)
        self.module.to(self.device)
        self._count_words()

    def _count_words(self) -> None:
        """Count the words and entities of all candidates."""
        known = self._candidate_words
        texts = [[known[word] for word in self.candidate_words(text) if word in known] for text in self.candidates]
        named = [self.entities.named(text) for text in self.candidates]
        self._counts = Counts(texts, len(known), self.device), Counts(named, self.entities.count, self.device)

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        """Take other candidates and another knowledge base with the same weights; unknown words are ignored."""
        self.schema.check(facts)
        self.candidates, self.facts = tuple(candidates), tuple(facts)
        self.entities = self.learn_world()
        self._count_words()

    # Points and batches.

    def _encoded(self, points: Sequence[Point]) -> Points:
        numbers: dict[tuple[str, str], int] = {("", ""): 0}
        seen = [self.view(point) for point in points]
        memories = [[numbers.setdefault((kind, text), len(numbers)) for kind, text in point.history] for point in seen]
        queries = [numbers.setdefault(("", point.utterance), len(numbers)) for point in seen]
        lines = (self.memory_words(*line) if line[0] else self.line_words(line[1]) for line in numbers)
        words = [[self._words[word] for word in line if word in self._words] for line in lines]
        said = [[e * self.entities.features + f for e, f in self.entities.said(point)] for point in points]
        place = {text: number for number, text in enumerate(self.candidates)}
        gold = [place.get(point.reply, -1) if isinstance(point, AnsweredPoint) else -1 for point in points]
        return Points(Ragged(words), Ragged(memories), np.array(queries), Ragged(said), np.array(gold))

    def _batches(self, points: Points, size: int, draws: np.random.Generator | None = None) -> list[Ints]:
        """Points in batches of similar length, so that little is padded; in random order if draws are given."""
        lengths = points.memories.lengths * self.config.history
        order = np.arange(len(lengths)) if draws is None else draws.permutation(len(lengths))
        order = order[np.argsort(lengths[order], kind="stable")]
        cut = [order[start : start + size] for start in range(0, len(order), size)]
        return cut if draws is None else [cut[number] for number in draws.permutation(len(cut))]

    def _batch(self, points: Points, rows: Ints, kept: NDArray[np.float32] | None = None) -> Batch:
        """Some points as tensors; ``kept`` has a 0 for each word of the dialogs that is left out."""
        memories = points.memories.backwards(rows) if self.config.history else np.zeros((len(rows), 0), dtype=np.int64)
        every = np.concatenate([points.queries[rows][:, None], memories], axis=1)
        held = np.zeros(len(points.lines.lengths), dtype=bool)
        held[every] = True
        words, begins = points.lines.joined(np.flatnonzero(held))
        said, _ = points.said.joined(rows)
        entity, feature = np.divmod(said, max(1, self.entities.features))
        dialog = np.repeat(np.arange(len(rows)), points.said.lengths[rows])
        weights = None if kept is None else self._tensor(kept[words])
        columns = map(self._tensor, ((np.cumsum(held) - 1)[every], memories == 0, entity, feature, dialog))
        return Batch(self._tensor(words), self._tensor(begins), weights, *columns)

    def _tensor(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(values).to(self.device)

    # Learning.

    def _losses(self, points: Points, epoch: int) -> Iterator[Tensor]:
        """The loss of each batch; what is drawn depends on the seed and the epoch alone."""
        config, draws = self.config, np.random.default_rng(1_000_003 * self.seed + epoch)
        for rows in self._batches(points, config.batch, draws):
            kept = None
            if config.entity_dropout:
                dropped = self._is_entity & (draws.random(len(self._is_entity)) < config.entity_dropout)
                kept = (~dropped).astype(np.float32)
            scores, gold = self._scores(self._batch(points, rows, kept)), self._tensor(points.gold[rows])
            if config.loss == "softmax":
                yield functional.cross_entropy(scores, gold)
            else:
                yield margin_loss(scores, gold, self._tensor(self._others(points, rows, draws)), config.margin)

    def _others(self, points: Points, rows: Ints, draws: np.random.Generator) -> Ints:
        """Candidates to rank below the gold one, drawn from all alike and, a share of them, from what is said."""
        gold, count = points.gold[rows][:, None], len(self.candidates) - 1
        others = draws.integers(count, size=(len(rows), min(self.config.negatives, count)))
        others += others >= gold
        taken = round(self.config.said_negatives * others.shape[1])
        said = points.gold[draws.integers(len(points.gold), size=(len(rows), taken))]
        others[:, :taken] = np.where(said == gold, others[:, :taken], said)
        return others

    def _scores(self, batch: Batch) -> Tensor:
        scores: Tensor = self.module(batch, *self._counts)
        return scores

    # Answering.

    @torch.no_grad()
    def _accuracy(self, points: Points) -> float:
        right = 0
        for rows in self._batches(points, EVALUATION_BATCH):
            best = self._scores(self._batch(points, rows)).argmax(dim=1).cpu().numpy()
            right += int((best == points.gold[rows]).sum())
        return right / len(points.gold)

    @torch.no_grad()
    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        scores, encoded = np.zeros((len(points), len(self.candidates))), self._encoded(points)
        for rows in self._batches(encoded, EVALUATION_BATCH):
            scores[rows] = self._scores(self._batch(encoded, rows)).double().cpu().numpy()
        return scores

    def understands(self, utterance: str) -> bool:
        return any(word in self._words for word in self.line_words(utterance))

    # Saving.

    def settings(self) -> dict[str, Any]:
        return {
            "config": msgspec.to_builtins(self.config),
            "words": list(self._words),
            "candidate_words": list(self._candidate_words),
            "schema": msgspec.to_builtins(self.schema),
            "facts": [[fact.entity, fact.relation, fact.value] for fact in self.facts],
        }

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return weights_of(self.module)

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        config = msgspec.convert(settings["config"], Hyperparameters)
        self.config = msgspec.structs.replace(config, device=self.options.get("device", "auto"))
        self.facts = msgspec.convert(settings["facts"], tuple[Fact, ...])
        self.schema = msgspec.convert(settings["schema"], RelationSchema)
        self.schema.check(self.facts)
        self.entities = self.learn_world()
        self._build(settings["words"], settings["candidate_words"])
        try:
            set_weights(self.module, dict(arrays))
        except RuntimeError as error:
            raise DialgaugeError(
                f"the model's weights do not fit its vocabulary ({str(error).splitlines()[-1].strip()}); save it again"
            ) from error
