from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from dialgauge.reproduce import PrintedNumber, Reproduction, as_json, as_markdown, item_tables, missing_table


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [("48.86%", 0.4886, 5e-5), ("0.8759", 0.8759, 5e-5), ("7,368", 7368, 0.5), ("0", 0, 0.5), ("81 %", 0.81, 5e-3)],
)
def test_a_printed_number_knows_its_last_digit(text: str, value: float, half: float) -> None:
    number = PrintedNumber.parse(text)
    assert [number.value, number.half_unit] == pytest.approx([value, half])


@given(st.floats(0, 1))
def test_a_number_agrees_with_its_own_rounding_and_not_with_the_next(value: float) -> None:
    number = PrintedNumber.parse(f"{100 * value:.2f}%")
    assert number.agrees(value)
    assert not number.agrees(number.value + 2.1 * number.half_unit)


def test_no_number() -> None:
    with pytest.raises(ValueError, match="no printed number"):
        PrintedNumber.parse("about 81")


@pytest.mark.parametrize(
    ("text", "value", "shown"), [("48.86%", 0.488599, "48.860%"), ("7368", 7368.0, "7368"), ("7368", 0.5, "0.5")]
)
def test_ours_is_shown_in_their_unit(text: str, value: float, shown: str) -> None:
    assert PrintedNumber.parse(text).show(value) == shown


def made() -> Reproduction:
    record = Reproduction("x", "A | title", "Somebody, somewhere", missing=["the *ratings*"])
    record.printed("Table 1", "a", "48.86%", 0.48862)
    record.printed("Table 1", "b", "48.86%", 0.48872, note="why")
    record.sampled("Table 1", "c", "0.53", 0.49, (0.44, 0.56))
    record.sampled("Table 1", "d", "0.53", 0.49, (0.48, 0.5))
    record.text("Figure 1", "e", "1 0", "1 0")
    record.claim("Figure 1", "f", holds=False, ours="2 < 1")
    record.pictured("Figure 2", "g", "0.5")
    record.impossible("Figure 2", "h", "0.33", "not released")
    return record


def test_verdicts() -> None:
    assert [item.verdict for item in made().items] == [
        "exact", "differs", "within spread", "differs", "exact", "differs", "computed", "cannot be computed",
    ]  # fmt: skip
    assert made().tally() == {
        "exact": 2, "holds": 0, "within spread": 1, "computed": 1, "differs": 3, "cannot be computed": 1,
    }  # fmt: skip
    assert made().items[0].difference == pytest.approx(0.00002)


def test_an_interval_without_width_is_no_spread() -> None:
    record = Reproduction("x", "title", "citation")
    record.sampled("Table 1", "a", "53.0%", 0.5303, (0.5303, 0.5303))
    record.sampled("Table 1", "b", "53.0%", 0.5309, (0.5309, 0.5309))
    assert [(item.verdict, item.low) for item in record.items] == [("exact", None), ("differs", None)]


def test_notes_stay_where_the_screen_is_narrow() -> None:
    record = Reproduction("x", "title", "citation")
    for number in range(3):
        what = f"statement {number} of the paper, which is told in rather many words"
        record.claim("Text", what, holds=False, ours="attraction 45, hotel 19, taxi 2, train 62", note="as is known")
    (table,) = item_tables(record)
    assert "as is known" in " ".join(table.render("terminal").fitted(80).text().split())


def test_pages_say_what_is_missing_first() -> None:
    page = as_markdown(made())
    assert page.index("What is missing") < page.index("Table 1")
    assert r"- the \*ratings\*" in page
    assert "| c | 53% | 49.0% \\[44.0%, 56.0%\\] | -4.0 pt | within spread | – |" in page
    assert [table.title for table in item_tables(made())] == ["Table 1", "Figure 1", "Figure 2"]
    assert item_tables(made())[-1].notes[0].startswith("8 lines: 2 exact, 1 within spread")
    assert len(missing_table(made())) == 1


def test_json_is_plain() -> None:
    content = json.loads(json.dumps(as_json(made())))
    assert content["items"][7]["ours"] is None
    assert content["missing"] == ["the *ratings*"]
