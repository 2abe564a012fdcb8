"""What the learned rankers share: configuration, vocabulary, batches on a device, training, saving."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.rankers.episode import Episode, Point, points_of
from dialgauge.rankers.neural.config import Hyperparameters, updated
from dialgauge.rankers.neural.encoding import (
    EncodedPoints,
    Ints,
    Lines,
    WordBags,
    batches,
    encode,
    vocabulary,
    words_of,
)
from dialgauge.rankers.neural.entities import RelationSchema
from dialgauge.rankers.neural.matching import MatchTypes
from dialgauge.rankers.neural.scoring import Extra, cross_entropy
from dialgauge.rankers.neural.training import Training, device_named, within_memory
from dialgauge.rankers.ranker import Ranker, ScoreMatrix, Tell, TrainingName, silent
from dialgauge.rankers.task import RankingTask

EVALUATION_BATCH = 512


class Points(NamedTuple):
    """Encoded points, the words of their lines, and what is known of each besides its lines (None: nothing)."""

    encoded: EncodedPoints
    lines: WordBags
    contexts: list[Ints] | None


class Batch:
    """Some of the points."""

    def __init__(self, points: Points, rows: Ints, seed: int | None = None) -> None:
        self.encoded, self.lines, self.rows = points.encoded, points.lines, rows
        #: What the epoch that it belongs to was shuffled with.
        self.seed = seed
        #: Per word of the dialogs 0 where this batch leaves it out; None: it leaves none out.
        self.kept: Tensor | None = None
        self.contexts = [points.contexts[row] for row in rows] if points.contexts is not None else []

    def lines_of(self, numbers: Ints) -> tuple[WordBags, Ints]:
        """The words of the lines with those numbers, and the numbers' places among them.

        A batch of one point embeds its own lines; a larger one, all lines of its dialogs, which is then as fast.
        """
        if len(self.rows) > 1:
            return self.lines, numbers
        held, places = np.unique(numbers, return_inverse=True)
        return self.lines.only(held), places.reshape(numbers.shape)


def all_settings_but(*unread: str) -> tuple[str, ...]:
    """The names of the settings, without those that a model does not read."""
    return tuple(name for name in (*Hyperparameters.__struct_fields__, "preset") if name not in unread)


class LearnedRanker(Ranker):
    """A ranker with weights. A subclass says how its module is made and how it scores a batch."""

    seeded = True
    #: Rows of weights for what candidates share with the dialog besides words.
    extra_rows = 0

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.config = Hyperparameters()
        self.preset = "default"

    @abstractmethod
    def preset_config(self, task: int) -> Hyperparameters:
        """The configuration of ``self.preset`` for a task."""

    @abstractmethod
    def make_module(self, words: int, candidate_words: int, generator: torch.Generator) -> nn.Module:
        """The module, with weights drawn from the generator."""

    @abstractmethod
    def batch_scores(self, batch: Batch) -> Tensor:
        """Scores (batch × candidates) on the device."""

    def learn_world(self, facts: Sequence[Fact]) -> None:
        """Take in the knowledge base, before anything is encoded."""

    def split_line(self, text: str) -> list[str]:
        """The words of a line of the dialog."""
        return words_of(text)

    def split_candidate(self, text: str) -> list[str]:
        return words_of(text)

    def view(self, point: Point) -> Point:
        """The point as the model reads it; its memories are the lines of that history."""
        return point

    def contexts(self, points: Sequence[Point]) -> list[Ints] | None:
        """What is known of each point besides its lines."""
        del points
        return None

    def shared_with(self, batch: Batch) -> Extra | None:
        """What candidates share with each dialog of the batch besides words."""
        del batch
        return None

    @within_memory()
    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        options = dict(self.options)
        self.preset = options.pop("preset", "default")
        self.config = updated(self.preset_config(task.number), options)
        self.facts, self.candidates = task.facts, task.candidates
        self.schema = RelationSchema.of(task.facts)
        self.learn_world(task.facts)
        of_candidates = vocabulary(task.candidates, self.split_candidate)
        of_lines = vocabulary((text for episode in task.split("trn") for text in self._texts(episode)), self.split_line)
        if self.config.shared:
            of_lines = of_candidates = list(dict.fromkeys([*of_lines, *of_candidates]))
        self._build(of_lines, of_candidates)
        train, dev = (self._encode(points_of(task.split(name))) for name in ("trn", "dev"))
        #: Where the replies of the training dialogs stand among the candidates.
        self.said = self.tensor(train.encoded.gold)
        name = TrainingName.of(self, task)
        training = Training(self.module, self.config, self._identity(task), self.checkpoint, name)
        training.run(
            lambda epoch: self._batches(train, 1_000_003 * self.seed + epoch),
            self.batch_loss,
            lambda: self._accuracy(dev),
            tell,
        )
        self.log = [msgspec.structs.asdict(line) for line in training.log]

    def _texts(self, dialog: Episode) -> list[str]:
        """The lines of a dialog as the model reads them: the last reply has all others in its history."""
        points = dialog.points()
        last = [self.view(point) for point in points[-1:]]
        return [text for point in last for text in (*(line.text for line in point.history), point.utterance)]

    def _identity(self, task: RankingTask) -> str:
        """What a checkpoint must agree with to be taken up again: the model, its settings, and all it learns from."""
        config = msgspec.structs.replace(self.config, device="")
        dialogs = (
            [(episode.id, episode.lines, episode.prompts) for episode in task.split(name)] for name in ("trn", "dev")
        )
        data = [*dialogs, task.candidates, task.facts]
        content = msgspec.json.encode([self.name, self.seed, task.number, config, data])
        return hashlib.sha256(content).hexdigest()

    def _build(self, of_lines: Sequence[str], of_candidates: Sequence[str]) -> None:
        torch.set_num_threads(1)  # two threads were slower than one on these sizes
        self.device = device_named(self.config.device)
        self._words = {word: index for index, word in enumerate(of_lines)}
        self._candidate_words = {word: index for index, word in enumerate(of_candidates)}
        listed = {word.lower() for fact in self.facts for word in (fact.entity, fact.value)}
        #: Which words of the dialogs the knowledge base lists.
        self.is_entity = self.tensor(np.array([word in listed for word in of_lines], dtype=bool))
        generator = torch.Generator().manual_seed(self.seed)
        self.module = self.make_module(len(of_lines), len(of_candidates), generator).to(self.device)
        self._index_candidates()

    def _index_candidates(self) -> None:
        """Index the words of the candidates; :meth:`move` does so again."""
        self._index = {text: index for index, text in enumerate(self.candidates)}
        words = self._candidate_words
        tokens = [[words[w] for w in self.split_candidate(text) if w in words] for text in self.candidates]
        self.candidate_bags = WordBags(tokens, len(words), self.device)

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        """Take other candidates and another knowledge base with the same weights; unknown words are ignored."""
        self.schema.check(facts)
        self.candidates, self.facts = tuple(candidates), tuple(facts)
        self.learn_world(self.facts)
        self._index_candidates()

    def tensor(self, values: NDArray[Any]) -> Tensor:
        """An array on the model's device."""
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def _encode(self, points: Sequence[Point]) -> Points:
        lines = Lines(self._words, self.split_line)
        encoded = encode([self.view(point) for point in points], lines, self._index)
        return Points(encoded, WordBags(lines.tokens, len(self._words), self.device), self.contexts(points))

    def _batches(self, points: Points, seed: int | None) -> list[Batch]:
        size = self.config.batch if seed is not None else EVALUATION_BATCH
        return [Batch(points, rows, seed) for rows in batches(self.batch_lengths(points.encoded), size, seed)]

    def batches_of(self, points: Sequence[Point]) -> list[Batch]:
        """Points to answer, in batches of similar length."""
        return self._batches(self._encode(points), None)

    def training_batches(self, points: Sequence[Point], seed: int) -> list[Batch]:
        """Points to learn from, in batches of similar length that a seed shuffles."""
        return self._batches(self._encode(points), seed)

    def batch_lengths(self, encoded: EncodedPoints) -> Ints:
        """What batches are sorted by, so that little is padded."""
        return encoded.lengths

    def batch_loss(self, batch: Batch) -> Tensor:
        """Cross entropy over all candidates, or the margin ranking loss against sampled ones."""
        scores = self.batch_scores(batch)
        gold = self.tensor(batch.encoded.gold[batch.rows])
        if self.config.loss == "softmax":
            return cross_entropy(scores, gold)
        drawn = self.draws(batch)
        others = sampled_candidates(scores.shape[1], gold, self.config.negatives, drawn)
        if self.config.said_negatives:
            others = with_said_replies(others, gold, self.said, self.config.said_negatives, drawn)
        return margin_loss(scores, gold, self.config.margin, others)

    def draws(self, batch: Batch) -> torch.Generator:
        """What is drawn depends on the seed and the batch alone, so that a resumed training draws the same.

        A batch of one point comes again in every epoch, and would meet the same few candidates each time: there the
        epoch counts too.
        """
        mark = batch.rows.tobytes() + self.seed.to_bytes(8, "little", signed=True)
        if len(batch.rows) == 1 and batch.seed is not None and self.config.batch == 1:
            mark += batch.seed.to_bytes(16, "little")
        mixed = hashlib.sha256(mark).digest()
        return torch.Generator(device=self.device).manual_seed(int.from_bytes(mixed[:7], "little"))

    @torch.no_grad()
    def _accuracy(self, points: Points) -> float:
        right = 0
        for batch in self._batches(points, None):
            best = self.batch_scores(batch).argmax(dim=1).cpu().numpy()
            right += int((best == batch.encoded.gold[batch.rows]).sum())
        return right / len(points.encoded)

    @torch.no_grad()
    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        scores = np.zeros((len(points), len(self.candidates)))
        for batch in self.batches_of(points):
            scores[batch.rows] = self.batch_scores(batch).double().cpu().numpy()
        return scores

    def understands(self, utterance: str) -> bool:
        return any(word in self._words for word in self.split_line(utterance))

    def settings(self) -> dict[str, Any]:
        return {
            "config": msgspec.to_builtins(self.config),
            "words": list(self._words),
            "candidate_words": list(self._candidate_words),
            "schema": msgspec.to_builtins(self.schema),
            "facts": [[fact.entity, fact.relation, fact.value] for fact in self.facts],
        }

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {name: value.detach().cpu().numpy() for name, value in self.module.state_dict().items()}

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        config = msgspec.convert(settings["config"], Hyperparameters)
        self.config = msgspec.structs.replace(config, device=self.options.get("device", "auto"))
        self.facts = msgspec.convert(settings["facts"], tuple[Fact, ...])
        self.schema = msgspec.convert(settings["schema"], RelationSchema)
        self.schema.check(self.facts)
        self.learn_world(self.facts)
        self._build(settings["words"], settings["candidate_words"])
        try:
            self.module.load_state_dict({name: torch.from_numpy(value) for name, value in arrays.items()})
        except RuntimeError as error:
            raise DialgaugeError(
                f"the model's weights do not fit its vocabulary ({str(error).splitlines()[-1].strip()}); save it again"
            ) from error


def sampled_candidates(count: int, gold: Tensor, negatives: int, generator: torch.Generator) -> Tensor:
    """Places of candidates other than the gold one (batch × negatives), each as likely as any other."""
    shape = (len(gold), min(negatives, count - 1))
    drawn = torch.randint(count - 1, shape, generator=generator, device=gold.device)
    return drawn + (drawn >= gold[:, None])


def with_said_replies(
    others: Tensor, gold: Tensor, replies: Tensor, share: float, generator: torch.Generator
) -> Tensor:
    """The same with that share of them replaced by replies of the training dialogs, each as likely as it is said.

    Where the gold reply itself is drawn, the candidate that was there stays.
    """
    taken = round(share * others.shape[1])
    drawn = replies[torch.randint(len(replies), (len(gold), taken), generator=generator, device=gold.device)]
    first = torch.where(drawn == gold[:, None], others[:, :taken], drawn)
    return torch.cat([first, others[:, taken:]], dim=1)


def margin_loss(scores: Tensor, gold: Tensor, margin: float, others: Tensor) -> Tensor:
    """Σ max(0, m − f(x, y) + f(x, ȳ)) over the other ȳ, averaged over the batch (Bordes et al. 2017, section 4.3)."""
    own = scores.gather(1, gold[:, None])
    return functional.relu(margin - own + scores.gather(1, others)).sum(dim=1).mean()


class MatchTyped(LearnedRanker):
    """With a word for every type in which candidate and dialog share an entity."""

    def learn_world(self, facts: Sequence[Fact]) -> None:
        self.types = MatchTypes(facts, self.schema, self.candidates)
        self.extra_rows = self.types.kinds

    def contexts(self, points: Sequence[Point]) -> list[Ints] | None:
        return self.types.matcher.present(points)

    def shared_with(self, batch: Batch) -> Extra | None:
        return self.types.matches(batch.contexts, self.tensor)
