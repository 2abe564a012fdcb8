"""Teacher-forced evaluation: a bot answers every reply of the dialogues, each with the gold history before it.

A ranker gives every candidate a score. Any other bot says a sentence, which is looked up among the candidates; one that
is none of them is no answer, which is never correct. No bot is given a gold reply: it sees questions (:class:`Point`).
A ranker gets many at a time and answers each from that point alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import Episode, Point, Ranker, ReplyModel, checked_scores

if TYPE_CHECKING:
    import polars


BATCH = 512
#: How many candidates of every reply a run keeps.
KEPT = 5
#: Gold, chosen (-1: nothing), rank of gold, tied at the top.
Answer: TypeAlias = tuple[int, int, int, bool]


class Shortlist(NamedTuple):
    """The numbers of the best-ranked candidates (-1: no more of them) with their scores, and the gold reply's score."""

    places: NDArray[np.int64]
    scores: NDArray[np.float64]
    gold_score: float


@runtime_checkable
class Replier(Protocol):
    """A bot that says one sentence where a dialogue must go on."""

    name: str
    seed: int
    #: What of its settings belongs into a signature.
    options: dict[str, str]

    def reply(self, point: Point) -> str:
        """The bot's sentence at a point."""


@dataclass(frozen=True)
class RankingResult:
    """A bot's answers, reply by reply, as parallel arrays: evidence for the measures of replies."""

    #: The dialogues that have a reply, by their ids.
    ids: tuple[str, ...]
    #: The number of each reply's dialogue.
    dialogue: NDArray[np.int64]
    #: The position of each reply among the turns of its dialogue.
    turns: NDArray[np.int64]
    classes: list[str]
    gold: NDArray[np.int64]
    chosen: NDArray[np.int64]
    #: Place of the gold reply in the ranking, from 1.
    ranks: NDArray[np.int64]
    #: Replies whose highest score was shared by several candidates.
    tied: NDArray[np.bool_]
    #: The best-ranked candidates of each reply, where they were asked for; of a bot that says sentences there are none.
    shortlists: tuple[Shortlist, ...] = ()

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def dialogues(self) -> int:
        return len(self.ids)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Every reply counts."""
        return np.ones(len(self), bool)

    def part(self, name: str) -> RankingResult:
        """Replies have no parts."""
        raise DialgaugeError(f"replies have no part '{name}'")

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Was the first candidate the gold reply?"""
        return np.equal(self.ranks, 1)

    @property
    def unanswered(self) -> int:
        """Replies for which nothing was chosen, or something that is no candidate."""
        return int((self.chosen < 0).sum())

    @property
    def per_response(self) -> float:
        """Share of replies that are correct."""
        return float(self.correct.mean())

    @property
    def per_dialog(self) -> float:
        """Share of dialogues in which every reply is correct."""
        return (self.dialogues - len(np.unique(self.dialogue[~self.correct]))) / self.dialogues

    def by_class(self) -> dict[str, tuple[int, int]]:
        """Per reply class: how many are correct, and how many there are."""
        counts: dict[str, tuple[int, int]] = {}
        for name, right in zip(self.classes, self.correct, strict=True):
            correct, total = counts.get(name, (0, 0))
            counts[name] = (correct + int(right), total + 1)
        return dict(sorted(counts.items()))

    def frame(self, candidates: Sequence[str]) -> polars.DataFrame:
        """The table ``replies`` of a run, with texts; nothing chosen is an empty text."""
        import polars as pl

        return pl.DataFrame(
            {
                "dialogue": [self.ids[number] for number in self.dialogue],
                "turn": self.turns,
                "class": self.classes,
                "gold": [candidates[index] for index in self.gold],
                "chosen": [candidates[index] if index >= 0 else "" for index in self.chosen],
                "correct": self.correct,
                "rank": self.ranks,
                "tied": self.tied,
            }
        )


def evaluate(
    bot: Ranker | ReplyModel | Replier,
    dialogs: Sequence[Episode],
    candidates: Sequence[str] | None = None,
    *,
    keep: int = 0,
) -> RankingResult:
    """Let a bot answer every reply of the dialogues. A ranker brings its candidates, as does any fitted model.

    ``keep`` is how many of the best-ranked candidates of every reply are kept; a bot that says sentences ranks none.
    """
    texts = tuple(getattr(bot, "candidates", ()))
    if isinstance(bot, Replier):
        texts, keep = texts if candidates is None else tuple(candidates), 0
    elif not isinstance(bot, Ranker):
        raise TypeError(f"{bot!r} neither ranks candidates nor says sentences")
    ids = {name: number for number, name in enumerate(dict.fromkeys(dialog.id for dialog in dialogs if dialog.prompts))}
    if not ids:
        raise DialgaugeError("there is no reply to predict: the list of dialogues is empty")
    index = {text: position for position, text in enumerate(texts)}
    questions = _questions(dialogs, index)
    answers: list[Answer] = []
    kept: list[Shortlist] = []
    while batch := list(islice(questions, BATCH)):
        if isinstance(bot, Replier):
            scores = _said(bot, batch, index)
        else:
            scores = checked_scores(bot, [each.point for each in batch])
        gold = np.array([each.gold for each in batch])
        allowed = np.ones(scores.shape, dtype=bool)
        for row, each in enumerate(batch):
            if each.places is not None:
                allowed[row] = False
                allowed[row, each.places] = True
        scores = np.where(allowed, scores, -np.inf)
        answers += ranked(scores, gold, allowed)
        kept += shortlists(scores, gold, keep) if keep else ()
    rows = np.array(answers, dtype=np.int64)
    return RankingResult(
        ids=tuple(ids),
        dialogue=np.array([ids[dialog.id] for dialog in dialogs for _ in dialog.prompts], dtype=np.int64),
        turns=np.array([turn for dialog in dialogs for turn in dialog.reply_turns], dtype=np.int64),
        classes=[name for dialog in dialogs for name in reply_classes(dialog)],
        gold=rows[:, 0],
        chosen=rows[:, 1],
        ranks=rows[:, 2],
        tied=rows[:, 3].astype(bool),
        shortlists=tuple(kept),
    )


def corpus_of(dialogs: Iterable[Episode]) -> list[Dialogue]:
    """The dialogues behind some episodes, for a run."""
    sources = [dialog.source for dialog in dialogs]
    return [dialogue for dialogue in sources if dialogue is not None]


class _Question(NamedTuple):
    """A point, the number of its gold reply, and the numbers of its own candidates (None: all)."""

    point: Point
    gold: int
    places: list[int] | None


def _questions(dialogs: Iterable[Episode], index: Mapping[str, int]) -> Iterator[_Question]:
    def place(text: str, point: Point) -> int:
        if text not in index:
            raise DialgaugeError(
                f"the reply {text!r} is not among the model's candidates", dialogue=point.dialogue, turn=point.turn
            )
        return index[text]

    for dialog in dialogs:
        for point, own in zip(dialog.points(), dialog.choices, strict=True):
            places = None if own is None else sorted(place(text, point) for text in own)
            yield _Question(point.question, place(point.reply, point), places)


def _said(bot: Replier, questions: Sequence[_Question], index: Mapping[str, int]) -> NDArray[np.float64]:
    """A sentence ranks its candidate first and leaves all others equal; one that is no candidate is no answer."""
    scores = np.full((len(questions), len(index)), -np.inf)
    for row, question in enumerate(questions):
        chosen = index.get(bot.reply(question.point).strip(), -1)
        if chosen >= 0 and (question.places is None or chosen in question.places):
            scores[row] = 0.0
            scores[row, chosen] = 1.0
    return scores


def ranked(scores: NDArray[np.float64], gold: NDArray[np.int64], allowed: NDArray[np.bool_]) -> Iterator[Answer]:
    """The answer of each row of scores, of which those not allowed are minus infinity; equal scores rank in file order.

    A row without any score above minus infinity is no answer: nothing is chosen (-1) and the gold reply ranks behind
    all candidates.
    """
    before = (np.arange(scores.shape[1])[None, :] < gold[:, None]) & allowed
    own = scores[np.arange(len(gold)), gold][:, None]
    rank = 1 + (scores > own).sum(axis=1) + ((scores == own) & before).sum(axis=1)
    top = scores.max(axis=1, keepdims=True)
    answered = (top > -np.inf).ravel()
    chosen = np.where(answered, scores.argmax(axis=1), -1)
    tied = answered & ((scores == top).sum(axis=1) > 1)
    rank = np.where(answered, rank, allowed.sum(axis=1) + 1)
    return zip(gold.tolist(), chosen.tolist(), rank.tolist(), tied.tolist(), strict=True)


#: Kinds of replies, so that a plateau in a table can be read. They are those of bAbI tasks 1 to 5: fixed sentences, the
#: first and later API calls, options (a restaurant is named), phone numbers and addresses. In other data a reply is an
#: API call or a fixed sentence.
FIXED, OPTION, PHONE, ADDRESS = "fixed", "option", "phone", "address"


def reply_classes(episode: Episode) -> list[str]:
    """The class of each reply of a dialogue."""
    calls = 0
    classes = []
    for at in episode.prompts:
        reply = episode.lines[at + 1].text
        if reply.startswith("api_call "):
            calls += 1
            classes.append(f"api {calls}")
        else:
            classes.append(_sentence_class(reply))
    return classes


def _sentence_class(reply: str) -> str:
    last = reply.rsplit(" ", 1)[-1]
    if last.endswith("_phone"):
        return PHONE
    if last.endswith("_address"):
        return ADDRESS
    return OPTION if " option: " in reply else FIXED


def shortlists(scores: NDArray[np.float64], gold: NDArray[np.int64], keep: int) -> Iterator[Shortlist]:
    """The best candidates of each row of scores, equal ones in file order; minus infinity is no candidate at all."""
    left = scores.copy()
    rows = np.arange(len(left))
    width = min(keep, left.shape[1])
    places = np.full((len(left), width), -1, dtype=np.int64)
    best = np.full((len(left), width), -np.inf)
    # As many passes as there are places: argmax takes the first of equals, which no partition promises, and is faster.
    for index in range(width):
        first = left.argmax(axis=1)
        best[:, index] = left[rows, first]
        places[:, index] = np.where(best[:, index] > -np.inf, first, -1)
        left[rows, first] = -np.inf
    return map(Shortlist, places, best, scores[rows, gold].tolist())


def candidates_frame(result: RankingResult, candidates: Sequence[str]) -> polars.DataFrame:
    """The table ``candidates`` of a run: of every reply the best-ranked candidates, and the gold one where it is lower.

    A reply without an answer has no rows. A score that is not finite is null.
    """
    import polars as pl

    places = np.array([shortlist.places for shortlist in result.shortlists], dtype=np.int64)
    scores = np.array([shortlist.scores for shortlist in result.shortlists], dtype=np.float64)
    golds = np.array([shortlist.gold_score for shortlist in result.shortlists], dtype=np.float64)
    listed, at = np.nonzero(places >= 0)
    lower = np.flatnonzero((result.chosen >= 0) & ~(places == result.gold[:, None]).any(axis=1))
    reply = np.concatenate([listed, lower])
    rank = np.concatenate([at + 1, result.ranks[lower]])
    candidate = np.concatenate([places[listed, at], result.gold[lower]])
    score = np.concatenate([scores[listed, at], golds[lower]])
    order = np.lexsort((rank, reply))
    number = reply[order]
    texts, ids = pl.Series(candidates, dtype=pl.String), pl.Series(result.ids, dtype=pl.String)
    return pl.DataFrame(
        {
            "dialogue": ids.gather(result.dialogue[number]),
            "turn": result.turns[number],
            "rank": rank[order],
            "text": texts.gather(candidate[order]),
            "score": pl.Series(np.where(np.isfinite(score), score, np.nan)[order]).fill_nan(None),
            "gold": candidate[order] == result.gold[number],
        }
    )
