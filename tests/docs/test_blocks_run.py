"""Every command and every piece of Python in the documentation runs, and prints what its page shows."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from support.doc_pages import (
    DOCS,
    NEVER,
    OUTPUT,
    ROOT,
    RUN,
    SLOW_TOO,
    Block,
    Printed,
    Sandbox,
    blocks,
    pages,
)
from support.shared import shared_folder
from support.soak import soak

#: Pages whose examples are installed as packages, and run, by tests/test_extend_pages.py and its like.
_ELSEWHERE = frozenset(DOCS / "extend" / f"{name}.md" for name in ("measure", "ranker", "format", "agent", "kind"))
#: Pages whose blocks take more than a CPU second together; tests/contracts/test_commands.py calls the same commands.
#: (Those that people read first, README.md and docs/python.md, are run all the same.)
_LONG = frozenset(
    {
        *("babi", "compare", "compare-systems", "lab", "reproduce", "run-the-lab", "score"),
        *("python-ecosystem", "system", "tasks", "review", "user-faults", "users"),
    }
)
_PAGES = [page for page in pages() if page not in _ELSEWHERE]


def _is_run(block: Block) -> bool:
    return not block.title and block.kind in RUN and "not run" not in block.markers


def _is_output(block: Block) -> bool:
    return not block.title and block.kind in OUTPUT and "not output" not in block.markers


def _left_out(block: Block, data: Path | None) -> str:
    """Why a block is not run here; nothing where it is."""
    if "slow" in block.markers and not os.environ.get(SLOW_TOO):
        return "slow"
    return "data" if block.markers.get("needs") == "data" and data is None else ""


@pytest.mark.parametrize(
    "page",
    [soak(page) if page.stem in _LONG else page for page in _PAGES if any(map(_is_run, blocks(page)))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_blocks_of_a_page_run_and_print_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    data = shared_folder("data")
    found = blocks(page)
    left_out = [why for block in found if _is_run(block) and (why := _left_out(block, data))]
    if left_out.count("slow") == sum(map(_is_run, found)):
        pytest.skip("all of its blocks are slow: make docs-blocks runs them")
    sandbox = Sandbox(tmp_path, data)
    for block in found:
        if block.title:
            sandbox.write(block)
    printed: Printed | None = None
    with closing(sandbox):
        for block in found:
            if _is_run(block):
                printed = None if _left_out(block, data) else sandbox.run(block)
            elif _is_output(block) and printed:
                printed.check(block.body, f"line {block.line}")
    if "data" in left_out:
        pytest.skip(f"{left_out.count('data')} blocks need the real data: set DIALGAUGE_DATA to the folder shared/data")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_block_is_silently_unchecked(page: Path) -> None:
    before = None
    for block in blocks(page):
        where = f"{page.name}, line {block.line}"
        if block.kind in RUN and not block.title:
            before = block
            assert block.kind != "console" or block.commands, f"{where}: no line begins with '$ '"
        elif _is_output(block):
            assert before and _is_run(before), f"{where}: no block before it is run; is it <!-- not output: ... -->?"


def test_only_what_no_test_can_have_is_never_run() -> None:
    for page in pages():
        for block in blocks(page):
            reason = block.markers.get("not run", "network: an example")
            assert reason.partition(":")[0] in NEVER, f"{page.name}, line {block.line}: '{reason}' is no reason"
            assert reason.partition(":")[2].strip(), f"{page.name}, line {block.line}: say what for"


def test_a_command_that_fails_fails_the_page(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, None)
    with pytest.raises(AssertionError, match="ended with 2, not 0"):
        sandbox.run(Block("console", "$ dialgauge score nothing.json\n", 1))


def test_a_server_runs_until_the_page_is_done(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, None)
    code = "import time; print('at http://x'); time.sleep(600)"
    sandbox.run(Block("console", f'$ python -c "{code}"\n', 1, markers={"serves": "x"}))
    [server] = sandbox._servers
    assert server.process.poll() is None
    with pytest.raises(AssertionError, match="KeyboardInterrupt"):
        sandbox.close()
