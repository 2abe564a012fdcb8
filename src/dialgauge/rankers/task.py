"""A response-selection task: splits of dialogues, the candidates to choose from, and the knowledge base.

It comes from the files of the dialog bAbI release, from any file of recorded dialogues, or from dialogues in memory.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace as replace_fields
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.formats import Notes, Resource, ResourceFormat, format_named, read, resolve
from dialgauge.rankers.episode import Episode, episodes
from dialgauge.text import counted

SPLITS = ("trn", "dev", "tst", "tst-OOV")
EVALUATED = ("dev", "tst", "tst-OOV")
#: What a model may learn from and choose its settings by.
_FITTING = ("trn", "dev")
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
    #: The files it was read from, each with its role.
    inputs: tuple[tuple[str, Path], ...] = field(default=(), repr=False)

    @cached_property
    def index(self) -> dict[str, int]:
        """Candidate to its place in the file."""
        return {text: index for index, text in enumerate(self.candidates)}

    def split(self, name: str) -> tuple[Episode, ...]:
        """The dialogues of a split; an empty or absent one is an error."""
        dialogs = self.splits.get(name, ())
        if not dialogs:
            raise _no_split(name, self.number, [split for split, present in self.splits.items() if present])
        return dialogs

    def digest(self, *splits: str) -> str:
        """A checksum of the content of some splits, the candidates and the facts, however the files are packed."""
        return _checksum([self.number, self._dialogs(splits), self.candidates, self.facts])

    def training_digest(self) -> str:
        """A checksum of everything a model is fitted on."""
        return self.digest(*_FITTING)

    def dialogs_digest(self, *splits: str) -> str:
        """A checksum of dialogs and candidates, without the knowledge base."""
        return _checksum([self.number, self._dialogs(splits), self.candidates])

    def _dialogs(self, splits: Sequence[str]) -> dict[str, list[Any]]:
        return {
            split: [[episode.lines, episode.prompts, episode.choices] for episode in self.splits.get(split, ())]
            for split in splits
        }

    def for_fitting(self) -> RankingTask:
        """The task as a model that is fitted may see it: without the dialogs it will be tested on."""
        return replace_fields(self, splits={split: self.splits[split] for split in _FITTING if split in self.splits})


def _checksum(content: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:16]


def load_task(folder: Path, number: int, splits: tuple[str, ...] = SPLITS) -> RankingTask:
    """A task of the dialog bAbI release (plain or gzipped files in one folder); absent splits are left out."""
    if number not in TASKS:
        raise DialgaugeError(f"there is no task {number}; tasks are 1 to 6")
    loaded: dict[str, tuple[Episode, ...]] = {}
    files: list[Path] = []
    for split in splits:
        path = _dialogs_file(folder, number, split)
        if path is not None:
            loaded[split] = episodes(read(path, format="babi").dialogues)
            files.append(path)
    if not loaded:
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
        splits=loaded,
        candidates=unique_candidates(load_resource(candidates, "babi-candidates").texts, candidates),
        facts=load_resource(kb, "babi-kb").facts if kb else (),
        inputs=_inputs(files, candidates, kb),
    )
    for split, path in zip(loaded, files, strict=True):
        check_gold(task, split, path)
    return task


def _inputs(dialogues: Iterable[Path], candidates: Path | None, facts: Path | None) -> tuple[tuple[str, Path], ...]:
    named = [*(("dialogues", path) for path in dialogues), ("candidates", candidates), ("facts", facts)]
    return tuple((role, path) for role, path in named if path is not None)


def _dialogs_file(folder: Path, number: int, split: str) -> Path | None:
    return _one(folder, rf"dialog-babi-task{number}-(?:.*-)?{re.escape(split)}\.txt(?:\.gz)?")


def _no_split(name: str, number: int, present: Sequence[str]) -> DialgaugeError:
    return DialgaugeError(f"there is no split '{name}' in {place_of(number)}; found: {', '.join(present) or 'none'}")


def unique_candidates(texts: tuple[str, ...], path: Path) -> tuple[str, ...]:
    """The candidates, stripped; two that are then the same are an error."""
    stripped = tuple(text.strip() for text in texts)
    if len(set(stripped)) != len(stripped):
        twice = next(text for index, text in enumerate(stripped) if text in stripped[:index])
        raise DialgaugeError(f"the candidate {twice!r} appears twice", file=str(path))
    return stripped


def check_gold(task: RankingTask, split: str, path: Path | None = None) -> None:
    """Every gold reply must be among the candidates: otherwise no ranker could ever be right."""
    for episode in task.split(split):
        for turn, (at, own) in enumerate(zip(episode.prompts, episode.choices, strict=True)):
            reply = episode.lines[at + 1].text
            if reply not in (task.index if own is None else own):
                count = len(task.candidates if own is None else own)
                raise DialgaugeError(
                    f"the reply {reply!r} is not among the {count:,} candidates; use the candidate "
                    "file that belongs to this task",
                    file=str(path) if path else None,
                    dialogue=episode.id,
                    turn=turn,
                )


def load_resource(path: Path, format: str) -> Resource:
    """A resource file of a known format."""
    chosen = format_named(format)
    if not isinstance(chosen, ResourceFormat):
        raise DialgaugeError(f"{format} is not a format of candidates or knowledge bases")
    return chosen.load(resolve(path)[0], Notes())


def _one(folder: Path, pattern: str) -> Path | None:
    if not folder.is_dir():
        raise DialgaugeError("there is no such folder", file=str(folder))
    return min((path for path in folder.iterdir() if re.fullmatch(pattern, path.name)), default=None)


def _required(folder: Path, pattern: str, what: str) -> Path:
    path = _one(folder, pattern)
    if path is None:
        raise DialgaugeError(f"no {what} file ({pattern.split(chr(92))[0]}.txt) in it", file=str(folder))
    return path


# Any dialogues as a task. Every reply that somebody gave is a candidate (the paper's Concierge setting), unless a list
# of candidates is given. Whole conversations are dealt to training, development and test by a seed.


def task_of_dialogues(
    splits: Mapping[str, Iterable[Dialogue]],
    candidates: Iterable[str] | None = None,
    facts: Iterable[Fact] = (),
) -> RankingTask:
    """A task from dialogues in memory, by split (``trn``, ``dev``, ``tst``).

    A turn that brings its own ``candidates`` is ranked among those alone.
    """
    tidied = {split: [_tidy(dialogue) for dialogue in dialogues] for split, dialogues in splits.items()}
    splits_of = {split: _answered(dialogues) for split, dialogues in tidied.items()}
    every = [dialogue for dialogues in tidied.values() for dialogue in dialogues]
    return _task(splits_of, every, candidates, facts, ())


def log_task(
    source: str | Path,
    *,
    candidates: Path | None = None,
    facts: Path | None = None,
    seed: int = 0,
    dev: float = 0.1,
    test: float = 0.2,
) -> RankingTask:
    """A task from recorded dialogues in any format dialgauge reads; ``dev`` and ``test`` are shares of them.

    ``candidates`` is a file with one reply a line, ``facts`` one with an entity, a relation and a value a line.
    Messages that a user sends in a row are one line.
    """
    if not (dev > 0 and test > 0 and dev + test < 1):
        raise DialgaugeError(f"the shares of dev and test must be above 0 and together below 1, not {dev} and {test}")
    corpus = read(source)
    dialogues = [_tidy(dialogue) for dialogue in corpus.dialogues]
    splits = _split_dialogs(_answered(dialogues), seed, dev, test, str(source))
    return _task(
        splits,
        dialogues,
        read_candidates(candidates) if candidates else None,
        read_facts(facts) if facts else (),
        _inputs(_files(corpus.files), candidates, facts),
    )


def _task(
    splits: Mapping[str, Sequence[Episode]],
    dialogues: Sequence[Dialogue],
    candidates: Iterable[str] | None,
    facts: Iterable[Fact],
    inputs: Iterable[tuple[str, Path]],
) -> RankingTask:
    listed = operator_candidates(dialogues) if candidates is None else [_spaced(text) for text in candidates]
    own = [text for dialogue in dialogues for turn in dialogue.turns for text in turn.candidates or ()]
    task = RankingTask(
        number=LOGS,
        splits={split: tuple(dialogs) for split, dialogs in splits.items()},
        candidates=tuple(text for text in dict.fromkeys([*listed, *own]) if text),
        facts=tuple(facts),
        inputs=tuple(inputs),
    )
    for split, dialogs in task.splits.items():
        if dialogs:
            check_gold(task, split)
    return task


def _answered(dialogues: Iterable[Dialogue]) -> list[Episode]:
    return [episode for episode in episodes(map(joined_messages, dialogues)) if episode.prompts]


def read_candidates(path: Path) -> tuple[str, ...]:
    """The candidates of a file: one a line, or as the bAbI release writes them (``1 text``)."""
    lines = _lines(path)
    if lines and all(text.startswith("1 ") for _, text in lines):
        return load_resource(path, "babi-candidates").texts
    return tuple(text for _, text in lines)


def read_facts(path: Path) -> tuple[Fact, ...]:
    """The facts of a file: entity, relation and value between tabs, or a knowledge base of the bAbI release."""
    lines = _lines(path)
    if lines and all(text.startswith("1 ") for _, text in lines):
        return load_resource(path, "babi-kb").facts
    return tuple(_fact(text, path, number) for number, text in lines)


def _fact(text: str, path: Path, line: int) -> Fact:
    words = [_spaced(word) for word in text.split("\t")]
    if len(words) != 3 or not all(words):
        raise DialgaugeError("a fact is an entity, a relation and a value between tabs", file=str(path), line=line)
    entity, relation, value = words
    return Fact(entity.replace(" ", "_"), relation.replace(" ", "_"), value)


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    content = [(number, line.decode("utf-8", "replace")) for part in resolve(path) for number, line in part.lines()]
    return [(number, text.rstrip("\r\n")) for number, text in content if text.strip()]


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _tidy(dialogue: Dialogue) -> Dialogue:
    """The dialogue with white space evened out, and without messages of an operator that hold no text."""
    turns = (
        replace(
            turn,
            text=_spaced(turn.text),
            candidates=own and tuple(dict.fromkeys(map(_spaced, own))),
        )
        for turn in dialogue.turns
        for own in [turn.candidates]
    )
    return replace(dialogue, turns=tuple(turn for turn in turns if turn.text or turn.speaker == "user"))


def _split_dialogs(
    dialogs: list[Episode], seed: int, dev: float, test: float, source: str
) -> dict[str, tuple[Episode, ...]]:
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
    return {split: tuple(dialogs[index] for index in sorted(chosen)) for split, chosen in places.items()}


def _files(names: Iterable[str]) -> tuple[Path, ...]:
    """The files behind the names of a corpus's parts (``logs.zip!a.jsonl`` lies in ``logs.zip``)."""
    paths = tuple(Path(name) for name in dict.fromkeys(name.partition("!")[0] for name in names))
    if not all(path.is_file() for path in paths):
        raise DialgaugeError("chat logs must be files, so that results can name what they were computed on")
    return paths


def operator_candidates(dialogues: Iterable[Dialogue]) -> list[str]:
    """Every text of an operator once, in order of appearance, white space evened out."""
    texts = (_spaced(turn.text) for dialogue in dialogues for turn in dialogue.turns if turn.speaker == "system")
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
