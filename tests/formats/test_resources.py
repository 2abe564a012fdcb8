from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.dialogue import Ontology, SlotSpec
from dialgauge.errors import DialgaugeError
from dialgauge.formats import Notes, Resource, ResourceFormat, format_named, read, read_ontology, recognise
from support.examples import EXAMPLES, as_json
from support.reading import part_of


def load(format: str, content: bytes, name: str = "file.json") -> Resource:
    chosen = format_named(format)
    assert isinstance(chosen, ResourceFormat)
    return chosen.load(part_of(content, name), Notes())


@pytest.mark.parametrize(
    ("key", "domain", "slot"),
    [
        ("hotel-price range", "hotel", "price range"),
        ("hotel-book people", "hotel", "book people"),
        ("hotel-semi-pricerange", "hotel", "pricerange"),
        ("hotel-book-people", "hotel", "people"),
        ("train-leaveAt", "train", "leaveAt"),
    ],
)
def test_ontology_keys_of_all_versions(key: str, domain: str, slot: str) -> None:
    ontology = load("multiwoz-ontology", as_json({key: ["1", "2|3"]})).ontology
    assert ontology == Ontology(domains={domain: {slot: SlotSpec(values=("1", "2", "3"))}})


def test_a_schema_is_an_ontology_with_intents() -> None:
    assert load("schema", EXAMPLES["schema"]).ontology == Ontology(
        domains={"Hotels_4": {"stars": SlotSpec(values=("1", "2"), categorical=True)}},
        intents={"Hotels_4": ("SearchHotel",)},
    )


@pytest.mark.parametrize(
    "name",
    [
        "README",
        "README.md",
        "readme.txt",
        "LICENSE",
        "LICENCE.txt",
        "PROVENANCE.md",
        "SHA256SUMS",
        "paper.pdf",
        "hotel_db.json",
        "system_acts.json",
        "testListFile",
    ],
)
def test_documents_are_told_by_name_even_when_they_look_like_data(name: str) -> None:
    assert recognise(part_of(EXAMPLES["native"], name)).name == "document"
    assert recognise(part_of(b"\x00\x01", f"folder/{name}.gz")).name == "document"


def test_ontologies_of_a_folder_are_merged(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(EXAMPLES["multiwoz-ontology"])
    (tmp_path / "b.json").write_bytes(EXAMPLES["schema"])
    (tmp_path / "c.jsonl").write_bytes(EXAMPLES["native"])
    ontology = read_ontology(tmp_path)
    assert list(ontology.slots()) == [("hotel", "area"), ("hotel", "people"), ("Hotels_4", "stars")]
    assert ontology.intents == {"Hotels_4": ("SearchHotel",)}
    with pytest.raises(DialgaugeError, match="holds no ontology"):
        read_ontology(tmp_path / "c.jsonl")


def test_all_resources_of_the_real_data_load(shared_data: Path) -> None:
    multiwoz = shared_data / "multiwoz21"
    assert len(list(read_ontology(multiwoz / "ontology.json.gz").slots())) == 35
    assert len(list(read_ontology(multiwoz / "ontology21.json.gz").slots())) == 35
    assert len(list(read_ontology(multiwoz / "schema22.json.gz").slots())) == 61
    assert len(list(read_ontology(shared_data / "gcdf1" / "schema.json.gz").slots())) == 36
    assert len(read_ontology(shared_data / "sgd" / "dev_schema.json.gz").domains) == 17
    assert [one.kind for one in read(multiwoz).resources].count("document") == 2 + 7 + 2
