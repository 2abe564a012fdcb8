"""Folders of which each holds one conversation in several files, as agents' harnesses leave them.

``result.json`` says how it went, ``config.json`` which task it was, ``trajectory.json`` what was said, and logs lie
around. A file that says how something went and whose name several folders share shows where conversations are; each
of these folders, with those inside, is one. Harbor, AgentLab, OSWorld and SWE-bench write such folders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.formats.logs.conversations import kind_of
from dialgauge.formats.logs.fact_names import JUDGING, TASK, is_score, plain_key
from dialgauge.formats.logs.fact_values import said_success, score_in
from dialgauge.formats.logs.folder_trials import agents_of_folders, trials_in_folders
from dialgauge.formats.logs.log_signs import holds_conversations
from dialgauge.formats.logs.messages import is_message
from dialgauge.formats.logs.record_fields import members_inside, task_and_trial
from dialgauge.formats.logs.record_verdicts import says_verdict
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part
from dialgauge.text import some_of

#: What is longer holds more than facts; texts that are a verdict are short.
_LONGEST, _WORD = 1 << 20, 40
#: Texts that hold nothing but how it went.
_VERDICT_TEXT = re.compile(r"(reward|result|verdict|score|outcome|success|grade)s?\.(?:txt|log)", re.IGNORECASE)
#: What a file of messages is called, of several the likeliest.
_TALKS = re.compile(r"message|conversation|trajectory|traj\b|chat|transcript|history|dialog", re.IGNORECASE)
#: How files are called that say together how one conversation went.
_OF_RUNS = re.compile(
    r"result|verdict|score|outcome|summary|label|grade|eval|report|annot|success|rating|metric|meta|info|config|output"
    r"|stat|log|reward|judge|agent|task\.json|run\.json",
    re.IGNORECASE,
)
_FEWEST = 2
_NAMED = 6


class ConversationFolder(Struct):
    """A folder with one conversation: its path, what its files say of it, and the files with its messages.

    These are one, or hold a message each; where they are several others, nobody knows which.
    """

    path: str
    record: dict[str, Any]
    first: Part
    talks: list[Part]
    #: Task and trial as the names of folders tell them.
    place: tuple[str, int] | None = None
    files: int = 1

    @property
    def talk(self) -> Part | None:
        """The only file of messages, or the one that is called so."""
        likely = [part for part in self.talks if _TALKS.search(part.stem)]
        return next(iter(self.talks if len(self.talks) == 1 else likely if len(likely) == 1 else []), None)

    @property
    def messages(self) -> list[Any]:
        """The messages of files that each hold one, in the order of their names."""
        written = [] if self.talk else [_object(part) for part in self.talks]
        return written if all(map(is_message, written)) else []

    @property
    def name(self) -> str:
        return re.split(r"[/\\!]", self.path.rstrip("/\\!"))[-1]


def run_folders(parts: Sequence[Part], notes: Notes | None = None) -> list[ConversationFolder]:
    """The folders of which each holds a conversation; none where there are not several of them."""
    facts = {part.name: record for part in parts if (record := _facts(part))}
    judged = {part.name for part in parts if _is_judged(facts.get(part.name, {}))}
    stems = Counter(part.stem for part in parts if part.name in judged)
    found = {part.folder for part in parts if part.name in facts and stems[part.stem] >= _FEWEST}
    if alone := _files_of_conversations([part for part in parts if part.name in judged and part.folder in found]):
        placed = trials_in_folders(list(alone))
        return _of_agents(
            [_run_folder(path, [part], facts, judged, placed.get(path)) for path, part in alone.items()], notes
        )
    paths = _conversation_folders(found)
    if len(paths) < _FEWEST:
        return []
    paths = sorted({*paths, *_unjudged_folders(parts, paths)})
    inside: dict[str, list[Part]] = {path: [] for path in paths}
    passed_over: list[Part] = []
    for part in parts:
        owner = next((path for path in paths if part.folder.startswith(path)), None)
        (inside[owner] if owner is not None else passed_over).append(part)
    if notes is not None and passed_over:
        told = some_of((part.stem for part in passed_over), _NAMED)
        notes.add(f"files beside the folders of conversations passed over: {told}", len(passed_over))
    placed = trials_in_folders(paths)
    return _of_agents(
        [_run_folder(path, held, facts, judged, placed.get(path)) for path, held in inside.items()], notes
    )


def _of_agents(folders: list[ConversationFolder], notes: Notes | None) -> list[ConversationFolder]:
    """The folders, with the agent of each where their names tell several."""
    agents = agents_of_folders([folder.path for folder in folders], notes)
    for folder in folders:
        if folder.path in agents:
            folder.record.setdefault("agent_model", agents[folder.path])
    return folders


def _files_of_conversations(judged: Sequence[Part]) -> dict[str, Part]:
    """Files that are each a conversation, by their paths: several lie in a folder, under names of tasks or trials."""
    sizes = Counter(part.folder for part in judged)
    several = bool(sizes) and min(sizes.values()) >= _FEWEST and len(sizes) >= _FEWEST
    if not several or any(_OF_RUNS.search(part.stem) for part in judged):
        return {}
    return {f"{part.folder}{PurePosixPath(part.stem).stem}": part for part in judged}


def _conversation_folders(found: set[str]) -> list[str]:
    """The outermost of these folders that do not hold several of the others."""
    single = [
        path
        for path in found
        if len(_outermost([other for other in found if other != path and other.startswith(path)])) < 2
    ]
    return sorted(_outermost(single))


def _unjudged_folders(parts: Sequence[Part], paths: Sequence[str]) -> set[str]:
    """Folders beside these that have a file of the same name, and none that says how it went."""
    stems = {part.stem for part in parts if part.folder in paths}
    around = {_parent(path) for path in paths}
    others = {part.folder for part in parts if part.stem in stems and part.folder not in paths}
    return {path for path in others if _parent(path) in around and not any(map(path.startswith, paths))}


def _parent(path: str) -> str:
    return path[: max(path.rfind(sign, 0, -1) for sign in "/\\!") + 1]


def _outermost(paths: Sequence[str]) -> list[str]:
    outer: list[str] = []
    for path in sorted(paths):
        if not outer or not path.startswith(outer[-1]):
            outer.append(path)
    return outer


def _run_folder(
    path: str,
    parts: Sequence[Part],
    facts: Mapping[str, dict[str, Any]],
    judged: set[str],
    place: tuple[str, int] | None,
) -> ConversationFolder:
    record: dict[str, Any] = {}
    others: list[Mapping[str, Any]] = []
    for part in sorted(parts, key=lambda part: (part.name.count("/"), part.name)):  # outer files say it first
        known = facts.get(part.name)
        if known and (part.name in judged or not record):
            record = {**known, **record}
        elif known:
            others.append(known)
    if not task_and_trial(record):
        tasks = {
            str(value) for held in (record, *others) for key, value in members_inside(held)
            if plain_key(key.rpartition(".")[2]) in TASK and isinstance(value, str | int)
        }  # fmt: skip
        record |= {"task_id": tasks.pop()} if len(tasks) == 1 else {}
    return ConversationFolder(
        path,
        record,
        parts[0],
        [part for part in parts if part.name not in judged and _is_talk(part)],
        place,
        len(parts),
    )


def _facts(part: Part) -> dict[str, Any]:
    """What a small file says in one object, or a text in one word; nothing where it is something else."""
    if _VERDICT_TEXT.fullmatch(part.stem):
        word = part.head(_WORD + 1).decode("utf-8", "replace").strip()
        name = plain_key(part.stem.partition(".")[0]).removesuffix("s")
        fits = len(word) <= _WORD and (said_success(word) is not None or score_in(word) is not None)
        return (
            {"reward" if score_in(word) is not None else "success" if name == "verdict" else name: word} if fits else {}
        )
    if PurePosixPath(part.stem).suffix.lower() != ".json":
        return {}
    record = _object(part)
    if not isinstance(record, dict) or kind_of(record):
        return {}
    if len(record) == 1 and isinstance(inner := next(iter(record.values())), dict) and says_verdict(inner):
        return {"task_id": next(iter(record)), **inner}
    deep = _deep_score(record)
    read = [key for key, held in record.items() if isinstance(held, dict) and _holds_only(held, deep)]
    return {**{key: held for key, held in record.items() if key not in read}, **deep}


def _object(part: Part) -> Any:
    try:
        return msgspec.json.decode(part.head(_LONGEST))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _is_judged(record: Mapping[str, Any]) -> bool:
    return bool(record) and says_verdict(record)


def _deep_score(record: Mapping[str, Any]) -> dict[str, Any]:
    """The only score that lies in what judged a conversation: ``verifier_result.rewards.reward``."""
    scores = [
        (path, value)
        for path, value in members_inside(record)
        for owner, _, name in [path.rpartition(".")]
        if owner and is_score(name) and JUDGING.search(owner) and score_in(value) is not None
    ]
    return {scores[0][0].rpartition(".")[2]: scores[0][1]} if len(scores) == 1 else {}


def _holds_only(held: Mapping[str, Any], deep: Mapping[str, Any]) -> bool:
    """Is there nothing in an object but the score that was found in it?"""
    inside = {path.rpartition(".")[2]: value for path, value in members_inside(held)}
    return bool(deep) and inside == deep


def _is_talk(part: Part) -> bool:
    if PurePosixPath(part.stem).suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return False
    peek = Peek(part)
    return bool(peek.head.strip()) and (holds_conversations(peek) or is_message(peek.json))
