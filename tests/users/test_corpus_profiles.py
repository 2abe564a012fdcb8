"""Profiles of what users do: each feature by hand, people against their own halves, and corpora side by side."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dialgauge.dialogue import Act, Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read, write
from dialgauge.users import (
    FEATURES,
    FeatureValues,
    behaviour_profile,
    feature_distances,
    feature_values,
    profile_tables,
    split_in_halves,
    user_talk,
)
from support.commands import dialgauge
from support.soak import MANY


def _said(text: str, *values: tuple[str, str]) -> Turn:
    acts = tuple(Act(name="Hotel-Inform", domain="hotel", slot=slot, values=(value,)) for slot, value in values)
    return Turn(speaker="user", text=text, acts=acts or None)


def _heard(text: str) -> Turn:
    return Turn(speaker="system", text=text)


def _features(*turns: Turn) -> dict[str, float | None]:
    talk = user_talk(Dialogue(id="d", turns=turns))
    assert talk is not None
    return {feature.name: feature.of(talk) for feature in FEATURES}


def test_each_feature_of_a_conversation_counted_by_hand() -> None:
    made = _features(
        _said("Hello, I want a cheap hotel.", ("price", "cheap")),
        _heard("Shall I book XK42PQ for you?"),
        _said("Actually I want an expensive hotel for two nights, please", ("price", "expensive")),
        _heard("Your user id?"),
        _said("ann_lee_2041 and XK42PQ."),
        _heard("Sorry, which day?"),
        _said("ann_lee_2041 and XK42PQ."),
        _heard("Done."),
        _said("Thanks. Can you send it on 2024-05-20"),
    )
    assert made == pytest.approx(
        {
            "messages": 5,
            "words/message": (6 + 10 + 3 + 3 + 7) / 5,  # a date is one word
            "words in first": 6,
            "short messages": 2 / 5,
            "details/message": (0 + 1 + 2 + 2 + 1) / 5,
            # cheap hotel; expensive two nights; ann_lee_2041 (xk42pq was heard); none; send 2024-05-20
            "new words/message": (2 + 3 + 1 + 0 + 2) / 5,
            "first detail at": 2,
            "gives an id": 1,
            "first id at": 3,
            "informs/message": 2 / 5,
            "first inform at": 1,
            "questions": 1 / 5,
            "corrections": 1 / 5,
            "changed values": 1 / 5,
            "polite messages": 2 / 5,
            "greets": 1,
            "repeated messages": 1 / 5,
            # hotel; ann_lee_2041 xk42pq; of 2 + 4 + 2 + 2 + 2 words
            "words said again": 3 / 12,
            "ends with thanks": 1,
            "ends by asking": 1,
            "has the last word": 1,
        },
        nan_ok=True,
    )


def test_what_is_no_message_and_what_is_not_recorded() -> None:
    made = _features(
        _heard("Hi! Your booking is EHGLP3."),
        _said("Let me look."),  # to a tool: another message follows
        _said("It is EHGLP3, on 2024-05-20 at 10:30am, 1500dollars"),
        _heard("Bye."),
        _said("###STOP###"),
    )
    assert (made["messages"], made["has the last word"]) == (1, 1)
    assert (made["gives an id"], made["first id at"], made["informs/message"]) == (0, None, None)
    silent = user_talk(Dialogue(id="d", turns=(_heard("Hi!"), _said(" "))))
    assert silent is None
    acts_only = _features(_said("", ("price", "cheap")), _heard(""), _said("", ("price", "none")))
    assert (acts_only["messages"], acts_only["informs/message"], acts_only["words/message"]) == (2, 0.5, None)


@pytest.mark.parametrize(
    ("text", "feature", "holds"),
    [
        ("which one is cheaper", "questions", True),
        ("I know what I want", "questions", False),
        ("No, the other one", "corrections", True),
        ("No thanks", "corrections", False),
        ("I can wait", "corrections", False),
        ("it's for my thankless boss", "polite messages", False),
        ("hiking near here", "greets", False),
        ("Good morning!", "greets", True),
        ("that's all for now", "ends with thanks", True),
        ("call 555-123-2002", "gives an id", True),
    ],
)
def test_rules_of_words(text: str, feature: str, holds: bool) -> None:
    assert _features(_said(text))[feature] == holds


def test_people_are_not_told_apart_from_themselves(shared_data: Path) -> None:
    """Splits of people: a false difference in one of twenty; but the same people without thanks are found."""
    people = feature_values(read(shared_data / "multiwoz21/val.json.gz").dialogues)
    told = []
    for seed in range(10 if MANY else 4):
        distances = feature_distances(*split_in_halves(people, seed), resamples=500, seed=seed)
        told.append(sum(distance.told_apart for distance in distances.values()))
    # At the level of 0.05, P(3 or more of 10) is 0.012 and P(2 or more of 4) is 0.014.
    assert sum(map(bool, told)) <= (2 if MANY else 1)
    one, other = split_in_halves(people, 0)
    place = next(place for place, feature in enumerate(FEATURES) if feature.name == "ends with thanks")
    other.values[place, ::5] = 0
    found = feature_distances(one, other, resamples=500, seed=0)
    assert [name for name, distance in found.items() if distance.told_apart] == ["ends with thanks"]


def test_trials_of_one_task_are_no_conversations_by_themselves() -> None:
    """Users that do the same in every trial of a task: 40 splits into halves, told apart in one of twenty."""
    draws = np.random.Generator(np.random.PCG64(1))
    tasks = np.repeat(np.arange(24), 4)
    values = np.full((len(FEATURES), len(tasks)), np.nan)
    values[:2] = draws.integers(0, 6, size=(2, 24))[:, tasks]
    corpus = FeatureValues(values, tasks)
    told = {True: 0, False: 0}
    for seed in range(40):
        halves = split_in_halves(corpus, seed)
        assert [len(half.tasks) for half in halves] == [48, 48] and [half.tasks.max() for half in halves] == [11, 11]
        for whole in told:
            pair = halves if whole else [FeatureValues(half.values, np.arange(48)) for half in halves]
            distances = feature_distances(*pair, resamples=100, seed=seed)
            told[whole] += any(distance.told_apart for distance in distances.values())
    assert told[True] <= 5 and told[False] > 12  # P(6 or more) is 0.014 at the level of 0.05


def _corpus(path: Path, texts: list[str]) -> Path:
    write(
        [Dialogue(id=str(n), turns=(_said(text), _heard("ok"))) for n, text in enumerate(texts)], path, format="native"
    )
    return path


def test_the_command_beside_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = _corpus(tmp_path / "people.jsonl", ["Hello, a room please", "a room"] * 10)
    model = _corpus(tmp_path / "model.jsonl", ["Hello. I need 2 rooms", ""] * 10)
    arguments = ["users", "profile", str(model), "--beside", str(people)]
    shown = dialgauge(capsys, *arguments, "--json", str(tmp_path / "o.json")).out
    assert "model: 10 more conversations have no message of the user." in shown and "not a score of realism" in shown
    document = json.loads((tmp_path / "o.json").read_text())
    halves, beside = document["corpora"]
    assert document["beside"] == halves["name"] == "people" and (beside["dialogues"], beside["silent"]) == (10, 10)
    assert beside["features"]["greets"]["mean"] == 1 and halves["features"]["greets"]["mean"] == 0.5
    assert beside["distances"]["greets"]["distance"] == 0.5
    assert beside["distances"]["details/message"]["told_apart"]
    assert not any(distance["told_apart"] for distance in halves["distances"].values())
    few = dialgauge(capsys, *arguments, "--resamples", "20").out
    assert "Nothing can be told apart with 20 resamples" in few
    [alone] = behaviour_profile({"model": model}, resamples=0)
    assert alone.distances == {} and len(profile_tables([alone])) == 1


def test_corpora_that_cannot_be_profiled(tmp_path: Path) -> None:
    few = _corpus(tmp_path / "few.jsonl", ["a", "b", "c"])
    with pytest.raises(DialgaugeError, match="needs 4 conversations or more"):
        behaviour_profile({"few": few}, beside="few")
    with pytest.raises(DialgaugeError, match="no conversation has a message of the user"):
        behaviour_profile({"none": _corpus(tmp_path / "none.jsonl", [" "])})


def test_halves_hold_every_conversation_once() -> None:
    corpus = FeatureValues(np.arange(7.0)[None, :], np.arange(7))
    halves = split_in_halves(corpus, 3)
    assert sorted(np.hstack([half.values for half in halves])[0]) == list(range(7))
    assert [len(half.tasks) for half in halves] == [3, 4]
