from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given, strategies as st

from dialgauge.rendering import Cell, Column, Table, write_tables


class Texts(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(page: str) -> Texts:
    reader = Texts()
    reader.feed(page)
    return reader


def test_title_intervals_marks_bold_and_notes() -> None:
    table = Table("Scores", ["system", Column("JGA", digits=2, percent=True, best="max")], notes=["a note"])
    table.add("one", Cell(0.5, 0.4, 0.6, "*"))
    table.add("two", 0.25)
    page = table.render("html")
    assert "<caption>Scores</caption>" in page
    assert '<td class="n"><strong>50.00</strong><sup>*</sup> <small>[40.00, 60.00]</small></td>' in page
    assert '<td class="n">25.00</td>' in page
    assert '<p class="note">a note</p>' in page


def test_sentences_may_be_broken_into_lines_names_and_numbers_not() -> None:
    table = Table("", ["what", "share"])
    table.add("a sentence of more letters than any name has", 1)
    table.add("embeddings-bigrams", 2)
    page = table.render("html")
    assert '<td class="long">a sentence' in page
    assert "<td>embeddings-bigrams</td>" in page
    assert page.count('<td class="n">') == 2


@given(st.text(max_size=40))
def test_nothing_from_data_becomes_markup(text: str) -> None:
    table = Table(text, [text, Column("n")], notes=[text])
    table.add(text, Cell(1, mark=text))
    assert set(parsed(table.render("html")).tags) <= {
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "p",
        "sup",
    }


def test_several_tables_become_one_page(tmp_path: Path) -> None:
    tables = [Table(f"<b>{name}</b>", ["x"], [["<script>alert(1)</script>"]]) for name in "ab"]
    write_tables(tables, tmp_path / "page.html")
    page = parsed((tmp_path / "page.html").read_text())
    assert page.tags.count("table") == 2
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.texts
