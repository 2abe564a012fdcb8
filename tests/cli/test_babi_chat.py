"""``dialgauge babi chat``: talking to a model through standard input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from support.commands import Outcome, dialgauge
from support.soak import soak
from support.tiny_world import tiny_release

NOT_UNDERSTOOD = "sorry i did not understand that could you say it in other words"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_release(tmp_path_factory.mktemp("data"), (5,))


def talk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path, *said: str) -> Outcome:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(said) + "\n"))
    return dialgauge(capsys, "babi", "chat", "--task", 5, "--data", data)


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


@pytest.mark.parametrize("model", [soak("memn2n"), soak("typed"), "nearest", soak("tfidf")])
def test_a_model_that_understands_nothing_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path, tmp_path: Path, model: str
) -> None:
    folder = tmp_path / "model"
    quick = () if model in ("nearest", "tfidf") else ("--set", "epochs=4", "--set", "device=cpu")
    train = ("babi", "train", "--data", data, "--task", 5, "--model", model, "--out", folder, *quick)
    assert dialgauge(capsys, *train, "--store", tmp_path / "runs").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("Xyzzy!\nHello.\nxyzzy plugh\nexit\n"))
    outcome = dialgauge(capsys, "babi", "chat", "--task", 5, "--data", data, "--model", folder)
    assert outcome.code == 0, outcome.err
    bot = [line.split("bot> ")[1] for line in outcome.out.splitlines() if "bot> " in line]
    assert [one == NOT_UNDERSTOOD for one in bot] == [True, False, True]
    assert not any(one.startswith("api_call") for one in (bot[0], bot[2]))


def test_a_closed_keyboard_is_told_of(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    outcome = dialgauge(capsys, "babi", "chat", "--task", 5, "--data", data)
    assert (outcome.code, "standard input is closed" in outcome.err) == (2, True)
