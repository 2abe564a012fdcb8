"""``dialgauge lab track``: the belief states of a corpus, asked of a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge import formats, lab
from dialgauge.agents import llm
from dialgauge.cli.common import ProcessesOption
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.lab_options import EndpointOption, KeyOption, ModelOption, named_settings
from dialgauge.cli.options import Argument, Option, OutputFile, WholeNumber, command
from dialgauge.cli.screen import err, progress_bar
from dialgauge.text import counted


@command()
def track(
    corpus: Annotated[str, Argument(help="Dialogues, in any known format.")],
    predictions: Annotated[Path, OutputFile("--out", help="Predictions file to write (.jsonl).")],
    endpoint: EndpointOption = "local",
    model: ModelOption = "",
    key_env: KeyOption = "",
    cassette: Annotated[
        Path | None, Option(help="File that records requests and answers. Default: next to --out.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        Option("--set", metavar="NAME=VALUE", help="Setting: mode, max_tokens, budget_tokens, ...; repeatable."),
    ] = None,
    ontology: Annotated[
        str | None, Option(metavar="FILE", help="Slots and values. Default: the slots in the annotated states.")
    ] = None,
    count: Annotated[
        int | None, WholeNumber("--count", "-n", of="dialogues read", min=1, help="Number of dialogues. Default: all.")
    ] = None,
    seed: Annotated[int, Option(min=0, help="Random seed passed to the model.")] = 0,
    workers: ProcessesOption = 1,
) -> int:
    """Ask a language model for the belief state after each turn, and write predictions that 'dialgauge score' reads.

    Rerun an interrupted command to resume it: no answered request is repeated. Score the file with
    'dialgauge score --profile llm'. Exit code: 0 all dialogues were tracked, 1 some were not.
    """
    kept = cassette or predictions.with_name(f"{predictions.name}.cassette.jsonl")
    given = {"endpoint": endpoint, "model": model, "key_env": key_env, "cassette": str(kept)}
    asked = llm.chat_settings({**given, **named_settings(settings, "--set")})
    dialogues = formats.read(corpus).dialogues[:count]
    slots = llm.slots_to_track(dialogues, formats.read_ontology(ontology) if ontology else None)
    with progress_bar("tracking", len(dialogues)) as advance:
        tracked = lab.track_corpus(
            dialogues, slots, asked, predictions, seed=seed, workers=workers, on_dialogue=advance
        )
    err.print(f"wrote {predictions} ({counted(tracked.answers, 'turn')}); requests and answers are in {kept}")
    for dialogue, why in list(tracked.failed.items())[:1]:
        err.print(f"could not track {counted(len(tracked.failed), 'dialogue')}; the first is {dialogue}: {why}")
    return EXIT_INCOMPLETE if tracked.failed else 0
