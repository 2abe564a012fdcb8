"""Every table, worked example and figure of the papers, theirs beside ours."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.reproduce.papers import PAPERS, get_commands, how_to_get, reproduce
    from dialgauge.reproduce.reproduction import (
        IMPOSSIBLE,
        Fresh,
        PrintedNumber,
        ReportedValue,
        Reproduction,
        as_json,
        as_markdown,
        item_tables,
        missing_table,
        summary,
        tables_by_part,
        write_html,
    )
    from dialgauge.reproduce.sources import published

__all__ = [
    "IMPOSSIBLE",
    "PAPERS",
    "Fresh",
    "PrintedNumber",
    "ReportedValue",
    "Reproduction",
    "as_json",
    "as_markdown",
    "get_commands",
    "how_to_get",
    "item_tables",
    "missing_table",
    "published",
    "reproduce",
    "summary",
    "tables_by_part",
    "write_html",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
