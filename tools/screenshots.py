"""Pictures of the explorer and the report for the documentation, made from the runs of the demo.

    make screenshots        (or: python tools/screenshots.py [FOLDER])

Every page in light and dark, wide and narrow, goes to FOLDER (default: a temporary one, to look at); those that the
documentation shows go to docs/images.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from dialgauge.cli import main as dialgauge
from dialgauge.explorer import served, write_report
from dialgauge.runs import Run, Store

IMAGES = Path(__file__).parents[1] / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
SIZES = {"wide": (1180, 760), "narrow": (400, 800)}
#: Which pictures the documentation shows: page, theme, size.
SHOWN = {
    ("runs", "light", "wide"), ("run", "light", "wide"), ("dialogue", "light", "wide"), ("side", "dark", "wide"),
    ("compare", "light", "wide"), ("lab", "light", "wide"), ("dialogue", "dark", "narrow"), ("report", "light", "wide"),
}  # fmt: skip


def main() -> None:
    """Run the demo, serve its store, and take all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="dialgauge-pictures-"))
    folder.mkdir(parents=True, exist_ok=True)
    demo = folder / "demo"
    try:
        dialgauge(["demo", "--out", str(demo), "--dialogues", "60"])
    except SystemExit as end:
        if end.code:
            raise
    store = Store(demo / "runs")
    runs = store.survey().runs
    report = write_report(demo / "trackers.html", [run for run in runs if run.kind == "tracking"], title="Two trackers")
    with served(store) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for name, address in {**pages(site, runs), "report": report.as_uri()}.items():
            take(browser, name, address, folder)
        browser.close()
    sys.stdout.write(f"all pictures: {folder}; those of the documentation: {IMAGES}\n")


def pages(site: str, runs: list[Run]) -> dict[str, str]:
    """What to look at: one page of each kind."""
    latest, stubborn = (next(run for run in runs if run.name == name) for name in ("latest", "stubborn"))
    town = next(run for run in runs if run.kind == "lab")
    replies = next(run for run in runs if run.kind == "responses" and "nearest" in run.name)
    both = f"run={latest.id}&run={stubborn.id}"
    dialogue = next(iter(latest.dialogues())).id
    failed = town.table("conversations").filter(~town.table("conversations")["strict"])["dialogue"][0]
    return {
        "runs": f"{site}/",
        "run": f"{site}/runs/{latest.id}",
        "dialogues": f"{site}/runs/{latest.id}/dialogues?sort=JGA",
        "dialogue": f"{site}/runs/{stubborn.id}/dialogue?id={dialogue}",
        "compare": f"{site}/compare?{both}",
        "side": f"{site}/side?{both}&id={dialogue}",
        "lab": f"{site}/runs/{town.id}/dialogue?id={failed}",
        "lab-run": f"{site}/runs/{town.id}",
        "replies": f"{site}/runs/{replies.id}/dialogue?id={next(iter(replies.dialogues())).id}",
        "nothing": f"{site}/runs/none",
    }


def take(browser: Browser, name: str, address: str, folder: Path) -> None:
    """Pictures of one page."""
    for theme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            scheme = "dark" if theme == "dark" else "light"
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})  # type: ignore[arg-type]
            page = context.new_page()
            page.goto(address)
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(400)
            shown = (name, theme, size) in SHOWN
            target = IMAGES / f"explorer-{name}-{theme}-{size}.png" if shown else folder / f"{name}-{theme}-{size}.png"
            page.screenshot(path=target)
            context.close()


if __name__ == "__main__":
    main()
