"""Expressions from people's files: none holds us up, and what people write is understood."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.expressions import LONGEST, compiled
from dialgauge.users import load_profile
from dialgauge.values import Substitute, profile_listing, profile_named
from support.patterns import attacks
from support.soak import examples

HOSTILE = [
    r"(a+)+$",
    r"(a|aa)+$",
    r"(?:a|b|ab)*c",
    r"(\w+\s?)*!",
    r"(?:\d+,?)*;",
    r"([a-z]+)*[0-9]",
    r"(x+x+)+y",
    r"(?:.*a){20}",
    r"\s*\s*\s*x",
    r"\d+\.?\d*$",
    r"\w*a\w*b",
    r".*.*=",
    r"(?i)[a-z]*[A-Z]*!",
    r"a{0,5000}a{0,5000}b",
    r"(?=(a+)+b)a",
    r"(?>(a+)+b)",
    r"x(?:\s*|,)\s*y",
    r"^(.*), (.*), (.*), (.*)!$",
    "a?" * 40 + "X",
    "a{0,10}" * 10 + "X",
    "(aa|a)" * 40 + "X",
    r"(?:(?=(?:(?=a*X)a)*)a)*X",
    r"(?:(?:){60000}){60000}X",
]
USUAL = [
    r"^the ",
    r"\bst\.? ",
    r"(\d+)\s*:\s*(\d+)",
    r"\s*-\s*(\w+)\s+(\w+)$",
    r"\b(hotel|guest ?house|b ?& ?b)s?\b",
    r"(?: \w++)*+ road",
    r"[^a-z0-9]+",
    r"(\d{1,2})[:.](\d{2})(?:am|pm)?",
    r"^(.+) restaurant$",
    r"(?<!\d)(\d{3})(?!\d)",
    r"(?:ab)*c",
    r"(['\"]).*?\1",
    r"\d+\.?\d*",
    r"\d++\.?\d*$",
    r"^(?:in |the |in the )+",
]


@pytest.mark.parametrize("expression", HOSTILE)
def test_an_expression_that_could_take_forever_is_refused_by_name(expression: str) -> None:
    with pytest.raises(DialgaugeError) as caught:
        compiled(expression, "rule 2")
    shown = expression if len(expression) <= 80 else f"{expression[:80]}…"
    assert f"rule 2: '{shown}' could take forever over a long text" in str(caught.value)


@pytest.mark.parametrize("expression", USUAL)
def test_what_people_write_is_taken_and_never_takes_long(expression: str) -> None:
    pattern = compiled(expression, "rule 1")
    for text in attacks(pattern, LONGEST // 5):
        start = time.process_time()
        pattern.sub("", text)
        assert time.process_time() - start < 0.1, text[:30]


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "[ab]", "a*", "b+", "[ab]*", "a?", "(", ")", ")*", ")+", "|", "."]), max_size=9)
)
def test_what_is_taken_at_random_takes_no_time(pieces: list[str]) -> None:
    """What doubles with every letter would never end, and what is cubic takes 36 million steps for each text."""
    try:
        pattern = compiled("".join(pieces), "rule 1")
    except DialgaugeError:
        return
    start = time.process_time()
    for text in ("a" * 600 + "!", "ab" * 300 + "!", "b" * 600 + "!"):
        pattern.search(text)
    assert time.process_time() - start < 0.5


def test_profiles_of_ours_hold_to_it() -> None:
    rules = [rule for entry in profile_listing() if entry.content for rule in entry.content.values]
    written = [pattern for rule in rules if isinstance(rule, Substitute) for pattern, _ in rule.patterns]
    assert written
    for pattern in written:
        compiled(pattern, "a shipped profile")


def test_a_profile_with_a_hostile_expression_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text('name: mine\nrules:\n  - regex: [["(a+)+$", "b"]]\n', encoding="utf-8")
    with pytest.raises(DialgaugeError, match=r"mine\.yaml: rule 1: '\(a\+\)\+\$' could take forever"):
        profile_named(str(path))
    path.write_text("name: mine\nacts:\n  inform: ['(a+)+$']\n  request: [request]\ndomains: {}\n", encoding="utf-8")
    with pytest.raises(DialgaugeError, match=r"mine\.yaml, line 3: the act family 'inform': '\(a\+\)\+\$' could take"):
        load_profile(str(path))


def test_a_value_too_long_to_search_is_left_as_it_is() -> None:
    rule = Substitute(name="x", patterns=(("b", ""), (re.escape("a"), "")))
    assert rule.apply("ab" * (LONGEST // 2)) == ("",)
    assert rule.apply("ab" * LONGEST) == ("ab" * LONGEST,)
