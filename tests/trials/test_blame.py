"""Whose fault a failure was: one sign each on made-up evidence, scripted agents of known guilt, and the labels."""

from __future__ import annotations

import gzip
import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from dialgauge import api
from dialgauge.dialogue import Call, Dialogue, Outcome, Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.trials import (
    FailureEvidence,
    LogBlame,
    ObservedFault,
    audit_log,
    blame_failure,
    blame_log,
    evidence_tables,
    load_blame_record,
    log_world,
    read_log,
    task_facts,
    write_scripted_log,
)
from dialgauge.trials.blame_views import blame_sentence
from dialgauge.trials.failure_evidence import Deviation, WrongValue, failure_evidence
from dialgauge.trials.log_audit import replay_conversation
from dialgauge.worlds.tools import GoldCall, ToolTask, load_tool_domain
from support.agent_results import desk_tasks, tau2_file, tau_file, tau_result
from support.commands import dialgauge

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


def wrong(argument: str, *, made: str = "MCO", source: str = "tool", known: str = "instruction") -> Deviation:
    value = WrongValue(argument=argument, expected="SEA", made=made, source=source, known=known)  # type: ignore[arg-type]
    return Deviation(kind="wrong", tool="book", record="r", message=6, values=(value,))


MISSING = Deviation(kind="missing", tool="cancel", record="r", message=4, fate="refused")
UNVOICED = Deviation(kind="missing", tool="cancel", record="r", message=9, fate="unvoiced")
EXTRA = Deviation(kind="extra", tool="cancel", record="r", message=8)
EARLY = ObservedFault("early_end", 9)
REPEATED = ObservedFault("repeated", 5)
ASSENT = ObservedFault("contradicted", 5, "checked bags")


@pytest.mark.parametrize(
    ("given", "blamed", "leans", "code"),
    [
        ({}, "unclear", "unclear", None),
        ({"ended": "error"}, "infrastructure", "infrastructure", "technical_end"),
        ({"deviations": (EXTRA,)}, "agent", "agent", "extra_write"),
        ({"deviations": (MISSING,)}, "agent", "agent", "not_done_refused"),
        ({"deviations": (wrong("origin"),)}, "agent", "agent", "wrong_value"),
        ({"deviations": (EXTRA,), "faults": (ObservedFault("invented", 3),)}, "unclear", "agent", "extra_write"),
        ({"unsaid": ("327",)}, "unclear", "agent", "unsaid"),
        ({"deviations": (UNVOICED,)}, "unclear", "user", "never_voiced"),
        ({"deviations": (UNVOICED,), "faults": (EARLY,)}, "user", "user", "stopped"),
        ({"deviations": (MISSING,), "faults": (EARLY,)}, "unclear", "both", "not_done_refused"),
        ({"deviations": (MISSING,), "unidentified": 2}, "user", "user", "unidentified"),
        ({"deviations": (MISSING,), "unidentified": 2, "insists_on_record": True}, "unclear", "both", "insists"),
        ({"deviations": (wrong("origin", source="user"),)}, "unclear", "both", "said_otherwise"),
        ({"deviations": (wrong("origin"),), "faults": (ASSENT,)}, "unclear", "both", "assented"),
        ({"deviations": (wrong("payment_id"),)}, "task", "task", "unknowable"),
        ({"deviations": (wrong("payment_id"),), "payment_told": True}, "agent", "agent", "wrong_value"),
        ({"deviations": (wrong("dob"),), "unsupported": ("dob",)}, "task", "task", "unknowable"),
        ({"deviations": (wrong("dob"), EXTRA), "unsupported": ("dob",)}, "agent", "agent", "extra_write"),
        ({"ended": "steps", "faults": (REPEATED,)}, "unclear", "user", "looped"),
        ({"ended": "steps"}, "agent", "agent", "out_of_steps"),
        ({"failing_gold": True}, "unclear", "task", "failing_gold"),
    ],
)
def test_what_each_sign_leads_to(given: dict[str, Any], blamed: str, leans: str, code: str | None) -> None:
    blame = blame_failure(evidence(**given))
    assert (blame.blamed, blame.leans, blame.signs[0].code if blame.signs else None) == (blamed, leans, code)
    assert blame.message == (blame.signs[0].message if blame.signs else None)


def blamed(path: Path, domain: str | None = None, root: Path | None = None) -> LogBlame:
    """The blame of a log, whose users were not checked."""
    log = read_log(path)
    world = log_world(log, domain, root)
    return blame_log(log, audit_log(log, world), lambda dialogue, instruction: (), world)


def scripted(script: str, folder: Path) -> LogBlame:
    domain = load_tool_domain("depot")
    log = folder / f"{script}.json"
    write_scripted_log(domain, desk_tasks(folder / "tasks.json"), script, log)
    return blamed(log, domain="depot")


def test_scripted_agents_are_blamed_for_what_they_do(tmp_path: Path) -> None:
    assert scripted("gold", tmp_path).failures == ()
    failures = scripted("wrong", tmp_path).failures
    assert failures
    for blame in failures:
        assert blame.leans == "agent", blame.signs
        assert {each.kind for each in blame.evidence.deviations} <= {"wrong", "extra", "missing"}


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        return import_module("blame_logs")


def test_the_stored_record_is_what_the_rules_give(shared_data: Path, benchmark: ModuleType) -> None:
    later = benchmark.later_verdicts(shared_data, benchmark.LATER[0])
    unseen = benchmark.unwritten(later)
    assert benchmark.record(unseen, load_blame_record().measured) == load_blame_record()
    assert (len(later), len(unseen)) == (57, 48)


def test_the_page_has_the_figures_of_the_record() -> None:
    page = (ROOT / "docs" / "tasks-blame.md").read_text("utf-8")
    record = load_blame_record()
    [row] = [line for line in page.splitlines() if line.startswith("| of these, tasks that no rule was written on |")]
    for each in (record.right, record.kappa, record.verdict_kappa):
        assert f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]" in row
    assert f"| {record.failures} |" in row and f"{record.always_agent.value:.2f} |" in row


def test_the_evidence_on_a_failure_of_gpt_4o(shared_data: Path) -> None:
    source = shared_data / "tau" / "tau_airline_gpt-4o.json.gz"
    log = blamed(source, root=shared_data)
    assert len(log.failures) == 116
    blame = next(each for each in log.failures if each.conversation == "22#2")
    kinds = [(each.kind, each.tool, each.message) for each in blame.evidence.deviations]
    assert kinds[0] == ("wrong", "update_reservation_flights", 22)
    assert evidence_tables(log, "22#2")[0].title == "Blame: 22#2"
    [first] = [each for each in log.failures if each.conversation == "0#0"]
    amounts = [value for each in first.evidence.deviations for value in each.values if value.expected == "5"]
    assert [value.known for value in amounts] == ["untold"]  # the user's "5." numbers a list
    told = evidence_tables(log, "22#2")[1]
    assert told.title == "Message 22, which decides"
    assert told.records()[0]["what"].startswith('update_reservation_flights {"reservation_id": ')
    with pytest.raises(DialgaugeError, match="there is no failure '22#9'"):
        evidence_tables(log, "22#9")


def test_a_log_that_is_not_what_it_says_is_not_blamed(tmp_path: Path, shared_data: Path) -> None:
    import gzip

    content = json.loads(gzip.decompress((shared_data / "tau" / "tau2_airline_grok-3.json.gz").read_bytes()))
    tasks = [each["task_id"] for each in content["simulations"]]
    for place, simulation in enumerate(content["simulations"]):
        simulation["task_id"] = tasks[place - 1]
    (tmp_path / "mixed.json").write_text(json.dumps(content))
    with pytest.raises(DialgaugeError, match="too many to blame anybody by their tasks"):
        blamed(tmp_path / "mixed.json")


def test_foreign_failures_are_counted_apart(tmp_path: Path) -> None:
    results = [tau_result(task, trial, 0.0) for task in range(12) for trial in range(2)]
    results[0]["info"]["task"], results[3]["info"]["task"] = results[3]["info"]["task"], {"instruction": "You want 1."}
    (tmp_path / "log.json").write_text(json.dumps([*results, tau_result(0, 2, 0.0), tau_result(1, 2, 0.0)]))
    log = blamed(tmp_path / "log.json")
    assert (log.foreign, len(log.failures)) == (("0#0",), 25)
    with pytest.raises(DialgaugeError, match="filed under another task"):
        evidence_tables(log, "0#0")


def test_trials_beyond_the_plan_are_left_out_as_coverage_leaves_them_out(tmp_path: Path) -> None:
    log = blamed(tau2_file(tmp_path / "log.json", {"a": ("desk", [1.0, 0.0, 0.0]), "b": ("desk", [0.0])}, 2))
    assert [each.conversation for each in log.failures] == ["a#1", "b#0"]
    assert (log.conversations, log.beyond_plan) == (3, ("a#2",))
    assert "1 failure in trials beyond the plan left out: a#2." in log.tables()[0].notes
    with pytest.raises(DialgaugeError, match="beyond the plan"):
        log.explain("a#2")


@pytest.mark.parametrize(
    ("said", "value", "argument", "source"),
    [
        ("5. and then?", "5", "payment_methods.amount", "untold"),
        ("at 5:30 from gate 5", "5", "amount", "untold"),
        ("i pay $5 now", "5", "payment_methods.amount", "user"),
        ("i have 5 checked bags", "5", "total_baggages", "user"),
        ("no, thanks", "no", "insurance", "untold"),
        ("no travel insurance", "no", "insurance", "user"),
        ("it was 1,250 dollars", "250", "amount", "nowhere"),
        ("it was 250.00 dollars", "250", "amount", "user"),
        ("to ORD", "ORD", "origin", "user"),
    ],
)
def test_a_short_number_is_evidence_beside_what_it_counts_only(
    said: str, value: str, argument: str, source: str
) -> None:
    names = argument.split(".")
    made: Any = value
    for name in reversed(names):
        made = {name: made}
    one = recorded((called("book", made, "{}", 2),), (("user", said, 1),))
    task = ToolTask(id="t", expected=())
    [facts] = task_facts([task], None)
    shown = failure_evidence(one, task, domain=None, replayed=replay_conversation(one, task, None), facts=facts)
    [deviation] = shown.deviations
    assert [each.source for each in deviation.values] == [source]


def test_the_same_from_python(shared_data: Path) -> None:
    [blame] = api.blame_results(shared_data / "tau" / "tau2_airline_grok-3.json.gz")
    assert blame.to_polars().height == len(blame.failures)
    assert blame.tables()[0].title == "Blame: tau2_airline_grok-3"
    assert blame.explain(blame.failures[0].conversation)[0].title == f"Blame: {blame.failures[0].conversation}"


def test_an_error_of_the_machinery_is_nobodys(tmp_path: Path) -> None:
    log = blamed(tau_file(tmp_path / "tau.json", {"a": "+!", "b": "-+"}))
    assert [(each.conversation, each.blamed) for each in log.failures] == [
        ("a#1", "infrastructure"),
        ("b#0", "unclear"),
    ]


def test_the_command_says_what_verdicts_are_worth(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = dialgauge(capsys, "tasks", "blame", shared_data / "tau" / "tau2_airline_grok-3.json.gz")
    assert done.code == 0
    assert "failures of tasks that no rule was written on, labelled after the rules" in " ".join(done.out.split())


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


def test_nobody_blames_the_agent_for_calls_that_are_the_users() -> None:
    expected = (GoldCall("toggle_roaming", {}, by_user=True),)
    handed = called("transfer_to_human", {}, "ok", 2)
    texts: Texts = (("user", "it is slow", 1),)
    blame = blame_failure(evidence_of((handed,), texts, expected))
    assert (blame.leans, blame.signs) == ("unclear", ())
    assert [each.fate for each in blame.evidence.deviations] == ["users"]
    assert "toggle_roaming, the user's own to call" in blame_sentence(blame)
    agents = blame_failure(evidence_of((handed,), texts, (GoldCall("toggle_roaming", {}),)))
    assert [sign.code for sign in agents.signs] == ["not_done_transferred"]


def test_a_tool_called_for_another_record_was_called() -> None:
    wanted = (GoldCall("cancel_order", {"order_id": "A", "reason": "late"}),)
    texts: Texts = (("user", "cancel both", 1),)
    never = blame_failure(evidence_of((), texts, wanted))
    assert blame_sentence(never).endswith("and the agent never calls it")
    other = called("cancel_order", {"order_id": "B", "reason": "late"}, "ok", 3)
    [sign] = [each for each in blame_failure(evidence_of((other,), texts, wanted)).signs if "not_done" in each.code]
    assert (sign.code, sign.about) == ("not_done_otherwise", "cancel_order (order_id A)")


def test_the_end_of_an_agent_is_the_agents_message() -> None:
    handed = called("transfer_to_human", {}, "ok", 4)
    texts: Texts = (
        ("system", "hello", 2),
        ("user", "help", 3),
    )
    shown = evidence_of((handed,), texts, ())
    assert (shown.ended, shown.end_message) == ("agent", 4)


def test_an_end_that_the_log_does_not_tell_is_no_sign_and_contradicts_nothing(
    shared_data: Path, tmp_path: Path
) -> None:
    source = shared_data / "tau" / "tau_airline_gpt-4o.json.gz"
    results = [result | {"info": {}} for result in json.loads(gzip.decompress(source.read_bytes()))]
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(results))
    [before], [after] = api.blame_results(source), api.blame_results(bare)
    assert after.counts["unclear"] >= before.counts["unclear"] - 1  # users are checked by our tasks' instructions
    assert not [each for each in after.failures for sign in each.signs if sign.code == "out_of_steps"]
    untold = next(each for each in after.failures if each.evidence.ended == "untold")
    assert "the log does not tell" in str(evidence_tables(after, untold.conversation)[0].cells)
    [audit] = api.audit_results(bare)
    assert audit.contradicted == []
    assert {each.finished for each in audit.conversations} == {True, None}
    reproduced, judged = audit.rewards_reproduced
    assert 0 < reproduced == judged < len(results)
