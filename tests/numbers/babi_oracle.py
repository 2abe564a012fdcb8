"""The bAbI dialogs and the rankers without training, from the specification: nothing here is the product's."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

#: Weights of a type word, of which the best on the development dialogs is taken.
TYPE_WEIGHTS = (6.0, 12.0, 16.0, 24.0)


class Question(NamedTuple):
    """Everything said before a reply, the user's last words, and the reply."""

    history: list[str]
    utterance: str
    reply: str


def lines_of(path: Path) -> list[str]:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode().split("\n")


def dialogs(path: Path) -> list[list[Question]]:
    """The replies of every dialog: a line with a tab is a turn, one without is a fact, an empty one ends a dialog."""
    found: list[list[Question]] = []
    history: list[str] = []
    questions: list[Question] = []
    for line in lines_of(path):
        if not line:
            if questions:
                found.append(questions)
            history, questions = [], []
            continue
        user, tab, bot = line.partition(" ")[2].partition("\t")
        if tab:
            questions.append(Question(list(history), user, bot.strip()))
            history += [user, bot]
        else:
            history.append(user)
    return found


def candidates(path: Path) -> list[str]:
    return [line.partition(" ")[2].strip() for line in lines_of(path) if line]


def knowledge_base(path: Path) -> dict[str, set[str]]:
    """Relation to its values; a tab or a space stands before the value."""
    values: dict[str, set[str]] = {}
    for line in filter(None, lines_of(path)):
        _, _, relation, value = line.replace("\t", " ").split(" ", 3)
        values.setdefault(relation, set()).add(value.lower())
    return values


def words(text: str) -> list[str]:
    return text.lower().split()


# Rankers: the scores of all candidates for every question


def nearest(train: Iterable[Sequence[Question]], asked: Sequence[Question], texts: Sequence[str]) -> Any:
    """1 for the most frequent reply to the training utterance that shares most words, which was seen first."""
    groups: dict[frozenset[str], Counter[str]] = {}
    for dialog in train:
        for question in dialog:
            groups.setdefault(frozenset(words(question.utterance)), Counter())[question.reply] += 1
    answers = [replies.most_common(1)[0][0] for replies in groups.values()]
    scores = np.zeros((len(asked), len(texts)))
    for row, question in enumerate(asked):
        said = set(words(question.utterance))
        overlaps = [len(said & group) for group in groups]
        scores[row, texts.index(answers[overlaps.index(max(overlaps))])] = 1
    return scores


def tfidf(asked: Sequence[Question], texts: Sequence[str], types: dict[str, set[str]], weight: float) -> Any:
    """The cosine of the bags of the history and of a candidate: raw counts, idf = ln((1 + N) / (1 + df)).

    With a weight, the candidate has one more word for each type in which it names an entity of the input, and the input
    has one for each type of which it names any.
    """
    index = {word: place for place, word in enumerate(dict.fromkeys(word for text in texts for word in words(text)))}
    inputs = [[word for line in [*q.history, q.utterance] for word in words(line)] for q in asked]
    bags, of_texts = _bags(inputs, index), _bags([words(text) for text in texts], index)
    seen = np.bincount(of_texts.indices, minlength=len(index))
    idf = np.log((1 + len(texts)) / (1 + seen))
    bags, of_texts = bags.multiply(idf).tocsr(), of_texts.multiply(idf).tocsr()
    products = (bags @ of_texts.T).toarray()
    of_input = np.asarray(bags.multiply(bags).sum(axis=1)).reshape(-1, 1)
    of_candidate = np.asarray(of_texts.multiply(of_texts).sum(axis=1)).reshape(1, -1)
    for entities in types.values() if weight else ():
        numbers = {word: place for place, word in enumerate(sorted(entities))}
        present, named = _bags(inputs, numbers), _bags([words(text) for text in texts], numbers)
        matched = weight**2 * ((present @ named.T).toarray() > 0)
        products, of_candidate = products + matched, of_candidate + matched
        of_input = of_input + weight**2 * (np.diff(present.indptr) > 0).reshape(-1, 1)
    norms = np.sqrt(of_input * of_candidate)
    return np.divide(products, norms, out=np.zeros_like(products), where=norms > 0).round(10)


def _bags(texts: Sequence[Sequence[str]], index: dict[str, int]) -> Any:
    counted = [Counter(index[word] for word in text if word in index) for text in texts]
    data = [count for bag in counted for count in bag.values()]
    columns = [place for bag in counted for place in bag]
    ends = np.cumsum([0, *map(len, counted)])
    return sparse.csr_matrix((np.array(data, dtype=float), columns, ends), shape=(len(texts), len(index)))


def ranking(scores: Any, gold: Sequence[int]) -> list[tuple[int, int]]:
    """The candidate with the highest score, and the rank of the gold one; equal scores rank in the file's order."""
    found = []
    for row, right in zip(scores, gold, strict=True):
        better = int((row > row[right]).sum() + (row[:right] == row[right]).sum())
        found.append((int(row.argmax()), 1 + better))
    return found


# Measures


def measures(ranks: Sequence[Sequence[int]]) -> dict[str, float]:
    """The measures of replies, from the ranks of the gold replies of every dialog."""
    flat = [rank for dialog in ranks for rank in dialog]
    return {
        "per-response": sum(rank == 1 for rank in flat) / len(flat),
        "per-dialog": sum(all(rank == 1 for rank in dialog) for dialog in ranks) / len(ranks),
        **{f"hits@{k}": sum(rank <= k for rank in flat) / len(flat) for k in (2, 5, 10)},
        "MRR": sum(1 / rank for rank in flat) / len(flat),
    }


def reply_class(reply: str, calls_before: int) -> str:
    """The kind of a reply of tasks 1 to 5."""
    if reply.startswith("api_call "):
        return f"api {calls_before + 1}"
    for ending in ("phone", "address"):
        if reply.endswith(f"_{ending}"):
            return ending
    return "option" if "this option: " in reply else "fixed"
