"""What own domains say is understood word for word, whatever slots and values are called; nothing else is taken for it.

The folders in ``tests/support/folders`` have slots whose names begin alike or are ordinary words, values with commas,
full stops and quotes, names that are other services' nouns, negative numbers, other scripts, references.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from dialgauge.agents import converse
from dialgauge.agents.speech import DomainSpeech
from dialgauge.dialogue import Act, Dialogue, Speaker
from dialgauge.draws import Draws
from dialgauge.lab import AgentSpec, blame_conversations, lab_scenario, make_lab_config, with_states
from dialgauge.tasks import judge_outcomes
from dialgauge.values import comparable, truth
from dialgauge.worlds.domain import (
    Domain,
    DomainGoal,
    DomainSearch,
    ServiceTask,
    act,
    draw_goals,
    load_domain,
)

FOLDERS = sorted((Path(__file__).parents[2] / "support" / "folders").iterdir())
#: Texts that people write into a booking.
TEXTS = (
    "Ann, Bob and Zoë",
    "leave at the desk, day or night",
    "the room should be quiet. Please book it: 3 packs?",
    'say "hi", and "bye"',
    "a doctor",
    "-3",
    "yes",
    "at 10:00",
    "Thank you. Goodbye.",
    "no",
    "Nothing else matters",
    '"',
    "2 berths",
)


def essence(acts: tuple[Act, ...] | None) -> set[tuple[object, ...]] | None:
    if acts is None:
        return None
    return {
        (one.name, one.slot, *(comparable(value) if truth(value) is None else truth(value) for value in one.values))
        for one in acts
    }


def hostile(goal: DomainGoal, domain: Domain, number: int) -> DomainGoal:
    """The goal with texts that are hard to read back in its bookings."""

    def changed(task: ServiceTask) -> ServiceTask:
        book = domain.services[task.domain].book
        texts = [slot for slot, kind in (book.takes if book else {}).items() if kind.kind == "text"]
        hard = {
            slot: TEXTS[(number + place) % len(TEXTS)] for place, slot in enumerate(texts) if slot in (task.book or {})
        }
        if task.book is None:
            return task
        first = None if task.book_first is None else {**task.book_first, **hard}
        whole = {**task.book, **hard}
        return replace(task, book=whole, book_first=None if first == whole else first)

    return replace(goal, tasks=tuple(map(changed, goal.tasks)))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_all_that_can_be_said_is_read_as_it_was_meant(folder: Path) -> None:
    domain = load_domain(folder)
    speech, draws = DomainSpeech(domain), Draws(7, "grammar")
    goals = [hostile(goal, domain, n) for n, goal in enumerate(draw_goals(domain, DomainSearch(domain), 60).goals)]
    for task in (task for goal in goals for task in goal.tasks):
        service = domain.services[task.domain]
        inform, request, row = service.act_name("inform"), service.act_name("request"), (service.rows or ({},))[0]
        wishes = [act(inform, slot, value) for slot, value in (task.first or task.info).items()]
        turns: list[tuple[Speaker, list[Act]]] = [
            ("user", [act(inform), *wishes]),
            ("user", wishes),
            ("user", [act(inform, slot, value) for slot, value in (task.book_first or task.book or {}).items()]),
            ("user", [act(request, slot, "?") for slot in service.askable if slot != service.name_slot][:4]),
            ("user", [act(inform, slot, "dontcare") for slot in service.known if slot != service.name_slot]),
            ("system", [act(service.act_name("no_offer"), one.slot, *one.values) for one in wishes]),
            ("system", [act(request, slot, "?") for slot in service.known if slot != service.name_slot]),
            ("system", [act(inform, slot, row.get(slot, "unknown")) for slot in service.answer]),
        ]
        if service.rows is not None:
            named = [slot for slot in (service.name_slot, *service.search) if slot in row]
            turns.append(("system", [act(service.act_name("offer"), slot, row[slot]) for slot in named]))
        for speaker, said in turns:
            if said:
                text = speech.nlg("varied").generate(said, speaker, draws).text
                assert essence(speech.grammar.hear(text, speaker, task.domain)) == essence(tuple(said)), text


def held(folder: Path, count: int, level: str) -> tuple[list[Dialogue], float, int]:
    """Conversations, their success, and in how many of them somebody is said to have erred."""
    domain = load_domain(folder)
    search = DomainSearch(domain)
    goals = [hostile(goal, domain, n) for n, goal in enumerate(draw_goals(domain, search, count, 4).goals)]
    config = make_lab_config(AgentSpec("agenda"), AgentSpec("rule-system"), level=level)
    dialogues = [
        with_states(converse(config.user.make(), config.system.make(), lab_scenario(search, goal, config)), domain)
        for goal in goals
    ]
    judged = judge_outcomes(dialogues, search, calls_recorded=True, goals={goal.id: goal for goal in goals})
    blamed = blame_conversations(judged)
    return (
        dialogues,
        sum(bool(one.success) for one in blamed) / count,
        sum(bool(one.user_erred or one.system_erred) for one in blamed),
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_conversations_succeed_in_words_and_nobody_errs(folder: Path) -> None:
    dialogues, success, erred = held(folder, 40, "text")
    assert success >= 0.97
    assert erred == 0
    openings = [dialogue.turns[0].text for dialogue in dialogues]
    assert not [text for text in openings if " also " in text]


@pytest.mark.parametrize(
    "text",
    [
        "Hey, is there something for tonight?",
        "I'm looking for a sleeper with wings.",
        "I'm looking for a sleeper with lift",
        "I'm looking for a sleeper with leave from \"Oslo.",
        "",
        '"' * 3000,
        "a. " * 1200,
    ],
)
def test_other_sentences_are_left_to_others(text: str) -> None:
    speech = DomainSpeech(load_domain(next(folder for folder in FOLDERS if folder.name == "night-train")))
    assert speech.grammar.hear(text, "user", "sleeper") is None


def test_values_are_in_quotes_only_where_they_must() -> None:
    speech = DomainSpeech(load_domain(next(folder for folder in FOLDERS if folder.name == "night-train")))

    def said(slot: str, value: str) -> str:
        return speech.nlg("plain").generate([act("Sleeper-Inform", slot, value)], "user", Draws(1, "x")).text

    assert said("leave_from", "Oslo") == "Leave from Oslo, please."
    assert said("note", "wake me, please") == 'For the booking: note "wake me, please".'
    assert said("leave", "at night") == "The leave should be at night."
    assert said("berths", "1") == "For the booking: 1 berth."


def test_the_domains_own_words_are_spoken_and_understood() -> None:
    speech = DomainSpeech(load_domain(next(folder for folder in FOLDERS if folder.name == "clinic")))
    wish = act("Doctor-Inform", "field", "cardiology")
    text = speech.nlg("plain").generate([wish], "user", Draws(1, "x")).text
    assert text == "I'd like somebody for cardiology."
    assert speech.grammar.hear(text, "user", "") == (wish,)
    asked = act("Doctor-Request", "field", "?")
    text = speech.nlg("plain").generate([asked], "system", Draws(1, "x")).text
    assert text == "What is it about? We have heart and lungs, skin, and more."
    assert speech.grammar.hear(text, "system", "") == (asked,)


def test_what_was_only_tried_first_is_taken_back() -> None:
    """A ``book_first`` and a ``first`` with a slot that ``book`` and ``want`` do not have."""
    domain = load_domain(next(folder for folder in FOLDERS if folder.name == "boat-hire"))
    search = DomainSearch(domain)
    book = {"day": "monday", "hours": "3", "hirer": "Ann"}
    goal = DomainGoal(
        id="g",
        tasks=(
            ServiceTask(
                domain="boat",
                info={"kind": "sail"},
                first={"kind": "sail", "engine": "fusion"},
                book=book,
                book_first={**book, "extras": "any"},
            ),
        ),
    )
    for level in ("act", "text"):
        config = make_lab_config(AgentSpec("agenda"), AgentSpec("rule-system"), level=level)
        dialogue = converse(config.user.make(), config.system.make(), lab_scenario(search, goal, config))
        judged = judge_outcomes([with_states(dialogue, domain)], search, calls_recorded=True, goals={"g": goal})
        assert [one.success for one in blame_conversations(judged)] == [True], dialogue
