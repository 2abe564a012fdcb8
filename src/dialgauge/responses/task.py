"""A response-selection task: splits of dialogues, the candidates to choose from, and the knowledge base."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.formats.base import Notes, Resource, ResourceFormat
from dialgauge.formats.registry import format_named
from dialgauge.formats.source import resolve
from dialgauge.responses.episodes import Episode, episodes

SPLITS = ("trn", "dev", "tst", "tst-OOV")
EVALUATED = ("dev", "tst", "tst-OOV")
#: Task 6 has no out-of-vocabulary set.
TASKS = (1, 2, 3, 4, 5, 6)
#: The number under which dialogs from chat logs go.
LOGS = 0


def place_of(number: int) -> str:
    """What a model is fitted on, in words.

    >>> place_of(1), place_of(LOGS)
    ('task 1', 'chat logs')
    """
    return f"task {number}" if number != LOGS else "chat logs"


@dataclass(frozen=True)
class Task:
    """One task: its splits, the candidates (stripped, in file order) and the facts of the knowledge base."""

    number: int
    splits: Mapping[str, tuple[Episode, ...]]
    candidates: tuple[str, ...]
    facts: tuple[Fact, ...] = ()
    files: tuple[Path, ...] = field(default=(), repr=False)

    @cached_property
    def index(self) -> dict[str, int]:
        """Candidate to its place in the file."""
        return {text: place for place, text in enumerate(self.candidates)}

    def split(self, name: str) -> tuple[Episode, ...]:
        """The dialogues of a split; an empty or absent one is an error."""
        found = self.splits.get(name, ())
        if not found:
            raise _no_split(name, self.number, [split for split, dialogs in self.splits.items() if dialogs])
        return found


def load_task(folder: Path, number: int, splits: tuple[str, ...] = SPLITS) -> Task:
    """A task of the dialog bAbI release (plain or gzipped files in one folder); absent splits are left out."""
    if number not in TASKS:
        raise DialgaugeError(f"there is no task {number}; tasks are 1 to 6")
    found: dict[str, tuple[Episode, ...]] = {}
    files: list[Path] = []
    for split in splits:
        path = _dialogs_file(folder, number, split)
        if path is not None:
            found[split] = episodes(read(path, format="babi").dialogues)
            files.append(path)
    if not found:
        present = [split for split in SPLITS if _dialogs_file(folder, number, split)]
        if present:
            raise _no_split(splits[0], number, present)
        raise DialgaugeError(
            f"no dialog files of task {number} (dialog-babi-task{number}-…-{splits[0]}.txt)", file=str(folder)
        )
    base = rf"dialog-babi-task{number}-dstc2" if number == 6 else "dialog-babi"
    candidates = _required(folder, rf"{base}-candidates\.txt(?:\.gz)?", "candidates")
    kb = _one(folder, rf"{base}-kb(?:-all)?\.txt(?:\.gz)?")
    task = Task(
        number=number,
        splits=found,
        candidates=unique_candidates(load_resource(candidates, "babi-candidates").texts, candidates),
        facts=load_resource(kb, "babi-kb").facts if kb else (),
        files=(*files, candidates, *([kb] if kb else [])),
    )
    for split, path in zip(found, files, strict=True):
        check_gold(task, split, path)
    return task


def _dialogs_file(folder: Path, number: int, split: str) -> Path | None:
    return _one(folder, rf"dialog-babi-task{number}-(?:.*-)?{re.escape(split)}\.txt(?:\.gz)?")


def _no_split(name: str, number: int, present: Sequence[str]) -> DialgaugeError:
    found = ", ".join(present) or "none"
    return DialgaugeError(f"there is no split '{name}' in {place_of(number)}; found: {found}")


def unique_candidates(texts: tuple[str, ...], path: Path) -> tuple[str, ...]:
    """The candidates, stripped; two that are then the same are an error."""
    stripped = tuple(text.strip() for text in texts)
    if len(set(stripped)) != len(stripped):
        twice = next(text for place, text in enumerate(stripped) if text in stripped[:place])
        raise DialgaugeError(f"the candidate {twice!r} stands there twice", file=str(path))
    return stripped


def check_gold(task: Task, split: str, path: Path | None = None) -> None:
    """Every gold reply must be among the candidates: otherwise no ranker could ever be right."""
    for one in task.split(split):
        for turn, at in enumerate(one.asked):
            reply = one.lines[at + 1].text
            if reply not in task.index:
                raise DialgaugeError(
                    f"the reply {reply!r} is not among the {len(task.candidates):,} candidates; use the candidate "
                    "file that belongs to this task",
                    file=str(path) if path else None,
                    line=_line_of(path, reply) if path else None,
                    dialogue=one.id,
                    turn=turn,
                )


def _line_of(path: Path, reply: str) -> int | None:
    """The first line with that reply; it is the one meant, because replies are checked in file order."""
    lines = resolve(path)[0].lines()
    return next((number for number, text in lines if text.rpartition(b"\t")[2].strip() == reply.encode()), None)


def load_resource(path: Path, format: str) -> Resource:
    """A resource file of a known format."""
    chosen = format_named(format)
    if not isinstance(chosen, ResourceFormat):
        raise DialgaugeError(f"{format} is not a format of candidates or knowledge bases")
    return chosen.load(resolve(path)[0], Notes())


def _one(folder: Path, pattern: str) -> Path | None:
    if not folder.is_dir():
        raise DialgaugeError("there is no such folder", file=str(folder))
    found = sorted(path for path in folder.iterdir() if re.fullmatch(pattern, path.name))
    return found[0] if found else None


def _required(folder: Path, pattern: str, what: str) -> Path:
    path = _one(folder, pattern)
    if path is None:
        raise DialgaugeError(f"no {what} file ({pattern.split(chr(92))[0]}.txt) in it", file=str(folder))
    return path
