from __future__ import annotations

from dialgauge.demo import learn_words, track
from dialgauge.dialogue import Dialogue, State, Turn


def dialogue(*said: tuple[str, State]) -> Dialogue:
    return Dialogue(id="d", turns=tuple(Turn(speaker="user", text=text, state=state) for text, state in said))


TRAIN = dialogue(
    ("in rome please", {"restaurant": {"location": ("rome",)}}),
    ("no in paris", {"restaurant": {"location": ("paris",)}}),
)


def test_words_are_learned_from_training_states() -> None:
    assert learn_words([TRAIN]) == {"rome": ("restaurant", "location"), "paris": ("restaurant", "location")}


def test_one_tracker_takes_the_latest_mention_and_the_other_the_first() -> None:
    words = learn_words([TRAIN])
    test = dialogue(("in paris", {}), ("thanks", {}), ("rather in rome", {}), ("or oslo", {}))
    latest = [turn.predicted for turn in track(test, words, overwrite=True).turns]
    first = [turn.predicted for turn in track(test, words, overwrite=False).turns]
    paris: State = {"restaurant": {"location": ("paris",)}}
    rome: State = {"restaurant": {"location": ("rome",)}}
    assert latest == [paris, paris, rome, rome]
    assert first == [paris, paris, paris, paris]


def test_the_given_dialogue_is_left_alone() -> None:
    track(TRAIN, learn_words([TRAIN]), overwrite=True)
    assert all(turn.predicted is None for turn in TRAIN.turns)
