"""How like people a simulated user is: what the work before GCDF1 measured, beside GCDF1.

Turn-level precision, recall and F1 of acts (Schatzmann et al., 2005), the Kullback-Leibler divergence of how often each
act is said and of how many turns a dialogue has (Keizer et al., 2010), and the Cramér-von Mises distance of lengths
(Williams, 2007, of a system's performance).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct, structs

from dialgauge.dialogue import Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import Corpus, read
from dialgauge.report import PERCENT, Cell, Column, Number, Table, Value
from dialgauge.stats import SMOOTHING, cramer_von_mises, histogram, kullback_leibler, ratio_intervals
from dialgauge.users.acts import ActReader
from dialgauge.users.results import score_users
from dialgauge.users.scorer import PROFILES, ScorerSettings, UserOptions

#: Domain and intent, slot, and the values in small letters: what a turn does.
SaidAct = tuple[str, str, str]


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
    i_gcdf1: float | None = None
    r_gcdf1: float | None = None


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
    people = _acts_by_dialogue(read(corpus), chosen)
    made = []
    for name, source in conversations.items():
        theirs = _acts_by_dialogue(read(source), chosen)
        shared = [key for key in people if key in theirs]
        if not shared:
            raise DialgaugeError(f"it shares no dialogue with the corpus {corpus}", file=str(source))
        scores = score_users(source, options=chosen, resamples=0, name=name)[0].scores
        pairs = [people[key] for key in shared], [theirs[key] for key in shared]
        beside = _beside(name, *pairs, smoothing, resamples, seed)
        made.append(structs.replace(beside, i_gcdf1=scores["I-GCDF1"].value, r_gcdf1=scores["R-GCDF1"].value))
    return made


def _acts_by_dialogue(corpus: Corpus, options: UserOptions) -> dict[str, list[list[SaidAct]]]:
    """What the user does in each of its turns, slots under the names that goals use."""
    known = structs.replace(options, profile=None) if corpus.format in PROFILES else options
    profile = ScorerSettings.load(known, corpus.format).profile
    lexicon = ActReader(profile, merge_values=True, strict=False, max_turns=0)
    dialogues = {
        dialogue_key(dialogue.id): [_said(turn, lexicon) for turn in dialogue.user_turns()]
        for dialogue in corpus.dialogues
    }
    if not any(turn for turns in dialogues.values() for turn in turns):
        raise DialgaugeError("no user turn has dialogue acts", file=corpus.source)
    return dialogues


def _said(turn: Turn, lexicon: ActReader) -> list[SaidAct]:
    return [
        (act.name.lower(), lexicon.slot(act), " | ".join(value.lower().strip() for value in act.values))
        for act in turn.acts or ()
    ]


def _beside(
    name: str,
    people: Sequence[Sequence[Sequence[SaidAct]]],
    theirs: Sequence[Sequence[Sequence[SaidAct]]],
    smoothing: float,
    resamples: int,
    seed: int,
) -> Likeness:
    simulated, real = (
        Counter(act[:2] for turns in side for turn in turns for act in turn) for side in (theirs, people)
    )
    lengths, real_lengths = ([len(turns) for turns in side] for side in (theirs, people))
    sizes, real_sizes = ([len(turn) for turns in side for turn in turns] for side in (theirs, people))
    return Likeness(
        name=name,
        dialogues=len(people),
        turns=sum(lengths),
        corpus_turns=sum(real_lengths),
        acts=_overlap(people, theirs, 2, resamples, seed),
        values=_overlap(people, theirs, 3, resamples, seed),
        kl_acts=kullback_leibler(real, simulated, smoothing),
        kl_turns=kullback_leibler(histogram(real_lengths), histogram(lengths), smoothing),
        smoothing=smoothing,
        cvm_turns=cramer_von_mises(lengths, real_lengths),
        cvm_acts=cramer_von_mises(sizes, real_sizes),
    )


def _overlap(
    people: Sequence[Sequence[Sequence[SaidAct]]],
    theirs: Sequence[Sequence[Sequence[SaidAct]]],
    parts: int,
    resamples: int,
    seed: int,
) -> ActOverlap:
    """Turn by turn; a turn that only one side has is all wrong, or all missed."""
    rows = []
    for real, simulated in zip(people, theirs, strict=True):
        sums = [0, 0, 0]
        for number in range(max(len(real), len(simulated))):
            gold, made = (
                {act[:parts] for turn in side[number : number + 1] for act in turn} for side in (real, simulated)
            )
            sums = [sums[0] + len(gold & made), sums[1] + len(made), sums[2] + len(gold)]
        rows.append(sums)
    hits, given, wanted = np.array(rows, float).T
    doubled, both = 2 * hits, given + wanted
    low, high = (None, None)
    if resamples and both.sum():
        bounds = ratio_intervals([doubled], [both], resamples=resamples, seed=seed, bounds=(0.0, 1.0))[0]
        low, high = float(bounds[0]), float(bounds[1])
    return ActOverlap(
        _share(hits.sum(), given.sum()), _share(hits.sum(), wanted.sum()), _share(doubled.sum(), both.sum()), low, high
    )


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
        "Acts are compared turn by turn, by number: after the first turn the contexts differ, so another right thing "
        "to say counts as wrong. GCDF1 asks whether the goal was said, in whatever order.",
        f"KL: of the user's distribution from people's, {users[0].smoothing:g} added to every count. Cramér–von Mises: "
        "root mean square difference of the two distribution functions, 0 alike, 1 apart.",
    ]
    return table
