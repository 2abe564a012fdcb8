"""The law of explanations: verdicts sum to the counts of the scores, and every lost point has a reason and a fault."""

from __future__ import annotations

from dialgauge.users import COMBINED, DialogueScore


def assert_verdicts_add_up(score: DialogueScore) -> None:
    """For each measure, the verdicts of a domain sum to its counts, and all together to the combined counts."""
    for each in score.verdicts:
        lost = each.verdict != "pooled" and each.fp + each.fn > 0
        assert (lost or each.verdict == "repeated-forgiven") == (each.cause is not None), (score.id, each)
        assert each.labels or not lost, (score.id, each)
    for measure, scores in score.scores.items():
        for domain, found in scores.items():
            rows = [
                each
                for each in score.verdicts
                if each.measure == measure and (domain == COMBINED or each.domain == domain)
            ]
            sums = tuple(sum(getattr(row, key) for row in rows) for key in ("tp", "fp", "fn"))
            assert sums == (found.tp, found.fp, found.fn), (score.id, measure, domain)
            assert sum(score.lost[measure].get(domain, {}).values()) == found.fp + found.fn, (score.id, measure, domain)
