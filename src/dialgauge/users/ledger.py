"""The books of one domain: what the goal wanted, what was said, and a verdict on every entry."""

from __future__ import annotations

from collections import Counter

from dialgauge.errors import DialgaugeError
from dialgauge.users.records import COMBINED, Measure, Score, Verdict, VerdictName, score


class Ledger:
    """Truth and predictions as multisets. Each booking method adds to the counts exactly what its verdict says."""

    def __init__(self, measure: Measure, domain: str, truth: Counter[str] | None = None) -> None:
        self.measure = measure
        self.domain = domain
        self.truth: Counter[str] = Counter() if truth is None else truth
        self.said: Counter[str] = Counter()
        self.verdicts: list[Verdict] = []

    def said_right(self, item: str, turn: int, verdict: VerdictName, behaviours: tuple[str, ...] = ()) -> None:
        """A mention that finds its copy in the truth."""
        self.said[item] += 1
        self._enter(item, verdict, turn, behaviours, tp=1)

    def said_wrong(self, item: str, turn: int, verdict: VerdictName, behaviours: tuple[str, ...] = ()) -> None:
        """A mention that finds none."""
        self.said[item] += 1
        self._enter(item, verdict, turn, behaviours, fp=1)

    def warranted(self, item: str, turn: int, verdict: VerdictName, behaviours: tuple[str, ...] = ()) -> None:
        """A mention that the context makes part of the truth."""
        self.truth[item] += 1
        self.said_right(item, turn, verdict, behaviours)

    def uncounted(self, item: str, turn: int) -> None:
        """A mention that the configuration leaves out."""
        self._enter(item, "not-counted", turn, ())

    def missing(self, item: str, behaviours: tuple[str, ...] = ()) -> None:
        """Something wanted that was never said."""
        self._enter(item, "missing", None, behaviours, fn=self.truth[item])

    def excuse(self, item: str, behaviours: tuple[str, ...]) -> None:
        """Something wanted that no longer counts."""
        del self.truth[item]
        self._enter(item, "excused", None, behaviours)

    def _enter(
        self,
        item: str,
        verdict: VerdictName,
        turn: int | None,
        behaviours: tuple[str, ...],
        *,
        tp: int = 0,
        fp: int = 0,
        fn: int = 0,
    ) -> None:
        self.verdicts.append(Verdict(self.measure, self.domain, item, verdict, turn, behaviours, tp, fp, fn))


def close(ledgers: list[Ledger], measure: Measure) -> tuple[dict[str, Score], list[Verdict]]:
    """The scores by domain and combined, and all verdicts.

    The combined score pools the items of all domains, so what is wrong in one can meet what is missing in another; a
    verdict ``pooled`` says so, and makes the verdicts sum to the combined counts too.
    """
    scores: dict[str, Score] = {}
    verdicts: list[Verdict] = []
    truth: Counter[str] = Counter()
    said: Counter[str] = Counter()
    for ledger in ledgers:
        if ledger.domain == COMBINED:
            raise DialgaugeError(f"a domain is called '{COMBINED}', the name of the score of all domains; rename it")
        verdicts += ledger.verdicts
        truth.update(ledger.truth)
        said.update(ledger.said)
        found = score(ledger.truth, ledger.said)
        if found is not None:
            scores[ledger.domain] = found
    combined = score(truth, said)
    if combined is not None:
        if len(ledgers) > 1:
            verdicts += _pooled(ledgers, measure, truth, said)
        scores[COMBINED] = combined
    return scores, verdicts


def _pooled(ledgers: list[Ledger], measure: Measure, truth: Counter[str], said: Counter[str]) -> list[Verdict]:
    apart: Counter[str] = Counter()
    for ledger in ledgers:
        for item, count in ledger.truth.items():
            apart[item] += min(count, ledger.said[item])
    meeting = {item: min(count, said[item]) - apart[item] for item, count in truth.items()}
    return [
        Verdict(measure, COMBINED, item, "pooled", None, (), tp=count, fp=-count, fn=-count)
        for item, count in meeting.items()
        if count
    ]
