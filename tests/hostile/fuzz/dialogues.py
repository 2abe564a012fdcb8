"""Files of dialogues: read in every format, recognised, checked, converted, scored."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.formats import (
    DialogueFormat,
    Notes,
    format_named,
    formats,
    proposed_mapping,
    read,
    recognise,
)
from hostile.fuzz import mutations
from hostile.fuzz.target import Reading, Target, damaging, in_file
from support.examples import EXAMPLES
from support.reading import part_of, write_bytes
from support.talks import talk
from support.trackers import gold_dialogues, tracker, write_predictions


def dialogue_targets() -> Iterator[Target]:
    """Every format by itself, and what the commands do with dialogues."""
    for name in sorted(EXAMPLES):
        is_json = EXAMPLES[name].lstrip()[:1] in (b"{", b"[")
        how = mutations.JSON if is_json else mutations.TEXT
        yield damaging(f"read:{name}", partial(seeds_of, name), how, partial(read_as, name), 100)
    anything = (*mutations.JSON, mutations.damage_text)
    yield damaging("map", _odd_seeds, anything, mapped, 60)
    yield damaging("recognise", _any_seed, anything, recognised, 60)
    yield damaging("read", _dialogue_seeds, anything, whole_file, 60)
    yield damaging("check", _any_seed, anything, checked, 10)
    yield damaging("convert", partial(_accepted_by, converted), anything, converted, 20)
    yield damaging("score", lambda: [tracked()[1]], mutations.JSON, scored, 3)
    yield damaging("score:self", partial(_accepted_by, scored_by_itself), mutations.JSON, scored_by_itself, 6)
    yield damaging("trials", lambda: [EXAMPLES[name] for name in _LOGS], mutations.JSON, trials_scored, 10)
    yield damaging("read:eval", _eval_logs, (mutations.damage_bytes,), partial(read_as, "inspect"), 20)
    yield damaging("users", partial(_accepted_by, users_judged), mutations.JSON, users_judged, 6)


def _odd_seeds() -> list[bytes]:
    """Files that a mapping is proposed for."""
    said = [{"from": "human", "value": "hi"}, {"from": "bot", "value": "hello"}]
    files: list[object] = [
        {"runs": {"MUL1": {"turns": [{"t": 1, "out": {"hotel-area": "north"}}, {"t": 2, "out": {"hotel-area": "x"}}]}}},
        [{"conv": "MUL1", "step": 0, "answer": "hotel-area=north; hotel-stars=4"}],
        [{"case": "a", "talk": said, "verdict": "PASS"}, {"case": "b", "talk": said, "verdict": "FAIL"}],
    ]
    return [json.dumps(content).encode() for content in files]


def mapped(content: bytes, folder: Path) -> None:
    """``dialgauge data map``, and the file read by what it proposes."""
    path = in_file(folder, content)
    mapping = folder / "mine.yaml"
    mapping.write_text(proposed_mapping(str(path)))
    with suppress(DialgaugeError):  # something may be left open
        read(path, format=str(mapping))


_LOGS = ("tau", "tau2", "messages", "inspect", "otel", "langfuse")


@cache
def _eval_logs() -> list[bytes]:
    """Logs that inspect_ai wrote, packed in both of its ways."""
    folder = Path(__file__).parents[2] / "support" / "inspect_logs"
    return [(folder / name).read_bytes() for name in ("a-0.3.100.eval", "broken-0.3.285.eval")]


@cache
def seeds_of(name: str) -> list[bytes]:
    """A sound file of a format made by hand and, where the format is written, one by our own writer."""
    made = [EXAMPLES[name]] if name in EXAMPLES else []
    known = format_named(name)
    if isinstance(known, DialogueFormat) and known.writes:
        for dialogues in ([_conversation()], gold_dialogues(2)):
            try:
                made.append(write_bytes(name, dialogues)[0])
            except DialgaugeError:
                continue
    return made


@cache
def _conversation() -> Any:
    tasks = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
    made = talk(
        tasks,
        ("hotel inform area=north", "hotel inform stars=4"),
        ("hotel recommend name=acorn",),
        ("hotel request phone",),
        ("hotel inform phone=01223",),
        ("hotel inform area=north",),
        ("hotel nooffer",),
    )
    return replace(made, turns=tuple(replace(turn, text=f"turn {place}") for place, turn in enumerate(made.turns)))


def read_as(name: str, content: bytes, folder: Path) -> None:
    """One file in a format that is named; a tolerant reading leaves dialogues out and goes on."""
    chosen = format_named(name)
    if isinstance(chosen, DialogueFormat):
        list(chosen.read(part_of(content), Notes(tolerant=True)))
        list(chosen.read(part_of(content), Notes()))
    else:
        chosen.load(part_of(content), Notes())


def recognised(content: bytes, folder: Path) -> None:
    """Which format it is, and that no hint keeps the right one from being asked."""
    recognise(part_of(content))


@cache
def _any_seed() -> list[bytes]:
    return [seed for name in sorted(EXAMPLES) for seed in seeds_of(name) if _is_recognised(seed)]


def whole_file(content: bytes, folder: Path) -> None:
    """A file as ``dialgauge.read`` reads it."""
    read(in_file(folder, content))


def checked(content: bytes, folder: Path) -> None:
    """``dialgauge data check``: the report and all of its tables."""
    from dialgauge.data import check, check_page
    from dialgauge.report import html_page, json_document

    page = check_page(check([str(in_file(folder, content))]))
    assert str(page) and html_page(page) and json_document(page)


def converted(content: bytes, folder: Path) -> None:
    """``dialgauge data convert``, to a format that the content chooses, and back."""
    from dialgauge.data import convert

    writers = [one.name for one in formats().values() if isinstance(one, DialogueFormat) and one.writes]
    to = writers[hashlib.sha256(content).digest()[0] % len(writers)]
    target = folder / "converted"
    convert(in_file(folder, content), target, to=to, force=True)
    read(target, format=to)


@cache
def _dialogue_seeds() -> list[bytes]:
    known = [one.name for one in formats().values() if isinstance(one, DialogueFormat)]
    return [seed for name in sorted(known) for seed in seeds_of(name) if _is_recognised(seed)]


def _is_recognised(seed: bytes) -> bool:
    with suppress(DialgaugeError):
        return bool(recognise(part_of(seed)))
    return False


@cache
def _accepted_by(run: Reading) -> list[bytes]:
    """Those of the sound files of dialogues that a command can do something with."""
    kept = []
    for seed in _dialogue_seeds():
        with tempfile.TemporaryDirectory() as folder, suppress(DialgaugeError):
            run(seed, Path(folder))
            kept.append(seed)
    return kept


@cache
def tracked() -> tuple[bytes, bytes]:
    """Gold states, and predictions that carry them."""
    gold = gold_dialogues(3)
    with tempfile.TemporaryDirectory() as folder:
        predicted = write_predictions(Path(folder, "p.json"), gold, tracker(gold, 0.3, 1)).read_bytes()
    return write_bytes("native", gold)[0], predicted


def scored(content: bytes, folder: Path) -> None:
    """``dialgauge score`` of damaged predictions, and everything that is shown of the run."""
    from dialgauge.report import latex_page, run_page
    from dialgauge.tracking import score

    results = score(in_file(folder, tracked()[0], "gold.jsonl"), [in_file(folder, content)], resamples=10)
    str(results)
    latex_page(run_page(results.runs[0]))


def scored_by_itself(content: bytes, folder: Path) -> None:
    """``dialgauge score self``, under a profile for any data."""
    from dialgauge.tracking import score

    str(score(None, [in_file(folder, content)], profile="verbatim", resamples=10))


def trials_scored(content: bytes, folder: Path) -> None:
    """``dialgauge review`` of logs: scores, pages and a comparison."""
    from dialgauge import review
    from dialgauge.comparison import compare_runs
    from dialgauge.report import csv_page, run_report

    results = review([in_file(folder, content)], resamples=5)
    [run] = results.runs
    csv_page(run_report(run, run.table("dialogues")["dialogue"].to_list()))
    again = review([in_file(folder, content, "again.json")], resamples=0).runs
    comparison = compare_runs([*results.runs, *again], resamples=20)
    str(comparison.page())


def users_judged(content: bytes, folder: Path) -> None:
    """``dialgauge users score``: scores, tables, dialogues."""
    from dialgauge.report import csv_page, run_report
    from dialgauge.users import score_users

    run = score_users(in_file(folder, content), resamples=5)[0]
    csv_page(run_report(run, run.table("dialogues")["dialogue"].to_list()))
