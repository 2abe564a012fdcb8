"""What people see: tables for terminal, Markdown, LaTeX, CSV and JSON, and figures."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.rendering.charts import (
        correlation_heatmap as correlation_heatmap,
        domain_bars as domain_bars,
        error_onset as error_onset,
        lambda_sweep as lambda_sweep,
        mean_spread as mean_spread,
        slot_histogram as slot_histogram,
    )
    from dialgauge.rendering.escape import markdown as markdown
    from dialgauge.rendering.figures import (
        DIVERGING as DIVERGING,
        INK as INK,
        LINES as LINES,
        PAPER as PAPER,
        RISING as RISING,
        SHADES as SHADES,
        altair as altair,
        chart_specification as chart_specification,
        data as data,
        drawn as drawn,
        figure_label as figure_label,
        missing_drawer as missing_drawer,
        save_all as save_all,
        shades as shades,
        styled as styled,
        unchecked as unchecked,
    )
    from dialgauge.rendering.fitting import fold_sentence as fold_sentence
    from dialgauge.rendering.interval_panels import interval_plot as interval_plot
    from dialgauge.rendering.notebook import notebook_html as notebook_html
    from dialgauge.rendering.render import csv_text as csv_text, inert as inert, render_html as render_html
    from dialgauge.rendering.run_charts import (
        interval_note as interval_note,
        measure_words as measure_words,
        run_figures as run_figures,
    )
    from dialgauge.rendering.runs import (
        SCORES_IN_LIST as SCORES_IN_LIST,
        SHARE as SHARE,
        numbered as numbered,
        run_tables as run_tables,
        score_column as score_column,
        score_tables as score_tables,
        system_labels as system_labels,
    )
    from dialgauge.rendering.runset import (
        Display as Display,
        Presented as Presented,
        RunSet as RunSet,
        score_cell as score_cell,
        talk_table as talk_table,
    )
    from dialgauge.rendering.table import (
        BOLD as BOLD,
        FORMATS as FORMATS,
        INTERVALS as INTERVALS,
        USAGE as USAGE,
        Cell as Cell,
        Column as Column,
        Table as Table,
        Value as Value,
        format_of as format_of,
        percent_note as percent_note,
        render_tables as render_tables,
        write_tables as write_tables,
    )
    from dialgauge.rendering.terminal import TerminalTable as TerminalTable
    from dialgauge.text import plain as plain


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
