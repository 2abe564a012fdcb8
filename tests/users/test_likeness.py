"""Users beside people: acts turn by turn, distributions, and the paper's user beside MultiWOZ."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read, write
from dialgauge.users import UserOptions, likeness


def _talk(name: str, *turns: tuple[str, ...]) -> Dialogue:
    said = []
    for acts in turns:
        made = tuple(Act(name="Hotel-Inform", domain="hotel", slot=slot, values=("x",)) for slot in acts)
        said += [Turn(speaker="user", text="so", acts=made), Turn(speaker="system", text="ok", acts=())]
    return Dialogue(id=name, turns=tuple(said), goal=Goal(tasks={"hotel": Task(info={"area": "x"})}))


def measured(people: Path, user: Path, options: UserOptions | None = None) -> dict[str, float]:
    rows = likeness(people, {"mine": user}, options, resamples=0).records()
    return {row["measure"]: row["mine"] for row in rows}  # type: ignore[misc]


def test_turns_are_compared_by_their_number(tmp_path: Path) -> None:
    people = [_talk("a", ("area", "stars"), ("name",)), _talk("b", ("area",))]
    user = [_talk("a", ("area",), ("stars",), ("name",)), _talk("b", ("area",)), _talk("c", ("area",))]
    write(people, tmp_path / "people.jsonl", format="native")
    write(user, tmp_path / "user.jsonl", format="native")
    made = measured(tmp_path / "people.jsonl", tmp_path / "user.jsonl")
    assert [made[row] for row in ("dialogues that both have", "user turns", "people's turns")] == [2, 4, 3]
    assert [made[f"act {name}"] for name in ("precision", "recall", "F1")] == [2 / 4] * 3  # both areas, of four acts
    assert made["KL of acts, bits"] == 0  # the same acts as often
    assert made["Cramér–von Mises, turns per dialogue"] > 0
    alike = measured(tmp_path / "people.jsonl", tmp_path / "people.jsonl")
    same = ("act F1", "act F1 with values", "KL of turns per dialogue, bits", "Cramér–von Mises, acts per turn")
    assert [alike[row] for row in same] == [1, 1, 0, 0]
    write([_talk("z", ("area",))], tmp_path / "other.jsonl", format="native")
    with pytest.raises(DialgaugeError, match="shares no dialogue with the corpus"):
        measured(tmp_path / "people.jsonl", tmp_path / "other.jsonl")


def test_the_papers_user_beside_the_people_whose_goals_it_has(shared_data: Path) -> None:
    """GCDF1 sees a user that says 62% of its goal; turn by turn it says hardly what people say."""
    values = UserOptions(canonical_map=shared_data / "gcdf1/multiwoz21_canonical_map.json.gz")
    source = shared_data / "gcdf1/conversations/dialogues_001.json.gz"
    made = measured(shared_data / "multiwoz21/test.json.gz", source, values)
    assert made["dialogues that both have"] == len(read(source).dialogues)
    assert 0.1 < made["act F1"] < 0.25 < made["I-GCDF1"]
    assert made["user turns"] > made["people's turns"]  # it repeats itself to the end of the session
