"""What a kind of run shows of itself: the contract of its pages and sentences, and what several kinds share of them."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.presentation.expected_calls import (
        ExpectedAction as ExpectedAction,
        call_reasons as call_reasons,
        expected_actions as expected_actions,
        matched_actions as matched_actions,
    )
    from dialgauge.presentation.fault_wordings import (
        FAULT_KIND_WORDS as FAULT_KIND_WORDS,
        FAULT_KINDS as FAULT_KINDS,
        FAULT_WORDINGS as FAULT_WORDINGS,
        SCOPE_WORDINGS as SCOPE_WORDINGS,
        FaultKind as FaultKind,
        fault_sentence as fault_sentence,
        fault_words as fault_words,
        scope_sentence as scope_sentence,
    )
    from dialgauge.presentation.pages import (
        READ_FIRST as READ_FIRST,
        Badge as Badge,
        Breakdown as Breakdown,
        DialogueView as DialogueView,
        Facet as Facet,
        Panel as Panel,
        PanelCell as PanelCell,
        PanelRow as PanelRow,
        Reading as Reading,
        Reason as Reason,
        RunPages as RunPages,
        RunTables as RunTables,
        Tone as Tone,
        Trial as Trial,
        TurnView as TurnView,
        kind_sentences as kind_sentences,
        pages_of as pages_of,
        run_charts as run_charts,
        run_verdict as run_verdict,
    )
    from dialgauge.presentation.phrases import (
        NAMED as NAMED,
        DialogueRows as DialogueRows,
        Glossary as Glossary,
        amount as amount,
        capitalised as capitalised,
        columns as columns,
        first_scores as first_scores,
        is_number as is_number,
        is_of_part as is_of_part,
        known as known,
        listed as listed,
        numbers as numbers,
        percent as percent,
        quoted as quoted,
        scored_units as scored_units,
        sentence as sentence,
        tallied as tallied,
        value_of as value_of,
        value_with_interval as value_with_interval,
    )
    from dialgauge.presentation.states import (
        SlotRow as SlotRow,
        Slots as Slots,
        StateRowReader as StateRowReader,
        StateView as StateView,
        slot_rows as slot_rows,
    )
    from dialgauge.presentation.tool_pages import (
        BLAME as BLAME,
        CALLS as CALLS,
        CHECKS as CHECKS,
        FAULTS as FAULTS,
        TRIALS as TRIALS,
        ToolPages as ToolPages,
        kind_badges as kind_badges,
        worth_reading as worth_reading,
    )
    from dialgauge.presentation.trial_wordings import (
        END_REASONS as END_REASONS,
        trials_sentence as trials_sentence,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
