"""What people see: tables for terminal, Markdown, LaTeX, CSV and JSON, and figures."""

from __future__ import annotations

from dialgauge.report.cells import Cell, Column
from dialgauge.report.table import Table, write_tables

__all__ = ["Cell", "Column", "Table", "write_tables"]
