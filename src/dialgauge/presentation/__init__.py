"""What a kind of run shows of itself: the contract of its pages and sentences, and what several kinds share of them."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.presentation.pages import (
        READ_FIRST,
        Badge,
        DialogueView,
        Facet,
        RunPages,
        RunTables,
        Tone,
        TurnView,
        kind_sentences,
        pages_of,
        run_charts,
        run_verdict,
    )
    from dialgauge.presentation.phrases import (
        NAMED,
        DialogueRows,
        Glossary,
        amount,
        capitalised,
        columns,
        first_scores,
        is_number,
        known,
        listed,
        percent,
        quoted,
        scored_units,
        sentence,
        tallied,
        value_of,
        value_with_interval,
    )
    from dialgauge.presentation.states import SlotRow, Slots, StateRowReader, StateView, slot_rows
    from dialgauge.presentation.tool_pages import (
        BLAME,
        CALLS,
        CHECKS,
        FAULTS,
        TRIALS,
        ToolPages,
        fault_words,
        kind_badges,
        matched_actions,
        worth_reading,
    )

__all__ = [
    "BLAME",
    "CALLS",
    "CHECKS",
    "FAULTS",
    "NAMED",
    "READ_FIRST",
    "TRIALS",
    "Badge",
    "DialogueRows",
    "DialogueView",
    "Facet",
    "Glossary",
    "RunPages",
    "RunTables",
    "SlotRow",
    "Slots",
    "StateRowReader",
    "StateView",
    "Tone",
    "ToolPages",
    "TurnView",
    "amount",
    "capitalised",
    "columns",
    "fault_words",
    "first_scores",
    "is_number",
    "kind_badges",
    "kind_sentences",
    "known",
    "listed",
    "matched_actions",
    "pages_of",
    "percent",
    "quoted",
    "run_charts",
    "run_verdict",
    "scored_units",
    "sentence",
    "slot_rows",
    "tallied",
    "value_of",
    "value_with_interval",
    "worth_reading",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
