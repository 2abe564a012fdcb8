"""What a page shows of an output is compared line by line, with few allowances."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.doc_pages import Block, Printed, Sandbox
from support.shown_output import difference, statements, steps, value_differs

_PRINTED = "State-tracking scores\nmeasure   mine\nJGA      25.00\n\nF1       75.00\nSignature: sig:1|v:0.1.0\n"


@pytest.mark.parametrize(
    "shown",
    [
        _PRINTED,
        "...\nJGA      25.00\n\nF1       75.00\n...\n",
        "State-tracking scores\n...\nSignature: sig:1|v:0.2.0",
        "...\nmeasure   mine\n...\nF1       75.00   \n...\n",
        "State-... scores\n...\nSignature: ...|v:0.1.0",
        "...",
    ],
)
def test_left_out_lines_and_parts_are_marked(shown: str) -> None:
    assert difference(shown, _PRINTED) is None


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        ("...\nJGA      25.01\n...\n", "this line was not printed: JGA      25.01"),
        ("...\nJGA     25.00\n...\n", "this line was not printed: JGA     25.00"),
        ("...\nJGA      25.00\nF1       75.00\n...\n", "not printed one after the other"),
        ("...\nF1       75.00\n...\nJGA      25.00\n...\n", "this line was not printed: JGA"),
        ("measure   mine\n...\n", "not printed one after the other"),
        ("State-tracking scores\n", "not printed one after the other"),
        ("State-tracking scores\n...\nF1       75.00\n", "not printed one after the other"),
        (_PRINTED + "...\nand more\n", "this line was not printed: and more"),
    ],
)
def test_everything_else_differs(shown: str, why: str) -> None:
    assert why in str(difference(shown, _PRINTED))


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("run 20261116-065841-tracking-augpt-b9e7", "run 20270101-000000-tracking-augpt-0a1b"),
        ("at http://127.0.0.1:8642/", "at http://127.0.0.1:57183/"),
        ("read in 0.7 s", "read in 12 s"),
        ("tok:13a|version:2.6.0", "tok:13a|version:2.7.1"),
    ],
)
def test_what_varies_is_an_example(shown: str, printed: str) -> None:
    assert difference(shown, printed) is None
    assert difference(shown, f"{printed} or not") is not None


def test_what_names_a_run_does_not_vary() -> None:
    assert difference("20261116-065841-tracking-augpt-b9e7", "20261116-065841-tracking-dots-b9e7") is not None


def test_notes_may_be_shown_or_left_out() -> None:
    printed = Printed("score\n", "note\n")
    for shown in ("score\n", "note\nscore\n", "score\nnote\n"):
        printed.check(shown, "here")
    with pytest.raises(AssertionError, match="here: this line was not printed: other"):
        printed.check("other\n", "here")


def test_a_command_ends_where_its_output_begins() -> None:
    assert list(steps("$ a \\\n    b\nprinted\n\n$ c\n")) == [("a b", "printed\n\n"), ("c", "")]


def test_a_comment_that_begins_like_a_value_is_one() -> None:
    code = "x = 1  # 2\nx   # 3, 4\nx   # the number\nf(\n    x\n)   # {'a': 0.1...}\nx   # Corpus('a')\n"
    assert [shown for _, shown in statements(code)] == [None, "3, 4", None, "{'a': 0.1...}", "Corpus('a')"]


def test_a_value_is_shown_as_python_does() -> None:
    assert value_differs("0.49...", 0.4948) is None
    assert value_differs("0.6..., 0.7...", (0.62, 0.77)) is None
    assert value_differs("0.50", 0.4948) == "it is 0.4948, not 0.50"


def test_a_stale_output_fails_the_page(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, None)
    sandbox.run(Block("console", "$ echo 1\n1\n$ echo 2; pwd\n2\n...\n", 7))
    with pytest.raises(AssertionError, match="line 7: this line was not printed: 2"):
        sandbox.run(Block("console", "$ echo 1\n2\n$ true\n", 7))
    assert sandbox.run(Block("python", "x = 2\nprint(x)\nx  # 2\n", 7)).out == "2\n"
    with pytest.raises(AssertionError, match="line 9: it is 2, not 3"):
        sandbox.run(Block("python", "\nx  # 3\n", 7))


def test_paths_are_shown_as_in_the_folder_of_the_reader(tmp_path: Path) -> None:
    Sandbox(tmp_path, None).run(Block("console", '$ echo "$PWD/runs"\nruns\n', 1))
