"""How like people a simulated user is: what the work before GCDF1 measured, beside GCDF1.

Turn-level precision, recall and F1 of acts (Schatzmann et al., 2005), the Kullback-Leibler divergence of how often each
act is said and of how many turns a dialogue has (Keizer et al., 2010), and the Cramér-von Mises distance of lengths
(Williams, 2007, of a system's performance).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

import numpy as np

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.report import PERCENT, Cell, Column, Number, Table
from dialgauge.stats import SMOOTHING, cramer_von_mises, histogram, kullback_leibler, ratio_intervals
from dialgauge.users.profile import PROFILES, chosen_profile
from dialgauge.users.results import score_users
from dialgauge.users.scorer import UserOptions

#: An act as its name, its slot and its values in lower case, and the acts of each turn of a user.
SaidAct: TypeAlias = tuple[str, str, str]
Turns: TypeAlias = list[list[SaidAct]]

_NOTES = (
    "Acts are compared turn by turn. After the first turn the contexts differ, so a different but correct act counts "
    "as wrong. GCDF1 asks whether the goal was stated, in any order.",
    f"KL: of the user's distribution from people's, {SMOOTHING:g} added to every count. Cramér–von Mises: root mean "
    "square difference of the two distribution functions, 0 alike, 1 apart.",
)


def likeness(
    corpus: str | Path,
    conversations: Mapping[str, str | Path],
    options: UserOptions | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Table:
    """Each user beside the people of a corpus, in the dialogues that both have; GCDF1 is of all its conversations."""
    chosen = options or UserOptions()
    people = _acts(corpus, chosen)
    users = [_compared(people, source, chosen, resamples, seed) for source in conversations.values()]
    table = Table(f"Users beside the people of {Path(corpus).name}", ["measure", *map(Column, conversations)])
    for title in users[0]:
        table.add(title, *(user[title] for user in users))
    table.notes += _NOTES
    return table


def _compared(
    people: Mapping[str, Turns], source: str | Path, options: UserOptions, resamples: int, seed: int
) -> dict[str, Cell]:
    """One user's column of the table, by row."""
    theirs = _acts(source, options)
    pairs = [(people[key], theirs[key]) for key in people if key in theirs]
    if not pairs:
        raise DialgaugeError("it shares no dialogue with the corpus", file=str(source))
    scores = score_users(source, options=options, resamples=0)[0].scores
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    real_lengths, lengths = ([len(turns) for turns in side] for side in sides)
    real_sizes, sizes = ([len(acts) for turns in side for acts in turns] for side in sides)
    real, simulated = (Counter(act[:2] for turns in side for acts in turns for act in acts) for side in sides)

    def distance(value: float) -> Cell:
        return Cell(value, number=Number(3))

    return {
        "dialogues that both have": Cell(len(pairs), number=Number()),
        "user turns": Cell(sum(lengths), number=Number()),
        "people's turns": Cell(sum(real_lengths), number=Number()),
        **_overlap(pairs, 2, "", resamples, seed),
        **_overlap(pairs, 3, " with values", resamples, seed),
        "KL of acts, bits": distance(kullback_leibler(real, simulated, SMOOTHING)),
        "KL of turns per dialogue, bits": distance(
            kullback_leibler(histogram(real_lengths), histogram(lengths), SMOOTHING)
        ),
        "Cramér–von Mises, turns per dialogue": distance(cramer_von_mises(lengths, real_lengths)),
        "Cramér–von Mises, acts per turn": distance(cramer_von_mises(sizes, real_sizes)),
        "I-GCDF1": Cell(scores["I-GCDF1"].value, number=PERCENT),
        "R-GCDF1": Cell(scores["R-GCDF1"].value, number=PERCENT),
    }


def _acts(source: str | Path, options: UserOptions) -> dict[str, Turns]:
    """By dialogue what the user does in each of its turns, slots under the names that goals use."""
    corpus = read(source)
    profile = chosen_profile(None if corpus.format in PROFILES else options.profile, corpus.format)
    dialogues = {
        dialogue_key(dialogue.id): [
            [
                (
                    act.name.lower(),
                    profile.goal_slot(act.domain, act.slot),
                    " | ".join(value.lower().strip() for value in act.values),
                )
                for act in turn.acts or ()
            ]
            for turn in dialogue.user_turns()
        ]
        for dialogue in corpus.dialogues
    }
    if not any(turn for turns in dialogues.values() for turn in turns):
        raise DialgaugeError("no user turn has dialogue acts", file=corpus.source)
    return dialogues


def _overlap(
    pairs: Sequence[tuple[Turns, Turns]], parts: int, words: str, resamples: int, seed: int
) -> dict[str, Cell]:
    """How many acts of a user are people's, and the other way round, turn by turn.

    Only the first ``parts`` of an act must agree. A turn that only one side has is all wrong, or all missed.
    """
    rows = []
    for pair in pairs:
        sums = np.zeros(3)
        for turns in zip_longest(*pair, fillvalue=list[SaidAct]()):
            gold, made = ({act[:parts] for act in acts} for acts in turns)
            sums += len(gold & made), len(made), len(gold)
        rows.append(sums)
    hits, given, wanted = np.array(rows).T
    doubled, both = 2 * hits, given + wanted
    low, high = (None, None)
    if resamples and both.sum():
        low, high = map(float, ratio_intervals([doubled], [both], resamples=resamples, seed=seed, bounds=(0.0, 1.0))[0])
    shares = {"precision": (hits, given), "recall": (hits, wanted), "F1": (doubled, both)}
    cells = {
        f"act {name}{words}": Cell(float(part.sum() / whole.sum()) if whole.sum() else None, number=PERCENT)
        for name, (part, whole) in shares.items()
    }
    cells[f"act F1{words}"] = Cell(cells[f"act F1{words}"].value, low, high, number=PERCENT)
    return cells
