"""The downloader against a real web server that breaks off, lies, refuses and changes its mind."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialgauge.data import Patience, fetch_file
from dialgauge.errors import DialgaugeError
from support.web import Answer, Site, serving

BODY = bytes(range(256)) * 4096
SHA = hashlib.sha256(BODY).hexdigest()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(Site(BODY)) as started:
        yield started


class Waits(list[float]):
    """Remembers how long it was asked to sleep, and does not."""

    def patience(self, tries: int = 3) -> Patience:
        return Patience(tries=tries, first_wait=1.0, sleep=self.append)


def left_behind(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_file_arrives_with_progress_and_its_checksum(site: Site, tmp_path: Path) -> None:
    seen: list[tuple[int | None, int]] = []
    found = fetch_file(site.url, tmp_path / "f", sha256=SHA, size=len(BODY), progress=lambda t, h: seen.append((t, h)))
    assert found == SHA
    assert (tmp_path / "f").read_bytes() == BODY
    assert left_behind(tmp_path) == ["f"]
    assert seen[0] == (len(BODY), 0) and seen[-1] == (len(BODY), len(BODY))


def test_a_broken_connection_is_resumed_where_it_broke(site: Site, tmp_path: Path) -> None:
    site.answers = [Answer(cut=300_000), Answer(cut=200_000)]
    fetch_file(site.url, tmp_path / "f", sha256=SHA, patience=Waits().patience())
    assert (tmp_path / "f").read_bytes() == BODY
    assert site.ranges[0] is None and len(site.ranges) == 3
    starts = [int(str(asked).removeprefix("bytes=").removesuffix("-")) for asked in site.ranges[1:]]
    assert starts == [300_000, 500_000]


def test_a_later_call_resumes_what_an_interrupted_one_left(site: Site, tmp_path: Path) -> None:
    site.answers = [Answer(cut=400_000)] + [Answer(status=503)] * 2
    with pytest.raises(DialgaugeError, match=r"2 times in a row.*run the same command again"):
        fetch_file(site.url, tmp_path / "f", sha256=SHA, patience=Waits().patience(tries=2))
    assert left_behind(tmp_path) == ["f.part"]
    fetch_file(site.url, tmp_path / "f", sha256=SHA)
    assert site.ranges[-1] is not None
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_server_that_ignores_ranges_starts_over(site: Site, tmp_path: Path) -> None:
    site.answers = [Answer(cut=400_000), Answer(ignore_range=True)]
    fetch_file(site.url, tmp_path / "f", sha256=SHA, patience=Waits().patience())
    assert (tmp_path / "f").read_bytes() == BODY


def test_without_a_checksum_nothing_is_resumed(site: Site, tmp_path: Path) -> None:
    (tmp_path / "f.part").write_bytes(b"half")
    site.answers = [Answer(cut=400_000)]
    fetch_file(site.url, tmp_path / "f", patience=Waits().patience())
    assert site.ranges == [None, None]
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_file_that_changes_between_tries_is_not_glued_together(site: Site, tmp_path: Path) -> None:
    site.answers = [Answer(cut=400_000)]

    def change(_: float) -> None:
        site.body = BODY[::-1]

    fetch_file(site.url, tmp_path / "f", patience=Patience(tries=3, sleep=change))
    assert (tmp_path / "f").read_bytes() == BODY[::-1]


def test_a_wrong_checksum_keeps_nothing(site: Site, tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match=f"sha256 is {SHA}, but {'0' * 64} was expected; nothing was kept"):
        fetch_file(site.url, tmp_path / "f", sha256="0" * 64)
    assert left_behind(tmp_path) == []


def test_a_promise_of_more_than_comes_is_given_up_after_some_tries(site: Site, tmp_path: Path) -> None:
    waits = Waits()
    site.answers = [Answer(claim=len(BODY) + 1000)] * 10
    with pytest.raises(DialgaugeError, match="failed 3 times in a row"):
        fetch_file(site.url, tmp_path / "f", patience=waits.patience())
    assert not (tmp_path / "f").exists()
    assert waits == [1.0, 1.0, 2.0]


def test_a_promise_of_less_than_there_is_is_found_by_the_known_size(site: Site, tmp_path: Path) -> None:
    site.answers = [Answer(claim=1000)]
    with pytest.raises(DialgaugeError, match="has 1,000 bytes, but 1,048,576 were expected"):
        fetch_file(site.url, tmp_path / "f", size=len(BODY))
    assert left_behind(tmp_path) == []


def test_more_bytes_than_known_are_refused_at_once(site: Site, tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="its known size is 1,000 bytes"):
        fetch_file(site.url, tmp_path / "f", size=1000)
    with pytest.raises(DialgaugeError, match="the limit is 2,000 bytes"):
        fetch_file(site.url, tmp_path / "f", limit=2000)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("status", [404, 410])
def test_a_missing_file_is_one_sentence_without_another_try(site: Site, tmp_path: Path, status: int) -> None:
    site.answers = [Answer(status=status)]
    with pytest.raises(DialgaugeError, match=f"there is no such file \\({status}\\)"):
        fetch_file(site.url, tmp_path / "f")
    assert len(site.ranges) == 1
    assert left_behind(tmp_path) == []


def test_a_busy_server_is_asked_again_after_the_time_it_names(site: Site, tmp_path: Path) -> None:
    waits = Waits()
    site.answers = [Answer(status=503, headers={"Retry-After": "7"}), Answer(status=429), Answer(status=500)]
    fetch_file(site.url, tmp_path / "f", sha256=SHA, patience=waits.patience(tries=4))
    assert waits == [7.0, 2.0, 4.0]


def test_waiting_is_bounded_and_dates_are_understood(site: Site, tmp_path: Path) -> None:
    waits = Waits()
    site.answers = [
        Answer(status=503, headers={"Retry-After": "86400"}),
        Answer(status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        Answer(status=503, headers={"Retry-After": "soon"}),
    ]
    fetch_file(site.url, tmp_path / "f", patience=waits.patience(tries=4))
    assert waits == [60.0, 0.0, 4.0]


def test_an_encoding_nobody_asked_for_is_refused(site: Site, tmp_path: Path) -> None:
    site.answers = [Answer(headers={"Content-Encoding": "gzip"})]
    with pytest.raises(DialgaugeError, match="encoding that was not requested"):
        fetch_file(site.url, tmp_path / "f")


def test_a_full_disk_is_one_sentence(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def full(self: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if "w" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(DialgaugeError, match="cannot be written \\(the disk is full\\)"):
        fetch_file(site.url, tmp_path / "f")
    monkeypatch.undo()
    assert not (tmp_path / "f").exists()
