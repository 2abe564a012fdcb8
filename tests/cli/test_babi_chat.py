"""``dialgauge babi chat``: talking to a model through standard input."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path

import pytest

from support.commands import Outcome, dialgauge
from support.tiny_world import tiny_release


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_release(tmp_path_factory.mktemp("data"), (5,))


def talk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path, *said: str) -> Outcome:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(said) + "\n"))
    return dialgauge(capsys, "babi", "chat", "--data", data)


def test_a_whole_booking(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    outcome = talk(
        capsys,
        monkeypatch,
        data,
        "hi",
        "can you book a table in paris with french cuisine for two people in a cheap price range",
        "",
        "",
        "no thanks",
        "exit",
    )
    assert outcome.code == 0, outcome.err
    bot = [line.split("bot> ")[1] for line in outcome.out.splitlines() if "bot> " in line]
    assert bot[0] == "hello what can i help you with today"
    assert bot[1] == "i'm on it"
    assert "api_call french paris two cheap" in bot
    assert " found: resto_paris_cheap_french_" in outcome.out


def test_a_call_that_finds_nothing_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path, tmp_path: Path
) -> None:
    copied = Path(shutil.copytree(data, tmp_path / "data"))
    base = copied / "dialog-babi-kb-all.txt"
    base.write_text(re.sub(r"(resto_paris_cheap_french_\S+ R_number\t)two", r"\1four", base.read_text()))
    request = "can you book a table in paris with french cuisine for two people in a cheap price range"
    outcome = talk(capsys, monkeypatch, copied, "hi", request, "", "", "")
    assert "(nothing found)" in outcome.out


def test_restart_begins_a_new_dialog(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    outcome = talk(capsys, monkeypatch, data, "hi", "restart", "hi")
    assert outcome.out.count("hello what can i help you with today") == 2


def test_the_end_of_input_ends_the_talk(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    outcome = dialgauge(capsys, "babi", "chat", "--data", data, "--model", "nearest")
    assert outcome.code == 0
    assert "nearest, task 5" in outcome.err
