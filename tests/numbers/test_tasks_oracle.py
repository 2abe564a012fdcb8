"""The task measures against a second implementation (``tasks_oracle.py``), on real systems and on made-up ones.

Notices: a flag or a number of rows changed in one dialogue; rule sets or domains swapped; a dialogue missing; the last
digit of a rate or of BLEU.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import surface
import tasks_oracle as oracle
from hypothesis import HealthCheck, given, settings, strategies as st
from sacrebleu.metrics.bleu import BLEU
from tasks_town import answer, gold_dialogue, write_town


def agree(run: Any, flags: dict[str, oracle.Flags], gold: dict[str, oracle.Gold], town: oracle.Town) -> None:
    """Flags, fitting rows and rates of a run are those of the oracle."""
    assert surface.job_flags(run, "mwzeval") == flags
    for (key, domain), (_, fitting) in surface.job_rows(run, "mwzeval").items():
        rows = town.fitting(domain, gold[key].goal[domain].informable)
        assert fitting == (len(rows) if domain in town.rows else None), (key, domain)
    values = surface.values(run)
    for place, aspect in enumerate(("Inform", "Success")):
        done = [all(pair[place] for pair in each.values()) for each in flags.values()]
        assert values[aspect] == pytest.approx(fmean(done), abs=1e-12)
        for domain in {domain for each in flags.values() for domain in each}:
            part = [each[domain][place] for each in flags.values() if domain in each]
            assert values[f"{aspect}[{domain}]"] == pytest.approx(fmean(part), abs=1e-12)


# Real systems


def test_the_oracle_knows_the_unit_cases(expected_values: Callable[[str], Any], shared_data: Path) -> None:
    document = expected_values("e2e_mwzeval.json")
    units, town = document["units"], oracle.Town(shared_data / "multiwoz21" / "db")
    assert [[slot, raw, oracle.value_of(slot, raw)] for slot, raw, _ in units["values"]] == units["values"]
    assert [[time, oracle.minutes(time)] for time, _ in units["minutes"]] == units["minutes"]
    assert [[row, said, oracle.similarity(row, said)] for row, said, _ in units["similarity"]] == units["similarity"]
    for case in units["active_from_states"]:
        assert oracle.active_lists(case["states"], case["states"], "state") == case["active"]
    for case in units["answers"]:
        rows = town.fitting(case["domain"], case["constraints"])
        ids = sorted(town.ids(case["domain"], rows))
        assert len(ids) == case["n"]
        assert ids == case["ids"] if "ids" in case else digest(ids, ",") == case["ids_sha256"]


def digest(texts: list[str], between: str) -> str:
    return hashlib.sha256(between.join(texts).encode()).hexdigest()


def gold_of(shared_data: Path) -> Path:
    return shared_data / "multiwoz21" / "test.json.gz"


def test_a_real_system(shared_data: Path) -> None:
    """A system with states of its own that lacks a dialogue."""
    path = shared_data / "dst_predictions" / "mintl.json.gz"
    gold, town = oracle.read_gold(gold_of(shared_data)), oracle.Town(shared_data / "multiwoz21" / "db")
    flags = oracle.judge(gold, town, json.loads(gzip.decompress(path.read_bytes())))
    agree(surface.responses(gold_of(shared_data), {"mintl": path})["mintl"], flags, gold, town)


# Systems and goals drawn at random, in the small town


SLOTS = {
    "restaurant": {"name": ["nando's", "nandos", "Yu Garden", "curry", "garden"], "area": ["south", "east", "dontcare"],
                   "food": ["chinese", "brazilian", "Indian"], "phone": ["01"]},
    "hotel": {"area": ["north", "centre", "none"], "parking": ["yes", "free", "no"], "stars": ["4", "0"],
              "type": ["guest house", "hotel"], "name": ["acorn house", "cityrooms", "acorn guest"]},
    "attraction": {"type": ["theatre", "swimming pool"], "entrancefee": ["free", "4 pounds"],
                   "name": ["adc theatre", "theatre"], "area": ["not mentioned", "centre"]},
    "train": {"destination": ["ely", "Ely "], "day": ["monday", "sunday"], "departure": ["cambridge", "ely"],
              "leaveAt": ["9:00", "after 10", "late", "5 pm"], "arriveBy": ["10:07", "12", "by 12:07", "soon"]},
    "taxi": {"leaveAt": ["17:15", "5:15 pm", "17:30"], "destination": ["yu garden", "garden"]},
}  # fmt: skip
PIECES = (
    "[hotel_name]", "[name]", "[train_id]", "[phone]", "[hotel_phone]", "[value_reference]", "[address]", "[car]",
    "[restaurant_address]", "[postcode]", "[time]", "[taxi_phone]", "[nonsense]", "hello",
)  # fmt: skip
DOMAINS = tuple(SLOTS)


def constraints(domain: str) -> st.SearchStrategy[dict[str, str]]:
    return st.fixed_dictionaries({}, optional={slot: st.sampled_from(values) for slot, values in SLOTS[domain].items()})


STATES = st.fixed_dictionaries({}, optional={domain: constraints(domain) for domain in DOMAINS})
SAID = st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join)
TURNS = st.fixed_dictionaries(
    {
        "response": SAID,
        "state": STATES,
        "active_domains": st.lists(st.sampled_from(DOMAINS), max_size=2, unique=True),
    }
)
ASKED = st.lists(st.sampled_from(["phone", "address", "postcode", "trainID", "area"]), unique=True)
PARTS = {
    domain: st.fixed_dictionaries(
        {"info": constraints(domain), "reqt": ASKED, "book": st.sampled_from([{}, {"people": "2"}])}
    )
    for domain in DOMAINS
}
GOALS = st.sets(st.sampled_from(DOMAINS), min_size=1, max_size=3).flatmap(
    lambda domains: st.fixed_dictionaries({domain: PARTS[domain] for domain in sorted(domains)})
)
ANSWERS = st.builds(
    lambda state, booked: answer("", state, booked), STATES, st.lists(st.sampled_from(DOMAINS), max_size=2, unique=True)
)
DIALOGUES = st.lists(
    st.tuples(GOALS, st.lists(st.tuples(ANSWERS, TURNS), min_size=1, max_size=5)), min_size=1, max_size=3
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_town(tmp_path_factory.mktemp("town")).parent


@settings(max_examples=4 * settings().max_examples, suppress_health_check=list(HealthCheck))
@given(
    drawn=DIALOGUES,
    keys=st.sampled_from(["both", "states", "lists", "neither"]),
    mode=st.sampled_from([None, "state", "placeholders"]),
)
def test_drawn_systems(folder: Path, drawn: Any, keys: str, mode: str | None) -> None:
    """Files with states and lists, with one of them, and with neither, in every mode."""
    dropped = {"both": (), "states": ("active_domains",), "lists": ("state",), "neither": ("state", "active_domains")}
    goals = {f"d{place}": gold_dialogue(goal, [each for each, _ in turns]) for place, (goal, turns) in enumerate(drawn)}
    system = {
        f"d{place}": [{key: turn[key] for key in turn.keys() - {*dropped[keys]}} for _, turn in turns]
        for place, (_, turns) in enumerate(drawn)
    }
    path = folder / "gold.json"
    path.write_text(json.dumps(goals))
    oracle.read_gold.cache_clear()
    gold, town = oracle.read_gold(path), oracle.Town(folder / "db")
    run = surface.responses(path, {"x": system}, **({"mode": mode} if mode else {}))["x"]
    agree(run, oracle.judge(gold, town, system, mode), gold, town)


WORDS = st.lists(st.sampled_from(["a", "b", "the", "[hotel_name]", "[phone]", "c"]), min_size=1, max_size=9).map(
    " ".join
)


@settings(suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(st.tuples(WORDS, WORDS.map(oracle.with_classes)), min_size=1, max_size=5))
def test_bleu_is_sacrebleus(folder: Path, drawn: list[tuple[str, str]]) -> None:
    """Plain words, which no clean-up changes, and one reference for each text; sacreBLEU's own defaults."""
    path, references = folder / "gold.json", folder / "references.json"
    path.write_text(json.dumps({"d": gold_dialogue({"taxi": {"reqt": ["phone"]}}, [answer()] * len(drawn))}))
    references.write_text(json.dumps({"d": [wanted for _, wanted in drawn]}))
    system = {"d": [{"response": said} for said, _ in drawn]}
    run = surface.responses(path, {"x": system}, references=references, references_are="clean")["x"]
    said = [oracle.with_classes(text) for text, _ in drawn]
    theirs = BLEU().corpus_score(said, [[wanted for _, wanted in drawn]])
    assert surface.values(run)["BLEU"] == pytest.approx(theirs.score, rel=0, abs=1e-9)
    assert surface.bleu_counts(run)["d"] == [*theirs.counts, *theirs.totals, theirs.sys_len, theirs.ref_len]
