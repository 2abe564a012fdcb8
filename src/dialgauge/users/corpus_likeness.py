"""How like people a simulated user is: what the work before GCDF1 measured, beside GCDF1.

Turn-level precision, recall and F1 of acts (Schatzmann et al., 2005), the Kullback-Leibler divergence of how often each
act is said and of how many turns a dialogue has (Keizer et al., 2010), and the Cramér-von Mises distance of lengths
(Williams, 2007, of a system's performance).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

import numpy as np
from msgspec import Struct, structs

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.report import PERCENT, Cell, Column, Number, Table, Value
from dialgauge.stats import SMOOTHING, cramer_von_mises, histogram, kullback_leibler, ratio_intervals
from dialgauge.users.profile import PROFILES, chosen_profile
from dialgauge.users.results import score_users
from dialgauge.users.scorer import UserOptions

#: An act as its name, its slot and its values in lower case, and the acts of each turn of a user.
SaidAct: TypeAlias = tuple[str, str, str]
Turns: TypeAlias = list[list[SaidAct]]


class ActOverlap(Struct, frozen=True):
    """Acts of all aligned turns: how many of the user's are people's, and the other way round."""

    precision: float | None
    recall: float | None
    f1: float | None
    low: float | None
    high: float | None


class Likeness(Struct, frozen=True):
    """One user beside people with the same goals."""

    name: str
    dialogues: int
    turns: int
    corpus_turns: int
    acts: ActOverlap
    #: The same where the values must be the same too, as they are written.
    values: ActOverlap
    #: Bits; of the user's acts from people's, and of the numbers of user turns in a dialogue.
    kl_acts: float
    kl_turns: float
    smoothing: float
    #: Cramér-von Mises: user turns in a dialogue, and acts in a turn.
    cvm_turns: float
    cvm_acts: float
    i_gcdf1: float | None
    r_gcdf1: float | None


def likeness(
    corpus: str | Path,
    conversations: Mapping[str, str | Path],
    options: UserOptions | None = None,
    *,
    smoothing: float = SMOOTHING,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Likeness]:
    """Each user beside the people of a corpus, in the dialogues that both have; GCDF1 is of all its conversations."""
    if not smoothing > 0:
        raise DialgaugeError(f"smoothing must be more than 0, else what is never said is infinitely far ({smoothing})")
    chosen = options or UserOptions()
    people, users = _acts(corpus, chosen), []
    for name, source in conversations.items():
        theirs = _acts(source, chosen)
        shared = [key for key in people if key in theirs]
        if not shared:
            raise DialgaugeError(f"it shares no dialogue with the corpus {corpus}", file=str(source))
        scores = score_users({name: source}, options=chosen, resamples=0)[0].scores
        pairs = [(people[key], theirs[key]) for key in shared]
        sides = [[pair[side] for pair in pairs] for side in (0, 1)]
        real_lengths, lengths = ([len(turns) for turns in side] for side in sides)
        real_sizes, sizes = ([len(acts) for turns in side for acts in turns] for side in sides)
        real, simulated = (Counter(act[:2] for turns in side for acts in turns for act in acts) for side in sides)
        users.append(
            Likeness(
                name=name,
                dialogues=len(shared),
                turns=sum(lengths),
                corpus_turns=sum(real_lengths),
                acts=_overlap(pairs, 2, resamples, seed),
                values=_overlap(pairs, 3, resamples, seed),
                kl_acts=kullback_leibler(real, simulated, smoothing),
                kl_turns=kullback_leibler(histogram(real_lengths), histogram(lengths), smoothing),
                smoothing=smoothing,
                cvm_turns=cramer_von_mises(lengths, real_lengths),
                cvm_acts=cramer_von_mises(sizes, real_sizes),
                i_gcdf1=scores["I-GCDF1"].value,
                r_gcdf1=scores["R-GCDF1"].value,
            )
        )
    return users


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


def _overlap(pairs: Sequence[tuple[Turns, Turns]], parts: int, resamples: int, seed: int) -> ActOverlap:
    """Turn by turn; a turn that only one side has is all wrong, or all missed."""
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
    precision, recall = _share(hits.sum(), given.sum()), _share(hits.sum(), wanted.sum())
    return ActOverlap(precision, recall, _share(doubled.sum(), both.sum()), low, high)


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def likeness_table(users: Sequence[Likeness], corpus: str) -> Table:
    """All users side by side: what is measured against people, and GCDF1, which is against the goal."""
    table = Table(f"Users beside the people of {corpus}", ["measure", *(Column(user.name) for user in users)])

    def add(title: str, values: Iterable[Cell | Value], number: Number) -> None:
        cells = (value if isinstance(value, Cell) else Cell(value) for value in values)
        table.add(title, *(structs.replace(cell, number=number) for cell in cells))

    bits, distance = Number(3), Number(3)
    add("dialogues that both have", (user.dialogues for user in users), Number())
    add("user turns", (user.turns for user in users), Number())
    add("people's turns", (user.corpus_turns for user in users), Number())
    for words, overlaps in (("", [user.acts for user in users]), (" with values", [user.values for user in users])):
        add(f"act precision{words}", (each.precision for each in overlaps), PERCENT)
        add(f"act recall{words}", (each.recall for each in overlaps), PERCENT)
        add(f"act F1{words}", (Cell(each.f1, each.low, each.high) for each in overlaps), PERCENT)
    add("KL of acts, bits", (user.kl_acts for user in users), bits)
    add("KL of turns per dialogue, bits", (user.kl_turns for user in users), bits)
    add("Cramér–von Mises, turns per dialogue", (user.cvm_turns for user in users), distance)
    add("Cramér–von Mises, acts per turn", (user.cvm_acts for user in users), distance)
    add("I-GCDF1", (user.i_gcdf1 for user in users), PERCENT)
    add("R-GCDF1", (user.r_gcdf1 for user in users), PERCENT)
    table.notes = [
        "Acts are compared turn by turn. After the first turn the contexts differ, so a different but correct act "
        "counts as wrong. GCDF1 asks whether the goal was stated, in any order.",
        f"KL: of the user's distribution from people's, {users[0].smoothing:g} added to every count. Cramér–von Mises: "
        "root mean square difference of the two distribution functions, 0 alike, 1 apart.",
    ]
    return table
