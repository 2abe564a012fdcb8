"""What new users found wrong on logs of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dialgauge
from dialgauge.dialogue import Call, Dialogue, Outcome, Turn
from dialgauge.trials.audit_views import belonging_answer
from dialgauge.worlds.tools import (
    Integrity,
    ToolTask,
    check_integrity,
    integrity_sentences,
    load_tool_domain,
    replay,
)
from dialgauge.worlds.tools.integrity import Filing


@pytest.mark.parametrize("failed", [True, False])
def test_an_error_on_both_sides_is_no_result_that_differs(failed: bool) -> None:
    domain = load_tool_domain("depot")
    call = Call(
        name=next(iter(domain.tools)), arguments={"nothing": "known"}, result="Error: other words", failed=failed
    )
    [made] = replay(domain, None, [("system", call)]).calls
    assert made.drift == "errors"


def test_how_many_fit_one_other_task_is_told_apart_from_how_many_do_not_belong() -> None:
    foreign = tuple(
        Filing(conversation=f"{n}#0", task=str(n), belonging="foreign", evidence="actions", fits="9" if n < 2 else None)
        for n in range(5)
    )
    answer = belonging_answer(Integrity(filings=foreign, belongs=5, unknown=0, others_hit=None))
    assert "5 of 10 conversations are filed under another task" in answer
    assert "2 fit exactly one other task (0#0 task 9, 1#0 task 9)" in answer


def test_calls_that_name_a_user_are_not_said_to_name_none() -> None:
    call = Call(name="look", arguments={"user_id": "ann_lee_1"}, result="{}", message=1)
    outcome = Outcome(success=True, end="finished", benchmark="tau", task="1", reward=1.0)
    one = Dialogue(id="1#0", turns=(Turn(speaker="system", calls=(call,)),), outcome=outcome)
    integrity = check_integrity([one], [ToolTask(id="1", instruction="You are ann_lee_1.")], "task file")
    assert "No call names a user" not in " ".join(integrity_sentences("log", integrity))


def test_a_review_reads_its_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dialgauge.formats import Part

    whole, times = Part.read, list[str]()

    def counted(part: Part) -> bytes:
        times.append(part.name)
        return whole(part)

    monkeypatch.setattr(Part, "read", counted)
    result = {
        "task_id": 1, "reward": 0.0, "trial": 0, "traj": [{"role": "user", "content": "hi"}],
        "info": {"task": {"instruction": "Ask.", "actions": []}, "reward_info": {"info": {}, "actions": []}},
    }  # fmt: skip
    path = tmp_path / "tau.json"
    path.write_text(json.dumps([result]))
    review = dialgauge.review_log(path)
    assert review.blame is not None and review.audit is not None
    assert len(times) == 1
