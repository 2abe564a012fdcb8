"""Every command and every piece of Python in the documentation does what its page says."""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path

import pytest

from support.doc_pages import DOCS, NEVER, ROOT, RUN, SLOW_TOO, Block, Sandbox, blocks, blocks_of, pages
from support.shared import shared_folder

#: Pages whose examples are installed as packages, and run, by tests/test_extend_pages.py and its like.
_ELSEWHERE = frozenset(DOCS / "extend" / f"{name}.md" for name in ("measure", "ranker", "format", "agent"))
_STORE = re.compile(r"--store (\S+)")
_PAGES = [page for page in pages() if page not in _ELSEWHERE]


def _runnable(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.title or (block.kind in RUN and "not run" not in block.markers)]


@pytest.mark.parametrize(
    "page", [page for page in _PAGES if _runnable(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    data = shared_folder("data")
    chosen = [block for block in _runnable(page) if os.environ.get(SLOW_TOO) or "slow" not in block.markers]
    if all(block.title for block in chosen):
        pytest.skip("all of its blocks are slow: make docs-blocks runs them")
    sandbox = Sandbox(tmp_path, data)
    left_out = 0
    for block in chosen:
        if block.title:
            sandbox.write(block)
    with closing(sandbox):
        for block in chosen:
            if block.markers.get("needs") == "data" and data is None:
                left_out += 1
            elif not block.title:
                sandbox.run(block)
    if left_out:
        pytest.skip(f"{left_out} blocks need the real data: set DIALGAUGE_DATA to the folder shared/data")


def test_only_what_no_test_can_have_is_never_run() -> None:
    for page in pages():
        for block in blocks(page):
            reason = block.markers.get("not run", "network: an example")
            assert reason.partition(":")[0] in NEVER, f"{page.name}, line {block.line}: '{reason}' is no reason"
            assert reason.partition(":")[2].strip(), f"{page.name}, line {block.line}: say what for"


def test_markers_are_read() -> None:
    page = "<!-- exit: 2 -->\n```console\n$ dialgauge score \\\n    nothing.json\nprinted\n```\n"
    [block] = blocks_of(page)
    assert block.commands == ["dialgauge score nothing.json"]
    assert block.exit == 2


def test_a_command_that_fails_fails_the_page(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, None)
    with pytest.raises(AssertionError, match="ended with 2, not 0"):
        sandbox.run(Block("console", "$ dialgauge score nothing.json\n", 1))


def test_a_server_runs_until_the_page_is_done(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, None)
    code = "import time; print('at http://x'); time.sleep(600)"
    sandbox.run(Block("console", f'$ python -c "{code}"\n', 1, markers={"serves": "x"}))
    [(_, started)] = sandbox._servers
    assert started.poll() is None
    with pytest.raises(AssertionError, match="KeyboardInterrupt"):
        sandbox.close()


@pytest.mark.parametrize("page", sorted((DOCS / "tutorials").glob("*.md")), ids=lambda page: page.stem)
def test_a_tutorial_reads_only_what_it_stored_itself(page: Path) -> None:
    commands = [command for block in blocks(page) for command in block.commands if block.kind == "console"]
    stored = {found for command in commands if " --run " in f"{command} " for found in _STORE.findall(command)}
    stored |= {
        found for command in commands if command.startswith("dialgauge lab run") for found in _STORE.findall(command)
    }
    for command in commands:
        if re.search(r"\$\(ls |dialgauge sql| --run\b|dialgauge lab (run|study|blame)", command):
            [store] = _STORE.findall(command)
            assert store in stored, f"{page.name}: {command}"


def test_what_a_block_must_print_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no 'b' in what it prints"):
        Sandbox(tmp_path, None).run(Block("console", "$ echo a\n", 1, markers={"prints": "b"}))
