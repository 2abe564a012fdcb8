"""``dialgauge lab train``: an NLU of your own, from annotated dialogues."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dialgauge import formats, rendering
from dialgauge.agents import speech
from dialgauge.cli.common import TableOutput
from dialgauge.cli.lab_options import DatabaseOption
from dialgauge.cli.options import Argument, Option, OutputFile, WholeNumber, command
from dialgauge.cli.screen import err
from dialgauge.cli.writing import tables_document
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted
from dialgauge.worlds import town

if TYPE_CHECKING:
    from dialgauge.dialogue import Speaker


@command()
def train(
    dialogues: Annotated[list[str], Argument(help="Annotated dialogues (MultiWOZ with dialogue acts).")],
    model: Annotated[Path, OutputFile("--out", help="Model file to write (.npz).")],
    database: DatabaseOption = None,
    practice: Annotated[
        int, WholeNumber(of="turns", min=0, help="Template-generated turns to add to the training data.")
    ] = 10_000,
    epochs: Annotated[int, WholeNumber(of="epochs", min=1, help="Passes over the training turns.")] = 5,
    seed: Annotated[int, Option(min=0, help="Random seed for the order of turns.")] = 0,
    test: Annotated[
        str | None,
        Option(metavar="FILE", help="Evaluate on these held-out dialogues."),
    ] = None,
    *,
    output: TableOutput,
) -> None:
    """Train an NLU model on human dialogues, for town agents that exchange text.

    Use it with 'dialgauge lab run --user-set nlu=FILE --system-set nlu=FILE'. The same dialogues always give the same
    model.
    """
    if test is None and (output.json or output.table):
        raise DialgaugeError("--json and --table hold the evaluation; add --test FILE to evaluate")
    rows = town.load_town(database) if database else town.town_beside(dialogues[0])
    ontology = town.spoken_ontology(rows)
    learned = [dialogue for file in dialogues for dialogue in formats.read(file).dialogues]
    samples = list(speech.human_samples(learned))
    if not any(sample.acts for sample in samples):
        raise DialgaugeError("none of the dialogues has dialogue acts to train on", file=dialogues[0])
    others = formats.read(test).dialogues if test else []
    if shared := {other.id for other in others} & {dialogue.id for dialogue in learned}:
        raise DialgaugeError(
            f"{counted(len(shared), 'dialogue')}, for example {min(shared)}, {'is' if len(shared) == 1 else 'are'} "
            "in both the training and the --test files",
            file=test,
        )
    with err.status(f"training on {len(samples):,} human and {practice:,} generated turns"):
        made = speech.train_nlu(
            [*samples, *speech.practice_samples(practice, seed=seed)], ontology, epochs=epochs, seed=seed
        )
    made.save(model)
    err.print(f"wrote {model}")
    if others:
        understood = [_understood(speech.LinearNlu(made, ontology), list(speech.human_samples(others)))]
        output.show(understood)
        output.document("tables", tables_document(understood))


def _understood(nlu: speech.LinearNlu, samples: Sequence[speech.NluSample]) -> rendering.Table:
    shares = [rendering.Column(name, digits=1, percent=True) for name in ("precision", "recall", "F1")]
    table = rendering.Table("NLU accuracy", ["speaker", "compared", *shares])
    speakers: tuple[Speaker, ...] = ("user", "system")
    for speaker in speakers:
        for what, values in {"act and slot": False, "with value": True}.items():
            score = speech.understanding(nlu, samples, speaker, values=values)
            table.add(speaker, what, score.precision, score.recall, score.f1)
    return table
