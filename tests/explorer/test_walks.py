"""Seven questions that people come with, each answered in at most three clicks from the list of runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge import Store, score_results
from dialgauge.explorer import Guard, create_app, local_hosts
from support.agent_results import tau_result
from support.explorer_store import tracking_store

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page
    from starlette.types import ASGIApp

MOST_CLICKS = 3


class Walk:
    """A way from the list of runs; every click is counted."""

    def __init__(self, page: Page, site: str) -> None:
        self.page, self.clicks = page, 0
        page.goto(site)

    def click(self, target: Locator) -> None:
        self.clicks += 1
        assert self.clicks <= MOST_CLICKS
        before = self.page.url
        target.click()
        if self.page.url == before:
            self.page.wait_for_url(lambda address: address != before)

    def sees(self, target: Locator) -> None:
        """Whether somebody sees it without scrolling."""
        target.wait_for()
        box, size = target.bounding_box(), self.page.viewport_size
        assert box is not None and size is not None and -1 <= box["y"] < size["height"]


def agent_results() -> list[dict[str, Any]]:
    """Three tasks with two trials: one flips, one lacks an expected call, in one the user withholds its id."""
    results = [
        tau_result(task, trial, float((task, trial) == ("10", 0))) for task in ("10", "9", "2") for trial in (0, 1)
    ]
    for result in results[2:4]:
        result["info"]["task"]["actions"] = [{"name": "cancel", "kwargs": {"id": "QX7RT2"}}]
    for result in results[4:]:
        result["info"]["task"]["instruction"] = "You are ann_lee_2041."
    said = [("user", "hello"), ("assistant", "Could you please provide your user ID?"), ("user", "I forgot it.")]
    results[4]["traj"] = [{"role": role, "content": text} for role, text in said]
    return results


def test_seven_questions_in_three_clicks(page: Page, serve: Any, tmp_path: Path) -> None:
    store, _ = tracking_store(tmp_path / "runs", count=60)
    (tmp_path / "agent.json").write_text(json.dumps(agent_results()))
    store.add(score_results([tmp_path / "agent.json"], resamples=20)[0])

    def app(port: int) -> ASGIApp:
        return Guard(create_app(Store(store.folder)), hosts=local_hosts(port))

    site = serve(app)

    better = Walk(page, site)
    better.click(page.get_by_role("link", name="compare these 2"))
    better.sees(page.locator(".verdict-line", has_text=re.compile("alpha is ahead of beta|cannot tell")))
    better.sees(page.locator(".differences .point").first)

    parts = Walk(page, site)
    parts.click(page.get_by_role("link", name="compare these 2"))
    parts.click(page.locator("#part a.open").first)
    parts.sees(page.locator("[data-scroll]"))

    failed = Walk(page, site)
    failed.click(page.get_by_role("link", name="agent", exact=True))
    failed.click(page.get_by_role("link", name=re.compile("an expected call was never made")))
    failed.click(page.locator("a.open", has_text="9#0"))
    failed.sees(page.locator(".reasons", has_text="Never called cancel, as was expected"))

    slot = Walk(page, site)
    slot.click(page.get_by_role("link", name="alpha", exact=True))
    name = page.locator(".bar-name").first.inner_text().partition(":")[0].strip()
    slot.click(page.locator(".rows a").first)
    slot.click(page.locator("a.open").first)
    slot.sees(page.locator("tr.sought").first)
    assert page.locator("tr.sought th").first.inner_text() == name

    user = Walk(page, site)
    user.click(page.get_by_role("link", name="agent", exact=True))
    user.click(page.locator(".rows a", has_text="withheld"))
    user.click(page.locator("a.open"))
    user.sees(page.locator(".turn.sought", has_text="I forgot it."))

    flips = Walk(page, site)
    flips.click(page.get_by_role("link", name="agent", exact=True))
    flips.click(page.get_by_role("link", name="1 of 3 tasks flip"))
    flips.sees(page.locator("#flip .cell-link").first)
    assert page.locator("#never b").all_inner_texts() == ["2", "9"]  # by number, not by text
    flips.click(page.locator("#flip .cell-link", has_text="✗"))
    assert page.get_by_role("heading", level=1).inner_text() == "10#1"

    share = Walk(page, site)
    share.click(page.get_by_role("link", name="alpha", exact=True))
    with page.expect_download() as download:
        page.get_by_role("link", name="Report").click()
    report = tmp_path / "got.html"
    download.value.save_as(report)
    assert "alpha" in report.read_text("utf-8") and download.value.suggested_filename == "report.html"
