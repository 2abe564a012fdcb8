"""A response-selection task: splits of dialogues, the candidates to choose from, and the knowledge base."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import Notes, Resource, ResourceFormat, format_named, read, resolve
from dialgauge.rankers.episode import Episode, episodes
from dialgauge.text import counted
from dialgauge.worlds.restaurant import Draws

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
class RankingTask:
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


def load_task(folder: Path, number: int, splits: tuple[str, ...] = SPLITS) -> RankingTask:
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
    task = RankingTask(
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


def check_gold(task: RankingTask, split: str, path: Path | None = None) -> None:
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


# Chat logs as a task: every reply of an operator is a candidate (the paper's Concierge setting, section 3.3).
#
# Conversations are dealt to training, development and test by a seed, whole. There is no knowledge base.


def log_task(source: str | Path, *, seed: int = 0, dev: float = 0.1, test: float = 0.2) -> RankingTask:
    """A task from recorded conversations in any format dialgauge reads; ``dev`` and ``test`` are shares of them."""
    if not (dev > 0 and test > 0 and dev + test < 1):
        raise DialgaugeError(f"the shares of dev and test must be above 0 and together below 1, not {dev} and {test}")
    corpus = read(source)
    dialogues = [_tidy(dialogue) for dialogue in corpus.dialogues]
    answered = [one for one in episodes(map(joined_messages, dialogues)) if one.asked]
    return RankingTask(
        number=LOGS,
        splits=_dealt(answered, seed, dev, test, str(source)),
        candidates=tuple(operator_candidates(dialogues)),
        files=_files(corpus.files),
    )


def _tidy(dialogue: Dialogue) -> Dialogue:
    """The dialogue with white space evened out, and without messages of an operator that hold no text."""
    turns = (replace(turn, text=" ".join(turn.text.split())) for turn in dialogue.turns)
    return replace(dialogue, turns=tuple(turn for turn in turns if _says(turn)))


def _says(turn: Turn) -> bool:
    return bool(turn.text) or turn.speaker == "user"


def _dealt(dialogs: list[Episode], seed: int, dev: float, test: float, source: str) -> dict[str, tuple[Episode, ...]]:
    """Conversations by split, in their own order within each."""
    counts = {"dev": max(1, round(dev * len(dialogs))), "tst": max(1, round(test * len(dialogs)))}
    if sum(counts.values()) >= len(dialogs):
        raise DialgaugeError(
            f"{counted(len(dialogs), 'conversation')} with a reply: too few for training, development and test",
            file=source,
        )
    mixed = Draws(seed, "logs").shuffled(range(len(dialogs)))
    held_out = counts["dev"] + counts["tst"]
    places = {"trn": mixed[held_out:], "dev": mixed[: counts["dev"]], "tst": mixed[counts["dev"] : held_out]}
    return {split: tuple(dialogs[place] for place in sorted(chosen)) for split, chosen in places.items()}


def _files(names: Iterable[str]) -> tuple[Path, ...]:
    """The files behind the names of a corpus's parts (``logs.zip!a.jsonl`` lies in ``logs.zip``)."""
    found = tuple(Path(name) for name in dict.fromkeys(name.partition("!")[0] for name in names))
    missing = next((path for path in found if not path.is_file()), None)
    if missing is not None:
        raise DialgaugeError("chat logs must be files, so that results can name what they were computed on")
    return found


# Chat logs as response-ranking data: what the operators said are the candidates (the paper's Concierge setting).


def operator_candidates(dialogues: Iterable[Dialogue]) -> list[str]:
    """Every text of an operator once, in order of appearance, white space evened out."""
    texts = (
        " ".join(turn.text.split()) for dialogue in dialogues for turn in dialogue.turns if turn.speaker == "system"
    )
    return [text for text in dict.fromkeys(texts) if text]


def joined_messages(dialogue: Dialogue) -> Dialogue:
    """The conversation with messages that a user sent in a row made one; every user turn then has a reply."""
    turns: list[Turn] = []
    for turn in dialogue.turns:
        if turns and turn.speaker == "user" and turns[-1].speaker == "user":
            turns[-1] = replace(turns[-1], text=f"{turns[-1].text} {turn.text}".strip())
        else:
            turns.append(turn)
    return replace(dialogue, turns=tuple(turns))
