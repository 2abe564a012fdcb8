"""What people and programs see of runs: tables and transcripts, and every output that is made from them.

A family writes one :class:`View` of tables and transcripts. Pages are made of it, and terminal, Markdown, LaTeX, CSV,
JSON, HTML and figures of pages.
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.report.charts import Picture as Picture, figure as figure, has_picture as has_picture
    from dialgauge.report.dialogues import dialogue_list as dialogue_list
    from dialgauge.report.formats import (
        csv_page as csv_page,
        csv_table as csv_table,
        json_document as json_document,
        json_page as json_page,
        latex_page as latex_page,
        latex_table as latex_table,
        markdown as markdown,
        markdown_page as markdown_page,
        markdown_table as markdown_table,
        require_format as require_format,
        write_figures as write_figures,
        write_page as write_page,
    )
    from dialgauge.report.html import (
        Links as Links,
        anchor as anchor,
        content_policy as content_policy,
        html_page as html_page,
        html_pages as html_pages,
        notebook_html as notebook_html,
    )
    from dialgauge.report.page import Choice as Choice, Page as Page, Remark as Remark
    from dialgauge.report.pages import (
        corpus_summary as corpus_summary,
        dialogue_page as dialogue_page,
        dialogue_summary as dialogue_summary,
        list_page as list_page,
        made_tables as made_tables,
        run_page as run_page,
        run_report as run_report,
        run_summary as run_summary,
        run_tables as run_tables,
        screen_tables as screen_tables,
        side_page as side_page,
        table_page as table_page,
        transcript_of as transcript_of,
        whole_list as whole_list,
        worst_dialogues as worst_dialogues,
        worst_page as worst_page,
    )
    from dialgauge.report.runset import RunSet as RunSet
    from dialgauge.report.table import (
        PERCENT as PERCENT,
        Cell as Cell,
        Chart as Chart,
        Column as Column,
        Link as Link,
        Number as Number,
        Table as Table,
        Tone as Tone,
        Value as Value,
    )
    from dialgauge.report.tables import (
        BESIDE as BESIDE,
        ERRORS as ERRORS,
        RIGHT as RIGHT,
        Slots as Slots,
        count_cell as count_cell,
        count_table as count_table,
        matrix_table as matrix_table,
        number_of as number_of,
        part_of as part_of,
        part_table as part_table,
        recorded_slots as recorded_slots,
        score_cell as score_cell,
        score_table as score_table,
        state_table as state_table,
    )
    from dialgauge.report.terminal import Terminal as Terminal, folded as folded
    from dialgauge.report.transcript import (
        Mark as Mark,
        Transcript as Transcript,
        Turn as Turn,
        first_difference as first_difference,
        side_by_side as side_by_side,
    )
    from dialgauge.report.view import (
        Finding as Finding,
        TableMaker as TableMaker,
        View as View,
        plain_transcript as plain_transcript,
        plain_verdict as plain_verdict,
        stored_as_expected as stored_as_expected,
        system_names as system_names,
        view_of as view_of,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
