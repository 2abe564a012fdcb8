"""What is to be known of agents that are somebody else's: who labelled their words with acts, how far their own report
agrees with an observer, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from dialgauge.agents import AGENT_ERROR, END_WORDS, LOOP_GUARD, MAX_EXCHANGES, TIME_BUDGET, TOKEN_BUDGET
from dialgauge.dialogue import Act, Dialogue, Outcome
from dialgauge.lab.blame.blame_scores import BLAME
from dialgauge.rendering import Column, Table
from dialgauge.runs import Run
from dialgauge.values import canonical

#: The source of the acts of a system that has only words.
FROM_WORDS = "words and calls"
#: The part of a run's configuration that says what becomes of conversations that infrastructure broke.
BROKEN_POLICY = "broken"
_POLICY_WORDS = {"leave-out": "left out (--broken leave-out)", "fail": "counted as failed (--broken fail)"}
#: Ends that are nobody's policy, and how rates take them unless it was chosen.
_BROKEN = {
    AGENT_ERROR: "not done; left out where the user failed",
    TIME_BUDGET: "not done; left out where the user failed",
    TOKEN_BUDGET: "not done",
}
_CUT_OFF = dict.fromkeys((MAX_EXCHANGES, LOOP_GUARD), "judged by what was said")
#: Details of an outcome that count replies in which something was lost.
_LOST = {
    "empty": "replies of the system without a word",
    "cut": "replies of the system that were cut off",
}
_OWN_REPORT = "model"
_COUNTED = {"calls": "calls", "tokens_in": "tokens in", "tokens_out": "tokens out"}
_Item = tuple[str, str, str]


def labels_note(run: Run) -> str:
    """A sentence on whose labels the acts of a run are; empty where all acts are the speakers' own."""
    sources = _sources(run)
    observed = [side for side, source in sources.items() if source not in (_OWN_REPORT, FROM_WORDS)]
    read = [side for side, source in sources.items() if source == FROM_WORDS]
    labelled = f" The {' and the '.join(observed)} had words only: an observer's NLU labelled them." if observed else ""
    sentence = " The system had words only: what it did is read from its calls, what it told from values in its text."
    return labelled + (sentence if read else "")


def judged_by_acts(run: Run) -> bool:
    """Are verdicts on words made by the acts behind them?"""
    return run.manifest.config["level"] == "text" and _sources(run).get("system") != FROM_WORDS


def coverage_tables(run: Run) -> list[Table]:
    """What there was to judge, before any rate: ends that are nobody's policy, and what a free speaker lost."""
    reasons = Counter(run.table("conversations")["reason"].to_list())
    chosen = _POLICY_WORDS.get(run.manifest.config.get(BROKEN_POLICY, ""))
    rated = {**(dict.fromkeys(_BROKEN, chosen) if chosen else _BROKEN), **_CUT_OFF}
    rows = [(f"{END_WORDS[reason]}: {words}", reasons[reason]) for reason, words in rated.items()]
    rows = [(words, count) for words, count in rows if count]
    free = FROM_WORDS in _sources(run).values()
    if not rows and not free:
        return []
    table = Table("What the lab could judge", ["what", Column("number", align="right")])
    table.add("conversations", reasons.total())
    if free:
        rows = [("failed because the lab did not understand the system", _not_understood(run)), *rows, *_lost(run)]
        table.notes.append(
            "The system speaks freely: the agenda user understands free English, reads from the system's calls what "
            "was found, booked and refused, and goes on when it does not understand."
        )
    for words, count in rows:
        table.add(words, count)
    return [table]


def _not_understood(run: Run) -> int:
    blamed = run.table(BLAME)
    return blamed.filter((blamed["side"] == "lab") & blamed["first"])["dialogue"].n_unique() if blamed.height else 0


def _lost(run: Run) -> list[tuple[str, int]]:
    counts = Counter[str]()
    for dialogue in run.dialogues():
        for name in _LOST:
            usage = dialogue.ended.usage.get("agent")
            counts[name] += int(getattr(usage, name, 0) or 0)
    return [(words, counts[name]) for name, words in _LOST.items() if counts[name]]


def cost_tables(run: Run) -> list[Table]:
    """Calls, tokens and money of each side that asked somebody; nothing where none did."""
    spent: dict[str, Counter[str]] = {"user": Counter(), "system": Counter()}
    for outcome in run.table("dialogues")["outcome"].drop_nulls().to_list():
        for side, usage in msgspec.json.decode(outcome, type=Outcome).usage.items():
            counts = spent["system" if side == "agent" else side]
            counts.update({what: int(amount) for what in _COUNTED if (amount := getattr(usage, what))})
    if not any(spent.values()):
        return []
    prices = run.manifest.config.get("prices", {})
    table = Table("What it cost", ["side", *_COUNTED.values(), *([Column("money", digits=4)] if prices else [])])
    for side, amounts in spent.items():
        if amounts:
            per_in, per_out = prices.get(side, (0.0, 0.0))
            money = (amounts["tokens_in"] * per_in + amounts["tokens_out"] * per_out) / 1_000_000
            price_cells = [money if per_in or per_out else None] if prices else []
            table.add(side, *(amounts[what] for what in _COUNTED), *price_cells)
    return [table]


def report_tables(run: Run) -> list[Table]:
    """How far acts that a model reported agree with what the other side's NLU heard; nothing where none did."""
    sides = [side for side, source in _sources(run).items() if source == _OWN_REPORT]
    if not sides:
        return []
    shares = [Column(name, digits=2, percent=True) for name in ("precision", "recall", "F1")]
    table = Table(
        "Acts as the model reports them, and as an observer hears them",
        ["side", "turns", "without report", *shares],
        notes=["Act, slot and value; precision is the share of reported acts that the observer heard too."],
    )
    dialogues = list(run.dialogues())
    for side in sides:
        table.add(side, *agreement(dialogues, side))
    return [table]


def agreement(dialogues: Iterable[Dialogue], side: str) -> tuple[int, int, float | None, float | None, float | None]:
    """Turns compared, turns without a report, and precision, recall and F1 of reported against observed acts."""
    turns = silent = both = reported = observed = 0
    for said, heard in _turns(dialogues, side):
        turns += 1
        silent += not said
        both += len(said & heard)
        reported += len(said)
        observed += len(heard)
    return turns, silent, _share(both, reported), _share(both, observed), _share(2 * both, reported + observed)


def _turns(dialogues: Iterable[Dialogue], side: str) -> Iterator[tuple[set[_Item], set[_Item]]]:
    for dialogue in dialogues:
        for turn in dialogue.turns:
            if turn.speaker == side and turn.acts is not None and turn.heard is not None:
                yield set(_items(turn.acts)), set(_items(turn.heard))


def _items(acts: Iterable[Act]) -> Iterator[_Item]:
    return ((act.name, act.slot, canonical(value)) for act in acts for value in act.values or ("",))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _sources(run: Run) -> dict[str, str]:
    labelled = run.manifest.config.get("acts")
    return labelled if isinstance(labelled, dict) else {}
