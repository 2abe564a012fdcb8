"""What runs and comparisons say, in plain English: one sentence for each question, and a summary for a pull request."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.explorer.answers.sentences import comparison_sentences, run_sentences
    from dialgauge.explorer.answers.summary import markdown_summary

__all__ = ["comparison_sentences", "markdown_summary", "run_sentences"]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
