from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from dialgauge.rendering import Cell, Column, Table, render_html, write_tables

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
    target = tmp_path / "page.html"
    write_tables([Table("Scores", ["x"], [[EVIL]])], target, title=EVIL)
    html = target.read_text("utf-8")
    found = parsed(html)
    assert not {"script", "link", "img"} & set(found.names) and "src=" not in html
    assert found.text.count(EVIL) == 3
    assert list(tmp_path.glob(".*")) == []
