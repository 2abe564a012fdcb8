"""What people see: tables for terminal, Markdown, LaTeX, CSV and JSON, and figures."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.report.charts import (
        correlation_heatmap,
        domain_bars,
        error_onset,
        lambda_sweep,
        mean_spread,
        slot_histogram,
        stacked_bars,
    )
    from dialgauge.report.escape import markdown
    from dialgauge.report.figures import (
        DIVERGING,
        ENDINGS,
        INK,
        LINES,
        PAPER,
        RISING,
        SHADES,
        altair,
        chart_specification,
        check_ending,
        data,
        drawn,
        missing_drawer,
        save,
        save_all,
        shades,
        styled,
        unchecked,
    )
    from dialgauge.report.fitting import fold_sentence
    from dialgauge.report.interval_panels import interval_plot
    from dialgauge.report.notebook import corpus_html, dialogue_html, notebook_html
    from dialgauge.report.page import Figure, Section, write_page
    from dialgauge.report.render import csv_text, inert, render_html
    from dialgauge.report.run_charts import interval_note, measure_words, run_figures
    from dialgauge.report.runs import (
        SHARE,
        numbered,
        run_html,
        run_tables,
        score_column,
        score_tables,
        system_labels,
    )
    from dialgauge.report.runset import Display, Presented, RunSet, score_cell, talk_table
    from dialgauge.report.table import (
        BOLD,
        FORMATS,
        INTERVALS,
        USAGE,
        Cell,
        Column,
        Table,
        Value,
        format_of,
        mark_best,
        percent_note,
        render_tables,
        write_tables,
    )
    from dialgauge.report.terminal import TerminalTable
    from dialgauge.text import plain

__all__ = [
    "BOLD",
    "DIVERGING",
    "ENDINGS",
    "FORMATS",
    "INK",
    "INTERVALS",
    "LINES",
    "PAPER",
    "RISING",
    "SHADES",
    "SHARE",
    "USAGE",
    "Cell",
    "Column",
    "Display",
    "Figure",
    "Presented",
    "RunSet",
    "Section",
    "Table",
    "TerminalTable",
    "Value",
    "altair",
    "chart_specification",
    "check_ending",
    "corpus_html",
    "correlation_heatmap",
    "csv_text",
    "data",
    "dialogue_html",
    "domain_bars",
    "drawn",
    "error_onset",
    "fold_sentence",
    "format_of",
    "inert",
    "interval_note",
    "interval_plot",
    "lambda_sweep",
    "mark_best",
    "markdown",
    "mean_spread",
    "measure_words",
    "missing_drawer",
    "notebook_html",
    "numbered",
    "percent_note",
    "plain",
    "render_html",
    "render_tables",
    "run_figures",
    "run_html",
    "run_tables",
    "save",
    "save_all",
    "score_cell",
    "score_column",
    "score_tables",
    "shades",
    "slot_histogram",
    "stacked_bars",
    "styled",
    "system_labels",
    "talk_table",
    "unchecked",
    "write_page",
    "write_tables",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
