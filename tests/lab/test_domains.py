"""Domains of other people's in the lab: agenda user and rule system do what the goals ask for, whatever the shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from blame_confusion import TRUE_CAUSES, blame_confusion
from fault_injection import InjectedFault

from dialgauge.lab import AgentSpec, converse, open_domain
from dialgauge.report import RunSet
from support.commands import dialgauge
from support.domains import CARS, CLINIC, LIBRARY, PETS, changed, domain_folder

ERRANDS = {
    "domain.yaml": """\
domain: errands
services:
  cab:
    title: a cab
    book:
      takes: {from: text, to: text, leave: time, arrive: time}
      needs: [from, to]
      one_of: [[leave, arrive]]
      gives: [driver, plate]
    refers: {from: [bar, inn], to: [bar, inn]}
  bar: {rows: bars.csv, name: bar}
  inn: {rows: inns.csv, name: inn, search: {stars: at-least}, book: {takes: {night: day}, gives: []}}
goals: {draw: {services: [1, 3], wishes: [0, 2]}}
""",
    "bars.csv": "bar\nThe Anchor\nold mill\nB-12\n",
    "inns.csv": "inn,stars\nThe Crown,3\nThe Bell,4\nHarp,\n",
}
SHAPES = {"pets": PETS, "cars": CARS, "clinic": CLINIC, "library": LIBRARY, "errands": ERRANDS}


def run(folder: Path, **how: object) -> RunSet:
    return converse(domain=str(folder), count=60, resamples=0, workers=1, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
def test_users_and_systems_of_any_domain_do_what_its_goals_ask_for(shape: str, tmp_path: Path) -> None:
    scores = run(domain_folder(tmp_path, SHAPES[shape]))[0].scores
    assert scores["SuccessOfSatisfiable"].value == scores["Success(rules=strict)"].value == 1
    assert scores["JGA"].value == 1
    assert scores["I-GCDF1"].value in (None, 1)
    assert "Success(rules=compat)" not in scores, "ConvLab-2's rules know the town only"


@pytest.mark.parametrize("shape", SHAPES)
def test_they_do_so_in_words_too(shape: str, tmp_path: Path) -> None:
    results = converse(
        domain=str(domain_folder(tmp_path, SHAPES[shape])), count=15, level="text", resamples=0, workers=1
    )
    assert results[0].scores["Success(rules=strict)"].value == 1


@pytest.mark.parametrize("level", ["act", "text"])
@pytest.mark.parametrize("name", ["clinic", "library", "parking"])
def test_domains_that_testers_wrote_from_the_documentation(name: str, level: str) -> None:
    folder = Path(__file__).parents[2] / "docs" / "examples" / "domains" / name
    scores = converse(domain=str(folder), count=20, level=level, resamples=0, workers=1)[0].scores
    assert scores["Success(rules=strict)"].value == 1


def test_a_name_that_rows_share_means_the_one_spoken_of() -> None:
    """Of two copies of a book, what is asked is answered for the one that was offered."""
    library = Path(__file__).parents[2] / "docs" / "examples" / "domains" / "library"
    scores = converse(domain=str(library), count=232, town_seed=7, resamples=0, workers=1)[0].scores
    assert scores["Success(rules=strict)"].value == 1


def test_a_tracker_is_not_charged_for_another_spelling_of_a_value(tmp_path: Path) -> None:
    """Users say "Monday", "9:00" and "true" as their goals have them, and trackers write them otherwise."""
    yaml = "domain: p\nservices:\n  pet:\n    rows: p.csv\n    name: n\n    search: {tame: yes-no, from: at-most}\n"
    yaml += "    book: {takes: {day: day}}\n"
    rows = "n,tame,from\n" + "".join(f"Rex {n},{('true', 'False')[n % 2]},{n % 3 + 7}:30\n" for n in range(12))
    folder = domain_folder(tmp_path, {"domain.yaml": yaml, "p.csv": rows})
    results = converse(domain=str(folder), count=15, level="text", resamples=0, workers=1)
    assert results[0].scores["JGA"].value == 1


def test_what_a_goal_tries_first_is_refused_and_then_mended(tmp_path: Path) -> None:
    plan = "goals: {draw: {booked: 1, fails_first: 1, refused_first: 1}}\nwords:"
    scores = run(domain_folder(tmp_path, changed(CARS, "domain.yaml", "words:", plan)))[0].scores
    assert scores["RefusedThenFixed"].value == scores["FailPath"].value == 1


def test_a_deaf_system_fails_and_is_blamed_in_a_domain_of_ones_own(tmp_path: Path) -> None:
    deaf = AgentSpec("rule-system", {"channel": "drop=0.6"})
    results = converse(deaf, domain=str(domain_folder(tmp_path, CLINIC)), count=40, resamples=0, workers=1)
    scores = results[0].scores
    assert scores["Success(rules=strict)"].value is not None
    assert scores["Success(rules=strict)"].value < 0.7
    assert scores["Blame[system]"].value is not None
    assert scores["Blame[system]"].value > 0.9


@pytest.mark.parametrize("fault", [fault for fault in TRUE_CAUSES if fault not in ("breakdown", "late policy")])
def test_injected_faults_are_blamed_on_the_right_cause_in_a_domain_of_ones_own(
    fault: InjectedFault, tmp_path: Path
) -> None:
    domain = open_domain(str(domain_folder(tmp_path, LIBRARY)), count=40, seed=1)
    confusion = blame_confusion(domain, fault, seed=1)
    assert confusion.causes.total() > 5
    assert confusion.share >= 0.97


@pytest.mark.soak
def test_the_same_bytes_for_any_number_of_processes(tmp_path: Path) -> None:
    folder = str(domain_folder(tmp_path, LIBRARY))
    held = [list(converse(domain=folder, count=120, resamples=0, workers=workers)[0].dialogues()) for workers in (1, 2)]
    assert held[0] == held[1]


def test_conversations_of_a_domain_are_scored_as_users_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, store = domain_folder(tmp_path / "clinic", CLINIC), tmp_path / "runs"
    options = ["-n", "10", "--store", store, "--resamples", "0", "--out", tmp_path / "talks"]
    assert dialgauge(capsys, "lab", "run", "--domain", folder, *options).code == 0
    talks = tmp_path / "talks" / "conversations.jsonl"
    scored = dialgauge(capsys, "users", "score", talks, "--dataset", folder)
    assert scored.code == 0
    assert "I-GCDF1" in scored.out
