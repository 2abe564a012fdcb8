"""The run store as web pages, and as one file to mail: runs, their dialogues, and which of them is better."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.explorer.guard import Guard as Guard, local_hosts as local_hosts
    from dialgauge.explorer.links import (
        page_address as page_address,
    )
    from dialgauge.explorer.pages import Pages as Pages
    from dialgauge.explorer.redaction import redacted_runs as redacted_runs
    from dialgauge.explorer.report_file import (
        report_html as report_html,
        report_markdown as report_markdown,
        write_report as write_report,
    )
    from dialgauge.explorer.server import create_app as create_app
    from dialgauge.explorer.serving import serve as serve, served as served


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
