from __future__ import annotations

import io
import math
import struct
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.columns import ColumnKind, ColumnTable, PiecedTable, SharedColumn, TableColumn, chosen_texts, column
from support.soak import examples

KINDS: dict[ColumnKind, Any] = {
    "String": polars.String(),
    "Int32": polars.Int32(),
    "Int64": polars.Int64(),
    "Float64": polars.Float64(),
    "Boolean": polars.Boolean(),
    "List(String)": polars.List(polars.String()),
    "List(Int64)": polars.List(polars.Int64()),
}
DUCKDB = ["VARCHAR", "INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR[]", "BIGINT[]"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(["a", "b", "ü", "\0", ""])
VALUES: dict[ColumnKind, st.SearchStrategy[Any]] = {
    "String": TEXT,
    "Int32": st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 3),
    "Int64": st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9),
    "Float64": st.floats() | st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf]),
    "Boolean": st.booleans(),
    "List(String)": st.lists(TEXT | st.none(), max_size=3),
    "List(Int64)": st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), max_size=3),
}


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """A column of each kind; few distinct values or many, with nulls or without."""
    rows = draw(st.integers(0, 40))
    content: dict[str, list[Any]] = {}
    for kind, values in VALUES.items():
        pool = draw(st.lists(values, min_size=1, max_size=draw(st.sampled_from([2, 60]))))
        cell = st.sampled_from(pool)
        content[kind] = draw(st.lists(cell | st.none() if draw(st.booleans()) else cell, min_size=rows, max_size=rows))
    return content


def parquet(table: ColumnTable) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def table_of(content: dict[str, list[Any]]) -> ColumnTable:
    return ColumnTable.of(dict(zip(content, KINDS, strict=True)), content.values())


def bits(values: list[Any]) -> list[Any]:
    """Floats by their bits, as NaN differs from itself and 0.0 does not from -0.0; all NaN are one."""
    floats = (value if not isinstance(value, float) or value == value else math.nan for value in values)
    return [struct.pack("<d", value) if isinstance(value, float) else value for value in floats]


@settings(max_examples=examples(150), deadline=None)
@given(tables())
def test_polars_and_duckdb_read_what_was_written(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    written = parquet(table_of(content))
    for frame in (polars.read_parquet(io.BytesIO(written)), table_of(content).frame()):
        assert dict(frame.schema) == KINDS
        assert {name: bits(frame[name].to_list()) for name in frame.columns} == {
            name: bits(values) for name, values in content.items()
        }
    path = tmp_path_factory.getbasetemp() / "table.parquet"
    path.write_bytes(written)
    answer = duckdb.connect().execute(f"SELECT * FROM read_parquet('{path}')")
    assert [str(kind) for _, kind, *_ in answer.description or ()] == DUCKDB
    rows = answer.fetchall()
    assert [bits(list(row)) for row in rows] == [bits(list(row)) for row in zip(*content.values(), strict=True)]


@settings(max_examples=examples(80), deadline=None)
@given(tables())
def test_the_bytes_depend_on_the_content_alone(content: Any) -> None:
    texts = content["String"]
    names = [*sorted({text for text in texts if text is not None}), None, "unused", *texts]
    codes = np.array([len(names) - 1 - names[::-1].index(text) for text in texts], np.int32)
    as_utf8 = [None if text is None else text.encode() for text in texts]
    whole = np.array([value or 0 for value in content["Int64"]], np.int64)
    null = np.array([value is None for value in content["Int64"]], bool)
    ways = [
        (column("String", texts), column("Int64", content["Int64"])),
        (chosen_texts(names, codes), column("Int64", whole, null=null)),
        (column("String", as_utf8), column("Int64", tuple(content["Int64"]))),
    ]
    assert len({parquet(ColumnTable({"text": text, "number": number})) for text, number in ways}) == 1


@pytest.mark.parametrize("codes", [[0, 0, 1, 1, 3, 3], [3, 1, 1, 0, 3, 0], [1, 1, 2, 2, 2, 3]])
def test_texts_in_order_or_not_are_written_alike(codes: list[int]) -> None:
    texts = ["a", "b", "b", None]
    chosen = chosen_texts(texts, np.array(codes))
    whole = column("String", [texts[code] for code in codes])
    assert parquet(ColumnTable({"text": chosen})) == parquet(ColumnTable({"text": whole}))
    assert list(chosen.unique()) == list(whole.unique())


def test_a_shared_column_is_written_like_its_own_in_every_table() -> None:
    own = chosen_texts(["a", "b"], np.repeat([0, 1], 500))
    shared, other = SharedColumn.of(own), column("Int64", np.arange(1000))
    for columns in ({"text": own}, {"other": other, "text": own}, {"name": own, "text": own}):
        same = {name: shared if each is own else each for name, each in columns.items()}
        assert parquet(ColumnTable(same)) == parquet(ColumnTable(columns))
    assert shared.chunk is shared.chunk
    assert parquet(ColumnTable({"text": shared.rows(400, 600)})) == parquet(ColumnTable({"text": own.rows(400, 600)}))


def test_long_tables_lie_in_row_groups() -> None:
    rows = 1_050_000
    numbers = np.arange(rows)
    table = ColumnTable(
        {
            "dialogue": chosen_texts([f"d{name}" for name in range(70_000)], numbers % 70_000),
            "turn": column("Int64", numbers),
            "near": column("Int32", numbers % 100 - 50),
            "score": column("Float64", numbers / 7, null=numbers % 3 == 0),
            "right": column("Boolean", numbers % 2 == 0),
        }
    )
    frame = polars.read_parquet(io.BytesIO(parquet(table)))
    assert frame.height == rows
    assert (frame["turn"].to_numpy() == numbers).all()
    assert (frame["near"].to_numpy() == numbers % 100 - 50).all()
    assert frame["dialogue"].str.slice(1).cast(polars.Int64).to_list() == (numbers % 70_000).tolist()
    assert frame["score"].null_count() == rows // 3
    assert np.array_equal(frame["score"].drop_nulls().to_numpy(), (numbers / 7)[numbers % 3 != 0])
    assert frame["right"].sum() == rows // 2


def test_a_page_that_would_be_too_long_is_split(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dialgauge.parquet_file._PAGE", 1000)
    texts = [f"{number}" * 600 for number in range(9)]
    content = parquet(ColumnTable({"text": column("String", texts)}))
    assert polars.read_parquet(io.BytesIO(content))["text"].to_list() == texts
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    groups = duckdb.connect().execute(f"SELECT count(DISTINCT row_group_id) FROM parquet_metadata('{path}')").fetchall()
    assert groups == [(9,)]


def test_files_are_compressed() -> None:
    content = parquet(
        ColumnTable({"text": column("String", [f"the same words again and again {n}" for n in range(9999)])})
    )
    assert len(content) < 9999 * 10


def test_columns_of_one_length_only() -> None:
    with pytest.raises(ValueError, match="of one length, not"):
        ColumnTable({"a": column("Int64", [1]), "b": column("Int64", [])})


@pytest.mark.parametrize(
    "each", [column("String", ["b", None, "a", "b"]), chosen_texts(["a", "x", None, "b"], np.array([3, 2, 0, 3]))]
)
def test_a_column_tells_its_texts_and_nulls(each: TableColumn) -> None:
    assert list(each.unique()) == ["b", None, "a"]
    assert (len(each), each.null_count()) == (4, 1)


def test_rows_that_are_made_anew_are_held_by_the_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    whole = ColumnTable.of_rows

    def of_rows(kinds: Any, rows: Any) -> ColumnTable:
        held.append(len(rows))
        return whole(kinds, rows)

    monkeypatch.setattr(ColumnTable, "of_rows", staticmethod(of_rows))
    monkeypatch.setattr("dialgauge.columns.PIECE_BYTES", 25)
    rows = [("a" * 10, 1), ("b" * 10, 2), ("c" * 10, None), ("d" * 30, 4), ("", 5)]
    table = PiecedTable.of_made_rows({"text": "String", "number": "Int64"}, len(rows), lambda: iter(rows))
    assert table.frame().rows() == rows
    assert held == [3, 1, 1]
