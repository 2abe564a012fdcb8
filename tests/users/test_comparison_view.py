from __future__ import annotations

import polars

from dialgauge.comparison import ItemDifference, TurnDivergence, view_of
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.runs import Run, new_run

SCHEMA = {
    "dialogue": polars.String,
    "turn": polars.Int64,
    "measure": polars.String,
    "domain": polars.String,
    "item": polars.String,
    "verdict": polars.String,
}


def run_of(name: str, said: str, *verdicts: tuple[int | None, str, str]) -> Run:
    turns = (Turn(speaker="user", text=said), Turn(speaker="system", text="Which area?"))
    rows = [("d1", turn, "I-GCDF1", "hotel", item, verdict) for turn, item, verdict in verdicts]
    return new_run(
        kind="users",
        name=name,
        corpus=[Dialogue(id="d1", turns=turns)],
        tables={"verdicts": polars.DataFrame(rows, SCHEMA, orient="row")},
    )


def test_users_diverge_in_what_they_say() -> None:
    first, second = run_of("a", "A hotel."), run_of("b", "A cheap hotel.")
    item = ItemDifference("user", None, "A hotel.", "A cheap hotel.")
    assert view_of("users").divergence(first, second, "D1.json") == TurnDivergence(0, 1, (item,))


def test_the_same_words_may_be_judged_otherwise() -> None:
    first = run_of("a", "A hotel.", (0, "area=north", "true positive"), (None, "stars=4", "false negative"))
    second = run_of("b", "A hotel.", (0, "area=north", "false positive"), (None, "stars=4", "true positive"))
    item = ItemDifference("I-GCDF1 hotel: area=north", None, "true positive", "false positive")
    assert view_of("users").divergence(first, second, "d1") == TurnDivergence(0, 2, (item,))
    third = run_of("c", "A hotel.", (0, "area=north", "true positive"))
    unsaid = ItemDifference("I-GCDF1 hotel: stars=4", None, "false negative", "-")
    assert view_of("users").divergence(first, third, "d1") == TurnDivergence(1, 1, (unsaid,))
    assert view_of("users").divergence(first, first, "d1") is None
