"""Assistants that speak as they like: judged by what they did and told, never by whether we understood the words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agents.test_history_bots import server
from dialgauge.agents import Reply, Vocabulary
from dialgauge.dialogue import Act, Call, Dialogue, Outcome, Turn
from dialgauge.lab import AgentSpec, converse, open_domain, with_told_acts
from dialgauge.worlds.domain import DomainSearch, act, draw_goals, load_domain

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
BIKES = load_domain(BENCHMARKS / "domains" / "bike-shop")
SEARCH = DomainSearch(BIKES)
WORDS = Vocabulary(BIKES)


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import fairness

    yield fairness
    sys.modules.pop("fairness", None)


STYLES = ("plain", "chatty", "markdown", "terse", "model", "pronoun", "echo", "bracketed")


@pytest.mark.parametrize("style", STYLES)
def test_systems_that_do_it_right_are_never_called_wrong(words: Any, style: str) -> None:
    for name, count in (("town", 6), ("bike-shop", 8), ("clinic", 8)):
        loaded = open_domain(str(words.DOMAINS.get(name, name)), count=count, seed=4)
        held, _ = words.held_with(loaded.search, loaded.goals, lambda: words.StyledSystem(style))
        tally = words.Tally(loaded.search, loaded.goals, held)
        assert "not done" not in tally.outcomes
        assert tally.outcomes.count("unread") <= 1, tally.sides


@pytest.mark.parametrize("fault", ["wrong_value", "other_row", "silent", "wrong_reference", "withheld"])
def test_faults_of_systems_in_other_words_count_as_not_done(words: Any, fault: str) -> None:
    outcomes = []
    for name in ("town", "observatory"):
        loaded = open_domain(str(words.DOMAINS.get(name, name)), count=10, seed=4)
        for style in ("plain", "model", "pronoun"):
            system = partial(words.StyledSystem, style, words.FAULTS[fault])
            held, injected = words.held_with(loaded.search, loaded.goals, system)
            tally = words.Tally(loaded.search, loaded.goals, held)
            outcomes += [what for what, faulty in zip(tally.outcomes, injected, strict=True) if faulty]
    assert len(outcomes) > 10 and outcomes.count("not done") >= 0.97 * len(outcomes), outcomes


def test_who_says_nothing_is_blamed(words: Any) -> None:
    goals = draw_goals(BIKES, SEARCH, 10, 4)
    held, _ = words.held_with(SEARCH, goals, words.Silent)
    assert set(words.Tally(SEARCH, goals, held).sides) == {"system"}


def test_a_user_who_did_not_understand_does_not_leave_before_one_was_named(words: Any) -> None:
    drawn = draw_goals(BIKES, SEARCH, 100, 3)
    goals = [goal for goal in drawn if not goal.tasks[0].requests and goal.tasks[0].book is None]
    held, _ = words.held_with(SEARCH, goals, lambda: words.StyledSystem("chatty"))
    assert len(goals) > 5 and all(words.Tally(SEARCH, goals, held).done)


def altered(words: Any, search: DomainSearch, outcome: str, text: str, **further: str) -> Any:
    """The tally of a system in plain words that says a text instead where a booking had an outcome; ``further`` values
    are those of a second booking that it makes before each."""

    class Altered:
        name, side, levels = "altered", "system", ("text",)

        def __init__(self) -> None:
            self._styled, self._outcome = words.StyledSystem("plain"), ""

        def start(self, context: Any) -> None:
            self._styled.start(context)
            book = context.office.book

            def note(service: str, slots: dict[str, str], row: Any = None) -> Any:
                if further:
                    book(service, {**slots, **further}, row)
                answer = book(service, slots, row)
                self._outcome = answer.outcome
                return answer

            context.office.book = note

        def respond(self, turn: Turn | None) -> Reply:
            self._outcome = ""
            reply: Reply = self._styled.respond(turn)
            if text and self._outcome == outcome:
                return Reply(turn=Turn(speaker="system", text=text), state=reply.state)
            return reply

    wanted = [goal for goal in draw_goals(search.domain, search, 40, 4) if goal.tasks[0].book]
    goals = [goal for goal in wanted if bool(goal.tasks[0].book_first) is (outcome == "refused")][:4]
    held, _ = words.held_with(search, goals, Altered)
    return words.Tally(search, goals, held)


def reasons(tally: Any) -> set[str]:
    judged = [one.strict for one in tally.verdicts.values()]
    return {failure.reason for verdict in judged for task in verdict.tasks.values() for failure in task.failures}


@pytest.mark.parametrize(
    ("reply", "expected", "side"),
    [
        ("Great news, it is booked for you. Anything else?", {"refusal_denied"}, "system"),
        ("Okay.", {"refusal_untold"}, "system"),
        ("Noted.", {"outcome_unread"}, "lab"),
        ("Friday at 10:00, for 3 hours.", {"outcome_unread"}, "lab"),
        ("Alas, somebody else was quicker.", {"outcome_unread"}, "lab"),
        ("How about Saturday?", {"outcome_unread"}, "lab"),
        ("I'm afraid they refused it.", set(), ""),
        ("That one is fully booked.", set(), ""),
    ],
)
def test_what_is_said_of_a_refused_booking_counts(words: Any, reply: str, expected: set[str], side: str) -> None:
    tally = altered(words, SEARCH, "refused", reply)
    assert reasons(tally) == expected
    assert set(tally.sides) == {side} and set(tally.done) == {not expected}


@pytest.mark.parametrize(
    ("reply", "expected", "side"),
    [
        ("Okay.", {"booking_untold"}, "system"),
        ("Sorry, that did not work.", {"outcome_unread"}, "lab"),
        ("All booked.", set(), ""),
        ("See you on Monday!", {"outcome_unread"}, "lab"),
    ],
)
def test_a_booking_that_gives_nothing_has_to_be_told_too(
    words: Any, tmp_path: Path, reply: str, expected: set[str], side: str
) -> None:
    for file in (BENCHMARKS / "domains" / "bike-shop").iterdir():
        (tmp_path / file.name).write_text(file.read_text().replace("      gives: [reference]\n", "      gives: []\n"))
    tally = altered(words, DomainSearch(load_domain(tmp_path)), "booked", reply)
    assert reasons(tally) == expected
    assert set(tally.sides) == {side} and set(tally.done) == {not expected}


def test_a_booking_beside_the_right_one_is_noticed(words: Any) -> None:
    tally = altered(words, SEARCH, "booked", "", hours="12")
    assert reasons(tally) == {"booked_besides"} and set(tally.sides) == {"system"} and not any(tally.done)


def conversation(*said: tuple[str, tuple[Act, ...], tuple[Call, ...]]) -> Dialogue:
    turns = [
        Turn(
            speaker="system" if place % 2 else "user", text=text, acts=None if place % 2 else acts, calls=calls or None
        )
        for place, (text, acts, calls) in enumerate(said)
    ]
    return Dialogue(id="d", turns=tuple(turns), outcome=Outcome(success=True))


def row(name: str) -> int:
    return next(number for number, cells in enumerate(BIKES.services["bike"].rows or ()) if cells["bike"] == name)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It weighs 18 kilos.", act("Bike-Inform", "weight", "18")),
        ("It weighs 19 kilos.", act("Bike-Inform", "weight", "19")),
        ("Not listed, sorry.", None),
        ("Somewhere between 12 and 16, I was told the other day by somebody at the harbour.", None),
        ("Lovely weather today.", None),
    ],
)
def test_answers_are_read_from_values(reply: str, expected: Act | None) -> None:
    found = Call(name="search", domain="bike", found=1, rows=(row("Corvo Ranger"),))
    held = conversation(
        ("A bike.", (act("Bike-Inform"),), ()),
        ("The Corvo Ranger!", (), (found,)),
        ("How heavy is it?", (act("Bike-Request", "weight", "?"),), ()),
        (reply, (), ()),
    )
    read = with_told_acts(held, WORDS)
    assert act("Bike-Offer", "bike", "Corvo Ranger") in (read.turns[1].acts or ())
    told = [one for one in read.turns[3].acts or () if one.intent == "inform" and one.slot == "weight"]
    assert told == ([expected] if expected is not None else told[:0])
    assert read.turns[0].heard == read.turns[0].acts
    unsure = [one for one in read.turns[3].acts or () if one.intent == "unsure"]
    assert bool(unsure) is reply.startswith(("Somewhere", "Not listed"))


def test_a_bot_behind_http_uses_tools_and_is_judged_by_them() -> None:
    """It searches for what it was told by name, books when asked to, and words things its own way."""
    state: dict[str, dict[str, Any]] = {}

    def respond(question: dict[str, Any]) -> tuple[int, bytes]:
        known = state.setdefault(question["dialogue"], {"wishes": {}, "found": None})
        if "results" in question:
            result = question["results"][0]["result"]
            if "rows" in result:
                known["found"] = result["rows"][0] if result["rows"] else None
                name = result["rows"][0]["bike"] if result["rows"] else ""
                return 200, json.dumps({"text": f"*{name}* it is." if name else "Nothing like that here."}).encode()
            return 200, json.dumps({"text": result["message"]}).encode()
        assert {tool["name"] for tool in question["tools"]} == {"search_bike", "book_bike"}
        properties = question["tools"][0]["parameters"]["properties"]
        words = question["utterance"].lower()
        for slot in ("style", "frame"):
            known["wishes"].update((slot, value) for value in properties[slot]["enum"] if value in words)
        call = {"name": "search_bike", "arguments": known["wishes"]}
        return 200, json.dumps({"calls": [call]}).encode()

    with server(respond) as url:
        loaded = open_domain(str(BENCHMARKS / "domains" / "bike-shop"), count=6)
        results = converse(AgentSpec("http", {"url": url}), "agenda", goals=loaded, level="text", resamples=0)
    run = results[0]
    held = list(run.dialogues())
    assert all(turn.calls for one in held for turn in one.turns if turn.speaker == "system")
    assert run.signature and "understanding:free" in str(run.signature)
    assert run.scores["R-GCDF1"].value == 1.0


def test_a_refused_booking_that_is_told_as_made_is_caught_in_the_town(words: Any) -> None:
    town = open_domain(count=60)
    goals = [goal for goal in town.goals if any(task.book_first for task in goal.tasks)][:6]
    held, injected = words.held_with(town.search, goals, partial(words.StyledSystem, "plain", words.claimed))
    tally = words.Tally(town.search, goals, held)
    assert any(injected)
    for faulty, done, side in zip(injected, tally.done, tally.sides, strict=True):
        assert not faulty or (not done and side == "system")
