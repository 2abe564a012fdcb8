"""The report: one file, nothing fetched, nothing that runs but its own script, and the numbers of the runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dialgauge import RunSet, Store, compare, score
from dialgauge.errors import DialgaugeError
from dialgauge.explorer import report_html, report_markdown, write_report
from dialgauge.runs import Run, new_run
from support.doc_pages import DOCS
from support.explorer_store import tracked, tracking_store

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from support.browser import Watch

HOSTILE = "<img src=/x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"
#: What a mail takes, by the promise of the documentation: a report of 200 dialogues is smaller.
MAILABLE = 5_000_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    return tracking_store(tmp_path_factory.mktemp("report") / "runs", count=60, systems=("alpha", "beta", "gamma"))[1]


@pytest.fixture(scope="module")
def report(runs: list[Run]) -> str:
    return report_html(runs[:2], dialogues=7)


def test_it_begins_with_the_answer_and_has_every_score(runs: list[Run], report: str) -> None:
    text = report
    comparison = compare(runs[:2])
    difference = comparison.difference("alpha", "beta", "JGA")
    verdict = f"alpha is ahead of beta by {100 * difference.difference:.1f} points in JGA"
    assert difference.significant and text.index(verdict) < text.index("<table")
    interval = f"[{100 * difference.low:+.2f}, {100 * difference.high:+.2f}]"
    assert interval in text.partition('<details class="fold"')[0]  # of the difference, not only of both scores
    for run in runs[:2]:
        for one in run.scores.values():
            assert f"{100 * (one.value or 0):.2f}" in text


def test_the_bars_of_a_run_stand_in_its_report_without_links(report: str) -> None:
    bars = report.partition("Errors by slot</h4>")[2].partition("</details>")[0]
    assert 'class="block' in bars and "href" not in bars


def test_nothing_is_fetched_and_only_its_own_script_may_run(report: str) -> None:
    outside = re.findall(r'(?:src|href)\s*=\s*"(?!#|data:image/svg\+xml;base64,)([^"]*)"', report)
    assert outside == [] and "@import" not in report and "url(" not in report
    assert report.count("<script") == 1 and "script-src 'sha256-" in report and "default-src 'none'" in report


def test_dialogues_that_differ_most_come_first(runs: list[Run], report: str) -> None:
    comparison = compare(runs[:2])
    size = {
        name: abs(comparison.scores.contributions("JGA")[0][place] - comparison.scores.contributions("JGA")[1][place])
        for place, name in enumerate(comparison.dialogues)
    }
    shown = re.findall(r'<details class="dialogue"[^>]*><summary><strong>([^<]*)', report)
    assert len(shown) == 7
    assert [round(size[name], 12) for name in shown] == sorted((round(one, 12) for one in size.values()), reverse=True)[
        :7
    ]


def test_of_one_run_the_worst_dialogues_are_shown(runs: list[Run], without_pictures: None) -> None:
    shown = re.findall(r'<details class="dialogue"[^>]*><summary><strong>([^<]*)', report_html(runs[:1], dialogues=9))
    values = {
        row["dialogue"]: row["num"] / row["den"]
        for row in runs[0].table("dialogue_scores").to_dicts()
        if row["measure"] == "JGA"
    }
    assert [values[name] for name in shown] == sorted(values.values())[:9]


def test_dialogues_can_be_named_and_unknown_ones_are_refused(runs: list[Run], without_pictures: None) -> None:
    shown = re.findall(r"<summary><strong>([^<]*)", report_html(runs[:1], only=["D0007", "d0003.json"]))
    assert shown == ["D0007", "D0003"]
    with pytest.raises(DialgaugeError, match="'nobody'"):
        report_html(runs[:1], only=["nobody"])
    with pytest.raises(DialgaugeError, match="at least one run"):
        report_html([])


def test_runs_of_several_kinds_and_without_anything(runs: list[Run], without_pictures: None) -> None:
    text = report_html([*runs[:2], new_run(kind="study", name="bare")], dialogues=4)
    assert "bare" in text and text.count('<details class="dialogue"') == 2
    assert "### study" in report_markdown([*runs[:2], new_run(kind="study", name="bare")])


def test_runs_that_cannot_be_compared_are_shown_one_by_one(runs: list[Run], without_pictures: None) -> None:
    apart = score(tracked(6, 0, say=lambda text: f"{text}x"), {"apart": tracked(6, 1, say=lambda text: f"{text}x")},
                  profile="verbatim").runs[0]  # fmt: skip
    text = report_html([runs[0], apart], dialogues=3)
    assert 'class="warning"' in text and "apart" in text
    assert "Not compared" in report_markdown([runs[0], apart])


def test_more_runs_than_fit_side_by_side_show_the_best(tmp_path: Path, without_pictures: None) -> None:
    _, many = tracking_store(tmp_path / "runs", count=10, systems=tuple("abcdef"))
    text = report_html(many, dialogues=3)
    assert "the best 4 of 6 runs" in text and 'class="turns sides sides-4' in text


@pytest.mark.soak
def test_the_same_runs_give_the_same_report_but_for_its_date(runs: list[Run], report: str) -> None:
    again = report_html(runs[:2], dialogues=7)
    one, other = (re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", text) for text in (report, again))
    assert one == other


def test_it_opens_without_a_server_and_keys_work(page: Page, watch: Watch, report: str, tmp_path: Path) -> None:
    watch.servers.add("file://")
    path = tmp_path / "report.html"
    path.write_text(report, encoding="utf-8")
    page.goto(path.as_uri())
    assert page.locator("details.dialogue[open]").count() == 0
    page.keyboard.press("n")
    first = page.locator("details.dialogue[open]")
    assert first.count() == 1
    page.keyboard.press("e")
    assert "differs" in (page.locator(".turn.here").get_attribute("class") or "")
    page.keyboard.press("n")
    assert page.locator("details.dialogue[open]").count() == 1
    wanted = page.locator("details.dialogue summary strong").nth(4).inner_text()
    page.keyboard.press("/")
    page.keyboard.type(wanted)
    page.wait_for_function("() => document.querySelectorAll('details.dialogue:not([hidden])').length === 1")
    anchor = page.locator("details.dialogue").nth(2).get_attribute("id")
    page.goto(f"{path.as_uri()}#{anchor}turn-1")
    page.reload()
    assert page.locator(f"#{anchor}turn-1").is_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.dialogue[open]:visible").count() == 5
    assert page.get_by_text("Where they come from").count() > 0
    assert page.get_by_text("Where they come from").locator("visible=true").count() == 0


@pytest.mark.soak
def test_hostile_content_does_not_run(page: Page, watch: Watch, tmp_path: Path) -> None:
    watch.servers.add("file://")

    def say(text: str) -> str:
        return f"{text} {HOSTILE}"

    predicted = {say("one"): tracked(6, 1, say=say), say("two"): tracked(6, 2, say=say)}
    hostile = score(tracked(6, 0, say=say), predicted, profile="verbatim").runs
    path = write_report(tmp_path / "report.html", hostile, title=HOSTILE)
    page.goto(path.as_uri())
    page.keyboard.press("n")
    page.locator(".turn").first.wait_for()
    assert "hacked" not in page.title().replace(HOSTILE, "") and page.locator("img[src='/x']").count() == 0
    assert page.evaluate("document.scripts.length") == 1
    text = report_markdown(hostile)
    assert re.findall(r"(?<!\\)<(?!/?details>|/?summary>|!-- -->)", text) == []


@pytest.mark.soak
def test_a_report_of_200_dialogues_can_be_mailed(shared_data: Path) -> None:
    """Two trackers on real dialogues, which are longer than ours."""
    predictions = shared_data / "dst_predictions"
    scored = score(
        shared_data / "multiwoz21" / "test.json.gz",
        [predictions / "augpt.json.gz", predictions / "dots.json.gz"],
        resamples=100,
    )
    text = report_html(scored.runs, dialogues=200)
    assert text.count('<details class="dialogue"') == 200 and len(text.encode()) < MAILABLE


def test_a_stored_run_and_its_report_are_untouched(tmp_path: Path) -> None:
    store, (run, _) = tracking_store(tmp_path / "runs", count=5)
    before = {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}
    write_report(tmp_path / "deep" / "report.html", [store.open(run.id)])
    assert {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()} == before
    assert Store(store.folder).survey().problems == []


def test_results_and_single_runs_are_taken_as_they_are(runs: list[Run], tmp_path: Path, without_pictures: None) -> None:
    one, all_of_them = tmp_path / "one.html", tmp_path / "all.html"
    assert "alpha" in write_report(one, runs[0], dialogues=1).read_text()
    assert "beta" in write_report(all_of_them, RunSet.of(runs[:2]), dialogues=1).read_text()


def test_a_report_names_files_without_the_folders_of_this_machine(tmp_path: Path, without_pictures: None) -> None:
    folder = tmp_path / "private place"
    folder.mkdir()
    for name in ("gold", "careful"):
        shutil.copy(DOCS / "examples" / f"{name}.jsonl", folder)
    run = Store(tmp_path / "runs").add(score(folder / "gold.jsonl", folder / "careful.jsonl")[0])
    assert any("private place" in given.path for given in run.manifest.inputs)
    report = report_html([run]) + report_markdown([run])
    assert "private place" not in report and str(tmp_path) not in report
    assert "careful.jsonl" in report
