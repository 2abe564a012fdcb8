"""Profiles of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.values import profile_named

WHOLE = r"""
name: mine
version: 2
extends: canon
summary: canon and our own words
rules:
  - replace: {"b & b": bed and breakfast}
    slots: [type]
    why: our tracker abbreviates
  - regex: [["^st\\.? ", "saint "]]
    slots: [name]
  - drop: [unknown]
    side: predicted
  - accept: {centre: [downtown]}
    side: gold
  - split: "|"
    domains: [hotel]
gold_values: any
predicted_values: any
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_changed_rule_changes_the_label(tmp_path: Path) -> None:
    first = profile_named(written(tmp_path, WHOLE)).label
    second = profile_named(written(tmp_path, WHOLE.replace("downtown", "down town"))).label
    assert first != second


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [", "not valid YAML"),
        ("[]", "not a profile"),
        ("name: x\nextend: canon", "Did you mean 'extends'"),
        ("name: x\nextends: cannon", "no profile named 'cannon'"),
        ("name: x\nextends: other.yaml", "must name an installed profile"),
        ("name: x\nrules: [{slots: [a]}]", "rule 1 must have exactly one of"),
        ("name: x\nrules: [{drop: [a], split: b}]", "rule 1 must have exactly one of"),
        ("name: x\nrules: [{regex: [['(', '']]}]", "not a valid regular expression"),
        ("name: x\nrules: [{drop: [a], side: left}]", "not a profile"),
        ("name: 'a b'", "not a valid profile name"),
        ("name: x\nmatch: eqal", "no matcher named"),
        ("name: !!python/object:os.system x", "not valid YAML"),
    ],
)
def test_mistakes_are_sentences(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DialgaugeError, match=message):
        profile_named(written(tmp_path, text))
