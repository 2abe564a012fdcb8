"""Logs of inspect_ai: the ``.eval`` archive and the ``.json`` file, of one evaluation each.

A sample is a task, an epoch a trial. Read are the messages with their tool calls, the scores of every scorer, tokens,
errors and limits, and from the header the model, the plan and the log's own statistics, which stand beside ours.
Events, stores and the model's raw answers are not read.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue, SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek
from dialgauge.formats.jsonfile import decode, elements_of, members_of, without_nan
from dialgauge.formats.logs.logged import TOLERANCE, Facts, Numbering, facts_of, logged_dialogue, score_in
from dialgauge.formats.logs.messages import checksum, read_messages
from dialgauge.formats.notes import Notes
from dialgauge.formats.packed import reading_errors, zip_member
from dialgauge.formats.source import INSPECT_MEMBER, Part

_HEADER, _SAMPLES = "header.json", "samples/"
_ATTACHED = re.compile(r"attachment://([0-9a-f]{8,64})")
#: What the letters and words of inspect's scorers count.
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: The metric of a scorer that says whether a sample passed.
_ACCURACY = "accuracy"
#: How trials become one value by default; statistics of other reducers are other statistics.
_MEANS = ("mean", "mean_score", None)
_MOST_SAMPLES = 1_000_000


class _Dataset(Struct, gc=False):
    name: str | None = None
    samples: int | None = None
    sample_ids: list[int | str] | None = None


class _Config(Struct, gc=False):
    epochs: int | None = None
    limit: int | list[int] | None = None


class _Eval(Struct, gc=False):
    task: str = ""
    task_version: int | str = 0
    model: str = ""
    dataset: _Dataset = msgspec.field(default_factory=_Dataset)
    config: _Config = msgspec.field(default_factory=_Config)


class _Metric(Struct, gc=False):
    value: float | None = None


class _EvalScore(Struct, gc=False):
    name: str = ""
    scorer: str = ""
    reducer: str | None = None
    metrics: dict[str, _Metric] = {}


class _Results(Struct, gc=False):
    total_samples: int | None = None
    scores: list[_EvalScore] = []


class _Header(Struct, gc=False):
    eval: _Eval
    status: str = "started"
    results: _Results | None = None


class _Score(Struct, gc=False):
    value: Any = None


class _Error(Struct, gc=False):
    message: str = ""


class _Limit(Struct, gc=False):
    type: str = ""


class _Usage(Struct, gc=False):
    total_tokens: int = 0


class _Sample(Struct, gc=False):
    id: int | str
    epoch: int = 1
    messages: list[Any] = []
    scores: dict[str, _Score] | None = None
    model_usage: dict[str, _Usage] | None = None
    metadata: dict[str, Any] | None = None
    attachments: dict[str, str] | None = None
    error: _Error | None = None
    limit: _Limit | None = None
    total_time: float | None = None


_HEADERS = msgspec.json.Decoder(_Header)
_SAMPLE = msgspec.json.Decoder(_Sample)


class InspectLog(DialogueFormat):
    """One evaluation."""

    name = "inspect"
    summary = "inspect_ai logs: an .eval archive or a .json file with samples, epochs and scores"
    fields = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})

    def recognise(self, peek: Peek) -> bool:
        if peek.head.startswith(b"PK\x03\x04"):
            return any(name in peek.head[:200] for name in (INSPECT_MEMBER.encode(), b"header.json", b"samples/"))
        given = peek.json
        return isinstance(given, dict) and isinstance(given.get("eval"), dict) and "model" in given["eval"]

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        if part.head(4) == b"PK\x03\x04":
            with part.open() as stream, reading_errors(part.name), zipfile.ZipFile(stream) as archive:
                header, samples = _archive(archive, stream, part)
                yield from _dialogues(header, samples, part, notes)
            return
        content = without_nan(part.read())
        header = _decoded(_HEADERS, content, part)
        lists = [raw for key, raw in members_of(content, part) if key == "samples"]  # none is lost that stands twice
        samples = (bytes(raw) for each in lists if bytes(each) != b"null" for raw in elements_of(each, part))
        yield from _dialogues(header, samples, part, notes)


def _decoded(decoder: msgspec.json.Decoder[Any], content: bytes, part: Part, dialogue: str | None = None) -> Any:
    """JSON, in which inspect writes NaN for a score that there is none of."""
    try:
        return decoder.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode(decoder, without_nan(content), part, dialogue=dialogue)


def _archive(archive: zipfile.ZipFile, stream: IO[bytes], part: Part) -> tuple[_Header, Iterator[bytes]]:
    members = archive.infolist()
    if len(members) > _MOST_SAMPLES:
        raise DialgaugeError(f"the archive has {len(members):,} members; no log has so many", file=part.name)
    named = {member.filename: member for member in members}
    begun = named.get(_HEADER) or named.get(INSPECT_MEMBER)
    if begun is None:
        raise DialgaugeError("the archive has no header.json; it is no log of inspect_ai", file=part.name)

    def content(member: zipfile.ZipInfo) -> bytes:
        return zip_member(archive, stream, member, part.name, part.limit)

    header = _decoded(_HEADERS, content(begun), part)
    held = [member for name, member in named.items() if name.startswith(_SAMPLES) and name.endswith(".json")]
    return header, (content(member) for member in held)


def _dialogues(header: _Header, samples: Iterator[bytes], part: Part, notes: Notes) -> Iterator[Dialogue]:
    shared, numbering = _shared(header, notes), Numbering(notes)
    for number, content in enumerate(samples, start=1):
        try:
            sample: _Sample = _decoded(_SAMPLE, content, part, dialogue=f"number {number}")
            facts = _facts(sample, shared, header, notes)
            messages = read_messages(_with_attachments(sample), notes)
            yield logged_dialogue("inspect", messages, facts, numbering.take(facts, f"number-{number}", part.name))
        except DialgaugeError as error:
            notes.refuse(error.at(file=part.name, dialogue=f"number {number}"))


class _Shared(Struct, frozen=True):
    """What holds for all samples: the plan, and the score that says whether one passed."""

    planned: tuple[int, int]
    task_set: str
    verdict: str


def _shared(header: _Header, notes: Notes) -> _Shared:
    """The plan and the verdict; the statistics that the log gives itself are noted."""
    plan = header.eval
    ids = plan.dataset.sample_ids
    judging = []
    for score in header.results.scores if header.results else ():
        name = score.scorer if score.name in ("", score.scorer) else f"{score.scorer}.{score.name}"
        if score.reducer not in _MEANS:
            notes.add(f"statistics of the reducer {score.reducer} left out")
            continue
        judging += [name] if _ACCURACY in score.metrics else []
        notes.reported |= {
            f"{name}/{metric}": given.value for metric, given in score.metrics.items() if given.value is not None
        }
    if len(judging) > 1 and not notes.verdict:
        notes.add(
            f"several scorers have an accuracy ({', '.join(judging)}): name the verdict with 'dialgauge review "
            "--success SCORER'"
        )
    verdict = notes.verdict or (judging[0] if len(judging) == 1 else "")
    if verdict:
        notes.verdict_read = verdict
    task_set = checksum(f"{plan.task} {plan.task_version} {sorted(map(str, ids))}") if ids else ""
    return _Shared((_planned_tasks(header), plan.config.epochs or 1), task_set, verdict)


def _planned_tasks(header: _Header) -> int:
    """How many samples were to be done: as the results count them, or as the dataset and its limit say."""
    plan = header.eval
    if header.results and header.results.total_samples:
        return header.results.total_samples // (plan.config.epochs or 1)
    every = plan.dataset.samples or len(plan.dataset.sample_ids or ())
    limit = plan.config.limit
    if isinstance(limit, int):
        return min(every, limit)
    return min(every, max(0, limit[1] - limit[0])) if isinstance(limit, list) and len(limit) == 2 else every


def _facts(sample: _Sample, shared: _Shared, header: _Header, notes: Notes) -> Facts:
    scores: dict[str, float | str] = {}
    for name, score in (sample.scores or {}).items():
        for key, value in _score_values(name, score.value, notes):
            scores[key] = value
    judged = scores.get(shared.verdict or _lettered(sample, header))
    reward = judged if isinstance(judged, float) else None
    tokens = sum(usage.total_tokens for usage in (sample.model_usage or {}).values())
    told = {name: value for name, value in (sample.metadata or {}).items() if name in ("instruction", "knows")}
    # A sample that failed is not scored; one that was scored all the same counts.
    error = (sample.error.message or "unknown") if sample.error and not scores else ""
    return Facts(
        task=str(sample.id),
        trial=sample.epoch,
        success=None if reward is None else abs(reward - 1) <= TOLERANCE,
        scores=scores,
        usage={"both": SideUsage(tokens=tokens)} if sample.model_usage else {},
        seconds=sample.total_time,
        planned=shared.planned,
        error=error,
        reason=f"{sample.limit.type}_limit" if sample.limit and sample.limit.type and not error else None,
        model=header.eval.model,
        goal=facts_of(told, notes).goal,
        domains=(header.eval.task,) if header.eval.task else (),
        shown={"task_set": shared.task_set} if shared.task_set else {},
    )


def _lettered(sample: _Sample, header: _Header) -> str:
    """Of a log that was never finished, the one scorer that writes C or I; empty where there is none."""
    scores = (sample.scores or {}).items() if header.results is None else ()
    names = [name for name, score in scores if isinstance(score.value, str) and score.value in _LETTERS]
    return names[0] if len(names) == 1 else ""


def _score_values(name: str, value: Any, notes: Notes) -> Iterator[tuple[str, float | str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _score_values(f"{name}.{key}", member, notes)
    elif isinstance(value, list):
        notes.add(f"score {name} left out: it is a list")
    elif isinstance(value, str) and (value in _LETTERS or value.strip().lower() in _WORDS):
        yield name, _LETTERS[value] if value in _LETTERS else _WORDS[value.strip().lower()]
    elif (score := score_in(value)) is not None:
        yield name, score


def _with_attachments(sample: _Sample) -> list[Any]:
    """The messages with long texts where they belong: a log keeps each of these once, beside the messages."""
    held: Mapping[str, str] = sample.attachments or {}

    def text(match: re.Match[str]) -> str:
        return held.get(match[1], match[0])

    def filled(value: Any, depth: int = 0) -> Any:
        if isinstance(value, str):
            return _ATTACHED.sub(text, value) if "attachment://" in value else value
        if isinstance(value, list) and depth < _DEEPEST:
            return [filled(member, depth + 1) for member in value]
        if isinstance(value, dict) and depth < _DEEPEST:
            return {key: filled(member, depth + 1) for key, member in value.items()}
        return value

    return [filled(message) for message in sample.messages] if held else sample.messages


_DEEPEST = 20
