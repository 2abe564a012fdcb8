from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.runs.naming import check_columns, check_table_name, is_run_id, is_table_name, new_id, slug

MOMENT = datetime(2026, 11, 15, 10, 45, 0, tzinfo=UTC)


def test_an_id_reads_like_words() -> None:
    fresh = new_id(MOMENT, "tracking", "AuGPT (v2)")
    assert fresh.startswith("20261115-104500-tracking-augpt-v2-")
    assert is_run_id(fresh)


@given(kind=st.text(), name=st.text(), seconds=st.integers(1, 10**8))
def test_ids_are_valid_whatever_the_names_and_sort_by_time(kind: str, name: str, seconds: int) -> None:
    early = new_id(MOMENT, kind, name)
    late = new_id(MOMENT + timedelta(seconds=seconds), name, kind)
    assert is_run_id(early)
    assert is_run_id(late)
    assert early < late


@given(st.text())
def test_a_slug_is_its_own_slug_and_safe_in_a_path(text: str) -> None:
    short = slug(text)
    assert slug(short) == short
    assert len(short) <= 40
    assert set(short) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@pytest.mark.parametrize(
    "name", ["", "Scores", "a-b", "../x", "1a", "a b", "runs", 'x"; DROP TABLE runs; --', "a" * 64]
)
def test_table_names_that_are_refused(name: str) -> None:
    assert not is_table_name(name)
    with pytest.raises(DialgaugeError, match="cannot be called"):
        check_table_name(name)


@pytest.mark.parametrize("columns", [["run"], ["a", "Run"], ["score", "Score"]])
def test_columns_that_sql_would_see_twice_are_refused(columns: list[str]) -> None:
    with pytest.raises(DialgaugeError, match="SQL would see that name twice"):
        check_columns("t", columns)
