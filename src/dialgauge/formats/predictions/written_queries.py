"""States as a query in SQL, as models that are asked for one write them (IC-DST)."""

from __future__ import annotations

import re

_QUERY = re.compile(r"SELECT\s[\w*., ]{1,200}?\sFROM\s([\w, ]{1,200}?)(?:\sWHERE\s|\s{0,9};?\s{0,9}\Z)", re.IGNORECASE)
_AND = re.compile(r"\sAND\s(?=[\w.]{1,99}\s?=)", re.IGNORECASE)
_ALIAS = re.compile(r"\b(\w{1,40})\.(?=\w)")


def written_query(text: str) -> tuple[str, str] | None:
    """The conditions of a query with semicolons between them, and its domain where it has one; None of other texts.

    >>> written_query("SELECT * FROM hotel WHERE area = north AND stars = 4;")
    ('area = north;stars = 4', 'hotel')
    >>> written_query("SELECT * FROM hotel AS d1, train AS d2 WHERE d1.area = north AND d2.day = friday")
    ('hotel.area = north;train.day = friday', '')
    >>> written_query("SELECT * FROM none"), written_query("hotel area north")
    (('', 'none'), None)
    """
    query = _QUERY.match(text)
    if not query:
        return None
    tables = [table.split() for table in query[1].split(",") if table.strip()]
    aliases = {words[-1].lower(): words[0] for words in tables if len(words) > 1}
    conditions = _AND.sub(";", text[query.end() :].rstrip("; "))
    if aliases:
        conditions = _ALIAS.sub(lambda match: f"{aliases.get(match[1].lower(), match[1])}.", conditions)
    return conditions, tables[0][0] if len(tables) == 1 else ""
