"""Polars frames on the screen and in files."""

from __future__ import annotations

import io
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dialgauge.report.cells import Value
from dialgauge.report.table import Table

if TYPE_CHECKING:
    import polars


def frame_table(title: str, frame: polars.DataFrame) -> Table:
    """The frame as a table: numbers and texts as they are, dates and nested values as text."""
    return Table(title, frame.columns, ([_shown(cell) for cell in row] for row in frame.iter_rows()))


def frame_csv(frame: polars.DataFrame) -> bytes:
    """The frame as CSV; dates as ISO 8601, nested values as JSON, nothing for null and NaN."""
    import csv

    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    encode = _json_encoder()
    writer.writerow(frame.columns)
    writer.writerows([_csv_cell(cell, encode) for cell in row] for row in frame.iter_rows())
    return buffer.getvalue().encode()


def frame_json(frame: polars.DataFrame) -> bytes:
    """The frame as a JSON list of objects; null for NaN."""
    return _json_encoder()(frame.to_dicts()) + b"\n"


def frame_parquet(frame: polars.DataFrame) -> bytes:
    """The frame as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _json_encoder() -> Callable[[Any], bytes]:
    import msgspec

    return msgspec.json.Encoder(decimal_format="number").encode


def _shown(cell: Any) -> Value:
    """SQL's sums of integers are decimals; people read them as integers."""
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


def _csv_cell(cell: Any, encode: Callable[[Any], bytes]) -> str | int | float | None:
    if cell is None or cell != cell:
        return None
    return cell if isinstance(cell, str | int | float) else encode(cell).decode().strip('"')
