"""The run store as web pages, and as one file to mail: runs, their dialogues, and which of them is better."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.explorer.leaderboard import write_leaderboard
    from dialgauge.explorer.library import Library
    from dialgauge.explorer.report_file import report_html, report_markdown, write_report
    from dialgauge.explorer.sentences import comparison_sentences, run_sentences
    from dialgauge.explorer.serving import serve, served
    from dialgauge.explorer.summary import markdown_summary
    from dialgauge.explorer.templating import page_address

__all__ = [
    "Library",
    "comparison_sentences",
    "markdown_summary",
    "page_address",
    "report_html",
    "report_markdown",
    "run_sentences",
    "serve",
    "served",
    "write_leaderboard",
    "write_report",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
