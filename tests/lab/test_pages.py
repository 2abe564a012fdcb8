"""Pages of lab runs: both sides, what was heard, states, calls, outcomes, trials; filters; the page of the run."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

from dialgauge import agents
from dialgauge.dialogue import Act, Call, Dialogue, Goal, Outcome, Task, Turn
from dialgauge.explorer import DialogueList, DialogueQuery, Library, PageLinks, run_sentences
from dialgauge.lab import AgentSpec, Condition, LabConfig, open_town, run_lab, run_study
from dialgauge.lab.dialogue_page import heard_rows
from dialgauge.lab.facets import OUTCOME_RULES
from dialgauge.presentation import DialogueView, pages_of
from dialgauge.runs import Run, Store, new_run
from dialgauge.tasks import REASON_GROUPS, reason_texts
from support.family_pages import dialogues_with
from support.pages import (
    HOSTILE,
    assert_harmless,
    everything,
    hostile_dialogue,
    shown_dialogue,
    shown_run,
)

PAGES = pages_of("lab")

_DEAF = {"channel": "paper2021"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Fourteen goals, twice each, the sides half deaf; stored."""
    user, system = AgentSpec("agenda-baseline", _DEAF), AgentSpec("rule-baseline", _DEAF)
    sitting = LabConfig(user=user, system=system, trials=2, level="text")
    store = Store(tmp_path_factory.mktemp("lab") / "runs")
    return run_lab(open_town(count=14), sitting, store=store, workers=1, resamples=20)


@pytest.fixture(scope="module")
def library(run: Run) -> Library:
    return Library(Store(run.path.parent))


def ids(run: Run) -> list[str]:
    return run.table("dialogues")["dialogue"].to_list()


def view(library: Library, run: Run, name: str) -> DialogueView:
    return PAGES.dialogue(library, run, library.dialogue(run, name))


def found(run: Run, **facets: str) -> set[str]:
    return set(dialogues_with(run, **facets))


def held(*turns: Turn, goal: Goal | None = None) -> DialogueView:
    """The view of a conversation of which the run knows nothing but what was recorded."""
    dialogue = Dialogue(id="a", turns=turns, goal=goal)
    run = new_run(kind="lab", name="bare", corpus=[dialogue])
    return PAGES.dialogue(Library(runs=[run]), run, dialogue)


# One dialogue


def test_the_overview_has_every_task_with_both_verdicts(library: Library, run: Run) -> None:
    for name in ids(run):
        seen = view(library, run, name)
        told = {
            (task.domain, rules, mark.text == "done", why)
            for task in seen.overview.tasks
            for rules, mark, why in task.verdicts
        }
        rows = run.table("outcomes").filter(pl.col("dialogue") == name).to_dicts()
        whys = reason_texts(run.table("reasons").filter(pl.col("dialogue") == name).to_dicts())
        assert told == {
            (row["domain"], row["rule"], row["success"], whys.get((name, row["domain"], row["rule"]), ""))
            for row in rows
        }
        settled = {(task.domain, task.entity, task.turn) for task in seen.overview.tasks if task.entity}
        assert settled == {(row["domain"], row["entity"], row["turn"]) for row in rows if row["entity"]}


def test_how_it_ended_is_told_in_words(library: Library, run: Run) -> None:
    for row in run.table("conversations").to_dicts():
        went = dict(view(library, run, row["dialogue"]).overview.went)
        assert went["end"] == agents.END_WORDS[row["reason"]]
        assert went.get("ended by", "") == (f"the {row['ended_by']}" if row["ended_by"] else "")
        assert went["exchanges"] == str(row["exchanges"])
        assert went["constraints said again"] == str(row["repeated_constraints"])


def test_every_end_of_a_conversation_has_words() -> None:
    known = {
        value
        for name in import_module("dialgauge.agents").__all__
        if name.isupper() and isinstance(value := getattr(agents, name), str) and value.islower() and "_" in value
    }
    assert agents.END_WORDS.keys() == known


def test_trials_of_a_goal_lead_to_each_other(library: Library, run: Run) -> None:
    seen = view(library, run, "TOWN0003#1")
    assert [(trial.dialogue, trial.here) for trial in seen.overview.trials] == [
        ("TOWN0003#1", True), ("TOWN0003#2", False),
    ]  # fmt: skip
    address = PageLinks().dialogue(run.id, "TOWN0003#2")
    assert f'<a href="{address}">TOWN0003#2</a>' in shown_dialogue(seen, links=PageLinks(), run=run)
    assert "TOWN0003#2" in shown_dialogue(seen)


def test_a_goal_tried_once_has_no_list_of_trials() -> None:
    sitting = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"))
    once = run_lab(open_town(count=2), sitting, workers=1, resamples=0)
    assert not PAGES.dialogue(
        Library(runs=[once]), once, Library(runs=[once]).dialogue(once, "TOWN0001")
    ).overview.trials


def test_what_was_offered_is_told_with_its_turn(library: Library, run: Run) -> None:
    seen = held(
        Turn(speaker="user", acts=()),
        Turn(speaker="system", acts=(Act("Hotel-Recommend", "hotel", "name", ("acorn", "lodge")),)),
        Turn(speaker="system", acts=(Act("Hotel-Request", "hotel", "name", ("?",)),)),
        Turn(
            speaker="system",
            acts=(
                Act("Booking-Book", "booking", "name", ("lodge",)),
                Act("Train-Inform", "train", "trainID", ("TR1",)),
            ),
            calls=(Call(name="book", domain="hotel"),),
        ),
        goal=Goal(tasks={"hotel": Task(info={"area": "east"}, book={"day": "monday"}), "train": Task()}),
    )
    hotel, train = seen.overview.tasks
    assert hotel.offered == [("acorn", 1), ("lodge", 1)]
    assert train.offered == [("TR1", 3)]
    assert hotel.wanted == [("area", "east"), ("book day", "monday")]
    text = shown_dialogue(seen)
    assert 'acorn (<a href="#turn-1">turn 1</a>)' in text and "not judged" in text


def test_what_was_heard_is_marked_by_sign_and_word() -> None:
    said = (
        Act("Hotel-Inform", "hotel", "area", ("north",)),
        Act("Hotel-Inform", "hotel", "stars", ("4",)),
        Act("Hotel-Inform", "hotel", "type", ("Hotel ",)),
        Act("Hotel-Inform", "hotel", "parking", ("yes",)),
    )
    heard = (
        Act("Hotel-Inform", "hotel", "area", ("south",)),
        Act("Hotel-Inform", "hotel", "type", ("hotel",)),
        Act("Hotel-Recommend", "hotel", "stars", ("4",)),
        Act("general-bye", "general"),
    )
    rows = heard_rows(said, heard)
    assert [(row.said, row.heard, row.kind) for row in rows] == [
        ("Hotel-Inform type = Hotel ", "Hotel-Inform type = hotel", "right"),
        ("Hotel-Inform stars = 4", "Hotel-Recommend stars = 4", "wrong"),
        ("Hotel-Inform area = north", "Hotel-Inform area = south", "wrong"),
        ("Hotel-Inform parking = yes", "", "missed"),
        ("", "general-bye", "spurious"),
    ]
    text = shown_dialogue(held(Turn(speaker="user", acts=said, heard=heard)))
    for sign, word in (("≠", "heard as something else"), ("−", "not heard"), ("+", "never said")):
        assert f'<abbr title="{word}">{sign}</abbr>' in text
    assert "and 1 as said" in text and "4 misheard" in text


def test_what_was_heard_as_said_is_one_line() -> None:
    acts = (Act("Hotel-Inform", "hotel", "area", ("north",)),)
    text = shown_dialogue(held(Turn(speaker="user", acts=acts, heard=acts)))
    assert "the system heard what was said" in text and "misheard" not in text


def test_of_words_alone_it_shows_what_was_understood() -> None:
    text = shown_dialogue(held(Turn(speaker="system", text="hi", heard=(Act("general-greet", "general"),))))
    assert "the user understood" in text and "<li>general-greet" in text


def test_the_turns_agree_with_what_the_run_counted_as_heard(library: Library, run: Run) -> None:
    counted: Counter[tuple[str, bool]] = Counter()
    for name in ids(run):
        for turn in view(library, run, name).turns:
            if turn.cell.acts is not None and turn.cell.heard is not None:
                for row in turn.cell.heard:
                    counted[turn.cell.listener, row.kind == "right"] += 1
    table = run.table("heard").group_by("listener", "same").agg(pl.col("times").sum()).rows()
    assert counted == {(listener, same): times for listener, same, times in table}
    assert counted["user", False] and counted["system", False]


def test_states_are_those_of_the_turn(library: Library, run: Run) -> None:
    for name in ids(run):
        dialogue = library.dialogue(run, name)
        for turn, seen in zip(dialogue.turns, view(library, run, name).turns, strict=True):
            if turn.state is not None and turn.predicted is not None:
                same = turn.state == turn.predicted
                assert (seen.cell.states.differs == 0) == same, (name, seen.place)
                slots = sum(map(len, turn.state.values()))
                assert sum(bool(row.gold) for row in (*seen.cell.states.rows, *seen.cell.states.rest)) == slots


def test_calls_stand_beside_the_turn_that_made_them() -> None:
    calls = (
        Call(name="search", domain="hotel", arguments={"area": "north"}, found=12, rows=tuple(range(12))),
        Call(name="book", domain="hotel", arguments={"day": "monday"}, result="refused", failed=True),
        Call(name="book", domain="hotel", rows=(4,), result='{"reference": "X1"}'),
        Call(name="search", domain="train", found=0),
    )
    seen = held(Turn(speaker="system", text="ok", acts=(), calls=calls))
    shown = seen.turns[0].cell.calls
    assert [(call.name, call.outcome.text, call.outcome.tone, call.rows) for call in shown] == [
        ("search hotel", "12 found", "plain", "rows 0, 1, 2, 3, 4, 5, 6, 7 and 4 more"),
        ("book hotel", "refused", "bad", ""),
        ("book hotel", "done", "good", "row 4"),
        ("search train", "0 found", "warn", ""),
    ]
    assert [badge.text for badge in seen.turns[0].badges] == ["book hotel: refused"]
    text = shown_dialogue(seen)
    assert "<i>reference</i> X1" in text and "<i>area</i> north" in text


# Filters


def test_filters_find_what_the_tables_say(run: Run) -> None:
    conversations, outcomes, calls = (run.table(name) for name in ("conversations", "outcomes", "calls"))
    for rules in OUTCOME_RULES:
        for word, flag in (("done", True), ("not done", False)):
            wanted = conversations.filter(pl.col(rules) == flag)["dialogue"]
            assert found(run, **{rules: word}) == set(wanted), (rules, word)
    for reason in conversations["reason"].unique():
        assert found(run, end=reason) == set(conversations.filter(pl.col("reason") == reason)["dialogue"])
    loops = set(conversations.filter(pl.col("longest_run") >= 3)["dialogue"])
    assert loops and found(run, loop="yes") == loops and found(run, loop="no") == set(ids(run)) - loops
    assert found(run, call="search: found nothing") == set(calls.filter(pl.col("found") == 0)["dialogue"])
    several = calls.filter(pl.col("found") > 1)
    assert found(run, call="search: found several") == set(several["dialogue"])
    failed = outcomes.filter(~pl.col("success") & (pl.col("domain") == "train") & (pl.col("rule") == "strict"))
    assert found(run, failed="train (strict)") == set(failed["dialogue"])
    unheard = run.table("reasons").filter(pl.col("reason") == "no_booking_heard")
    assert unheard.height and found(run, why="no booking was heard of (compat)") == set(unheard["dialogue"])


# The page of a run


def test_the_page_of_a_run_has_outcomes_reasons_and_confusions(library: Library, run: Run) -> None:
    tables = {table.title: table for table in PAGES.tables(library, run)}
    assert next(iter(tables)) == "Was the job done?"
    assert {"Success by domain", "How conversations ended", "Why tasks failed", "Most frequent confusions"} <= set(
        tables
    )
    strict = run.table("reasons").filter(pl.col("rule") == "strict").select("dialogue", "domain", "reason").rows()
    groups = {(dialogue, domain, REASON_GROUPS[reason]) for dialogue, domain, reason in strict}
    counted = {row["reason"]: row["strict"] for row in tables["Why tasks failed"].records() if row["strict"]}
    assert len(groups) > 10 and counted == Counter(group for _, _, group in groups)
    assert_harmless(shown_run(PAGES, library, run))


def test_a_study_has_a_page_without_dialogues() -> None:
    sitting = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"))
    conditions = [
        Condition("clean", AgentSpec("rule-system")),
        Condition("drop=0.4", AgentSpec("rule-system", {"channel": "drop=0.4"})),
    ]
    study = run_study(open_town(count=4), sitting, conditions, workers=1, resamples=5)[0]
    pages = pages_of(study.kind)
    assert [table.title for table in pages.tables(Library(runs=[study]), study)][1:] == ["Conditions"]
    assert_harmless(shown_run(pages, Library(runs=[study]), study))
    assert not DialogueList(Library(runs=[study]), study).page(DialogueQuery()).rows
    bare = new_run(kind="study", name="a")
    assert shown_run(pages, Library(runs=[bare]), bare) == ""


# What may be wrong with a run


def bare(**tables: pl.DataFrame) -> Run:
    """A run that has a hostile dialogue and these tables, and no scores."""
    return new_run(kind="lab", name=HOSTILE, tables=tables, corpus=[hostile_dialogue()])


def test_a_study_names_the_best_predictor_and_those_as_good() -> None:
    frame = {"auc": [0.9, 0.88, 0.6], "behind": [0.0, 0.02, 0.3], "behind_low": [0.0, -0.01, 0.2]}
    bounds = {"measure": ["JGA", "F1", "SA"], "auc_low": [0.85, 0.8, 0.5], "auc_high": [0.95, 0.92, 0.7]}
    tables = {
        "predictors": pl.DataFrame(frame | bounds | {"behind_high": [0.0, 0.05, 0.4]}),
        "conversations": pl.DataFrame({"success": [0.0, 1.0]}),
        "conditions": pl.DataFrame({"condition": ["clean"]}),
    }
    best, level = run_sentences(new_run(kind="study", name="s", tables=tables))
    assert best.startswith("JGA predicts success best:") and "90.0% [85.0, 95.0]" in best
    assert level == "Not told apart from it: F1."


def test_an_agent_that_failed_is_told(tmp_path: Path) -> None:
    outcome = Outcome(success=None, reason="agent_error", ended_by="system", facts={"explanation": "it broke"})
    dialogue = Dialogue(id="a", turns=(), outcome=outcome)
    run = new_run(kind="lab", name="a", corpus=[dialogue])
    went = dict(PAGES.dialogue(Library(runs=[run]), run, dialogue).overview.went)
    assert went["end"] == "an agent failed"
    assert went["what failed"] == "it broke"


@pytest.mark.soak
def test_conversations_about_real_goals(shared_data: Path) -> None:
    town = open_town(str(shared_data / "multiwoz21" / "test.json.gz"), count=40)
    user, system = AgentSpec("agenda-baseline", _DEAF), AgentSpec("rule-system", _DEAF)
    real = run_lab(town, LabConfig(user=user, system=system), workers=1, resamples=0)
    assert_harmless(everything(real))
    assert set(real.table("reasons")["reason"]) <= REASON_GROUPS.keys()
