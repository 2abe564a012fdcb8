"""Pages that take long answer at once, and what they computed is kept beside the run and never believed unseen."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import sleep

import httpx
import msgspec
import pytest

from dialgauge import Store
from dialgauge.comparison import Comparison, ComparisonDraws, compare_runs, compare_runs_again
from dialgauge.explorer import Explorer, create_app, kept_beside
from dialgauge.rendering import Table
from dialgauge.runs import Run
from support.event_loop import completed
from support.explorer_store import tracking_store

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Store, list[Run]]:
    return tracking_store(tmp_path / "runs", count=12)


def visits(store: Store, address: str, most: int = 400) -> list[httpx.Response]:
    """What a browser gets that reloads the page as long as it is asked to."""

    async def asked() -> list[httpx.Response]:
        transport = httpx.ASGITransport(create_app(store, patience=0.0))
        answers: list[httpx.Response] = []
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=BROWSER) as client:
            while len(answers) < most:
                answers.append(await client.get(address))
                if 'http-equiv="refresh"' not in answers[-1].text:
                    break
                await asyncio.sleep(0.05)
        return answers

    return completed(asked())


def test_a_browser_is_told_at_once_what_is_computed_and_gets_the_page_later(stored: tuple[Store, list[Run]]) -> None:
    store, runs = stored
    first, *_, last = visits(store, f"/compare?run={runs[0].id}&run={runs[1].id}")
    assert first.status_code == 200
    assert "Computing this page" in first.text
    assert "12 dialogues" in first.text
    assert "Computing this page" not in last.text
    assert "Where they diverge" in last.text


def test_an_error_of_a_slow_page_is_shown_when_it_is_known(stored: tuple[Store, list[Run]]) -> None:
    store, runs = stored
    *_, last = visits(store, f"/runs/{runs[0].id}/dialogues?least=abc")
    assert last.status_code == 400
    assert "must be a number" in last.text


def test_whoever_is_no_browser_gets_the_page_itself(stored: tuple[Store, list[Run]]) -> None:
    store, runs = stored

    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(store, patience=0.0))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(f"/runs/{runs[0].id}")

    assert "Computing this page" not in completed(asked()).text


def slowly(calls: list[str]) -> list[float]:
    calls.append("made")
    sleep(0.55)
    return [1.5, float("nan")]


def test_what_took_long_is_kept_until_a_table_changes(stored: tuple[Store, list[Run]]) -> None:
    run, calls = stored[1][0], []  # type: tuple[Run, list[str]]
    for _ in range(2):
        assert kept_beside([run], "numbers", list[float], lambda: slowly(calls))[0] == 1.5
    assert calls == ["made"]
    run.table_path("dialogue_scores").touch()
    kept_beside([run], "numbers", list[float], lambda: slowly(calls))
    assert calls == ["made", "made"]
    kept_beside([run], "other numbers", list[float], lambda: [2.0])
    assert len(list(run.path.glob("explored-*"))) == 2  # what was quick is not kept


@pytest.mark.parametrize("content", [b"", b"\xc1", msgspec.msgpack.encode({"no": "numbers"}), b"\x91" * 5_000])
def test_a_damaged_file_is_ignored_and_replaced(stored: tuple[Store, list[Run]], content: bytes) -> None:
    run, calls = stored[1][0], []  # type: tuple[Run, list[str]]
    kept_beside([run], "numbers", list[float], lambda: slowly(calls))
    (file,) = run.path.glob("explored-*")
    file.write_bytes(content)
    assert kept_beside([run], "numbers", list[float], lambda: [3.0]) == [3.0]
    file.unlink()
    file.symlink_to(run.path / "run.json")
    assert kept_beside([run], "numbers", list[float], lambda: slowly(calls))[0] == 1.5
    assert file.is_symlink()
    assert msgspec.json.decode((run.path / "run.json").read_bytes())["id"] == run.id


def test_a_folder_that_cannot_be_written_to_is_no_problem(
    stored: tuple[Store, list[Run]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    run, calls = stored[1][0], []  # type: tuple[Run, list[str]]
    monkeypatch.setattr(Path, "write_bytes", refused)
    assert kept_beside([run], "numbers", list[float], lambda: slowly(calls))[0] == 1.5
    assert list(run.path.glob("*explored-*")) == []


def facts(comparison: Comparison) -> list[object]:
    return [comparison.signature, comparison.notes, *(repr(one) for one in comparison.differences())]


def test_a_comparison_from_kept_draws_is_the_same(stored: tuple[Store, list[Run]]) -> None:
    drawn = compare_runs(stored[1], resamples=200)
    draws = msgspec.msgpack.decode(msgspec.msgpack.encode(ComparisonDraws.of(drawn)), type=ComparisonDraws)
    again = compare_runs_again(stored[1], draws)
    assert facts(again) == facts(drawn)
    assert again.intervals.tolist() == drawn.intervals.tolist()
    assert again.made == drawn.made
    for wrong in (
        msgspec.structs.replace(draws, dialogues=3),
        msgspec.structs.replace(draws, intervals=[]),
        msgspec.structs.replace(draws, tested={}),
        msgspec.structs.replace(draws, made=[["x"]]),
        msgspec.structs.replace(draws, one_more=("no such measure",)),
    ):
        with pytest.raises(ValueError, match=r"."):
            compare_runs_again(stored[1], wrong)


def test_pages_from_kept_files_are_the_same(stored: tuple[Store, list[Run]], monkeypatch: pytest.MonkeyPatch) -> None:
    store, runs = stored
    monkeypatch.setattr("dialgauge.explorer.beside_runs._WORTH", 0.0)
    ids = [run.id for run in runs]
    fresh = Explorer(store)
    pages = fresh.run(ids[0], {}), fresh.compare(ids, {})
    assert len(list(runs[0].path.glob("explored-*"))) == 3

    def never(*_: object, **__: object) -> Table:
        raise AssertionError("computed again")

    monkeypatch.setattr("dialgauge.explorer.run_overview.bar_charts", never)
    monkeypatch.setattr("dialgauge.explorer.library.compare_runs", never)
    again = Explorer(store)
    assert (again.run(ids[0], {}), again.compare(ids, {})) == pages
