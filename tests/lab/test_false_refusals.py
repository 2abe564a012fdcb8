"""A bot that finds wishes by parts of words ("dry" in dryer, "no" in know) searches in vain for what nobody said."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.agents import Reply, SystemContext
from dialgauge.dialogue import Blame, Dialogue, Turn
from dialgauge.lab import (
    AgentSpec,
    ConversationBlame,
    LabConfig,
    LoadedDomain,
    blame_conversations,
    blame_sentence,
    hold_conversations,
    open_domain,
)
from dialgauge.tasks import judge_outcomes

DOMAIN = """
domain: laundry
title: a laundrette
services:
  machine:
    title: a machine
    rows: machines.csv
    name: machine
    search: {kind: same, dryer: yes-no}
    answer: [floor]
    book:
      takes: {day: day, hours: number 1..4}
      gives: [reference]
"""
ROWS = """machine,kind,dryer,floor
Bubble,wash,no,ground
Foam,wash,no,ground
Gale,dry,yes,first
Storm,dry,yes,first
Silk,delicate,no,first
"""


class _PartsOfWords:
    """Takes for a wish what stands anywhere in the user's words, and keeps what was taken back."""

    name = "parts-of-words"

    def start(self, context: SystemContext) -> None:
        assert context.office is not None
        self._desk = context.office
        self._wishes: dict[str, str] = {}

    def respond(self, turn: Turn | None) -> Reply:
        search = self._desk.tools()[0]
        words = turn.text.lower() if turn is not None else ""
        for slot, schema in search["parameters"]["properties"].items():
            for value in schema.get("enum", []):
                if value.lower() in words:
                    self._wishes[slot] = value
        rows = self._desk.call(search["name"], self._wishes).result["rows"]
        text = f"I have {', '.join(f'{k}: {v}' for k, v in rows[0].items())}." if rows else "Sorry, there is none."
        return Reply(turn=Turn(speaker="system", text=text))


@pytest.fixture(scope="module")
def laundry(tmp_path_factory: pytest.TempPathFactory) -> LoadedDomain:
    folder: Path = tmp_path_factory.mktemp("laundry")
    (folder / "domain.yaml").write_text(DOMAIN)
    (folder / "machines.csv").write_text(ROWS)
    return open_domain(str(folder), count=40)


@pytest.fixture(scope="module")
def held(laundry: LoadedDomain) -> list[Dialogue]:
    make = AgentSpec.make
    config = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("parts"), level="text")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AgentSpec, "make", lambda spec: _PartsOfWords() if spec.name == "parts" else make(spec))
        return list(hold_conversations(laundry.again, laundry.goals, config))


def blame(held: list[Dialogue], laundry: LoadedDomain) -> dict[str, ConversationBlame]:
    judged = judge_outcomes(held, laundry.search, calls_recorded=True, goals={goal.id: goal for goal in laundry.goals})
    return {one.dialogue: one for one in blame_conversations(judged)}


def links(held: list[Dialogue], laundry: LoadedDomain) -> list[Blame]:
    return [one.link for one in blame(held, laundry).values() if one.link is not None]


def test_neither_world_nor_lab_nor_user_is_to_blame(held: list[Dialogue], laundry: LoadedDomain) -> None:
    found = links(held, laundry)
    assert len(found) > 20
    assert {link.side for link in found} == {"system"}
    assert "searched_otherwise" in {link.code for link in found}


def test_what_was_searched_by_was_not_said(held: list[Dialogue], laundry: LoadedDomain) -> None:
    turns = {dialogue.id: dialogue.turns for dialogue in held}
    for name, one in blame(held, laundry).items():
        link = one.link
        if link is None or link.code != "searched_otherwise":
            continue
        slot, value = link.arguments
        said = {
            act.slot: act.values[0]
            for turn in turns[name][: link.turn]
            if turn.speaker == "user"
            for act in turn.acts or ()
            if act.intent == "inform" and act.values
        }
        assert said.get(slot) != value, one
        assert [call.outcome_words for call in turns[name][link.turn or 0].calls or ()] == ["0 found"]
        assert f"had {slot} {value}, " in blame_sentence(link)
