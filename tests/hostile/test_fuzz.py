"""The small form of the fuzzing, with the other tests: a few seeded cases of every target. ``make fuzz`` is long."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from hostile.fuzz import session
from hostile.fuzz.session import HangError, Tally, case_content, guarded, run_case
from hostile.fuzz.target import Target
from hostile.fuzz.targets import targets
from support.soak import examples

SEED = 20261115


@pytest.mark.parametrize("name", sorted(targets()))
def test_damaged_input_is_read_or_refused(name: str) -> None:
    target, tally = targets()[name], Tally()
    cases = min(target.weight, examples(40))
    for case in range(cases):
        guarded(target, SEED, case, tally)
    assert not tally.findings, "\n\n".join(map(str, tally.findings))
    assert tally.runs[name] == cases


def test_what_is_damaged_was_sound_before() -> None:
    sound = [(name, seed) for name, target in sorted(targets().items()) for seed in target.seeds()]
    assert len({name for name, _ in sound}) > 20
    for name, seed in sound:
        assert run_case(targets()[name], seed) is None, name


def test_a_case_is_made_again_from_its_number() -> None:
    for target in targets().values():
        assert case_content(target, 1, 7) == case_content(target, 1, 7)
        assert len({case_content(target, 1, case) for case in range(20)}) > 1


def noted(run: Target) -> str:
    tally = Tally()
    guarded(run, 0, 0, tally)
    return tally.findings[0].what if tally.findings else ""


def test_the_guard_notices_what_it_is_there_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "FINDINGS", tmp_path)

    class PanicException(BaseException):
        pass

    def target(error: BaseException | None) -> Target:
        def run(content: bytes, folder: object) -> None:
            if error is not None:
                raise error
            while True:
                pass

        return Target("probe", lambda chance: b"", run)

    assert noted(target(DialgaugeError("the file is empty"))) == ""
    assert "KeyError" in noted(target(KeyError("x")))
    assert "PanicException" in noted(target(PanicException("x")))
    assert "an error without a word" in noted(target(DialgaugeError("")))
    monkeypatch.setattr(session, "MOST_SECONDS", 0.05)
    assert HangError.__name__ in noted(target(None))
    monkeypatch.setattr(session, "MOST_MEMORY", 1)
    peaks = iter([10, 11])
    monkeypatch.setattr(session, "peak_memory", lambda: next(peaks))
    assert noted(target(DialgaugeError("the file is empty"))) == "the process grew to 11 bytes"
    peaks = iter([10, 10])
    assert noted(target(DialgaugeError("the file is empty"))) == ""
