"""What a page shows of an output is compared line by line, with few allowances."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.doc_pages import Block, Sandbox
from support.shown_output import difference

_PRINTED = "State-tracking scores\nmeasure   mine\nJGA      25.00\n\nF1       75.00\nSignature: sig:1|v:0.1.0\n"


@pytest.mark.parametrize(
    "shown",
    [
        _PRINTED,
        "...\nJGA      25.00\n\nF1       75.00\n...\n",
        "State-tracking scores\n...\nSignature: sig:1|v:0.3.0",
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


def test_a_stale_output_fails_the_page(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, None)
    sandbox.run(Block("console", "$ echo 1\n1\n$ echo 2; pwd\n2\n...\n", 7))
    with pytest.raises(AssertionError, match="line 7: this line was not printed: 2"):
        sandbox.run(Block("console", "$ echo 1\n2\n$ true\n", 7))
    assert sandbox.run(Block("python", "x = 2\nprint(x)\nx  # 2\n", 7)).out == "2\n"
    with pytest.raises(AssertionError, match="line 9: it is 2, not 3"):
        sandbox.run(Block("python", "\nx  # 3\n", 7))
