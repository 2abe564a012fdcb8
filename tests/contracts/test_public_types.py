"""What an editor and ``mypy --strict`` know of the public names, seen from outside: real signatures, nowhere Any."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import pytest

import dialgauge
from dialgauge.data import Report
from dialgauge.formats import Corpus, Notes
from support.extend_pages import DOCS, ExtendPage

ROOT = Path(__file__).parents[2]
#: Where Any says what it says: arrays of any number of dimensions, measures whatever evidence they are computed from.
MEANT = ("tuple[Any, ...]", "Measure[Any]")
NAMES = sorted(set(dialgauge.__all__) - {"__version__"})


if TYPE_CHECKING:  # ``make lint`` looks at these

    def results() -> None:
        corpus = dialgauge.read("x.json")
        assert_type(corpus, Corpus)
        assert_type(corpus[0], dialgauge.Dialogue)
        assert_type(corpus["id"], dialgauge.Dialogue)
        assert_type(corpus[:2], Sequence[dialgauge.Dialogue])
        assert_type([dialogue.id for dialogue in corpus], list[str])
        assert_type(dialgauge.write(corpus, "y.jsonl", format="native"), Notes)
        assert_type(dialgauge.check(["x.json"]), Report)
        assert_type(dialgauge.convert("x.json", "y.jsonl", to="native").dialogues, int)


def mypy(folder: Path, files: dict[str, str]) -> str:
    """What ``mypy --strict`` says of files outside the project; what ``make lint`` knows of ours is used again."""
    for name, code in files.items():
        (folder / name).write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", *(str(folder / name) for name in files)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout


@pytest.mark.soak
def test_public_names_and_examples_have_types(tmp_path: Path) -> None:
    assert (Path(dialgauge.__file__).parent / "py.typed").exists()
    lines = [f"from dialgauge import {', '.join(NAMES)}", *(f"reveal_type({one})" for one in NAMES)]
    examples = {
        f"{page.stem}_{name}".replace("/", "_"): code
        for page in sorted(DOCS.glob("*.md"))
        for name, code in ExtendPage(page.stem).files.items()
        if name.endswith(".py")
    }
    assert len(examples) >= 5
    printed = mypy(tmp_path, {"outside.py": "\n".join(lines) + "\n", **examples})
    found = re.findall(r'outside\.py:(\d+): note: Revealed type is "(.*)"$', printed, re.MULTILINE)
    types = {NAMES[int(line) - 2]: type_ for line, type_ in found}
    assert types.keys() == set(NAMES), printed
    assert printed.count("\n") == len(found), printed  # nothing is said of the examples
    for name in NAMES:
        known = types[name]
        for meant in MEANT:
            known = known.replace(meant, "")
        assert not re.search(r"\bAny\b", known), (name, types[name])
