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


def test_every_kind_of_rule(tmp_path: Path) -> None:
    profile = profile_named(written(tmp_path, WHOLE))
    assert profile.label.startswith("mine@2-")
    assert profile.inventory == profile_named("canon").inventory
    assert profile.normalise(("hotel", "type"), ("B & B",), "gold") == ("bed and breakfast",)
    assert profile.normalise(("attraction", "name"), ("St. John's",), "gold") == ("saint john's",)
    assert profile.normalise(("hotel", "area"), ("unknown",), "predicted") == ()
    assert profile.normalise(("hotel", "area"), ("unknown",), "gold") == ("unknown",)
    assert profile.normalise(("hotel", "area"), ("center",), "gold") == ("centre", "downtown")
    assert profile.normalise(("hotel", "area"), ("north|south",), "predicted") == ("north", "south")
    assert profile.normalise(("train", "day"), ("a|b",), "gold") == ("a|b",)
    assert "our tracker abbreviates" in profile.explain()


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


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="cannot be read"):
        profile_named(str(tmp_path / "absent.yaml"))
