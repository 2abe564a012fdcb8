"""Chat logs as a task: every reply of an operator is a candidate (the paper's Concierge setting, section 3.3).

Conversations are dealt to training, development and test by a seed, whole. There is no knowledge base.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from dialgauge.babi.chats import joined_messages, operator_candidates
from dialgauge.babi.draws import Draws
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.responses.episodes import Episode, episodes
from dialgauge.responses.task import LOGS, Task
from dialgauge.wording import counted


def log_task(source: str | Path, *, seed: int = 0, dev: float = 0.1, test: float = 0.2) -> Task:
    """A task from recorded conversations in any format dialgauge reads; ``dev`` and ``test`` are shares of them."""
    if not (dev > 0 and test > 0 and dev + test < 1):
        raise DialgaugeError(f"the shares of dev and test must be above 0 and together below 1, not {dev} and {test}")
    corpus = read(source)
    dialogues = [_tidy(dialogue) for dialogue in corpus.dialogues]
    answered = [one for one in episodes(map(joined_messages, dialogues)) if one.asked]
    return Task(
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
