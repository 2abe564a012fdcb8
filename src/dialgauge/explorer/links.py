"""Which address shows what."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from dialgauge.report import Link, Page


class ExplorerLinks:
    """Links between the pages of the explorer."""

    def address(self, link: Link, page: Page) -> str:
        """The address of a link on a page."""
        runs = link.runs or tuple(page.runs)
        anchor = "" if link.turn is None else f"#turn-{link.turn}"
        if anchor and not link.dialogue:
            return anchor
        only = list(link.only.items())
        if len(runs) > 1:
            asked = [*(("run", run) for run in runs), *([("id", link.dialogue)] if link.dialogue else []), *only]
            return f"/{'side' if link.dialogue else 'compare'}?{urlencode(asked)}{anchor}"
        if not runs:
            return "/"
        run = f"/runs/{quote(runs[0], safe='')}"
        if link.table:
            return f"{run}/table?{urlencode([('name', link.table), *only])}"
        if link.beside:
            return f"{run}/side?{urlencode([('id', name) for name in (link.dialogue, *link.beside)])}"
        if link.dialogue:
            return f"{run}/dialogue?{urlencode([('id', link.dialogue), *only])}{anchor}"
        return f"{run}/dialogues?{urlencode(only)}" if only else run

    def files(self, page: Page) -> dict[str, str]:
        """A report on the page's runs, and the list of dialogues as a table."""
        if not page.runs:
            return {}
        report = {"report": f"/report?{urlencode([('run', run) for run in page.runs])}"}
        only = {choice.name: choice.chosen for choice in page.choices if choice.chosen}
        table = {"CSV": f"/runs/{quote(page.runs[0], safe='')}/dialogues.csv?{urlencode(only)}"} if page.choices else {}
        return report | table

    def choice(self, link: Link | None, page: Page) -> tuple[str, str, str]:
        """Runs are compared, dialogues of a run stand side by side."""
        if len(page.runs) == 1:
            return f"/runs/{quote(page.runs[0], safe='')}/side", "id", link.dialogue if link is not None else ""
        return "/compare", "run", link.runs[0] if link is not None and link.runs else ""


def page_address(runs: Sequence[str]) -> str:
    """Where some runs are shown: the list of all, a run, or the comparison of several."""
    return ExplorerLinks().address(Link(runs=tuple(runs)), Page(title=""))
