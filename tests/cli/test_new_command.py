"""The exercise of adding a command: one module, and one line in ``COMMANDS``; everything else follows.

A command of a group that exists, such as ``data``, is a module and nothing else.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from dialgauge import cli
from dialgauge.cli import COMMANDS, application, completions
from support.commands import dialgauge

MODULE = '''
"""``dialgauge words``: how many words a text has."""

from __future__ import annotations

from typing import Annotated, Literal

from dialgauge.cli.common import TableOutput
from dialgauge.cli.options import Argument, Option, application
from dialgauge.rendering import Table

app = application("Words of texts.")


@app.command()
def words(
    texts: Annotated[list[str], Argument(metavar="TEXT...", help="Texts.")],
    case: Annotated[Literal["lower", "upper", "title"], Option(help="How words are written.")] = "lower",
    least: Annotated[int, Option(min=1, not_with=("--all",), help="Letters of a word, at least.")] = 1,
    all_words: Annotated[bool, Option("--all", help="Show every word.")] = False,
    *,
    output: TableOutput,
) -> None:
    """Count the words of texts."""
    found = [word for text in texts for word in text.split() if len(word) >= least]
    table = Table("Words", ["words"], [[getattr(word, case)()] for word in found] if all_words else [[len(found)]])
    output.show([table])
    output.document("tables", {"tables": table.records()})
'''


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "words.py"
    file.write_text(MODULE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("dialgauge.cli.words", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "dialgauge.cli.words", module)
    spec.loader.exec_module(module)
    monkeypatch.setitem(COMMANDS, "words", "how many words a text has")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "TEXT... is missing"),
        (["a", "--leest", "2"], "unknown option --leest. Did you mean --least?"),
        (["a", "--least", "0"], "--least must be ≥ 1 (got 0)"),
        (["a", "--case", "tittle"], "--case must be one of lower, upper, title (got 'tittle'). Did you mean 'title'?"),
        (["a", "--all", "--least", "2"], "--least and --all exclude each other; leave one out"),
        (["a", "--table", "x.xyz"], "use one of these endings"),
        (["a", "--json", "."], "this is a folder; name the file to write"),
    ],
)
def test_its_mistakes_are_sentences(capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    outcome = dialgauge(capsys, "words", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert sentence in outcome.err


def test_it_has_results_a_page_completion_and_defaults(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dialgauge.toml").write_text("[words]\nleast = 2\n", encoding="utf-8")
    outcome = dialgauge(capsys, "words", "a bc", "--json=-", "--", "--def")
    assert (outcome.code, json.loads(outcome.out)["tables"]) == (0, [{"words": 2}])
    assert "sets --least=2" in outcome.err
    page = dialgauge(capsys, "words", "--help").out
    assert page.startswith("Usage: dialgauge words [OPTIONS] TEXT...\n\nCount the words of texts.\n")
    assert "--case lower|upper|title" in page and "--table FILE" in page
    assert completions(["words", "--case", "u"]) == ["upper"]
    assert "how many words a text has" in dialgauge(capsys, "--help").out


PART = '''
"""``dialgauge data letters``: how many letters a text has."""

from typing import Annotated

from dialgauge.cli.options import Argument, command


def helper() -> None:
    """No command."""


@command()
def letters(text: Annotated[str, Argument(help="A text.")]) -> None:
    """Count the letters of a text."""
'''


def test_a_file_named_after_a_group_brings_a_command_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data_letters.py").write_text(PART, encoding="utf-8")
    (tmp_path / "datas_words.py").write_text("raise ValueError", encoding="utf-8")
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    group = application("Data.", parts="dialgauge.cli.data")
    assert "dialgauge.cli.data_letters" not in sys.modules and not group.single
    assert group.find("letters") is not None and group.find("words") is None
    monkeypatch.delitem(sys.modules, "dialgauge.cli.data_letters")
    assert list(group.commands) == ["letters"]
