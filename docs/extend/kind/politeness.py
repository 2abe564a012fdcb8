"""A kind of run of its own: does a system say thank you?"""

from collections.abc import Iterator

import msgspec
import numpy as np
import polars

from dialgauge import Dialogue, Store, Turn, compare
from dialgauge.explorer import write_report
from dialgauge.kinds import Kind
from dialgauge.measures import Card, Resampling, SystemEvidence, Units, parse_measures, score_systems
from dialgauge.report import Mark, Table, Transcript, View, count_table, plain_transcript
from dialgauge.runs import Run, new_run


class Replies(Units):
    """The evidence: a unit is a reply of the system."""

    def __init__(self, dialogues: list[Dialogue]) -> None:
        self.ids = [dialogue.id for dialogue in dialogues]
        self.rows = [
            (place, number, "thank" in turn.text.lower())
            for place, one in enumerate(dialogues)
            for number, turn in enumerate(one.turns)
            if turn.speaker == "system"
        ]
        self.dialogues = len(dialogues)
        self.dialogue = np.array([place for place, _, _ in self.rows])
        self.polite = np.array([polite for _, _, polite in self.rows], float)


CARDS: tuple[Card[Replies], ...] = (
    Card(
        name="Polite",
        family="politeness",
        title="polite replies",
        summary="Share of replies that say thank you.",
        formula="polite / replies",
        source="this page",
        units=lambda replies, settings: (replies.polite, np.ones(len(replies.polite))),
    ),
)


def verdict(run: Run) -> str:
    """The sentence of a run."""
    return f"{run.name} says thank you in {float(run['Polite']):.0%} of its replies."


def thanks(run: Run) -> polars.DataFrame:
    """A filter: dialogue, turn, and a column of words."""
    word = polars.when("polite").then(polars.lit("polite")).otherwise(polars.lit("gruff"))
    return run.table("thanks").select("dialogue", "turn", reply=word)


def replies(run: Run) -> Table:
    """How many replies are polite; each count leads to its list."""
    return count_table("Replies", thanks(run), "reply")


def filters(run: Run) -> Iterator[polars.DataFrame]:
    """All filters of a run."""
    yield thanks(run)


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """A dialogue with a mark on every reply."""
    said = plain_transcript(run, dialogue)
    own = thanks(run).filter(dialogue=dialogue.id)
    marks = {turn: [Mark(word, "good" if word == "polite" else "bad")] for _, turn, word in own.iter_rows()}
    turns = [msgspec.structs.replace(turn, marks=marks.get(turn.number, [])) for turn in said.turns]
    return msgspec.structs.replace(said, turns=turns)


VIEW = View(
    verdict=verdict,
    tables={"replies": replies},
    screen=("replies",),
    columns=("Polite",),
    transcript=transcript,
    filters=filters,
)
KIND = Kind("politeness", cards="politeness:CARDS", view="politeness:VIEW", headline=("Polite",))


def politeness_run(name: str, dialogues: list[Dialogue]) -> Run:
    """The run of a system: scores with intervals, and a table of its replies."""
    replies = Replies(dialogues)
    measures = parse_measures(["Polite"], "politeness")
    evidence = SystemEvidence(evidence=replies, measures=measures, dialogues=replies.ids)
    (scores,) = score_systems([evidence], Resampling(1000))
    rows = [(replies.ids[place], number, polite) for place, number, polite in replies.rows]
    thanks = polars.DataFrame(rows, schema=["dialogue", "turn", "polite"], orient="row")
    return new_run(kind="politeness", name=name, scores=scores, tables={"thanks": lambda: thanks}, corpus=dialogues)


if __name__ == "__main__":
    runs = []
    for name, every in (("butler", 1), ("robot", 4)):
        talks = [
            Dialogue(
                id=f"d{n:02}",
                turns=(
                    Turn(speaker="user", text="A table for two."),
                    Turn(speaker="system", text="Thank you, booked." if n % every == 0 else "Booked."),
                ),
            )
            for n in range(30)
        ]
        runs.append(Store("runs").add(politeness_run(name, talks)))
    print(compare(runs).verdict)
    write_report("politeness.html", runs)
