"""The folder of a domain: what is read, and what is said of every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.worlds.domain import SlotType, load_domain
from support.commands import dialgauge
from support.domains import CARS, CLINIC, LIBRARY, PETS, changed, domain_folder

FOLDERS = {"pets": PETS, "cars": CARS, "clinic": CLINIC, "library": LIBRARY}


def test_three_columns_are_enough(tmp_path: Path) -> None:
    domain = load_domain(domain_folder(tmp_path))
    pet = domain.services["pet"]
    assert (domain.name, domain.title, pet.title) == ("pets", "pets", "a pet")
    assert pet.rows is not None
    assert pet.rows[2] == {"name": "Ida", "kind": "dog"}
    assert pet.search["kind"].values == ("dog", "cat", "bird")
    assert (pet.askable, pet.book, list(pet.wishes)) == (("age", "kind", "name"), None, ["kind", "name"])


def test_everything_of_version_1(tmp_path: Path) -> None:
    domain = load_domain(domain_folder(tmp_path, CARS))
    office, car = domain.services["office"], domain.services["car"]
    assert domain.policy == "Be kind."
    assert office.rows == (
        {"office": "Korenmarkt", "city": "Ghent", "closes": "18:30", "phone": "93001"},
        {"office": "Harbour", "city": "Antwerp", "closes": "24:40"},
    )
    assert car.search["price"].say == "price per day"
    assert car.search["fuel"].values == ("petrol", "diesel", "electric", "hydrogen")
    assert car.search["extras"].values == ("gps", "child seat", "roof box")
    assert car.search["automatic"].values == ("yes", "no")
    assert car.book is not None
    assert car.book.takes["days"] == SlotType("number", 1, 30)
    assert car.book.takes["cover"].words == ("none", "basic", "full")
    assert car.book.one_of == (("from hour", "to hour"),)
    assert car.refers == {"pickup": ("office",)}
    assert domain.words["class"].also == ("category", "kind of car")
    assert domain.words["class"].values == {"compact": ("small car", "subcompact")}
    assert "Car-Book" in domain.acts("system")
    assert domain.acts("user")["Car-Inform"][:2] == ("class", "seats")


def test_needs_left_out_are_all_but_the_groups(tmp_path: Path) -> None:
    files = changed(CARS, "domain.yaml", "      needs: [pickup, day, days]\n", "")
    book = load_domain(domain_folder(tmp_path, files)).services["car"].book
    assert book is not None
    assert book.needs == ("pickup", "day", "days", "cover")
    assert book.missing({"pickup": "x", "day": "monday", "days": "1", "cover": "full"}) == ["from hour"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_count(ending: str, mark: str, tmp_path: Path) -> None:
    files = {name: mark + text.replace("\n", ending) for name, text in CARS.items()}
    plain = load_domain(domain_folder(tmp_path / "plain", CARS))
    assert load_domain(domain_folder(tmp_path / "other", files)).checksum == plain.checksum


def test_scalars_stay_as_written(tmp_path: Path) -> None:
    files = {
        "domain.yaml": "domain: no\nservices:\n  on:\n    rows: r.json\n    name: 007\n    search: {yes: same}\n",
        "r.json": '[{"007": 1.50, "yes": true}, {"007": "10:00", "yes": null}]',
    }
    domain = load_domain(domain_folder(tmp_path, files))
    assert domain.name == "no"
    assert domain.services["on"].rows == ({"007": "1.50", "yes": "true"}, {"007": "10:00"})


YAML = "domain.yaml"
#: A folder, the file and text to change and what to, and what the error says: file, line and words.
MISTAKES = [
    (PETS, YAML, "domain: pets", "domain: my pets", "line 1: 'my pets' cannot be the name of a domain"),
    (
        PETS,
        YAML,
        "domain: pets",
        "dommain: pets",
        "line 1: it is not a domain: there is no key 'dommain'. Did",
    ),
    (
        PETS,
        YAML,
        "    name: name\n",
        "    name: nam\n",
        "line 5: 'nam' is not a column of pets.csv. Did you mean",
    ),
    (PETS, YAML, "    name: name\n", "", "line 3: the service 'pet' has rows but no name"),
    (PETS, YAML, "kind: same", "kin: same", "line 6: 'kin' is not a column of pets.csv. Did you mean 'kind'?"),
    (PETS, YAML, "[age]", "[agee]", "line 7: 'agee' is not a column of pets.csv. Did you mean 'age'"),
    (PETS, YAML, "kind: same", "kind: sam", "line 6: there is no rule 'sam' to search by. Did you mean 'same'?"),
    (PETS, YAML, "pets.csv", "pet.csv", "line 4: there is no file 'pet.csv'. Did you mean 'pets.csv'?"),
    (PETS, YAML, "pets.csv", "../pets.csv", "line 4: '../pets.csv' lies outside the folder"),
    (PETS, YAML, "  pet:\n", "  general:\n", "line 3: a service cannot be called 'general'"),
    (PETS, YAML, "    answer", "    anser", "line 7: it is not a domain: there is no key 'anser'"),
    (PETS, YAML, "    answer", "    name: x\n    answer", "line 7: the key 'name' appears twice"),
    (PETS, YAML, "[age]", "[age]\n    book: {takes: {kind: text}}", "'kind' has the name of a column"),
    (PETS, "pets.csv", "name,kind,age", "name,kind,kind", "line 1: the column 'kind' appears twice"),
    (PETS, "pets.csv", "Tom,cat,7", "Tom,cat", "line 3: this row has 2 cells where the header has 3 columns"),
    (PETS, "pets.csv", "Tom,cat", "rex,cat", "line 3: the name 'rex' stands in line 2 too"),
    (PETS, "pets.csv", "Tom,cat", ",cat", "line 3: this row has no 'name'"),
    (PETS, YAML, "kind: same", "kind: at-least", "line 2: 'dog' in the column 'kind' is neither a number nor"),
    (PETS, YAML, "kind: same", "kind: yes-no", "pets.csv, line 2: 'dog' in the column 'kind' is not yes, no"),
    (CARS, "cars.csv", "7,80,", '7,"1,080",', "line 4: '1,080' in the column 'price' has a thousands separator"),
    (CARS, "cars.csv", "7,80,", "7,8:00,", "line 4: the column 'price' has both numbers and times"),
    (CARS, "offices.json", '"phone": null', '"phone": [1]', "the value of 'phone' in row 2 is nested"),
    (CARS, YAML, "needs: [pickup,", "needs: [pickupp,", "line 25: 'pickupp' is not a slot that the booking takes. Did"),
    (CARS, YAML, "[[from hour,", "[[from,", "line 26: 'from' is not a slot that the booking takes. Did you mean"),
    (
        CARS,
        YAML,
        "{pickup: office}",
        "{pickup: offic}",
        "line 28: 'pickup' refers to 'offic', which is no service",
    ),
    (CARS, YAML, "{pickup: office}", "{pick: office}", "line 28: 'pick' is not a slot that the booking takes. Did you"),
    (CARS, YAML, "{pickup: office}", "{day: office}", "line 28: 'day' refers to another service, so that its type"),
    (CARS, YAML, "number 1..30", "number 30..1", "line 24: the range 30..1 is empty"),
    (CARS, YAML, "days: number 1..30", "days: nummer", "line 24: there is no type 'nummer'"),
    (CARS, YAML, "from hour: time", "from_hour: time, from hour: time", "'from hour' and 'from_hour' are one name"),
    (CARS, YAML, "  class: {ask", "  clas: {ask", "line 30: 'clas' is not a slot of any service. Did you mean 'class'"),
    (CARS, YAML, "words:", "goals: {file: g.jsonl, draw: {}}\nwords:", "line 29: goals are drawn or read from a file"),
    (CARS, YAML, "[[from hour, to hour]]", "[from hour, to hour]", "is a list; put it in brackets"),
    (CARS, YAML, "words:", "goals: {draw: {booked: 2}}\nwords:", "line 29: a share is a number from 0 to 1"),
    (
        CARS,
        YAML,
        "words:",
        "goals: {draw: {wishes: [3, 1]}}\nwords:",
        "line 29: the least, 3, is more than the most",
    ),
    (CARS, YAML, "policy.md", "polisy.md", "line 3: there is no file 'polisy.md'. Did you mean 'policy.md'?"),
    (CARS, YAML, "[phone, mileage]", "[phone, mileage, phone]", "line 22: 'phone' stands twice in 'answer'"),
    (CARS, YAML, 'say: "a {value} car"', 'say: "a {value} {kind}"', "line 30: 'say' has {value} once"),
    (
        CARS,
        YAML,
        "{class: {compact:",
        "{class: {compakt:",
        "line 31: 'compakt' is not a value of 'class'. Did",
    ),
    (CARS, YAML, "gives: [reference]", "gives: [days]", "'days' has the name of what the booking takes"),
    (CARS, YAML, "gives: [reference]", "gives: [choice]", "a slot cannot be called 'choice'"),
    (CLINIC, YAML, "    id: code\n", "", "doctors.csv, line 4: the name 'Dr Ames' stands in line 2 too"),
    (CLINIC, "doctors.csv", "D2,", "d1,", "line 3: the id 'd1' stands in line 2 too"),
    (CLINIC, YAML, "  prescription:\n", "  prescription:\n    answer: [x]\n", "line 20: 'answer' names columns"),
]


@pytest.mark.parametrize(("files", "file", "old", "new", "words"), MISTAKES)
def test_a_mistake_is_told_with_file_line_and_nearest_name(
    files: dict[str, str], file: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(DialgaugeError) as error:
        load_domain(domain_folder(tmp_path, changed(files, file, old, new)))
    assert words in str(error.value)
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "- a\n", "domain: x\n", "services: {}\n", "domain: [x]\n", "domain: x\ntools: tools.py\n"]
)
def test_what_is_no_domain_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError):
        load_domain(domain_folder(tmp_path, {"domain.yaml": text}))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", "[{]", '[{"name": NaN}]', "[" * 100_000, '[{"a":1}] x', '[{"a":1} {}]']
)
def test_what_are_no_rows_is_refused(text: str, tmp_path: Path) -> None:
    files = changed(PETS, "domain.yaml", "pets.csv", "pets.json") | {"pets.json": text}
    with pytest.raises(DialgaugeError, match=r"pets\.json"):
        load_domain(domain_folder(tmp_path, files))


def test_a_bare_name_is_an_installed_domain_and_a_path_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain_folder(tmp_path / "pets")
    domain_folder(tmp_path / "town")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DialgaugeError, match=r"for the folder write \./pets"):
        load_domain("pets")
    assert load_domain("./pets").name == load_domain("./town").name == "pets"
    assert load_domain("town").name == "town"
    with pytest.raises(DialgaugeError, match="Did you mean 'town'"):
        load_domain("twon")
    with pytest.raises(DialgaugeError, match="no such folder"):
        load_domain("./nowhere")


def test_data_check_says_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "data", "check", domain_folder(tmp_path, CARS))
    assert outcome.code == 0
    assert "car-rental is sound." in outcome.out
    assert "100 goals, drawn" in outcome.out
    faulty = domain_folder(tmp_path / "faulty", changed(CARS, "domain.yaml", "seats: at-least", "seat: at-least"))
    outcome = dialgauge(capsys, "data", "check", faulty)
    assert outcome.code == 2
    assert "line 17: 'seat' is not a column of cars.csv. Did you mean 'seats'?" in outcome.err.replace("\n", " ")
