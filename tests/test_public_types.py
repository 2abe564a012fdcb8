"""What an editor and ``mypy --strict`` know of the public names, seen from outside: real signatures, nowhere Any."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import dialgauge
from support.extend_pages import DOCS, ExtendPage

#: Where Any says what it says: arrays of any number of dimensions, measures whatever evidence they are computed from.
MEANT = ("tuple[Any, ...]", "Measure[Any]")
NAMES = sorted(set(dialgauge.__all__) - {"__version__"})


def mypy(folder: Path, code: str) -> str:
    """What ``mypy --strict`` says of a file outside the project, with the installed dialgauge."""
    path = folder / "outside.py"
    path.write_text(code, encoding="utf-8")
    cache = Path(__file__).parents[1] / ".mypy_cache" / "outside"
    options = ["--strict", "--no-error-summary", f"--cache-dir={cache}", "--config-file=", "--follow-imports=silent"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, path.name], capture_output=True, text=True, cwd=folder, check=False
    )
    assert not done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def revealed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Each public name and its type."""
    folder = tmp_path_factory.mktemp("outside")
    lines = [f"reveal_type({name})" for name in NAMES]
    printed = mypy(folder, f"from dialgauge import {', '.join(NAMES)}\n" + "\n".join(lines) + "\n")
    types = re.findall(r'^outside\.py:(\d+): note: Revealed type is "(.*)"$', printed, re.MULTILINE)
    assert len(types) == len(NAMES), printed
    return {NAMES[int(line) - 2]: type_ for line, type_ in types}


@pytest.mark.parametrize("name", NAMES)
def test_no_public_name_is_any(name: str, revealed: dict[str, str]) -> None:
    known = revealed[name]
    for meant in MEANT:
        known = known.replace(meant, "")
    assert not re.search(r"\bAny\b", known), revealed[name]


def test_results_have_types(tmp_path: Path) -> None:
    code = """
from dialgauge import check, convert, read, write

corpus = read("x.json")
reveal_type(corpus)
reveal_type(corpus[0])
reveal_type(corpus["id"])
reveal_type(corpus[:2])
reveal_type([dialogue.id for dialogue in corpus])
reveal_type(write(corpus, "y.jsonl", format="native"))
reveal_type(check(["x.json"]))
reveal_type(convert("x.json", "y.jsonl", to="native"))
"""
    shown = re.findall(r'Revealed type is "(.*)"', mypy(tmp_path, code))
    assert [re.sub(r"\b(\w+\.)+", "", type_) for type_ in shown] == [
        *("Corpus", "Dialogue", "Dialogue", "list[Dialogue]", "list[str]", "Notes", "Report", "Conversion"),
    ]


@pytest.mark.parametrize("page", sorted(path.stem for path in DOCS.glob("*.md")))
def test_examples_of_extensions_are_typed(page: str, tmp_path: Path) -> None:
    for name, code in ExtendPage(page).files.items():
        if name.endswith(".py"):
            assert mypy(tmp_path, code) == ""
