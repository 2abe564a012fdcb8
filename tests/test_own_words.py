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
    "_lazy.py": "source code",
    "agents/llm/language_user.py": "what models say",
    "agents/rules.py": "what users say",
    "agents/speech/domain_grammar.py": "what users and systems say",
    "agents/speech/domain_nlg.py": "labels of somebody's domain",
    "agents/speech/domain_speech.py": "what users say",
    "agents/speech/free_listener.py": "what systems say",
    "agents/speech/service_talk.py": "what users say",
    "agents/speech/slot_wording.py": "labels of somebody's domain",
    "agents/speech/vocabulary.py": "titles of somebody's services",
    "agents/town/policy.py": "values that users say",
    "cli/babi.py": "replies of bots",
    "data/fetch.py": "headers of HTTP",
    "files.py": "messages of the system",
    "formats/document.py": "names of files",
    "formats/json_text.py": "messages of msgspec",
    "formats/large_json.py": "messages of msgspec",
    "formats/logs/report_lines.py": "logs",
    "formats/logs/results.py": "logs",
    "formats/logs/written_values.py": "logs",
    "formats/predictions/belief_spans.py": "outputs of models",
    "formats/predictions/free_form.py": "messages of msgspec",
    "formats/predictions/human_eval.py": "sheets of the paper's authors",
    "formats/predictions/state_texts.py": "outputs of models",
    "reproduce/babi/data_claims.py": "what the released dialogs say",
    "reproduce/gcdf1_statements.py": "acts and slots of the paper's conversations",
    "responses/evaluation.py": "replies of bots",
    "runs/sql.py": "messages of DuckDB",
    "runs/sql_tables.py": "messages of DuckDB",
    "tasks/blame/failure_evidence.py": "what agents and users say",
    "tasks/recordings/conduct.py": "keys of what agents used",
    "tasks/trials/used_steps.py": "what agents say",
    "users/behaviour_features.py": "what people say",
    "users/faults/checking.py": "values that users say",
    "users/faults/entities.py": "what users say",
    "users/faults/knowledge.py": "instructions of users",
    "users/faults/message_checks.py": "what users say",
    "users/faults/told_checks.py": "what users and agents say",
    "users/faults/wish_checks.py": "what users say, and their instructions",
    "users/faults/withheld_items.py": "instructions of users",
    "users/map_builder.py": "values of data sets",
    "values/profile.py": "values of data sets",
    "values/reply_bindings.py": "replies of systems",
    "values/told.py": "replies of systems",
    "values/withdrawn.py": "replies of systems",
    "worlds/restaurant/dstc2.py": "what the data set says",
    "worlds/town/goals.py": "goals of MultiWOZ",
    "yaml_file.py": "messages of msgspec",
}
#: What looks into a text: the methods of str, of polars and of re.
LOOKS = {
    "startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit", "find",
    "starts_with", "ends_with", "contains", "extract", "extract_all", "strip_prefix", "strip_suffix", "splitn",
    "compile", "match", "search", "fullmatch", "sub", "findall", "finditer",
}  # fmt: skip
#: What holds a sentence of ours: whatever is looked for in it, a code would have told.
SENTENCES = {"message", "note", "title"}
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


def read_sentences(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Where code looks into a message, note or title, whatever for."""
    for node in ast.walk(tree):
        inside: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS:
            inside = [node.func.value, *node.args]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            inside = node.comparators
        if any(isinstance(part, ast.Attribute) and part.attr in SENTENCES for part in inside) or (
            isinstance(node, ast.Compare) and any(isinstance(part, ast.Name) and part.id == "note" for part in inside)
        ):
            yield node.lineno, ast.unparse(node)  # type: ignore[attr-defined]


def words_of_ours(tree: ast.AST) -> Iterator[tuple[int, str]]:
    yield from ((line, text) for line, text in looked_for(tree) if ENGLISH.search(text) or text == ", ")
    yield from read_sentences(tree)


def modules() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py"))


def test_no_module_looks_for_words_of_ours() -> None:
    found = {
        f"{name}:{line}: {text!r}"
        for name in modules()
        if name not in OTHERS
        for line, text in words_of_ours(syntax_tree(ROOT / name))
    }
    # A command line is no sentence; a space before the value of a measure's name is its grammar.
    assert {one for one in found if "'dialgauge '" not in one and "' of '" not in one} == set()


def test_every_excuse_is_needed() -> None:
    assert [name for name in OTHERS if not any(words_of_ours(syntax_tree(ROOT / name)))] == []


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
        ('"sha256" in error.message', True),
        ("_MINE in error.message", True),
        ("\"'Matched' contradicts\" in note", True),
        ('"percent" not in table.title', True),
        ("_PATH.search(error.message)", True),
        ('talk.note.removeprefix("x")', True),
        ("note in run.notes", False),
        ('name.startswith("book")', False),
        ('measure.partition("[")', False),
    ],
)
def test_what_the_test_itself_sees(code: str, caught: bool) -> None:
    assert any(words_of_ours(ast.parse(code))) == caught


def test_reasons_are_a_column_of_the_filters() -> None:
    """The filters by reason read the table of codes, and every code has a group of its own or shares one."""
    for kind, name in (("lab", "why"), ("tasks", "reason")):
        (facet,) = [facet for facet in pages_of(kind).facets if facet.name == name]
        assert facet.table == "reasons"
    assert all(REASON_GROUPS.values())
