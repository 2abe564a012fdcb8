"""Users beside people: acts turn by turn, distributions, and the paper's user beside MultiWOZ."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read, write
from dialgauge.users import UserOptions, likeness, likeness_table


def _talk(name: str, *turns: tuple[str, ...]) -> Dialogue:
    said = []
    for acts in turns:
        made = tuple(Act(name="Hotel-Inform", domain="hotel", slot=slot, values=("x",)) for slot in acts)
        said += [Turn(speaker="user", text="so", acts=made), Turn(speaker="system", text="ok", acts=())]
    return Dialogue(id=name, turns=tuple(said), goal=Goal(tasks={"hotel": Task(info={"area": "x"})}))


def test_turns_are_compared_by_their_number(tmp_path: Path) -> None:
    people = [_talk("a", ("area", "stars"), ("name",)), _talk("b", ("area",))]
    user = [_talk("a", ("area",), ("stars",), ("name",)), _talk("b", ("area",)), _talk("c", ("area",))]
    write(people, tmp_path / "people.jsonl", format="native")
    write(user, tmp_path / "user.jsonl", format="native")
    [made] = likeness(tmp_path / "people.jsonl", {"mine": tmp_path / "user.jsonl"}, smoothing=1.0)
    assert (made.dialogues, made.turns, made.corpus_turns) == (2, 4, 3)
    assert made.acts.precision == made.acts.recall == made.acts.f1 == pytest.approx(2 / 4)  # both areas, of four acts
    assert made.kl_acts == 0  # the same acts as often
    assert made.cvm_turns > 0 and made.i_gcdf1 is not None
    assert "1 added to every count" in likeness_table([made], "people").notes[1]
    [alike] = likeness(tmp_path / "people.jsonl", {"mine": tmp_path / "people.jsonl"})
    assert (alike.acts.f1, alike.values.f1, alike.kl_turns, alike.cvm_acts) == (1, 1, 0, 0)
    write([_talk("z", ("area",))], tmp_path / "other.jsonl", format="native")
    with pytest.raises(DialgaugeError, match="shares no dialogue with the corpus"):
        likeness(tmp_path / "people.jsonl", {"mine": tmp_path / "other.jsonl"})
    with pytest.raises(DialgaugeError, match="smoothing must be more than 0"):
        likeness(tmp_path / "people.jsonl", {"mine": tmp_path / "user.jsonl"}, smoothing=0.0)


def test_the_papers_user_beside_the_people_whose_goals_it_has(shared_data: Path) -> None:
    """GCDF1 sees a user that says 62% of its goal; turn by turn it says hardly what people say."""
    values = UserOptions(canonical_map=shared_data / "gcdf1/multiwoz21_canonical_map.json.gz")
    source = shared_data / "gcdf1/conversations/dialogues_001.json.gz"
    [made] = likeness(shared_data / "multiwoz21/test.json.gz", {"paper": source}, values, resamples=0)
    assert made.dialogues == len(read(source).dialogues)
    assert made.acts.f1 is not None and made.i_gcdf1 is not None
    assert 0.1 < made.acts.f1 < 0.25 < made.i_gcdf1
    assert made.turns > made.corpus_turns  # it repeats itself to the end of the session
