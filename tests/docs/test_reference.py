"""The reference is made from the code: every measure, command, option, public name and table is in it, and is right."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache

import click
import pytest
from tools.reference.api_pages import api_pages
from tools.reference.command_pages import command_pages
from tools.reference.list_pages import list_pages, stored_tables
from tools.reference.measure_pages import measure_pages, notes_of, page_path
from tools.reference.page_examples import example_of
from tools.reference.room_notes import FILE, room_notes
from tools.reference.worked import EXAMPLES, forms

import dialgauge
from dialgauge.cli import COMMANDS
from dialgauge.cli.app import commands_of
from dialgauge.measures import cards, families
from dialgauge.tracking import SYMBOLS


@cache
def measures() -> dict[str, str]:
    return dict(measure_pages())


@pytest.mark.parametrize("name", sorted(cards()))
def test_every_measure_has_a_page_with_all_of_its_card(name: str) -> None:
    page, card = measures()[page_path(name)], cards()[name]
    assert card.summary in page
    assert card.source.replace("|", "\\|") in page
    assert f"`{card.formula}`".replace("|", "\\|") in page
    for parameter in card.parameters:
        assert f"| `{parameter.name}` | `{parameter.default}` |" in page
    assert "## Worked example" in page
    assert "## When it misleads" in page, f"say when it does in its room's {FILE}, under measures"


def test_pages_have_names_of_their_own() -> None:
    assert len({page_path(name) for name in cards()}) == len(cards())


def test_worked_values_of_trackers_are_those_of_the_library() -> None:
    mine = dialgauge.score(
        EXAMPLES / "gold.jsonl", {"careful": EXAMPLES / "careful.jsonl"}, measures="all", intervals=False
    )["careful"]
    for name in ("JGA", "SA", "AGA", "RSA", "F1", "Precision", "Recall", "TurnMatch", "FinalJGA", "DialogueExact"):
        assert f"**{mine[name] * 100:.2f}%**" in measures()[page_path(name)]


def test_worked_joint_goal_accuracy_is_what_counting_by_hand_gives() -> None:
    gold, predicted = (
        {one.id: list(one.user_turns()) for one in dialgauge.read(EXAMPLES / name).dialogues}
        for name in ("gold.jsonl", "careful.jsonl")
    )
    pairs = [pair for name in gold for pair in zip(gold[name], predicted[name], strict=True)]
    right = sum((one.state or {}) == (other.predicted or {}) for one, other in pairs)
    assert (right, len(pairs)) == (9, 13)
    assert f"**{right / len(pairs) * 100:.2f}%**" in measures()[page_path("JGA")]


def test_worked_values_of_tasks_are_those_of_the_library() -> None:
    [terse] = dialgauge.score_tasks(
        EXAMPLES / "town" / "gold.json", [EXAMPLES / "town" / "terse.json"], resamples=0
    ).runs
    for name in ("Success(rules=grounded)", "ReqR", "OfferP"):
        page = measures()[page_path(name.partition("(")[0])]
        assert f"{100 * float(terse[name]):.2f}%" in page


def test_sums_of_worked_examples_give_the_value() -> None:
    counted = 0
    for name in ("per-response", "I-GCDF1", "pass", "Reward", "Erred", "completed", "SGD-JGA"):
        for form in forms(name):
            above, below = sum(row[1] for row in form.sums), sum(row[2] for row in form.sums)
            if below and form.score.value is not None:
                assert above / below == pytest.approx(form.score.value)
                counted += 1
    assert counted > 10


def test_notes_are_about_measures_that_exist() -> None:
    for key in room_notes("measures"):
        for pattern in key.split(","):
            assert any(fnmatchcase(name, pattern.strip()) for name in cards()), pattern
    assert notes_of("JGA")["misleads"]


@cache
def commands() -> dict[str, str]:
    return dict(command_pages())


@pytest.mark.parametrize("word", COMMANDS)
def test_every_option_that_the_program_takes_is_in_the_reference(word: str) -> None:
    page = commands()[f"reference/cli/{word}.md"]
    named = commands_of(word)
    for name, command in named.items():
        section = page.partition(f"## dialgauge {name}\n")[2].partition("\n## ")[0] if len(named) > 1 else page
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert option in section, f"dialgauge {name}: {option}"


def test_every_command_has_a_worked_example_from_a_page() -> None:
    names = [name for word in COMMANDS for name in commands_of(word)]
    assert [name for name in names if example_of(name) is None] == []
    assert example_of("score nothing") is None
    page, block = example_of("runs export") or (None, "")
    assert str(page) == "runs.md"
    assert block in commands()["reference/cli/runs.md"]


def test_public_names_are_in_the_reference() -> None:
    page = dict(api_pages())["reference/api/dialgauge.md"]
    assert [name for name in dialgauge.__all__ if not name.startswith("__") and f"## {name}\n" not in page] == []


def test_every_table_of_the_examples_says_what_a_row_is() -> None:
    stored = {table for tables in stored_tables().values() for table in tables}
    assert stored - room_notes("tables").keys() == set(), f"say what a row is in its room's {FILE}, under tables"
    page = dict(list_pages())["reference/tables.md"]
    assert all(f"`{table}`" in page for table in stored)


def test_every_option_of_users_is_in_the_reference() -> None:
    page = dict(list_pages())["reference/users.md"]
    assert "| `rgcd_f1.repetitions` | `repeats_to_penalty` is" in page
    assert "`count_fp: true`, `repeats_to_penalty: 3` |" in page


def test_what_was_measured_of_the_checks_of_users_is_in_the_reference() -> None:
    page = dict(list_pages())["reference/user-faults.md"]
    assert "| `withheld` | 30 | 0 | 3 | 28 | 1.00 [0.89, 1.00] | 0.91 [0.76, 0.98] | 7 |" in page.partition("## all")[2]


@pytest.mark.parametrize("name", sorted(cards()))
def test_letters_of_a_formula_are_defined_on_its_page(name: str) -> None:
    card = cards()[name]
    page = measures()[page_path(name)]
    parameters = {one.name for one in (*card.parameters, *([card.cutoff] if card.cutoff else []))}
    defined = " ".join([*card.symbols, *parameters])
    letters = re.findall(r"(?<![A-Za-z'-])(?:[A-Z]{1,2}|[b-z])(?=_|\b)(?![A-Za-z'-])", card.formula)
    assert [one for one in letters if not re.search(rf"(?<![A-Za-z]){one}(?![A-Za-z])", defined)] == []
    assert all(f"`{letter}`: {meaning}" in page for letter, meaning in card.symbols.items())
    if "| C | V | D | W |" in page:
        assert all(f"`{letter}`: {SYMBOLS[letter]}" in page for letter in "CVDW")


def test_letters_mean_one_thing_in_a_family() -> None:
    for family in families():
        seen: dict[str, str] = {}
        for card in cards(family).values():
            for letter, meaning in card.symbols.items():
                assert seen.setdefault(letter, meaning) == meaning, f"{card.name}: {letter}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("JGA", "Over all 13 turns of the example: `JGA` is **69.23%** = 9 / 13."),
        ("AGA", "Over the 12 turns of the example that have a score, of 13: `AGA`"),
        ("FinalJGA", "Over the 3 dialogues of the example, with one score each: `FinalJGA` is **66.67%** = 2 / 3."),
        ("DialogueExact", "Over the 3 dialogues of the example, with one score each: `DialogueExact`"),
        ("pass", "| `0` | 0.75 | 1 |"),
    ],
)
def test_a_worked_example_names_what_it_is_taken_over(name: str, said: str) -> None:
    assert said in measures()[page_path(name)]


def test_a_worked_example_says_where_its_files_come_from() -> None:
    made = (
        "lab run --user agenda-baseline --channel paper2021 -n 12 --trials 2 --out talks\ndialgauge users score talks/"
    )
    assert made in measures()[page_path("I-GCDF1")]
    assert "The command needs no files." in measures()[page_path("RefusedThenFixed")]
    assert "The command reads `gold.jsonl`, `careful.jsonl` of" in measures()[page_path("JGA")]


def test_other_forms_are_other_forms() -> None:
    assert "Other forms" not in measures()[page_path("JGA")]
    assert "| `AGA(form=jaccard)` | 85.36% |" in measures()[page_path("AGA")]
