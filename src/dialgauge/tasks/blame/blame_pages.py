"""Whose fault failures were, as pages and reports show it: from the table that a run stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from dialgauge.presentation import BLAME, Panel, PanelCell, PanelRow, Reason, RunTables, Tone
from dialgauge.runs import Run
from dialgauge.tasks.blame.blame_rules import BLAMED, Sign
from dialgauge.tasks.blame.blame_views import (
    EvidenceLine,
    evidence_lines,
    leaning_words,
    measured_sentence,
    side_words,
    sign_sentence,
)
from dialgauge.tasks.blame.failure_evidence import FailureEvidence
from dialgauge.text import counted, upper_first

#: Signs that a sentence names.
_SIGNS = 2


def blame_panel(library: RunTables, run: Run) -> Iterator[Panel]:
    """How often each side is blamed, and what unclear failures lean to."""
    if BLAME not in run.tables or not library.table(run, BLAME).height:
        return
    rows = library.table(run, BLAME).select("blamed", "leans", "firm").rows()
    blamed = Counter(blamed for blamed, _, _ in rows)
    leaning = Counter(leans for _, leans, firm in rows if not firm)
    tones: dict[str, Tone] = {"agent": "bad", "unclear": "plain"}
    findings = [
        PanelRow(
            side_words(side),
            [
                PanelCell(f"{blamed[side]:,}", {"blame": side} if blamed[side] else {}),
                PanelCell(f"{leaning[side]:,}", {"blame": "unclear", "leans": side})
                if leaning[side] and side != "unclear"
                else PanelCell(""),
            ],
            tone=tones.get(side, "warn"),
        )
        for side in BLAMED
        if blamed[side] or leaning[side]
    ]
    sides = ", ".join(f"{side_words(side)} {blamed[side]:,}" for side in BLAMED if blamed[side])
    yield Panel(
        "blame",
        "Whose fault were the failures?",
        f"Of {counted(len(rows), 'failure')}: {sides}.",
        ("whose", "failures", "unclear, leaning to it"),
        findings,
        [measured_sentence()],
    )


def blame_reasons(rows: list[dict[str, Any]], turn: Mapping[int, int | None]) -> list[Reason]:
    """Why a conversation failed by the rules of blame; ``turn`` has the turn of each message."""
    reasons = []
    for row in rows:
        verdict = side_words(row["blamed"]) if row["firm"] else leaning_words(row["leans"])
        # The message as the command names it; the page counts turns.
        where = "" if row["message"] is None else f" (message {row['message']})"
        try:
            signs = msgspec.json.decode(row.get("signs") or "[]", type=list[Sign])
        except msgspec.MsgspecError:
            signs = []
        told = "; ".join(dict.fromkeys(map(sign_sentence, signs[:_SIGNS]))) or "nothing that was looked at tells"
        tone: Tone = "bad" if row["firm"] and row["blamed"] == "agent" else "warn"
        text = f"Whose fault: {verdict}{where}. {upper_first(told)}"
        reasons.append(Reason(text, turn.get(row["message"]), tone=tone))
    return reasons


def stored_evidence(row: Mapping[str, Any]) -> list[EvidenceLine]:
    """The evidence on a failure, line by line; none where what is stored cannot be read."""
    try:
        return evidence_lines(msgspec.json.decode(row.get("evidence") or "", type=FailureEvidence))
    except msgspec.MsgspecError:
        return []
