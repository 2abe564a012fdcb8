"""Suspects of failures: one sign each on made-up evidence, scripted agents of known guilt, and the labels."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest

import dialgauge
from dialgauge.dialogue import Blame, Call, Dialogue, Outcome, Speaker, Turn
from dialgauge.trials import (
    Failure,
    FailureEvidence,
    audit_log,
    failure_evidence,
    failures,
    read_log,
    suspect,
    task_facts,
)
from dialgauge.trials.audit import replay_conversation
from dialgauge.trials.evidence import Deviation
from dialgauge.trials.suspects import measured_suspects
from dialgauge.worlds.tools import GoldCall, ToolTask, load_tool_domain
from support.agent_results import desk_tasks, tau_file, tau_result
from support.scripted_logs import write_scripted_log

ROOT = Path(__file__).parents[2]
#: Who said what, and in which message.
Texts: TypeAlias = tuple[tuple[Speaker, str, int], ...]


def evidence(**given: Any) -> FailureEvidence:
    """A failure of which nothing is known but what is given."""
    usual: dict[str, Any] = {
        "conversation": "1#0", "task": "1", "trial": 0, "ended": "user", "last_message": 9, "data_right": False,
        "deviations": (), "unsaid": (), "unidentified": None, "insists_on_record": False, "transfer": None,
        "out_of_scope": False, "faults": (), "unsupported": (), "failing_gold": False, "payment_told": False,
    }  # fmt: skip
    return FailureEvidence(**usual | given)


def wrong(argument: str) -> Deviation:
    return Deviation(kind="wrong", tool="book", message=6, arguments=(argument,))


MISSING = Deviation(kind="missing", tool="cancel", message=4, fate="refused")
UNVOICED = Deviation(kind="missing", tool="cancel", message=9, fate="unvoiced")
EXTRA = Deviation(kind="extra", tool="cancel", message=8)


def fault(code: str, message: int, about: str = "") -> Blame:
    return Blame(dialogue="1#0", side="user", code=code, turn=message, arguments=(about,))


EARLY, REPEATED = fault("early_end", 9), fault("repeated", 5)


@pytest.mark.parametrize(
    ("given", "side", "code"),
    [
        ({}, "unclear", None),
        ({"ended": "error"}, "infrastructure", "technical_end"),
        ({"deviations": (EXTRA,)}, "agent", "extra_write"),
        ({"deviations": (MISSING,)}, "agent", "not_done_refused"),
        ({"deviations": (wrong("origin"),)}, "agent", "wrong_value"),
        ({"deviations": (EXTRA,), "faults": (fault("invented", 3),)}, "agent", "extra_write"),
        ({"unsaid": ("327",)}, "agent", "unsaid"),
        ({"deviations": (UNVOICED,)}, "user", "never_voiced"),
        ({"deviations": (UNVOICED,), "faults": (EARLY,)}, "user", "stopped"),
        ({"deviations": (MISSING,), "faults": (EARLY,)}, "both", "not_done_refused"),
        ({"deviations": (MISSING,), "unidentified": 2}, "user", "unidentified"),
        ({"deviations": (MISSING,), "unidentified": 2, "insists_on_record": True}, "both", "insists"),
        ({"deviations": (wrong("payment_id"),)}, "task", "unknowable"),
        ({"deviations": (wrong("payment_id"),), "payment_told": True}, "agent", "wrong_value"),
        ({"deviations": (wrong("dob"),), "unsupported": ("dob",)}, "task", "unknowable"),
        ({"deviations": (wrong("dob"), EXTRA), "unsupported": ("dob",)}, "agent", "extra_write"),
        ({"ended": "steps", "faults": (REPEATED,)}, "user", "looped"),
        ({"ended": "steps"}, "agent", "out_of_steps"),
        ({"failing_gold": True}, "task", "failing_gold"),
    ],
)
def test_what_each_sign_leads_to(given: dict[str, Any], side: str, code: str | None) -> None:
    failure = suspect(evidence(**given))
    assert (failure.suspect, failure.signs[0].code if failure.signs else None) == (side, code)


def suspected(path: Path, domain: str | None = None, root: Path | None = None) -> list[Failure]:
    """The failures of a log, whose users were not checked."""
    log = read_log(path)
    world = log.domain(domain, root)
    return failures(log, audit_log(log, world), lambda dialogue, instruction: (), world)


def scripted(script: str, folder: Path) -> list[Failure]:
    log = folder / f"{script}.json"
    write_scripted_log(load_tool_domain("depot"), desk_tasks(folder / "tasks.json"), script, log)
    return suspected(log, domain="depot")


def test_scripted_agents_are_suspected_of_what_they_do(tmp_path: Path) -> None:
    assert scripted("gold", tmp_path) == []
    assert {failure.suspect for failure in scripted("wrong", tmp_path)} == {"agent"}


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        return import_module("blame_logs")


def test_the_stored_record_is_what_the_rules_give(shared_data: Path, benchmark: ModuleType) -> None:
    later = benchmark.later_verdicts(shared_data, benchmark.LATER[0])
    unseen = benchmark.unwritten(later)
    assert benchmark.record(unseen, measured_suspects().measured) == measured_suspects()
    assert (len(later), len(unseen)) == (57, 48)


def test_the_page_has_the_figures_of_the_record() -> None:
    page, record = (ROOT / "docs" / "review.md").read_text("utf-8"), measured_suspects()
    [row] = [line for line in page.splitlines() if line.startswith("| of these, tasks that no sign was written on |")]
    for each in (record.right, record.kappa):
        assert f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]" in row
    assert f"| {record.failures} |" in row and f"{record.always_agent.value:.2f} |" in row


def test_the_evidence_on_a_failure_of_gpt_4o(shared_data: Path) -> None:
    source = shared_data / "tau" / "tau_airline_gpt-4o.json.gz"
    by_id = {each.evidence.conversation: each for each in suspected(source, root=shared_data)}
    assert len(by_id) == 116
    first = by_id["22#2"].evidence.deviations[0]
    assert (first.kind, first.tool, first.message) == ("wrong", "update_reservation_flights", 22)
    [run] = dialgauge.review(source, resamples=0).runs
    told = run.table("suspects").filter(dialogue="22#2")
    assert told.row(0, named=True)["cause"] == "suspect"
    assert run.table("suspects").filter(cause="suspect").height == 116


def test_a_log_that_is_not_what_it_says_has_no_suspects(tmp_path: Path, shared_data: Path) -> None:
    content = json.loads(gzip.decompress((shared_data / "tau" / "tau2_airline_grok-3.json.gz").read_bytes()))
    tasks = [each["task_id"] for each in content["simulations"]]
    for place, simulation in enumerate(content["simulations"]):
        simulation["task_id"] = tasks[place - 1]
    (tmp_path / "mixed.json").write_text(json.dumps(content))
    [run] = dialgauge.review(tmp_path / "mixed.json", resamples=0).runs
    assert "suspects" not in run.tables


def test_foreign_failures_have_no_suspect(tmp_path: Path) -> None:
    results = [tau_result(task, trial, 0.0) for task in range(12) for trial in range(2)]
    results[0]["info"]["task"], results[3]["info"]["task"] = results[3]["info"]["task"], {"instruction": "You want 1."}
    (tmp_path / "log.json").write_text(json.dumps([*results, tau_result(0, 2, 0.0), tau_result(1, 2, 0.0)]))
    found = {each.evidence.conversation for each in suspected(tmp_path / "log.json")}
    assert "0#0" not in found and len(found) == 25


def test_an_error_of_the_machinery_is_nobodys(tmp_path: Path) -> None:
    found = suspected(tau_file(tmp_path / "tau.json", {"a": "+!", "b": "-+"}))
    named = [(each.evidence.conversation, each.suspect) for each in found]
    assert named == [("a#1", "infrastructure"), ("b#0", "unclear")]


def called(name: str, arguments: Any, result: str, place: int) -> Call:
    return Call(name=name, arguments=arguments, result=result, message=place)


def recorded(calls: tuple[Call, ...], texts: Texts) -> Dialogue:
    """A conversation of texts, and calls of the agent."""
    turns = [Turn(speaker=speaker, text=text, source=place) for speaker, text, place in texts]
    turns += [Turn(speaker="system", calls=(call,), source=call.message) for call in calls]
    outcome = Outcome(success=False, end="finished", benchmark="tau", task="t", reward=0.0)
    return Dialogue(id="t#0", turns=tuple(turns), outcome=outcome)


def evidence_of(calls: tuple[Call, ...], texts: Texts, expected: tuple[GoldCall, ...]) -> FailureEvidence:
    one = recorded(calls, texts)
    task = ToolTask(id="t", expected=expected)
    [facts] = task_facts([task], None)
    return failure_evidence(one, task, domain=None, replayed=replay_conversation(one, task, None), facts=facts)


def codes(failure: Failure) -> Sequence[str]:
    return [sign.code for sign in failure.signs]


def test_nobody_suspects_the_agent_for_calls_that_are_the_users() -> None:
    expected = (GoldCall("toggle_roaming", {}, by_user=True),)
    handed = called("transfer_to_human", {}, "ok", 2)
    texts: Texts = (("user", "it is slow", 1),)
    users = suspect(evidence_of((handed,), texts, expected))
    assert (users.suspect, users.signs) == ("unclear", ())
    assert [each.fate for each in users.evidence.deviations] == ["users"]
    agents = suspect(evidence_of((handed,), texts, (GoldCall("toggle_roaming", {}),)))
    assert codes(agents) == ["not_done_transferred"]


def test_a_tool_called_for_another_record_was_called() -> None:
    wanted = (GoldCall("cancel_order", {"order_id": "A", "reason": "late"}),)
    texts: Texts = (("user", "cancel both", 1),)
    assert codes(suspect(evidence_of((), texts, wanted))) == ["not_done_left"]
    other = called("cancel_order", {"order_id": "B", "reason": "late"}, "ok", 3)
    [sign] = [each for each in suspect(evidence_of((other,), texts, wanted)).signs if "not_done" in each.code]
    assert (sign.code, sign.about) == ("not_done_left", "cancel_order (order_id A)")


def test_an_end_that_the_log_does_not_tell_is_no_sign_and_contradicts_nothing(
    shared_data: Path, tmp_path: Path
) -> None:
    source = shared_data / "tau" / "tau_airline_gpt-4o.json.gz"
    results = [result | {"info": {}} for result in json.loads(gzip.decompress(source.read_bytes()))]
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(results))
    log = read_log(bare)
    world = log.domain(None, shared_data)
    audit = audit_log(log, world)
    found = failures(log, audit, lambda dialogue, instruction: (), world)
    assert "out_of_steps" not in {code for each in found for code in codes(each)}
    assert "untold" in {each.evidence.ended for each in found} and audit.contradicted == []
    assert {each.finished for each in audit.conversations} == {True, None}
    agreed = [one.agrees for one in audit.conversations if one.agrees is not None]
    assert all(agreed) and 0 < len(agreed) < len(results)
