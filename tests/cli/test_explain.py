"""``dialgauge explain``: one thing or all of them, by either number of the word."""

from __future__ import annotations

import json

import pytest

from support.commands import dialgauge

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("word", ["measure", "measures"])
@pytest.mark.parametrize("name", ["JGA", "jga", "JGA(over=dialogues)"])
def test_a_measure_is_explained(word: str, name: str, capsys: Capture) -> None:
    outcome = dialgauge(capsys, "explain", word, name)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("JGA (tracking): Joint goal accuracy\n")
    for field in ("meaning", "formula", "parameters", "unit", "better", "source"):
        assert any(line.startswith(f"{field} ") for line in outcome.out.splitlines()), field


def test_a_measure_of_several_families_is_explained_in_each(capsys: Capture) -> None:
    document = json.loads(dialgauge(capsys, "explain", "measures", "Success", "--json", "-").out)
    titles = [table["title"] for table in document["tables"]]
    assert titles and len(set(titles)) == len(titles) and all(title.startswith("Success (") for title in titles)


def test_families_are_listed_as_before(capsys: Capture) -> None:
    assert dialgauge(capsys, "explain", "measures", "tracking").out.startswith("Measures: tracking\n")
    assert dialgauge(capsys, "explain", "measures").out.count("Measures: ") > 5


def test_profiles_and_behaviours_by_either_number(capsys: Capture) -> None:
    for one, other, name in (("profile", "profiles", "trade"), ("behaviours", "behaviour", "unmatched")):
        for arguments in ((), (name,)):
            outcomes = [dialgauge(capsys, "explain", word, *arguments) for word in (one, other)]
            assert outcomes[0] == outcomes[1] and outcomes[0].code == 0
    found = dialgauge(capsys, "explain", "behaviour", "unmatched").out
    assert "constraints_not_in_goal/unmatched" in found and "repeated_inform" not in found


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("measures", "JGAA"), "there is no measure or family of measures 'JGAA'. Did you mean 'JGA'"),
        (("measures", "trackin"), "Did you mean 'tracking'"),
        (("measures", "JGA(over=x)"), "over must be one of turns, dialogues (got 'x')"),
        (("profiles", "trad"), "Did you mean 'trade'"),
        (("behaviours", "unmatchd"), "Did you mean 'unmatched'"),
    ],
)
def test_a_misspelt_name_is_one_sentence_with_the_nearest(
    words: tuple[str, ...], sentence: str, capsys: Capture
) -> None:
    outcome = dialgauge(capsys, "explain", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert sentence in outcome.err and outcome.err.count("\n") == 1
