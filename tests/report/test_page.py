from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from dialgauge.report import Cell, Column, Figure, Section, Table, render_html, write_page

EVIL = "<script>alert('x')</script> & \"quoted\""


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    return tags


def test_everything_in_a_table_is_escaped() -> None:
    table = Table(
        EVIL, [EVIL, Column("n", digits=1)], [[EVIL, Cell(1.25, 1.0, 1.5, mark="<", bold=True)]], notes=[EVIL]
    )
    found = parsed(render_html(table))
    assert "script" not in found.names
    assert found.text.count(EVIL) == 4
    assert "1.2" in found.text and "[1.0, 1.5]" in found.text and "strong" in found.names


def test_a_page_is_one_file_that_fetches_nothing(tmp_path: Path) -> None:
    drawing = tmp_path / "figure.svg"
    drawing.write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    target = tmp_path / "page.html"
    write_page(target, EVIL, [Section(EVIL, EVIL, [Figure(drawing, EVIL)])], footer=EVIL)
    html = target.read_text("utf-8")
    found = parsed(html)
    assert "script" not in found.names and "link" not in found.names
    assert found.names.count("img") == 1 and 'src="data:image/svg+xml;base64,' in html
    assert list(tmp_path.glob(".*")) == []


def test_what_bears_the_title_of_its_section_does_not_repeat_it(tmp_path: Path) -> None:
    drawing = tmp_path / "figure.svg"
    drawing.write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>")
    parts: list[Table | Figure] = [
        Table("Part", ["x"]),
        Table("Other", ["x"]),
        Figure(drawing, "Part"),
        Figure(drawing, "Part: other"),
    ]
    write_page(tmp_path / "page.html", "Page", [Section("Part", parts=parts)])
    html = (tmp_path / "page.html").read_text("utf-8")
    assert html.count(">Part<") == 1
    assert "<caption>Other</caption>" in html
    assert "<figcaption>Part: other</figcaption>" in html
    assert html.count('alt="Part"') == 1
