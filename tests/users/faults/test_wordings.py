"""Codes and words: every code that a check can give has its words, and no words are left over."""

from __future__ import annotations

import ast
from pathlib import Path

from dialgauge.users import faults
from dialgauge.users.faults import UserFault
from dialgauge.users.faults.wordings import FAULT_WORDINGS, SCOPE_WORDINGS


def test_the_codes_of_the_checks_are_those_that_have_words() -> None:
    written = {
        node.value
        for file in Path(faults.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert {*FAULT_WORDINGS, *SCOPE_WORDINGS} - written == set()


def test_a_code_of_another_version_stands_for_itself() -> None:
    assert UserFault("invented", 0, 0, "{about.__class__} of tomorrow").sentence == "{about.__class__} of tomorrow"
