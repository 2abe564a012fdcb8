"""``dialgauge data`` as a user calls it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.data import Catalogue, Dataset, Remote
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.formats import write
from support.commands import dialgauge
from support.web import Answer, Site, serving

Capture = pytest.CaptureFixture[str]

DIALOGUE = Dialogue(
    id="[red]d1",
    turns=(
        Turn(speaker="user", text="a room", state={"hotel": {"area": ("north",)}}),
        Turn(speaker="system", text="which?"),
    ),
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write([DIALOGUE], tmp_path / "source.jsonl", format="native")
    return tmp_path / "source.jsonl"


def test_check_exits_with_1_for_problems_and_2_for_nothing(capsys: Capture, source: Path, tmp_path: Path) -> None:
    source.write_bytes(source.read_bytes() * 2)
    done = dialgauge(capsys, "data", "check", source)
    assert done.code == 1 and "dialogue [red]d1" in done.out, "ids are shown as they are, not as markup"
    (tmp_path / "bad.json").write_text("no data at all")
    done = dialgauge(capsys, "data", "check", tmp_path / "bad.json")
    assert done.code == 2 and done.out == ""
    assert done.err.startswith(f"dialgauge: {tmp_path / 'bad.json'}: no known layout fits: ")
    done = dialgauge(capsys, "data", "check", tmp_path / "bad.json", tmp_path / "none.json")
    assert done.code == 2 and "2 files could not be read" in done.out


def test_convert_replaces_personal_data(capsys: Capture, tmp_path: Path) -> None:
    said = Turn(speaker="user", text="I am at ann@example.com; call <number>")
    write([Dialogue(id="d", turns=(said,))], tmp_path / "a.jsonl", format="native")
    done = dialgauge(capsys, "data", "convert", tmp_path / "a.jsonl", "-", "--to", "native", "--redact")
    assert "I am at [e-mail 1]; call <number>" in done.out
    assert "replaced: 1 e-mail" in done.err


class TestDatasets:
    """get and list, with a web server that has one dataset."""

    @pytest.fixture
    def site(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("DIALGAUGE_DATA", str(tmp_path / "data"))
        monkeypatch.delenv("DIALGAUGE_OFFLINE", raising=False)
        with serving(Site(b'{"id": "a", "turns": []}\n')) as started:
            published = Remote(url=started.url, path="known.jsonl", sha256=hashlib.sha256(started.body).hexdigest())
            files = (published, Remote(url=f"{started.url}?unpublished", path="other.jsonl"))
            toy = Dataset("toy", "A toy", "https://example.org", "MIT", "Someone: A Toy. 2026.", files)
            for place in ("dialgauge.data.datasets.catalogue", "dialgauge.data.catalogue"):
                monkeypatch.setattr(place, lambda: Catalogue(datasets=(toy,)))
            yield started

    def test_the_life_of_a_dataset(self, capsys: Capture, site: Site, tmp_path: Path) -> None:
        got = dialgauge(capsys, "data", "get", "toy")
        assert got.code == 0 and got.out.strip() == str(tmp_path / "data" / "toy")
        assert "No checksum is published for" in got.err and "Someone: A Toy. 2026." in got.err
        again = dialgauge(capsys, "data", "get", "toy")
        assert (again.code, again.out) == (0, got.out) and "already downloaded" in again.err
        listed = dialgauge(capsys, "data", "list", "--json", "-")
        assert json.loads(listed.out)["page"]["tables"]["datasets"]
        assert "Someone: A Toy" not in dialgauge(capsys, "data", "list").out

    def test_offline_and_missing_and_misspelt(
        self, capsys: Capture, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DIALGAUGE_OFFLINE", "1")
        offline = dialgauge(capsys, "data", "get", "toy")
        assert offline.code == 2 and "the network is switched off" in offline.err
        assert site.ranges == []
        monkeypatch.delenv("DIALGAUGE_OFFLINE")
        site.answers = [Answer(status=404)]
        missing = dialgauge(capsys, "data", "get", "toy")
        assert missing.code == 2 and missing.err.count("\n") == 1
        assert "there is no such file (404); the dataset's home is https://example.org" in missing.err
        misspelt = dialgauge(capsys, "data", "get", "tyo")
        assert misspelt.code == 2 and "Did you mean 'toy'?" in misspelt.err
