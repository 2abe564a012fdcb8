"""Conversations in the town: the same bytes however they are held, what they record, and what an agent may see."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dialgauge.agents import Limits, Reply, make_agent
from dialgauge.comparison import compare_runs
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.lab import (
    AgentSpec,
    LabConfig,
    LoadedDomain,
    channel_conditions,
    hold_conversations,
    open_domain,
    run_lab,
    run_study,
)
from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import dialgauge_in
from support.shared import shared_folder
from support.soak import MANY, soak
from support.town import SYSTEM_ACTS

DATA = shared_folder("data")
needs_data = pytest.mark.skipif(DATA is None, reason="DIALGAUGE_DATA names no folder with MultiWOZ 2.1")
SITTING = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"))


@pytest.fixture(scope="module")
def town() -> LoadedDomain:
    return open_domain(count=120)


def held(town: LoadedDomain, sitting: LabConfig = SITTING, **how: Any) -> list[Dialogue]:
    return list(hold_conversations(town.again, town.goals, sitting, **how))


def encoded(dialogues: list[Dialogue]) -> bytes:
    return msgspec.json.Encoder().encode_lines(dialogues)


def test_one_process_or_two_any_order_and_any_company_give_the_same_bytes(town: LoadedDomain) -> None:
    alone = held(town)
    assert encoded(held(town, workers=2)) == encoded(alone)
    some = msgspec.structs.replace(town, goals=tuple(reversed(town.goals[30:40])))
    by_id = {one.id: one for one in alone}
    assert held(some) == [by_id[goal.id] for goal in some.goals]


def test_what_is_done_is_not_done_again(town: LoadedDomain) -> None:
    kept: dict[str, bytes] = {}
    whole = held(town, done=kept)
    assert len(kept) > 1
    kept.pop(next(iter(kept)))
    other = msgspec.structs.replace(SITTING, seed=1)
    again = held(town, other, done=kept)
    assert again[50:] == whole[50:], "what is there is taken as it is"
    assert again[:50] != whole[:50], "only what is missing was done"


def test_trials_are_different_conversations_about_the_same_goal(town: LoadedDomain) -> None:
    few = msgspec.structs.replace(town, goals=town.goals[:20])
    twice = held(few, msgspec.structs.replace(SITTING, trials=2))
    assert [one.id for one in twice[:1]] == [f"{town.goals[0].id}#1"]
    assert len({one.id for one in twice}) == 40
    first, second = twice[:20], twice[20:]
    assert [one.goal for one in first] == [one.goal for one in second]
    assert any(one.turns != other.turns for one, other in zip(first, second, strict=True))
    assert [one.turns for one in first] == [one.turns for one in held(few)], "the first trial is the only one's"


#: In units of fifty conversations.
_UNITS = 8 if MANY else 3
_LONG_RUN = ["lab", "run", "-n", str(50 * _UNITS), "--resamples", "0", "--out"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run gives that nobody killed."""
    folder = tmp_path_factory.mktemp("whole")
    done = dialgauge_in(folder, {}, [*_LONG_RUN, "talks", "--store", "store"])
    assert done.code == 0 and "stored as run" in done.err
    return folder / "talks"


@pytest.mark.parametrize("moment", [soak(0.3), 0.6, soak(0.9)])
def test_a_killed_run_is_taken_up_again_and_gives_the_same_conversations(
    tmp_path: Path, whole: Path, moment: float
) -> None:
    command = [*_LONG_RUN, "again", "--store", "two"]
    program = [sys.executable, "-m", "dialgauge", *command]
    broken = subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wanted = max(1, int(moment * _UNITS))
    while broken.poll() is None and len(list(tmp_path.rglob("unit-*.done"))) < wanted:
        time.sleep(0.01)
    broken.send_signal(signal.SIGKILL)
    broken.wait()
    assert dialgauge_in(tmp_path, {}, command).code == 0
    assert (tmp_path / "again/conversations.jsonl").read_bytes() == (whole / "conversations.jsonl").read_bytes()


def anchors(dialogues: list[Dialogue]) -> None:
    reasons = {one.outcome.reason for one in dialogues if one.outcome}
    assert reasons == {"user_done"}
    for dialogue in dialogues:
        said = [turn.acts for turn in dialogue.user_turns()]
        assert all(len({*said[at : at + 3]}) > 1 for at in range(len(said) - 2)), dialogue.id
        heard = [act.name for turn in dialogue.turns if turn.speaker == "system" for act in turn.acts or ()]
        for domain, task in (dialogue.goal.tasks if dialogue.goal else {}).items():
            if task.fail_book:
                assert "Booking-NoBook" in heard, dialogue.id
            if task.fail_info:
                assert f"{domain.capitalize()}-NoOffer" in heard, dialogue.id


def test_the_town_meets_the_anchors_of_the_lab(town: LoadedDomain) -> None:
    anchors(held(town))


@pytest.mark.soak
@needs_data
def test_multiwoz_meets_the_anchors_of_the_lab() -> None:
    """Section 16, act level: nobody gives up, every scripted failure happens, every family of acts is said."""
    assert DATA is not None
    multiwoz = open_domain(goals=str(DATA / "multiwoz21" / "test.json.gz"))
    dialogues = held(multiwoz)
    assert len(dialogues) == 1000
    anchors(dialogues)
    assert sum(bool(task.fail_book) for one in dialogues for task in one.goal.tasks.values() if one.goal) == 80  # type: ignore[union-attr]
    said = {act.name for one in dialogues for turn in one.turns if turn.speaker == "system" for act in turn.acts or ()}
    assert said == {name for name in SYSTEM_ACTS if not name.startswith(("Police", "Hospital"))}


def test_a_run_of_the_lab_is_a_run_like_any_other(town: LoadedDomain, tmp_path: Path) -> None:
    few = msgspec.structs.replace(town, goals=town.goals[:15])
    run = run_lab(few, msgspec.structs.replace(SITTING, trials=2), resamples=20)
    assert_run_contract(run)
    stored = Store(tmp_path).add(run)
    assert_run_contract(stored)
    assert {"outcomes", "conversations", "calls", "heard"} <= set(stored.tables)


NOISY = AgentSpec("rule-system", {"channel": "paper2021"})


@pytest.mark.parametrize(("trials", "basis"), [(3, "12 goals"), (1, "12 dialogues")])
def test_runs_compare_as_their_own_intervals_resample(town: LoadedDomain, trials: int, basis: str) -> None:
    few = msgspec.structs.replace(town, goals=town.goals[:12])
    sitting = LabConfig(
        user=AgentSpec("agenda-baseline", {"channel": "paper2021"}), system=NOISY, level="act", trials=trials, seed=1
    )
    runs = [
        run_lab(few, one, resamples=1000)
        for one in (sitting, msgspec.structs.replace(sitting, user=AgentSpec("agenda")))
    ]
    comparison = compare_runs(runs, resamples=300, seed=1)
    assert comparison.basis == f"95% intervals over {basis}"
    varied = 0
    for place, run in enumerate(runs):
        for number, measure in enumerate(comparison.measures):
            score = run.scores[measure]
            assert comparison.corpus_values[place, number] == pytest.approx(score.value), measure
            assert list(comparison.intervals[place, number]) == pytest.approx([score.low, score.high]), measure
            varied += score.value not in (0.0, 1.0)
    assert varied


def test_a_study_is_a_run_like_any_other(town: LoadedDomain) -> None:
    few = msgspec.structs.replace(town, goals=town.goals[:12])
    run = run_study(few, SITTING, channel_conditions(SITTING.system, ("drop",), (0.2, 0.5)), resamples=10)[0]
    assert_run_contract(run)
    rates = run.table("conditions")
    assert rates["condition"].to_list() == ["clean", "drop=0.2", "drop=0.5"]
    assert rates["JGA"][0] == 1.0 > rates["JGA"][1] > rates["JGA"][2]
    assert run.table("conversations").height == 36


def test_files_that_agents_read_are_in_the_signature(town: LoadedDomain, tmp_path: Path) -> None:
    few = msgspec.structs.replace(town, goals=town.goals[:3])
    file = tmp_path / "deaf.yaml"
    sitting = msgspec.structs.replace(SITTING, system=AgentSpec("rule-system", {"channel": str(file)}))
    signatures = set()
    for rate in ("0.1", "0.2", "0.1"):
        file.write_text(f"user:\n  '*': {{drop: {rate}}}\n")
        signatures.add(run_lab(few, sitting, resamples=0).signature)
    assert len(signatures) == 2


class _Odd:
    """A system that answers with whatever it is told to, or does something else."""

    def __init__(self, what: Any) -> None:
        self.name, self._what = "odd", what

    def start(self, context: Any) -> None:
        del context

    def respond(self, turn: Turn | None) -> Reply:
        answer = self._what()
        return answer if isinstance(answer, Reply) else Reply(turn=Turn(speaker="system", text="yes", acts=()))


def _exit() -> None:
    raise SystemExit(3)


def _hang() -> None:
    with contextlib.suppress(Exception):
        time.sleep(5)


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (_exit, "raised SystemExit"),
        (
            lambda: Reply(turn=Turn(speaker="system", text="", acts=()), state={"hotel": {"area": 5}}),  # type: ignore[dict-item]
            "is not part of a turn",
        ),
        (_hang, "took longer than 0.2 seconds"),
    ],
    ids=["exit", "state", "time"],
)
def test_a_bad_agent_ends_its_own_conversation_and_the_run_is_stored(
    town: LoadedDomain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: Any, sentence: str
) -> None:
    monkeypatch.setattr(
        "dialgauge.lab.sessions.make_agent",
        lambda name, options: _Odd(what) if name == "odd" else make_agent(name, options),
    )
    monkeypatch.setattr("dialgauge.lab.lab_run.code_of", lambda made: "odd")
    few = msgspec.structs.replace(town, goals=town.goals[:2])
    sitting = msgspec.structs.replace(
        SITTING, system=AgentSpec("odd"), limits=Limits(exchanges=5, acts=12, characters=2000, seconds=0.2)
    )
    run = run_lab(few, sitting, store=Store(tmp_path), resamples=0)
    assert run.stored
    assert sentence in " ".join(run.notes)
    assert run.scores["Success(rules=strict)"].value == (None if what is _hang else 0.0)
