"""What everything that is shown keeps to, whatever kind of run it is about: no kind is named here.

A new kind is held to all of it once a run of it is on the workbench.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from xml.etree import ElementTree

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.kinds import BUILT_IN
from dialgauge.report import (
    Cell,
    Page,
    Table,
    Terminal,
    csv_page,
    dialogue_list,
    dialogue_page,
    figure,
    html_page,
    json_document,
    latex_page,
    list_page,
    markdown_page,
    run_page,
    run_report,
    screen_tables,
    side_page,
    table_page,
    view_of,
    worst_dialogues,
    worst_page,
)
from dialgauge.runs import Run
from support.family_pages import emptied, hostile, nulled, without
from support.pages import elements
from support.workbench import Workbench

KINDS = [name for name, kind in BUILT_IN.items() if kind.view]


@pytest.fixture(scope="module", params=KINDS)
def runs(request: pytest.FixtureRequest, bench: Workbench) -> list[Run]:
    """The stored runs of a kind."""
    return bench.runs_of(request.param)


def pages_of(run: Run) -> Iterator[Page]:
    yield run_page(run)
    yield list_page(run, {})
    yield worst_page(run, 3)
    yield from (dialogue_page(run, name, only={}) for name in worst_dialogues(run, 3))


@pytest.fixture(scope="module")
def pages(runs: list[Run]) -> list[Page]:
    return [page for run in runs for page in pages_of(run)]


def tables(page: Page) -> Iterator[Table]:
    yield from page.tables.values()
    for transcript in (each for reading in page.dialogues for each in reading):
        yield from transcript.tables.values()
        yield from (table for turn in transcript.turns for table in (*turn.before, *turn.beside))


def cells(page: Page) -> Iterator[Cell]:
    yield from (cell for table in tables(page) for row in table.rows for cell in row)


def test_a_count_is_as_long_as_the_list_it_leads_to(runs: list[Run]) -> None:
    for run in runs:
        for cell in cells(run_page(run)):
            if cell.link is not None and cell.link.only and not cell.link.dialogue:
                assert cell.value == len(dialogue_list(run).matching(cell.link.only)), cell.link


def test_every_link_to_a_dialogue_leads_to_one_and_to_a_turn_of_it(runs: list[Run]) -> None:
    for run in runs:
        names = set(dialogue_list(run).ranked)
        lengths = dict(run.table("dialogues").select("dialogue", "turns").iter_rows())
        for link in (cell.link for page in pages_of(run) for cell in cells(page) if cell.link is not None):
            if link.dialogue and not link.runs:
                assert link.dialogue in names
                assert link.turn is None or 0 <= link.turn < max(1, lengths[link.dialogue])


def test_the_number_that_counts_says_what_it_is(runs: list[Run]) -> None:
    headline = run_page(runs[0]).headline
    assert headline is None or (headline.meaning and headline.cell.number is not None)


def test_a_page_of_a_list_says_what_its_filters_leave(runs: list[Run]) -> None:
    for choice in list_page(runs[0], {}).choices:
        for value, count in list(choice.values.items())[:3]:
            if count:
                assert len(dialogue_list(runs[0]).matching({choice.name: value})) == count


def test_a_filter_that_does_not_exist_is_an_error(runs: list[Run]) -> None:
    with pytest.raises(DialgaugeError):
        list_page(runs[0], {"colour": "red"})
    with pytest.raises(DialgaugeError):
        run_page(runs[0], ["colour"])


def test_nothing_is_wider_than_the_screen(pages: list[Page]) -> None:
    for page in pages:
        for width in (80, 60):
            assert max(map(len, Terminal(width).page(page).splitlines()), default=0) <= width, page.title


def test_every_page_can_be_written_in_every_format(pages: list[Page]) -> None:
    for page in pages:
        assert "<h1" in html_page(page)
        assert markdown_page(page)
        assert latex_page(page).count(r"\begin{table}") == len(page.tables)
        rows = {name: len(table["rows"]) for name, table in json.loads(json_document(page))["page"]["tables"].items()}
        assert rows == {name: len(table) for name, table in page.tables.items()}
        assert csv_page(page).count("\n") >= sum(rows.values())


def test_names_of_columns_are_unique(pages: list[Page]) -> None:
    for table in (table for page in pages for table in tables(page)):
        names = [column.name for column in table.columns]
        assert len(names) == len(set(names)), table


def test_charts_are_well_formed_and_draw_columns_that_are_there(pages: list[Page]) -> None:
    for table in (table for page in pages for table in tables(page) if table.chart is not None and table.rows):
        assert table.chart is not None
        assert set(table.chart.columns) <= {column.name for column in table.columns}, table
        ElementTree.fromstring(figure(table))


def test_a_report_is_one_file_that_loads_nothing(runs: list[Run]) -> None:
    text = html_page(run_report(runs[0], worst_dialogues(runs[0], 5)))
    assert not re.search(r"""(src|href)=["'](?!#)""", text)
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall('href="#([^"]+)"', text)) <= set(ids)


def test_two_dialogues_of_a_run_stand_side_by_side(runs: list[Run]) -> None:
    if len(names := worst_dialogues(runs[0], 2)) == 2:
        page = side_page(runs[:1], *names)
        assert html_page(page).count("They differ from here on") <= 1
        assert Terminal().page(page)


def test_views_name_tables_and_measures_that_are_there(runs: list[Run]) -> None:
    view = view_of(runs[0])
    assert {*screen_tables(runs[0])} <= {"scores", *view.tables}


def test_a_table_stands_on_a_page_of_its_own(runs: list[Run]) -> None:
    for name in run_page(runs[0]).tables:
        assert list(table_page(runs[0], name, 1).tables) == [name]


def test_what_a_run_says_never_acts(runs: list[Run]) -> None:
    run = hostile(runs[0])
    pages = [run_page(run)]
    with suppress(DialgaugeError):
        pages += [dialogue_page(run, name) for name in worst_dialogues(run, 2)]
    for page in pages:
        assert_harmless(html_page(page))
        assert "\x1b" not in Terminal(everything=True).page(page)
        assert "\x1b" not in markdown_page(page) + latex_page(page)


def assert_harmless(text: str) -> None:
    """No element, attribute or address that a text brought along, and no control character."""
    found = list(elements(text))
    assert [tag for tag, _ in found].count("script") == 1
    assert not {"img", "iframe", "object", "link", "base"} & {tag for tag, _ in found}
    assert not [name for _, attributes in found for name in attributes if name.startswith("on") or name == "style"]
    assert all((attributes.get("href") or "#").startswith(("#", "/")) for _, attributes in found)
    assert not [character for character in text if not character.isprintable() and character != "\n"]


def test_a_run_whose_tables_are_poor_or_gone_still_has_its_page(runs: list[Run]) -> None:
    run = runs[0]
    own = [name for name in run.tables if name not in ("dialogues", "turns", "dialogue_scores")]
    for changed in [emptied(run), *(nulled(run, name) for name in own), *(without(run, name) for name in own)]:
        assert html_page(run_page(changed))
        with suppress(DialgaugeError):  # a list or a dialogue of damaged tables says so
            assert all(map(html_page, pages_of(changed)))
