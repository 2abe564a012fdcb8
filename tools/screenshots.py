"""Pictures of the explorer and the report: for a designer to look at, and those that the documentation shows.

    python tools/screenshots.py FOLDER [--store RUNS] [--page NAME ... | --every] [--whole]
    make screenshots        (the pictures of the documentation, from the runs of the demo)

Without --store the demo is run first. FOLDER gets twelve pages (or those named, or every page that the store has runs
for) in light and dark at 1440, 900 and 390 pixels, as PAGE-THEME-WIDTH.png: the first screen, or all of it (--whole).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote

from playwright.sync_api import Browser, sync_playwright

from dialgauge.cli import main as dialgauge
from dialgauge.explorer import served, write_report
from dialgauge.report import view_of, worst_dialogues
from dialgauge.runs import Run, Store

IMAGES = Path(__file__).parents[1] / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
THEMES, WIDTHS, HEIGHT = ("light", "dark"), (1440, 900, 390), 900
TWELVE = (
    "runs", "tracking", "tracking-list", "dialogue", "compare", "side", "trials", "trials-dialogue", "trials-beside",
    "lab", "lab-dialogue", "report",
)  # fmt: skip
#: No picture is taller; a browser refuses much more.
_TALLEST = 6000
#: What the documentation shows: page, theme, name and size of the picture.
SHOWN = [
    ("runs", "light", "wide"), ("tracking", "light", "wide"), ("dialogue", "light", "wide"), ("side", "dark", "wide"),
    ("compare", "light", "wide"), ("lab-dialogue", "light", "wide"), ("dialogue", "dark", "narrow"),
    ("report", "light", "wide"),
]  # fmt: skip
SIZES = {"wide": (1180, 760), "narrow": (400, 800)}
#: How pictures of the documentation are called where the page is called otherwise.
_CALLED = {"tracking": "run", "lab-dialogue": "lab"}


def main() -> None:
    """Serve a store and take pictures of its pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--page", action="append", default=[])
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    folder = asked.folder or Path(mkdtemp(prefix="dialgauge-pictures-"))
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(asked.store or demo(folder))
    runs = store.survey().runs
    with served(store) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        found = dict(pages(site, runs, folder))
        if not asked.every:
            found = {name: found[name] for name in asked.page or TWELVE if name in found}
        for name, address in found.items():
            for theme in THEMES:
                for width in WIDTHS:
                    target = folder / f"{name}-{theme}-{width}.png"
                    take(browser, address, theme, (width, HEIGHT), target, whole=asked.whole)
        for name, theme, size in SHOWN:
            if asked.store is not None or name not in found:
                continue
            target = IMAGES / f"explorer-{_CALLED.get(name, name)}-{theme}-{size}.png"
            take(browser, found[name], theme, SIZES[size], target)
        browser.close()
    sys.stdout.write(f"pictures of {', '.join(found)}: {folder}\n")


def demo(folder: Path) -> Path:
    """The store of a small demo."""
    try:
        dialgauge(["demo", "--out", str(folder / "demo"), "--dialogues", "60"])
    except SystemExit as end:
        if end.code:
            raise
    return folder / "demo" / "runs"


def pages(site: str, runs: list[Run], folder: Path) -> Iterator[tuple[str, str]]:
    """One page of each kind by name: its address."""
    yield "runs", f"{site}/"
    yield "nothing", f"{site}/runs/none"
    kinds: dict[str, list[Run]] = {}
    for run in runs:
        kinds.setdefault(run.kind, []).append(run)
    for kind, own in kinds.items():
        run = own[0]
        yield kind, f"{site}/runs/{run.id}"
        if run.has_corpus:
            yield f"{kind}-dialogue", f"{site}/runs/{run.id}/dialogue?id={quote(example_of(run))}"
            yield f"{kind}-list", f"{site}/runs/{run.id}/dialogues"
    first, second = kinds["tracking"][:2]
    both = f"run={first.id}&run={second.id}"
    yield "compare", f"{site}/compare?{both}"
    name = next(iter(first.dialogues())).id
    finding = view_of(second).findings(second).get(name)
    turn = 2 if finding is None or finding.turn is None else finding.turn
    example = f"{quote(name)}#turn-{turn - 2}"
    yield "dialogue", f"{site}/runs/{second.id}/dialogue?id={example}"
    yield "side", f"{site}/side?{both}&id={example}"
    for run in runs:
        if "trials" in run.tables and run.kind == "trials":
            tried = run.table("trials").group_by("task").agg("dialogue", "success")
            flips = tried.filter(tried["success"].list.n_unique() > 1).sort("task")
            if flips.height:
                ids = "&".join(f"id={quote(name)}" for name in flips["dialogue"][0])
                yield "trials-beside", f"{site}/runs/{run.id}/side?{ids}"
                break
    report = write_report(folder / "report.html", [first, second], title="Two trackers", dialogues=10)
    yield "report", report.as_uri()


def example_of(run: Run) -> str:
    """The dialogue that a run's list begins with; of the lab the first that failed."""
    if "conversations" in run.tables:
        conversations = run.table("conversations")
        return str(conversations.filter(~conversations["strict"])["dialogue"][0])
    return worst_dialogues(run, 1)[0]


def take(
    browser: Browser, address: str, theme: str, size: tuple[int, int], target: Path, *, whole: bool = False
) -> None:
    """One picture."""
    scheme = "dark" if theme == "dark" else "light"
    context = browser.new_context(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    tall = page.evaluate("document.documentElement.scrollHeight") if whole else size[1]
    area = {"x": 0, "y": 0, "width": size[0], "height": min(tall, _TALLEST)}
    page.screenshot(path=target, full_page=whole, clip=area)  # type: ignore[arg-type]
    context.close()


if __name__ == "__main__":
    main()
