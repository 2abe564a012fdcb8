"""``dialgauge babi``: the restaurant world, its simulator, and converters to its format."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from msgspec import to_builtins

from dialgauge import formats, lab, rendering
from dialgauge.cli import common, writing
from dialgauge.cli.babi_options import SimulatedWorld, keep_inputs, task_numbers
from dialgauge.cli.choices import names_of
from dialgauge.cli.options import Argument, Option, OutputFile, OutputFolder, WholeNumber, application
from dialgauge.cli.screen import err, out, progress_bar, tracked
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.worlds import restaurant

app = application(
    "The bAbI restaurant tasks: simulate them, convert data to their format, evaluate bots on them.", parts=__name__
)

CandidatesOut = Annotated[Path | None, OutputFile("--candidates-out", help="Also write all replies as candidates.")]
Seed = Annotated[int, Option(help="Random seed; the same seed gives the same bytes.")]


@app.command()
def simulate(
    folder: Annotated[Path, OutputFolder("--out", help="Folder to write to.")],
    seed: Seed = 0,
    tasks: Annotated[str, Option(help="Tasks from 1 to 5, for example 1-5 or 1,3.")] = "1-5",
    splits: Annotated[
        str,
        Option(
            known=names_of("rankers", "SPLITS", several=True),
            help="Splits of trn,dev,tst,tst-OOV. Default: all that the world has.",
        ),
    ] = "",
    dialogs: Annotated[
        int, WholeNumber("--dialogues", of="dialogues", min=1, help="Dialogues per task and split.")
    ] = 1000,
    pool_share: Annotated[float, Option(min=0, max=1, help="Share of requests that training may use.")] = 0.5,
    fields: Annotated[str, Option(help="Fields in the first request per task, for example 1:0-4,5:1-3.")] = "",
    updates: Annotated[str, Option(help="Updates per task, for example 2:1-4,5:1-3.")] = "",
    info: Annotated[
        str, Option(help="Shares of dialogues asking for phone only, address only, both.")
    ] = "0.25,0.25,0.5",
    to: Annotated[
        Literal["babi", "native", "both"],
        Option(help="Output format. babi: as released; native: JSONL with acts and belief states."),
    ] = "babi",
    force: Annotated[bool, Option(help="Replace another simulation in the folder.")] = False,
    *,
    simulated: SimulatedWorld,
    output: common.TableOutput,
) -> None:
    """Simulate tasks 1 to 5: dialogs, candidates and knowledge base, in the released format.

    A folder holds one world with one seed. Another simulation in it is refused unless --force replaces it; files that
    no simulation wrote are never touched.
    """
    loaded = restaurant.load_world(simulated.world)
    numbers = sorted(task_numbers(tasks, most=5))
    named = tuple(dict.fromkeys(split.strip() for split in splits.split(",")))
    names = named if splits else lab.splits_of(loaded)
    parameters = simulated.parameters(
        seed,
        pool_share=pool_share,
        fields=_ranges(fields, "--fields"),
        updates=_ranges(updates, "--updates"),
        info=_shares(info),
    )
    forms: tuple[lab.Form, ...] = ("babi", "native") if to == "both" else (to,)
    with progress_bar("simulating", dialogs * len(numbers) * len(names) * len(forms)) as made:
        written = lab.write_release(
            loaded,
            folder,
            tasks=numbers,
            splits=names,
            dialogs=dialogs,
            parameters=parameters,
            forms=forms,
            force=force,
            made=made,
        )
    files = rendering.Table(
        f"{loaded.title}, seed {seed}",
        ["file", "dialogs", "turns", "facts", rendering.Column("turns per dialog", digits=2)],
    )
    for item in written:
        files.add(item.file, item.dialogs, item.turns, item.facts, item.turns / item.dialogs)
    output.show([files])
    err.print(f"candidates and knowledge base are in {folder} too")
    settings = to_builtins(parameters, str_keys=True)
    output.document("babi-simulate", {"world": loaded.title, **settings, "files": to_builtins(written)})


@app.command("convert-dstc2")
def convert_dstc2(
    folder: Annotated[Path, Argument(help="Folder of calls (each with log.json and label.json).")],
    target: Annotated[Path, OutputFile("--out", help="File to write.")],
    ontology: Annotated[Path | None, Option(help="Ontology. Default: ontology*.json in the folder.")] = None,
    listed: Annotated[Path | None, Option("--list", help="Only these calls, in this order: one path per line.")] = None,
    kb: Annotated[Path | None, Option(help="Knowledge base (babi-kb). Default: venues the systems mentioned.")] = None,
    candidates: CandidatesOut = None,
    seed: Seed = 0,
    to: Annotated[
        Literal["babi", "native"],
        Option(help="Output format. babi: as in task 6; native: JSONL with the labelled states."),
    ] = "babi",
    json: common.JsonOption = None,
) -> None:
    """Convert DSTC2 as published (a folder per call, an ontology) to the task 6 format."""
    given = [folder, *(path for path in (ontology, listed, kb) if path is not None)]
    keep_inputs({"--out": target, "--candidates-out": candidates, "--json": json}, given)
    words = restaurant.read_ontology(folder, ontology)
    sessions = list(tracked(restaurant.read_sessions(folder, listed), "reading calls"))
    venues = restaurant.venues_of(formats.load_kb(kb)) if kb else restaurant.venues_mentioned(sessions)
    lexicon = restaurant.Lexicon(words, venues)
    dialogues = [restaurant.convert(session, venues, lexicon, seed=seed) for session in sessions]
    formats.write(dialogues, target, format=to)
    replies = list(dict.fromkeys(t.text for d in dialogues for t in d.turns if t.speaker == "system"))
    calls = sum(t.text.startswith("api_call ") for d in dialogues for t in d.turns if t.speaker == "system")
    if candidates:
        _write_candidates(candidates, replies)
    if writing.on_screen(json):
        out.print(f"{target}: dialogs {len(dialogues)}, API calls {calls}, different replies {len(replies)}")
    writing.write_document(
        json, "babi-convert-dstc2", {"dialogs": len(dialogues), "calls": calls, "candidates": len(replies)}
    )


def _ranges(text: str, option: str) -> dict[int, restaurant.Range]:
    """``1:0-4,5:1-3`` as task to range."""
    ranges: dict[int, restaurant.Range] = {}
    for piece in filter(None, text.split(",")):
        parts = re.fullmatch(r"\s*(\d+):(\d+)(?:-(\d+))?\s*", piece)
        if not parts:
            raise DialgaugeError(f"{option} expects TASK:FROM-TO, for example 5:1-3 (got '{piece}')")
        ranges[int(parts[1])] = (int(parts[2]), int(parts[3] or parts[2]))
    return ranges


def _shares(text: str) -> tuple[float, float, float]:
    try:
        phone, address, both = (float(piece) for piece in text.split(","))
    except ValueError as error:
        raise DialgaugeError(f"--info expects three numbers, for example 0.25,0.25,0.5 (got '{text}')") from error
    return phone, address, both


def _write_candidates(path: Path, texts: list[str]) -> None:
    with atomic(path) as scratch, scratch.open("wb") as opened:
        formats.write_candidates(texts, opened)
