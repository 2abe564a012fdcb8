"""The reference is made from the code: every measure, command, option, public name and table is in it, and is right."""

from __future__ import annotations

import re
from functools import cache

import click
import pytest
from tools.reference.api_pages import api_pages
from tools.reference.command_pages import command_pages
from tools.reference.list_pages import list_pages, stored_tables
from tools.reference.measure_pages import measure_pages, page_path
from tools.reference.page_examples import example_of
from tools.reference.room_notes import FILE, room_notes
from tools.reference.worked import forms

import dialgauge
from dialgauge.cli import COMMANDS
from dialgauge.cli.app import commands_of
from dialgauge.measures import cards
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


def test_sums_of_worked_examples_give_the_value() -> None:
    counted = 0
    for name in ("per-response", "I-GCDF1", "pass", "Reward", "Erred", "completed", "SGD-JGA"):
        for form in forms(name):
            above, below = sum(row[1] for row in form.sums), sum(row[2] for row in form.sums)
            if below and form.score.value is not None:
                assert above / below == pytest.approx(form.score.value)
                counted += 1
    assert counted > 10


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
