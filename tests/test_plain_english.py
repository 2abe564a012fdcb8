"""Help texts and errors in the words a native engineer would use: phrases that were found stiff do not come back."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import dialgauge
from dialgauge.cli import COMMANDS, command_page
from support.source_trees import syntax_nodes

SOURCE = Path(dialgauge.__file__).parent

#: What was said, and what is said instead.
STIFF = {
    "a first experience": "guided tour",
    "is the screen": "- for stdout",
    "not to be recognised": "overrides format detection",
    "interrupted download goes on": "downloads resume",
    "when two values are the same": "value-matching rules",
    "parts most from": "differs most",
    "of the deal": "of the train/test split",
    "datasets lie": "dataset folder",
    "their beginnings": "or unique prefixes",
    "or its beginning": "or unique prefix",
    "times in 10": "80% power",
    "that is not negative": "must be ≥ 0",
    "(- : output)": "- for stdout",
    "goes on after its last finished epoch": "resumes after",
    "without it,": "Default:",
    "so leave out": "; leave out",
    "0 is one for each core": "0 for one per core",
    "0 is one per core": "0 for one per core",
    "may be repeated": "repeatable",
    "repeat for several": "repeatable",
    "keep them apart": "score them separately",
    "lies there": "is already there",
    "all the same with": "anyway with",
    "train anew": "start over",
    "do not count)": "are ignored)",
    "is there twice": "appears twice",
    "stands there twice": "appears twice",
    "less is better": "lower is better",
    "times running": "times in a row",
    "times in 20": "95% of the time",
    "cut down to": "restricted to",
    "the tests leave open": "possible ranks",
    "' is no measure": "is not a measure",
    "is no signature": "is not a signature",
    "is no run store": "is a file, not a run store",
    "nobody guesses": "dialgauge does not guess",
    "spoken of the": "mentioned the",
    "asks for more memory than there is": "needs more memory than there is",
    "for the usual ones": "for the defaults",
    "to make intervals": "interval method",
    "one message a line": "one message per line",
    "one dialogue a line": "one dialogue per line",
    "at work on the same": "working on the same",
}


def spoken(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that a user may read: its strings, and in the command line the docstrings too."""
    docstrings = {node.value for node in syntax_nodes(path) if isinstance(node, ast.Expr)}
    silent = set() if path.parent == SOURCE / "cli" else docstrings
    for node in syntax_nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in silent:
            yield node.lineno, " ".join(node.value.split()).lower()


def said_twice(path: Path) -> Iterator[str]:
    """Sentences that list what is known and end in a hint that lists it again."""
    for node in syntax_nodes(path):
        if isinstance(node, ast.JoinedStr):
            calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
            listed = [ast.unparse(one.args[0]) for one in calls if ast.unparse(one.func).endswith(".join") and one.args]
            hinted = [ast.unparse(one.args[1]) for one in calls if ast.unparse(one.func) == "nearest"]
            if any(hint in names for hint in hinted for names in listed):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}"


def test_no_sentence_says_the_choices_twice() -> None:
    assert [place for path in sorted(SOURCE.rglob("*.py")) for place in said_twice(path)] == []


def test_stiff_phrases_do_not_come_back() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: '{phrase}': say '{instead}'"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in spoken(path)
        for phrase, instead in STIFF.items()
        if phrase in text
    ]
    assert not found, "\n".join(found)


def test_no_help_text_shows_an_empty_default_or_a_switch_that_is_always_on() -> None:
    for group in COMMANDS:
        for name, command in importlib.import_module(f"dialgauge.cli.{group}").app.commands.items():
            page = command_page(f"dialgauge {group} {name}", command)
            assert not re.search(r"\[default:\s*\]", page), page
            assert not re.search(r"\[default:\s*True\]", page), page


def test_the_gate_names_no_measure_that_a_command_lacks() -> None:
    for group, name in (("users", "score"), ("babi", "evaluate")):
        command = importlib.import_module(f"dialgauge.cli.{group}").app.commands[name]
        assert "JGA" not in command_page(f"dialgauge {group} {name}", command)
