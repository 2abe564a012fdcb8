"""The town's database: answers of the unit cases, and bit masks against a plain loop over rows."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.values import normal_slot, normal_value, similarity
from dialgauge.worlds.town import (
    DONT_CARE,
    TownDatabase,
    load_town,
    minutes,
    town_beside,
)
from support.soak import examples
from support.town import ROWS, town, write_town

FUZZY = {
    "restaurant": ("name", "food"), "hotel": ("name",), "attraction": ("name",), "train": ("departure", "destination"),
}  # fmt: skip
DROPPED = ("location", "openhours", "takesbookings", "introduction", "signature")


def naive(rows: list[dict[str, Any]], domain: str, constraints: dict[str, str]) -> list[int]:
    """Which rows fit, by section 6 of the specification, row by row."""
    plain = [
        {normal_slot(name): value for name, value in row.items() if isinstance(value, str) and name not in DROPPED}
        for row in rows
    ]
    if domain == "hotel":
        for row in plain:
            row.pop("price", None)
    columns = {column for row in plain for column in row}
    wanted = {
        slot: normal_value(slot, value)
        for slot, value in constraints.items()
        if slot in columns and value not in DONT_CARE
    }
    return [place for place, row in enumerate(plain) if all(_fits(domain, row, *item) for item in wanted.items())]


def _fits(domain: str, row: dict[str, str], slot: str, value: str) -> bool:
    if slot not in row:
        return False
    if row[slot] == "?":
        return True
    if slot == "arrive":
        return minutes(row[slot]) <= minutes(value)
    if slot == "leave":
        return minutes(row[slot]) >= minutes(value)
    if slot in FUZZY[domain]:
        return similarity(row[slot], value) >= 90
    return row[slot] == value


def places(database: TownDatabase, domain: str, constraints: dict[str, str]) -> list[int]:
    rows = database.answer(domain, constraints)
    return [place for place in range(rows.bit_length()) if rows >> place & 1]


@pytest.fixture(scope="module")
def real(shared_data: Path) -> TownDatabase:
    return load_town(shared_data / "multiwoz21" / "db")


@pytest.fixture(scope="module")
def real_rows(shared_data: Path) -> dict[str, list[dict[str, Any]]]:
    folder = shared_data / "multiwoz21" / "db"
    return {domain: json.loads(gzip.decompress((folder / f"{domain}_db.json.gz").read_bytes())) for domain in FUZZY}


def test_answers_are_those_of_the_standard_evaluator(real: TownDatabase, expected: Path) -> None:
    cases = json.loads((expected / "e2e_mwzeval.json").read_bytes())["units"]["answers"]
    assert len(cases) == 40
    for case in cases:
        rows = real.answer(case["domain"], case["constraints"])
        ids = sorted(real.ids(case["domain"], rows)) if case["domain"] in real.tables else []
        assert len(ids) == case["n"], case
        assert sorted(case.get("ids", ids)) == ids, case
        if "ids_sha256" in case:
            assert hashlib.sha256(",".join(ids).encode()).hexdigest() == case["ids_sha256"], case


def test_the_real_database_has_its_rows_and_columns(real: TownDatabase) -> None:
    assert {domain: len(table.rows) for domain, table in real.tables.items()} == {
        "restaurant": 110, "hotel": 33, "attraction": 79, "train": 2828,
    }  # fmt: skip
    assert sorted(real.tables["hotel"].columns) == [
        "address", "area", "id", "internet", "name", "parking", "phone", "postcode", "pricerange", "stars", "type",
    ]  # fmt: skip
    assert sorted(real.tables["train"].columns) == [
        "arrive", "day", "departure", "destination", "duration", "leave", "price", "trainid",
    ]  # fmt: skip
    assert len(real.ids("train", real.tables["train"].everything)) == 2462


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_masks_agree_with_a_loop_over_the_real_rows(
    data: st.DataObject, real: TownDatabase, real_rows: dict[str, list[dict[str, Any]]]
) -> None:
    domain = data.draw(st.sampled_from(sorted(FUZZY)))
    table = real.tables[domain]
    others = ["dontcare", "none", "", "Centre", "12:30 pm", "evening", "cambridge", "yu garden"]
    chosen = data.draw(st.lists(st.sampled_from([*table.columns, "people", "stay"]), max_size=3, unique=True))
    constraints = {
        slot: data.draw(st.sampled_from(others) | st.sampled_from(sorted(table.columns.get(slot, {"x": 0}))))
        for slot in chosen
    }
    assert places(real, domain, constraints) == naive(real_rows[domain], domain, constraints), constraints


small = st.dictionaries(
    st.sampled_from(["name", "food", "area", "entrancefee", "type", "leave", "arrive", "day", "phone", "trainid"]),
    st.sampled_from(
        ["nando's", "curry garden", "north", "theatre", "free", "?", "10:00", "9:15", "evening", "monday", "dontcare",
         "01", "indian", "TR1", "", "none", "guest house", "mumford theatr"],
    ),
    max_size=3,
)  # fmt: skip


@given(st.sampled_from(sorted(FUZZY)), small)
def test_masks_agree_with_a_loop_over_a_small_town(domain: str, constraints: dict[str, str]) -> None:
    assert places(town(), domain, constraints) == naive(ROWS[domain], domain, constraints)


@given(st.integers(0, 7), st.integers(0, 7))
def test_ids_within_is_a_test_on_ids_not_on_rows(rows: int, others: int) -> None:
    """Two trains of the small town have one id."""
    database = town()
    subset = database.ids("train", rows) <= database.ids("train", others)
    assert database.ids_within("train", rows, others) == subset


def test_unreadable_times() -> None:
    """0 minutes: as an arrival it removes every train, as a departure none."""
    database = town()
    assert database.answer("train", {"arrive": "evening"}) == 0
    assert places(database, "train", {"leave": "evening"}) == [0, 1, 2]


def test_what_constrains_nothing_and_what_everything() -> None:
    database = town()
    assert places(database, "hotel", {"stay": "3", "area": "dontcare", "price": "60"}) == [0, 1]
    assert database.answer("hotel", {"area": "none"}) == database.answer("hotel", {"area": ""}) == 0
    assert database.answer("police", {}) == 0
    assert places(database, "attraction", {"entrancefee": "4 pounds"}) == [0, 1]
    assert places(database, "restaurant", {"phone": "02"}) == [1]


def test_which_constraints_a_row_fails() -> None:
    failed = town().failed_constraints(
        "hotel", 2, {"area": "north", "stars": "dontcare", "parking": "yes", "stay": "2"}
    )
    assert failed == ["area", "parking"]


def test_the_checksum_is_that_of_what_can_constrain() -> None:
    other = {**ROWS, "hotel": [{**row, "price": "1"} for row in ROWS["hotel"]]}
    moved = {**ROWS, "hotel": [{**row, "area": "west"} for row in ROWS["hotel"]]}
    assert TownDatabase(other).checksum == town().checksum != TownDatabase(moved).checksum


def test_a_database_is_found_beside_a_gold_file_or_not(tmp_path: Path) -> None:
    gold = write_town(tmp_path)
    assert len(town_beside(gold).tables["hotel"].rows) == 2
    with pytest.raises(DialgaugeError, match="--database"):
        town_beside(tmp_path / "elsewhere" / "gold.json")


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "there is no train_db.json"), ("{}", "shape"), ("[1]", "shape"), ("[", "JSON"), ("[]", "empty")],
)
def test_a_broken_database_is_a_sentence(tmp_path: Path, content: str | None, says: str) -> None:
    write_town(tmp_path)
    path = tmp_path / "db" / "train_db.json"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(DialgaugeError, match=says) as caught:
        load_town(tmp_path / "db")
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "row", "column", "value", "says"),
    [
        ("train", 2, "arriveBy", None, "the column 'arriveBy' is missing in row 2;"),
        ("train", 3, "trainID", 7, "the column 'trainID' is not text but 7 in row 3;"),
        ("hotel", 1, "stars", None, r"the column 'stars' is missing in row 1 \(acorn guest house\);"),
        ("attraction", 2, "name", None, "the column 'name' is missing in row 2;"),
        ("restaurant", 3, "id", None, r"the column 'id' is missing in row 3 \(nandos\);"),
    ],
)
def test_a_missing_column_is_a_sentence_with_its_place(
    tmp_path: Path, table: str, row: int, column: str, value: object, says: str
) -> None:
    write_town(tmp_path)
    path = tmp_path / "db" / f"{table}_db.json"
    rows = json.loads(path.read_bytes())
    del rows[row - 1][column]
    if value is not None:
        rows[row - 1][column] = value
    path.write_text(json.dumps(rows))
    with pytest.raises(DialgaugeError, match=says) as caught:
        load_town(tmp_path / "db")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("table", "column"),
    [("restaurant", "phone"), ("hotel", "postcode"), ("attraction", "entrance fee"), ("train", "price")],
)
def test_a_column_that_no_row_has_is_refused_and_one_that_some_lack_is_not(
    tmp_path: Path, table: str, column: str
) -> None:
    write_town(tmp_path)
    path = tmp_path / "db" / f"{table}_db.json"
    rows = json.loads(path.read_bytes())
    for row in rows[1:]:
        row.pop(column, None)
    path.write_text(json.dumps(rows))
    assert len(load_town(tmp_path / "db").raw[table]) == len(rows)
    rows[0][column] = None
    path.write_text(json.dumps(rows))
    with pytest.raises(DialgaugeError, match=f"the column '{column}' is not text in any row;"):
        load_town(tmp_path / "db")
    del rows[0][column]
    rows[0][f"{column}s"] = "01"
    path.write_text(json.dumps(rows))
    with pytest.raises(DialgaugeError, match=f"'{column}' is missing in all rows;.* mean '{column}s'") as caught:
        load_town(tmp_path / "db")
    assert str(path) in str(caught.value)


def test_tables_on_the_side_may_lack_what_multiwoz_itself_lacks(tmp_path: Path) -> None:
    write_town(tmp_path)
    hospital, police = (tmp_path / "db" / f"{name}_db.json" for name in ("hospital", "police"))
    hospital.write_text(json.dumps([{"department": "haematology", "phone": "01"}]))
    police.write_text(json.dumps([{"name": "parkside", "phone": "02", "address": "parkside"}]))
    assert len(load_town(tmp_path / "db").raw["hospital"]) == 1
    hospital.write_text(json.dumps([{"department": "haematology"}]))
    with pytest.raises(DialgaugeError, match="the column 'phone' is missing in all rows"):
        _ = load_town(tmp_path / "db").raw


@pytest.mark.parametrize(
    ("table", "content", "says"),
    [
        ("hospital", [{"phone": "01"}], "the column 'department' is missing in row 1"),
        ("police", {"name": "x"}, "list of rows"),
        ("police", [["x"]], "row 1 of this table does not have the shape of an object"),
        ("taxi", {"taxi_colors": ["red"]}, "the list 'taxi_types' is missing or empty"),
        ("taxi", ["red"], "shape"),
    ],
)
def test_tables_on_the_side_are_read_when_they_are_wanted(
    tmp_path: Path, table: str, content: object, says: str
) -> None:
    write_town(tmp_path)
    path = tmp_path / "db" / f"{table}_db.json"
    path.write_text(json.dumps(content))
    database = load_town(tmp_path / "db")
    assert database.checksum == town().checksum
    with pytest.raises(DialgaugeError, match=says) as caught:
        _ = database.taxi if table == "taxi" else database.raw
    assert str(path) in str(caught.value)


def test_raw_rows_of_all_tables(tmp_path: Path, real: TownDatabase, real_rows: dict[str, list[dict[str, Any]]]) -> None:
    assert list(real.raw) == ["restaurant", "hotel", "attraction", "train", "hospital", "police"]
    assert {domain: real.raw[domain] for domain in real_rows} == real_rows
    assert (len(real.raw["hospital"]), len(real.raw["police"])) == (66, 1)
    assert (len(real.taxi["taxi_colors"]), len(real.taxi["taxi_types"])) == (6, 10)
    write_town(tmp_path)
    without = load_town(tmp_path / "db")
    assert without.raw == {**ROWS, "hospital": [], "police": []}
    assert without.taxi["taxi_colors"]
