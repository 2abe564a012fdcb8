"""Between modules go codes and arguments: nothing reads a sentence that dialgauge itself wrote."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dialgauge
from dialgauge.presentation import pages_of
from dialgauge.tasks import REASON_GROUPS
from support.source_trees import syntax_tree

ROOT = Path(dialgauge.__file__).parent
#: Modules that read sentences which others wrote, and whose.
OTHERS = {
    "agents": "what people and models say",
    "worlds": "what data sets say",
    "formats": "what files say",
    "users/faults": "what users say, and their instructions",
    "tasks/trials/used_steps.py": "what agents say",
    "tasks/blame/failure_evidence.py": "what agents and users say",
    "responses/evaluation.py": "replies of bots",
    "cli/babi.py": "replies of bots",
    "redaction.py": "what users and agents say",
    "values": "values of data sets",
    "reproduce/gcdf1_statements.py": "acts and slots of the paper's conversations",
    "reproduce/gcdf1_turns.py": "acts of the paper's conversations",
    "reproduce/babi/data_claims.py": "what the released dialogs say",
    "users/behaviour_features.py": "what people say",
    "users/map_builder.py": "values of data sets",
    "runs/sql.py": "messages of DuckDB",
    "runs/sql_tables.py": "messages of DuckDB",
    "data/fetch.py": "headers of HTTP",
    "files.py": "messages of the system",
    "yaml_file.py": "messages of msgspec",
    "_lazy.py": "source code",
    "tasks/recordings/conduct.py": "keys of what agents used",
}
#: What looks into a text: the methods of str, of polars and of re.
LOOKS = {
    "startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit", "find",
    "starts_with", "ends_with", "contains", "extract", "extract_all", "strip_prefix", "strip_suffix", "splitn",
    "compile", "match", "search", "fullmatch", "sub", "findall", "finditer",
}  # fmt: skip
#: Two words, or one with the space after it.
ENGLISH = re.compile(r"[A-Za-z]{2,}\)?[,;:]? (?:[A-Za-z\\(-]|$)")


def looked_for(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts that code looks for in others, with their lines."""
    for node in ast.walk(tree):
        inside: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS:
            inside = node.args[:1]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            inside = [node.left] if isinstance(node.left, ast.Constant | ast.JoinedStr) else []
        for part in (part for each in inside for part in ast.walk(each)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield node.lineno, part.value  # type: ignore[attr-defined]


def own_modules() -> list[str]:
    names = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py"))
    return [name for name in names if not any(name == other or name.startswith(f"{other}/") for other in OTHERS)]


def test_no_module_looks_for_words_of_ours() -> None:
    found = {
        f"{name}:{line}: {text!r}"
        for name in own_modules()
        for line, text in looked_for(syntax_tree(ROOT / name))
        if ENGLISH.search(text) or text == ", "
    }
    # A command line is no sentence; a space before the value of a measure's name is its grammar.
    assert {one for one in found if "'dialgauge '" not in one and "' of '" not in one} == set()


def test_the_others_are_there() -> None:
    assert [name for name in OTHERS if not (ROOT / name).exists()] == []


def test_the_explorer_reads_by_codes() -> None:
    """Regular expressions of the explorer are for what people typed (names of runs too), markup and placeholders."""
    with_expressions = {
        str(path.relative_to(ROOT)) for path in (ROOT / "explorer").rglob("*.py") if "import re\n" in path.read_text()
    }
    theirs = {"explorer/markup.py", "explorer/run_names.py"}
    assert with_expressions <= {"explorer/summary.py", "explorer/report_file.py", *theirs}


@pytest.mark.parametrize(
    ("code", "caught"),
    [
        ('note.startswith("Other ways: ")', True),
        ('"Did you mean" in hint', True),
        ('pl.col("why").str.contains("^nothing was named")', True),
        ('re.compile(r"in turn \\\\d+ the state led to")', True),
        ('text.split(", ")', True),
        ('name.startswith("book")', False),
        ('measure.partition("[")', False),
    ],
)
def test_what_the_test_itself_sees(code: str, caught: bool) -> None:
    assert any(ENGLISH.search(text) or text == ", " for _, text in looked_for(ast.parse(code))) == caught


def test_reasons_are_a_column_of_the_filters() -> None:
    """The filters by reason read the table of codes, and every code has a group of its own or shares one."""
    for kind, name in (("lab", "why"), ("tasks", "reason")):
        (facet,) = [facet for facet in pages_of(kind).facets if facet.name == name]
        assert facet.table == "reasons"
    assert all(REASON_GROUPS.values())
