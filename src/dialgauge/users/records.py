"""What scoring a dialogue leaves behind: scores, the behaviours seen, and a verdict on every single mention."""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Goal, Task
from dialgauge.users.confusion import Confusion
from dialgauge.users.loops import Loop
from dialgauge.users.normalise import Attempt
from dialgauge.users.patterns import Pattern

COMBINED = "combined"

Measure: TypeAlias = Literal["I-GCDF1", "R-GCDF1"]
#: How a conversation ends: in a loop, with the user's goodbye, or just so.
End: TypeAlias = Literal["loop", "goodbye", "open"]
ENDS: tuple[End, ...] = ("loop", "goodbye", "open")
MEASURES: tuple[Measure, ...] = ("I-GCDF1", "R-GCDF1")

VerdictName: TypeAlias = Literal[
    "credited",
    "repeated-forgiven",
    "repeated-penalised",
    "wrong-value",
    "out-of-goal-credited",
    "out-of-goal",
    "outside-domain",
    "pre-empted",
    "missing",
    "excused",
    "not-counted",
    "pooled",
]

#: What each verdict means, for help texts and explanations.
VERDICTS: dict[VerdictName, str] = {
    "credited": "in the goal, and said (or asked)",
    "repeated-forgiven": "said again, and the context excuses it",
    "repeated-penalised": "said again without an excuse, or too often",
    "wrong-value": "a slot of the goal with another value",
    "out-of-goal-credited": "not in the goal, but the context warrants it",
    "out-of-goal": "not in the goal",
    "outside-domain": "in a domain that the goal does not have",
    "pre-empted": "the system said it, so the user need not",
    "missing": "in the goal, and never said (or asked)",
    "excused": "in the goal and never said, but the search failed before",
    "not-counted": "a repetition that the configuration does not count",
    "pooled": "wrong in one domain, missing in another: they meet in the combined score, which forgets domains",
}


class Score(Struct, frozen=True, gc=False):
    """Counts and what follows from them (see :func:`score`)."""

    f1: float
    precision: float
    recall: float
    tp: int
    fp: int
    fn: int


class Behaviour(Struct, frozen=True):
    """One behaviour that was noticed: its label in the reference's tree, the domain, and the constraint or request.

    ``turns``: a mention, or the two ends of a repetition; ``count``: how often, where the reference records that;
    ``expected``: what the goal wanted instead.
    """

    measure: Measure
    label: str
    domain: str
    item: str = ""
    turns: tuple[int, ...] = ()
    count: int = 0
    expected: str = ""


class Verdict(Struct, frozen=True):
    """What became of one mention, or of one thing that was not mentioned. The counts of all verdicts of a domain sum to
    the counts of its score; those of the whole dialogue to the combined score."""

    measure: Measure
    domain: str
    item: str
    verdict: VerdictName
    turn: int | None = None
    behaviours: tuple[str, ...] = ()
    tp: int = 0
    fp: int = 0
    fn: int = 0


class DialogueScore(Struct, frozen=True, kw_only=True):
    """Everything found out about one dialogue."""

    id: str
    turns: int
    goal: Goal
    scores: dict[Measure, dict[str, Score]]
    behaviours: tuple[Behaviour, ...]
    verdicts: tuple[Verdict, ...]
    attempts: tuple[tuple[str, int, Attempt], ...] = ()
    #: Domains whose requests a failed search removed from the goal before R-GCDF1.
    requests_removed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    loops: tuple[Loop, ...] = ()
    #: What was said against what was heard, counted.
    confusions: tuple[tuple[Confusion, int], ...] = ()
    end: End = "open"

    def final_goal(self) -> Goal:
        """The goal as R-GCDF1 saw it: without the requests that a failed search made pointless."""
        tasks = {
            domain: Task(info=task.info, fail_info=task.fail_info, book=task.book, fail_book=task.fail_book)
            if domain in self.requests_removed
            else task
            for domain, task in self.goal.tasks.items()
        }
        return Goal(tasks=tasks, message=self.goal.message)


def score(truth: Counter[str], said: Counter[str]) -> Score | None:
    """F1, precision and recall of two multisets; None when both are empty.

    ``TP = Σ min(count in truth, count in said)``, precision ``TP / |said|`` (1 when nothing was said), recall
    ``TP / |truth|`` (1 when nothing was wanted), F1 ``2·p·r / (p + r)`` (0 when both are 0).
    """
    wanted, given = truth.total(), said.total()
    if not wanted and not given:
        return None
    tp = sum(min(count, said[item]) for item, count in truth.items())
    precision = tp / given if given else 1.0
    recall = tp / wanted if wanted else 1.0
    both = precision + recall
    f1 = 2.0 * precision * recall / both if both else 0.0
    return Score(f1, precision, recall, tp, given - tp, wanted - tp)
