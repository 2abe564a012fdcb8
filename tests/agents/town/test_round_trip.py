"""The gate of section 8.4: what our NLG says, our NLU understands, in every world and for every act and slot.

Sessions of our own agents on goals that nothing was trained on, rendered with other draws than the training's.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from dialgauge.agents.speech import default_nlu
from dialgauge.dialogue import Ontology, Speaker
from dialgauge.formats import read
from dialgauge.worlds.town import (
    TownSearch,
    generate_goals,
    generate_town,
    goal_record,
    load_town,
    spoken_ontology,
    town_goal,
)
from support.nlu_sessions import NluSample, confusions, recalls, session_samples, understanding
from support.shared import shared_folder
from support.soak import examples

SPEAKERS: tuple[Speaker, ...] = ("user", "system")
#: Act-slots that were said less often prove nothing.
ENOUGH = 20


def check(samples: Iterable[NluSample], ontology: Ontology) -> None:
    nlu, turns = default_nlu(ontology), list(samples)
    for speaker in SPEAKERS:
        scores = understanding(nlu, turns, speaker)
        assert scores.f1 >= 0.98, (speaker, scores.f1)
        assert {item: recall for item, recall in recalls(scores, ENOUGH).items() if recall < 0.95} == {}
        assert {pair: share for pair, share in confusions(scores, ENOUGH).items() if share > 0.03} == {}


@pytest.mark.soak
def test_sessions_in_the_town_of_multiwoz() -> None:
    data = shared_folder("data")
    if data is None:
        pytest.skip("DIALGAUGE_DATA does not name shared/data")
    town = load_town(data / "multiwoz21" / "db")
    search = TownSearch(town)
    dialogues = list(read(str(data / "multiwoz21" / "val.json.gz")))[:400]
    goals = [town_goal(one.id, one.goal, search) for one in dialogues if one.goal is not None and one.goal.tasks]
    check(session_samples(goals, search, seed=8), spoken_ontology(town))


def test_sessions_in_a_synthetic_town() -> None:
    town = generate_town(seed=5)
    search = TownSearch(town)
    made = generate_goals(town, examples(400), 5, emergencies=0.1)
    goals = [town_goal(name, goal_record(goal), search) for name, goal in made.items()]
    check(session_samples(goals, search, seed=8), spoken_ontology(town))
