"""Synthetic towns: the shape of the real database, no name of it, and the laws that hold for every seed."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.values import DAYS, similarity
from dialgauge.worlds.town import (
    DATABASE_DOMAINS,
    VENUE_DOMAINS,
    TownDatabase,
    generate_goals,
    generate_town,
    load_town,
    minutes,
    write_town,
)
from dialgauge.worlds.town.town_words import town_words
from support.soak import examples

WORDS = town_words()

AREAS = {"centre", "north", "south", "east", "west"}
PRICES = {"cheap", "moderate", "expensive"}
seeds = st.integers(0, 10**6)


def names(town: TownDatabase) -> list[str]:
    return [row["name"] for domain in VENUE_DOMAINS for row in town.raw[domain]]


def real_table(shared_data: Path, name: str) -> Any:
    return json.loads(gzip.decompress((shared_data / "multiwoz21" / "db" / f"{name}_db.json.gz").read_bytes()))


def fingerprint(town: TownDatabase, count: int = 50) -> str:
    content = [town.raw, town.taxi, generate_goals(town, count, 3, stale=True, emergencies=0.1)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def test_a_town_has_the_sizes_of_the_real_one() -> None:
    town = generate_town()
    assert {name: len(rows) for name, rows in town.raw.items()} == {
        "restaurant": 110, "hotel": 33, "attraction": 79, "train": 2828, "hospital": 40, "police": 1,
    }  # fmt: skip
    assert {name: len(values) for name, values in town.taxi.items()} == {
        "taxi_colors": 6, "taxi_types": 10, "taxi_phone": 1,
    }  # fmt: skip
    assert len({row["trainID"] for row in town.raw["train"]}) < 2828
    assert sum("phone" not in row for row in town.raw["restaurant"]) == 3
    for column, least in {"entrance fee": 15, "openhours": 15, "pricerange": 15}.items():
        assert sum(row[column] == "?" for row in town.raw["attraction"]) >= least, column


@pytest.mark.parametrize("name", ["restaurant", "hotel", "attraction", "train", "hospital", "police"])
def test_tables_have_the_columns_and_types_of_the_real_ones(shared_data: Path, name: str) -> None:
    """Columns that every real row has, every row has here; the others occur here and there as well."""

    def columns(rows: list[dict[str, Any]]) -> tuple[set[tuple[str, type]], set[tuple[str, type]]]:
        cells = [{(column, type(value)) for column, value in row.items()} for row in rows]
        return set.intersection(*cells), set.union(*cells)

    assert columns(generate_town().raw[name]) == columns(real_table(shared_data, name))


def test_taxi_lists_and_written_forms_are_those_of_the_real_ones(shared_data: Path) -> None:
    town = generate_town()
    assert town.taxi.keys() == real_table(shared_data, "taxi").keys()
    forms = {
        "phone": r"\d{11}", "postcode": r"[a-z]{2}\d{2,3}[a-z]{2}", "leaveAt": r"\d\d:\d\d", "arriveBy": r"\d\d:\d\d",
        "price": r"\d+\.\d\d pounds", "duration": r"\d+ minutes", "trainID": r"TR\d{4}",
        "entrance fee": r"free|\?|\d+(\.\d\d)? pounds?",
    }  # fmt: skip
    for table, rows in town.raw.items():
        real = real_table(shared_data, table)
        for slot, form in forms.items():
            for where in (rows, real):
                values = {row[slot] for row in where if isinstance(row.get(slot), str)}
                odd = {value for value in values if not re.fullmatch(form, value)}
                # The real ones have a few postcodes with a full stop or a comma.
                assert len(odd) <= (0 if where is rows else 0.1 * len(values)), (table, slot, odd)


def test_nothing_is_named_as_in_the_real_database(shared_data: Path) -> None:
    """No venue, station, street, taxi or town; not only in this seed, but in all that the words can make."""
    real = {name: real_table(shared_data, name) for name in ("restaurant", "hotel", "attraction", "train", "police")}
    taken = {row["name"].lower() for name in VENUE_DOMAINS for row in real[name]}
    stations = {row[end] for row in real["train"] for end in ("departure", "destination")}
    addresses = " | ".join(
        row["address"].lower() for name in (*VENUE_DOMAINS, "police") for row in real[name]
    ) + " | ".join(sorted(stations))
    forms = [form for _, group in WORDS.attractions.values() for form in group]
    forms += [form for group in (*WORDS.lodging_forms.values(), *WORDS.restaurant_forms.values()) for form in group]
    made = {form.format(word) for form in forms for group in WORDS.restaurant_names.values() for word in group}
    made |= {
        form.format(first, second)
        for form in WORDS.two_word_forms
        for first in WORDS.first_words
        for second in WORDS.second_words
    }
    assert not made & taken
    assert not made & {name.removeprefix("the ") for name in taken}
    assert not ({WORDS.town_name, *WORDS.near_stations, *WORDS.far_stations} & stations)
    streets = [street for group in WORDS.streets.values() for street in group]
    assert [street for street in (*streets, WORDS.town_name) if street in addresses] == []
    assert not set(generate_town().taxi["taxi_types"]) & set(real_table(shared_data, "taxi")["taxi_types"])


def test_no_word_of_a_name_is_a_value_of_another_slot() -> None:
    words = {word for group in WORDS.restaurant_names.values() for word in group} | {
        *WORDS.first_words,
        *WORDS.second_words,
    }
    forms = [form for _, group in WORDS.attractions.values() for form in group] + [*WORDS.two_word_forms]
    forms += [form for group in (*WORDS.lodging_forms.values(), *WORDS.restaurant_forms.values()) for form in group]
    words |= {word for form in forms for word in form.replace("{}", "").split()}
    words |= {
        word for station in (*WORDS.near_stations, *WORDS.far_stations, WORDS.town_name) for word in station.split()
    }
    values = AREAS | PRICES | {*DAYS, "free", "yes", "no", "dontcare", "train", "taxi", "restaurant", "attraction"}
    foods = {word for food in (*WORDS.foods, *WORDS.foods_elsewhere) for word in food.split()}
    departments = {word for name in WORDS.departments for word in name.split()} - {"and"}
    assert words & (values | foods | departments) == set()


def test_no_food_is_alike_to_another() -> None:
    """Or who asks for the one that nobody serves would be shown the other."""
    foods = [*WORDS.foods, *WORDS.foods_elsewhere]
    assert [pair for pair in combinations(foods, 2) if similarity(*pair) >= 90] == []


@settings(max_examples=examples(25), deadline=None)
@given(seeds)
def test_names_are_unlike_and_none_is_within_another(seed: int) -> None:
    town = generate_town(seed)
    all_names = [*names(town), *{row["departure"] for row in town.raw["train"]}]
    assert len(all_names) == 110 + 33 + 79 + 13
    plain = [name.removeprefix("the ") for name in all_names]
    for one, other in combinations(plain, 2):
        assert one not in other
        assert other not in one
    for domain in VENUE_DOMAINS:
        table = town.tables[domain]
        assert all(table.answer({"name": row["name"]}).bit_count() == 1 for row in table.rows)


@settings(max_examples=examples(25), deadline=None)
@given(seeds)
def test_what_holds_for_the_rows_of_every_town(seed: int) -> None:
    town = generate_town(seed)
    phones = Counter(row["phone"] for rows in town.raw.values() for row in rows if "phone" in row)
    assert max(phones.values()) == 1
    for domain in VENUE_DOMAINS:
        rows = town.raw[domain]
        assert {row["area"] for row in rows} == AREAS
        assert len({row["id"] for row in rows}) == len(rows)
        for row in rows:
            street = row["address"].lower().split(" ", 1)[1]
            assert street in WORDS.streets[row["area"]]
    assert {row["food"] for row in town.raw["restaurant"]} == set(WORDS.foods)
    assert {row["type"] for row in town.raw["attraction"]} == set(WORDS.attractions)
    assert {row["type"] for row in town.raw["hotel"]} == {"guesthouse", "hotel"}
    for domain in ("restaurant", "hotel"):
        assert {row["pricerange"] for row in town.raw[domain]} == PRICES
    for row in town.raw["attraction"]:
        fee, price = row["entrance fee"], row["pricerange"]
        assert (fee if fee in ("free", "?") else "costs") == (price if price in ("free", "?") else "costs")


@settings(max_examples=examples(25), deadline=None)
@given(seeds)
def test_trains_start_or_end_in_the_town_and_take_as_long_as_they_say(seed: int) -> None:
    rows = generate_town(seed).raw["train"]
    late = 0
    for row in rows:
        assert (row["departure"] == WORDS.town_name) != (row["destination"] == WORDS.town_name)
        leave, arrive = minutes(row["leaveAt"]), minutes(row["arriveBy"])
        late += arrive < leave
        assert (arrive - leave) % (24 * 60) == int(row["duration"].split()[0])
    assert Counter(row["day"] for row in rows) == dict.fromkeys(DAYS, 404)
    assert late >= 7
    assert any(row["arriveBy"].startswith("24:") for row in rows)


@pytest.mark.parametrize("most", [False, True])
def test_the_smallest_and_the_largest_town(most: bool) -> None:
    small = {"restaurants": 5, "hotels": 5, "attractions": 12, "stations": 2, "departments": 1}
    large = {"restaurants": 120, "hotels": 45, "attractions": 90, "stations": 13, "departments": 40}
    for seed in range(12):
        town = generate_town(seed, **(large if most else small))
        assert len(names(town)) == len(set(names(town))) == (255 if most else 22)
        assert len(generate_goals(town, 40, seed)) == 40


@pytest.mark.parametrize("sizes", [{"restaurants": 121}, {"hotels": 0}, {"stations": 1}, {"departments": 41}])
def test_a_size_that_cannot_be_is_a_sentence(sizes: dict[str, int]) -> None:
    (name,) = sizes
    with pytest.raises(DialgaugeError, match=f"{name}, not {sizes[name]}"):
        generate_town(**sizes)


@pytest.mark.parametrize(("seed", "sizes"), [(7594, {}), (7595, {"restaurants": 120, "hotels": 45, "attractions": 90})])
def test_no_seed_runs_out_of_names(seed: int, sizes: dict[str, int]) -> None:
    """With these two, too many words met a word that made a name like another's; the words left over now meet anew."""
    found = names(generate_town(seed, **sizes))
    assert len(found) == len(set(found)) == sum(sizes.values() or (110, 33, 79))


@pytest.mark.soak
def test_a_seed_gives_the_same_bytes_whatever_the_hash_seed() -> None:
    """Nor the machine or the version of Python: the fingerprint changes with the generator only."""
    program = (
        "import sys; sys.path[:0] = ['tests']\n"
        "from worlds.town.test_generator import fingerprint, generate_town\n"
        "print(fingerprint(generate_town(11)))"
    )
    given = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1", "77")
    }
    assert given == {fingerprint(generate_town(11))}
    assert given == {"4da8d94372bc27359f9540558e420ef7e325a35a3ac9079541b29e64c4d9694a"}
    assert fingerprint(generate_town(12)) not in given


def test_a_written_town_is_read_back(tmp_path: Path) -> None:
    town = generate_town(4)
    goals = generate_goals(town, 7, 4)
    write_town(tmp_path, town, goals)
    back = load_town(tmp_path / "db")
    assert back.raw == town.raw
    assert back.taxi == town.taxi
    assert back.checksum == town.checksum
    data = json.loads((tmp_path / "data.json").read_bytes())
    assert data == {f"{name}.json": {"goal": goal, "log": []} for name, goal in goals.items()}
    assert sorted(path.name for path in (tmp_path / "db").iterdir()) == [
        f"{name}_db.json" for name in sorted([*DATABASE_DOMAINS, "hospital", "police", "taxi"])
    ]
