"""The run store as web pages, and as one file to mail: runs, their dialogues, and which of them is better."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.explorer.beside_runs import kept_beside
    from dialgauge.explorer.comparing import ranking
    from dialgauge.explorer.dialogue_list import DialogueList
    from dialgauge.explorer.dialogue_query import DialogueQuery
    from dialgauge.explorer.guard import Guard, local_hosts
    from dialgauge.explorer.leaderboard import boards, write_leaderboard
    from dialgauge.explorer.library import Library
    from dialgauge.explorer.pages import Explorer
    from dialgauge.explorer.reading_list import reading_address
    from dialgauge.explorer.redaction import redacted_runs
    from dialgauge.explorer.report_file import report_html, report_markdown, write_report
    from dialgauge.explorer.sentences import comparison_sentences, run_sentences
    from dialgauge.explorer.server import create_app
    from dialgauge.explorer.serving import serve, served
    from dialgauge.explorer.sides import neighbours, side_by_side, trials_side_by_side
    from dialgauge.explorer.summary import markdown_summary, worst_of
    from dialgauge.explorer.templating import PageLinks, page_address, table_html, templates

__all__ = [
    "DialogueList",
    "DialogueQuery",
    "Explorer",
    "Guard",
    "Library",
    "PageLinks",
    "boards",
    "comparison_sentences",
    "create_app",
    "kept_beside",
    "local_hosts",
    "markdown_summary",
    "neighbours",
    "page_address",
    "ranking",
    "reading_address",
    "redacted_runs",
    "report_html",
    "report_markdown",
    "run_sentences",
    "serve",
    "served",
    "side_by_side",
    "table_html",
    "templates",
    "trials_side_by_side",
    "worst_of",
    "write_leaderboard",
    "write_report",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
