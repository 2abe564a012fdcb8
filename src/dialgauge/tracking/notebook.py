"""A table as HTML for notebooks."""

from __future__ import annotations

from html import escape

from dialgauge.report import Table


def html_table(table: Table) -> str:
    """The table with its notes; intervals in small print below the values."""
    head = "".join(f"<th>{escape(column.title)}</th>" for column in table.columns)
    rows = []
    for row in table.cells:
        cells = []
        for column, cell in zip(table.columns, row, strict=True):
            text = escape(column.text(cell.value))
            if cell.bold:
                text = f"<b>{text}</b>"
            if cell.low is not None and cell.high is not None:
                text += f"<br><small>{column.text(cell.low)} to {column.text(cell.high)}</small>"
            cells.append(f"<td>{text}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in table.notes)
    return (
        f"<div><table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>{notes}</div>"
    )
