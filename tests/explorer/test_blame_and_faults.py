"""Blame and faults of the user, marked where they happened, and the conversations to read first."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dialgauge import Store
from dialgauge.explorer import DialogueList, DialogueQuery, Library, report_html, report_markdown
from dialgauge.lab import AgentSpec, LabConfig, blame_rows, open_town, run_lab
from dialgauge.presentation import pages_of
from dialgauge.runs import Run
from dialgauge.tasks import score_results
from dialgauge.users import faults
from dialgauge.users.faults import UserFault
from support.agent_results import tau_file, tau_result
from support.explorer_store import tracking_store
from support.family_pages import dialogue_html

pytestmark = pytest.mark.usefixtures("without_pictures")


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Conversations with much misunderstanding, of which some fail."""
    sitting = LabConfig(
        user=AgentSpec("agenda-baseline", {"channel": "paper2021"}),
        system=AgentSpec("rule-system", {"channel": "paper2021"}),
        level="act",
        seed=1,
    )
    store = Store(tmp_path_factory.mktemp("blame") / "runs")
    return run_lab(open_town(count=40, seed=1), sitting, store=store)


def found(library: Library, run: Run, **facets: str) -> set[str]:
    listed = DialogueList(library, run)
    return {listed.ids[int(place)] for place in listed.order(DialogueQuery(facets=facets))}


def test_blame_stands_at_the_turn_where_the_chain_broke(failing: Run) -> None:
    library, pages = Library(runs=[failing]), pages_of("lab")
    rows = blame_rows(failing.table("blame").to_dicts(), failing.table("reasons").to_dicts())
    assert rows
    for row in rows:
        view = pages.dialogue(library, failing, library.dialogue(failing, row["dialogue"]))
        assert any(row["sentence"] in reason.text and reason.turn == row["turn"] for reason in view.reasons)
        if row["turn"] is not None:
            assert any(row["sentence"] == badge.title for badge in view.turns[row["turn"]].badges)


def test_what_to_read_first_is_what_the_table_of_sides_says(failing: Run) -> None:
    library = Library(runs=[failing])
    sides = failing.table("blame_sides").to_dicts()
    only_user = {row["dialogue"] for row in sides
                 if not row["success"] and row["user_erred"] and not row["system_erred"]}  # fmt: skip
    lucky = {row["dialogue"] for row in sides if row["success"] and (row["user_erred"] or row["system_erred"])}
    assert found(library, failing, first="failed, only the user erred") == only_user
    assert found(library, failing, first="done although somebody erred") == lucky


def test_faults_are_seen_in_their_own_run_and_in_the_results_of_the_same_conversations(tmp_path: Path) -> None:
    file = tau_file(tmp_path / "r.json", {"a": "++", "b": "+-", "c": "--"})
    store = Store(tmp_path / "runs")
    trials = store.add(score_results([file], resamples=10)[0])
    checked = store.add(faults.user_faults(file)[0])
    library = Library(store)
    assert checked.manifest.corpus == trials.manifest.corpus
    marked = set(checked.table("faults")["dialogue"].to_list())
    assert {name for kind in faults.KINDS for name in found(library, checked, fault=kind)} == marked
    assert {name for kind in faults.KINDS for name in found(library, trials, fault=kind)} == marked
    for run in (trials, checked):
        for dialogue in run.dialogues():
            assert pages_of(run.kind).dialogue(library, run, dialogue).turns


def test_real_faults_are_marked_at_their_messages(shared_data: Path) -> None:
    run = faults.user_faults(shared_data / "tau" / "tau2_airline_grok-3.json.gz")[0]
    library, pages = Library(runs=[run]), pages_of("faults")
    for row in run.table("faults").to_dicts():
        dialogue = library.dialogue(run, row["dialogue"])
        view = pages.dialogue(library, run, dialogue)
        assert dialogue.turns[row["turn"]].source == row["message"]
        assert row["kind"].replace("_", " ") in [badge.text for badge in view.turns[row["turn"]].badges]


ASK, FORGOT = "Could you please provide your user ID?", "I forgot it."
INSIST = "I really do want my money back for this flight, please."
REFUSE = "I am sorry, our policy allows no refund for this ticket."


def withholding(task: str, trial: int, reward: float) -> dict[str, Any]:
    """A conversation in which the user does not give the id that its instruction has."""
    one = tau_result(task, trial, reward)
    one["info"]["task"]["instruction"] = "You are ann_lee_2041."
    texts = {"user": "hello", "assistant": ASK}
    one["traj"] = [{"role": role, "content": text} for role, text in (*texts.items(), ("user", FORGOT))]
    return one


def insisting(task: str) -> dict[str, Any]:
    """A conversation in which the user insists until the steps are over."""
    one = tau_result(task, 0, 0.0)
    one["info"]["reward_info"] = None
    one["traj"] = [{"role": "user", "content": INSIST}, {"role": "assistant", "content": REFUSE}] * 6
    return one


def results(folder: Path) -> Path:
    said = [withholding("a", 0, 0.0), withholding("a", 1, 1.0), tau_result("b", 0, 0.0), tau_result("b", 1, 1.0)]
    path = folder / "r.json"
    path.write_text(json.dumps([*said, insisting("c"), tau_result("c", 1, 1.0)]))
    return path


def test_a_minor_fault_is_called_so_wherever_it_is_shown(tmp_path: Path) -> None:
    one = withholding("a", 0, 0.0)
    one["info"]["task"]["instruction"] = "You are ann_lee_2041. You want to cancel reservation QX7RT2."
    asked = ("Could you please provide your user ID and the reservation ID?", "Please provide your user ID.")
    said = ("hello", asked[0], "It is QX7RT2.", asked[1], "ann_lee_2041")
    one["traj"] = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    path = tmp_path / "r.json"
    path.write_text(json.dumps([one]))
    words = "is asked for its user id and does not give it (minor)"
    for run in (faults.user_faults(path)[0], score_results([path], resamples=0)[0]):
        library, pages = Library(runs=[run]), pages_of(run.kind)
        view = pages.dialogue(library, run, library.dialogue(run, "a#0"))
        assert [badge.text for badge in view.turns[2].badges if badge.tone == "warn"] == ["withheld (minor)"]
        assert words in dialogue_html(run, "a#0")
        assert words in report_html([run]) and f"withheld: {words}" in report_html([run])


def shown_first(html: str) -> dict[str, list[str]]:
    """The conversations that a report says to read first, by the reason it gives."""
    section = html.partition('<section class="read-first"')[2].partition("</section>")[0]
    groups = section.split("<strong>")[1:]
    return {one.partition("</strong>")[0]: re.findall(r'<li><a href="[^"]*">([^<]*)</a>', one) for one in groups}


def test_a_report_of_results_shows_faults_and_what_to_read_first_as_the_explorer_does(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    run = store.add(score_results([results(tmp_path)], resamples=0)[0])
    html, text = report_html([run]), report_markdown([run])
    wanted = {"failed, and the user erred": {"a#0", "c#0"}, "passed although the user erred": {"a#1"}}
    library = Library(store)
    assert {why: found(library, run, first=why) for why in wanted} == wanted
    assert {why.lower(): set(names) for why, names in shown_first(html).items()} == wanted
    assert "withheld: is asked for its user id and does not give it" in html
    assert "Faults of the user were found in 3 of 6 conversations (withheld 2, repeated 1)" in html
    read = re.findall(r'<details class="dialogue"[^>]*><summary><strong>([^<]*)', html)
    assert set(read[:3]) == {"a#0", "a#1", "c#0"} and set(read[3:]) == {"b#0"}
    assert "Faults of the user were found in 3 of 6 conversations" in text
    assert r"failed, and the user erred (2): a\#0 (turn 2, withheld: is asked" in text
    assert r"passed although the user erred (1): a\#1" in text


def test_faults_that_are_stored_are_shown_instead_of_new_ones(tmp_path: Path) -> None:
    """A judge may have found more than the checks do."""
    file, store = results(tmp_path), Store(tmp_path / "runs")
    run = store.add(score_results([file], resamples=0)[0])
    dialogues = list(run.dialogues())
    judged = [faults.check_user(one) for one in dialogues]
    added = UserFault("invented", 0, 0, "judged", given=("makes up a name",), by="judge")
    more = [with_fault(one, added) if one.id == "b#0" else one for one in judged]
    store.add(faults.faults_run(dialogues, "judged", checked=more, judge="judge"))
    html = report_html([run])
    assert "invented: makes up a name" in html
    assert set(shown_first(html)["Failed, and the user erred"]) == {"a#0", "b#0", "c#0"}


def with_fault(one: faults.CheckedConversation, fault: UserFault) -> faults.CheckedConversation:
    findings = tuple(
        msgspec.structs.replace(finding, extent="whole", faults=(fault,)) if finding.kind == fault.kind else finding
        for finding in one.findings
    )
    return msgspec.structs.replace(one, findings=findings)


def test_a_report_of_the_lab_says_what_to_read_first(failing: Run) -> None:
    html, text = report_html([failing]), report_markdown([failing])
    library, shown = Library(runs=[failing]), shown_first(report_html([failing]))
    assert shown
    for why, names in shown.items():
        value = f"{why[:1].lower()}{why[1:]}"
        every = found(library, failing, first=value)
        assert set(names) <= every and len(names) == min(len(every), 10)
        assert f"{value} ({len(every)})" in text
    rows = blame_rows(failing.table("blame").to_dicts(), failing.table("reasons").to_dicts())
    blamed = {row["dialogue"]: row["sentence"] for row in rows if row["first"]}
    named = [name for why, names in shown.items() if why.startswith("Failed") for name in names]
    assert named and all(blamed[name] in unescape(html) for name in named)


def test_a_report_of_faults_says_what_to_read_first(tmp_path: Path) -> None:
    shown = shown_first(report_html([faults.user_faults(results(tmp_path))[0]]))
    assert shown == {"Failed, and the user erred": ["a#0", "c#0"], "Passed although the user erred": ["a#1"]}


def test_runs_of_other_kinds_have_nothing_to_read_first(tmp_path: Path) -> None:
    [run] = tracking_store(tmp_path / "runs", count=5, systems=("alpha",))[1]
    assert "read-first" not in report_html([run]) and "Read first" not in report_markdown([run])
