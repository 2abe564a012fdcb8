"""The run store as web pages, and as one file to mail: runs, their dialogues, and which of them is better."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.explorer.beside_runs import kept_beside as kept_beside
    from dialgauge.explorer.comparing import ranking as ranking
    from dialgauge.explorer.dialogue_list import DialogueList as DialogueList
    from dialgauge.explorer.dialogue_query import DialogueQuery as DialogueQuery
    from dialgauge.explorer.guard import Guard as Guard, local_hosts as local_hosts
    from dialgauge.explorer.library import Library as Library
    from dialgauge.explorer.pages import Explorer as Explorer
    from dialgauge.explorer.reading_list import reading_address as reading_address
    from dialgauge.explorer.redaction import redacted_runs as redacted_runs
    from dialgauge.explorer.report_file import (
        report_html as report_html,
        report_markdown as report_markdown,
        write_report as write_report,
    )
    from dialgauge.explorer.sentences import run_sentences as run_sentences
    from dialgauge.explorer.server import create_app as create_app
    from dialgauge.explorer.serving import serve as serve, served as served
    from dialgauge.explorer.sides import (
        neighbours as neighbours,
        side_by_side as side_by_side,
        trials_side_by_side as trials_side_by_side,
    )
    from dialgauge.explorer.summary import markdown_summary as markdown_summary, worst_of as worst_of
    from dialgauge.explorer.templating import (
        PageLinks as PageLinks,
        page_address as page_address,
        table_html as table_html,
        templates as templates,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
