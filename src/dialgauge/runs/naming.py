"""Names inside the store: run ids that sort by time and read like words, and safe names for tables."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from datetime import datetime

from dialgauge.errors import DialgaugeError

#: A run id: time in UTC, what was run, and four random digits (``20261115-104500-tracking-augpt-3f2a``).
RUN_ID = re.compile(r"\d{8}-\d{6}-[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{4}")

#: Names of views that SQL offers for every store, so no table may take them.
RESERVED = ("runs",)

_TABLE = re.compile(r"[a-z][a-z0-9_]{0,62}")
_LONGEST_PIECE = 40


def new_id(created: datetime, kind: str, name: str) -> str:
    """A fresh run id; the random end keeps two runs of the same second apart."""
    pieces = [f"{created:%Y%m%d-%H%M%S}", slug(kind) or "run", slug(name), secrets.token_hex(2)]
    return "-".join(piece for piece in pieces if piece)


def slug(text: str) -> str:
    """The text in small letters, digits and single hyphens, cut to 40 characters; empty when none are left."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_PIECE].rstrip("-")


def is_run_id(text: str) -> bool:
    """Whether a folder of this name claims to be a run."""
    return RUN_ID.fullmatch(text) is not None


def is_table_name(text: str) -> bool:
    """Whether a table may bear this name: small letters, digits and underscores, and not the name of another view."""
    return _TABLE.fullmatch(text) is not None and text not in RESERVED


def check_table_name(text: str) -> str:
    """The name, or an error that says what a table may be called."""
    if not is_table_name(text):
        raise DialgaugeError(
            f"a table of a run cannot be called '{text}': use small letters, digits and underscores, "
            f"begin with a letter, and avoid {', '.join(repr(name) for name in RESERVED)}"
        )
    return text


def check_columns(table: str, columns: Sequence[str]) -> None:
    """An error unless SQL can tell the columns apart: it ignores case, and adds the column ``run`` by itself."""
    seen = {"run"}
    for column in columns:
        if column.lower() in seen:
            raise DialgaugeError(
                f"the table '{table}' cannot have the column '{column}': SQL would see that name twice"
            )
        seen.add(column.lower())
