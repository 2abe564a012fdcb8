"""GCDF1 from Python: one call scores conversations and gives their runs.

users = dialgauge.score_users("talks/", canonical_map="map.json")
users["talks"]["I-GCDF1"], users["talks"]["R-GCDF1[hotel]"]
users.explain("MUL0003")
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct, field

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.engine import SILENT, Progress
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import Corpus, Notes, hold, in_memory, named_sources, stream
from dialgauge.measures import (
    Count,
    Coverage,
    Measure,
    Resampling,
    Scores,
    SystemEvidence,
    asked_for,
    cards,
    measure_names,
    parse_measures,
    score_systems,
)
from dialgauge.report import RunSet
from dialgauge.runs import Run, new_run
from dialgauge.text import Note, counted, some_of
from dialgauge.users.measures import DEFAULT, UserEvidence
from dialgauge.users.profile import DatasetProfile, profile_for
from dialgauge.users.scorer import DialogueScore, Scorer, UserOptions
from dialgauge.users.tables import run_tables

if TYPE_CHECKING:
    from dialgauge.formats import AnyFrame

KIND = "users"
#: Names for several measures; other packages' belong to ``all``.
_LISTS: Mapping[str, Sequence[str] | Callable[[], Sequence[str]]] = {
    "default": DEFAULT,
    "all": lambda: [*dict.fromkeys((*DEFAULT, *cards(KIND)))],
}
#: Files by name, or dialogues: a corpus, a run, a frame, any iterable.
Conversations: TypeAlias = "str | Path | Corpus | Run | AnyFrame | Iterable[Dialogue]"


def score_users(
    conversations: Conversations | Sequence[str | Path] | Mapping[str, Conversations],
    *,
    canonical_map: str | Path | None = None,
    config: str | Path | None = None,
    overrides: Mapping[str, object] | None = None,
    mode: str | None = None,
    profile: str | DatasetProfile | None = None,
    options: UserOptions | None = None,
    measures: str | Iterable[str] = ("default",),
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = SILENT,
) -> RunSet:
    """I-GCDF1 and R-GCDF1 of the user in conversations: files, a run, dialogues, or a frame or dataset of them.

    Several user models are a list of files or folders, or a mapping of names to any of these. ``overrides`` maps dotted
    option paths to values; ``measures`` may name those of other packages. ``options`` are all settings in one record,
    in place of those before it.

    >>> from dialgauge import Act, Dialogue, Goal, Task, Turn, score_users
    >>> goal = Goal(tasks={"hotel": Task(info={"area": "north"})})
    >>> said = Turn(speaker="user", acts=(Act("inform", "hotel", "area", ("north",)),))
    >>> users = score_users({"mine": [Dialogue(id="d", goal=goal, turns=(said,))]})
    >>> f"{users['mine']['I-GCDF1']:.2f}"
    '1.00'
    """
    if options is None:
        changed = [f"{path}={msgspec.json.encode(value).decode()}" for path, value in (overrides or {}).items()]
        options = UserOptions(
            canonical_map=canonical_map,
            config=config,
            overrides=(*changed, *([f"mode={mode}"] if mode else ())),
            profile=profile,
        )
    named = named_sources(conversations, conversations.name if isinstance(conversations, Run) else "conversations")
    chosen = measure_names(measures)
    parse_measures(chosen, KIND, _LISTS)  # a misspelt measure is an error before the work
    how = Resampling(resamples, seed) if resamples else None
    runs = []
    for label, source in named.items():
        with progress.bar("scoring") as advance:
            scored = _score_source(source, options, advance)
        runs.append(_run(label, scored, options, _scores(scored, chosen, how), seed))
    return RunSet(runs)


def _run(name: str, scored: _Scored, options: UserOptions, scores: Scores, seed: int) -> Run:
    """Scored conversations as a run in memory; its tables are made when asked for."""
    config, profile = scored.scorer.config, scored.scorer.profile.name
    fit, unknown = _fit(scored)
    roles = {"conversations": scored.source, "canonical map": options.canonical_map, "config": options.config}
    return new_run(
        kind=KIND,
        name=name,
        scores=scores,
        tables=run_tables(scored.results, scored.failures, config),
        corpus=scored.dialogues,
        config=msgspec.to_builtins(config) | {"profile": profile},
        inputs=[(role, path) for role, path in roles.items() if path is not None and str(path) != "-"],
        seeds=seed,
        details={
            "mode": config.mode,
            "profile": profile,
            "fit": fit,
            "heard": {side: sum(side in result.heard_by for result in scored.results) for side in ("user", "system")},
        },
        notes=[
            *(Note("reading", f"{what} ({count:,})") for what, count in sorted(scored.notes.items())),
            *(Note("fit", sentence) for sentence in unknown),
        ],
    )


def user_scores(conversations: Iterable[Dialogue], options: UserOptions, *, resamples: int, seed: int) -> Scores:
    """The scores of one user model without a run."""
    scored = _Scored(Scorer.of(options))
    for _ in _scoring(scored, (_Read(dialogue, "") for dialogue in conversations)):
        pass  # each is scored as it passes
    return _scores(scored, ["default"], Resampling(resamples, seed) if resamples else None)


# Conversations of a source, scored one by one: those that fail are named, and the others go on.


class _Scored(Struct):
    """Results in the order of the dialogues, failures, and the dialogues themselves."""

    scorer: Scorer
    #: The file or folder they come from.
    source: str | None = None
    results: list[DialogueScore] = []
    failures: list[DialgaugeError] = []
    #: The dialogues that could be read, each id once.
    dialogues: Sequence[Dialogue] = []
    #: What reading left out or changed, counted.
    notes: Counter[str] = field(default_factory=Counter)
    #: Dialogues that could not be read, and turns of those that could.
    unread: int = 0
    turns: int = 0


def _score_source(source: Conversations, options: UserOptions, advance: Callable[[int], None]) -> _Scored:
    notes = Notes(tolerant=True)
    read = _read(source, options, notes)
    first = list(islice(read, 1))
    file = os.fspath(source) if isinstance(source, str | Path) else None
    scored = _Scored(Scorer.of(options, first[0].format if first else ""), file)
    scored.dialogues = hold(_scoring(scored, chain(first, read), advance))
    scored.notes.update(notes.counts)
    scored.failures += notes.refused
    scored.unread = len(notes.refused)
    return scored


class _Read(NamedTuple):
    """A dialogue with the format and the file it was read from."""

    dialogue: Dialogue
    format: str
    file: str | None = None


def _read(source: Conversations, options: UserOptions, notes: Notes) -> Iterator[_Read]:
    """All dialogues, or an error where their formats go with different profiles and none was named."""
    if not isinstance(source, str | Path):
        corpus = in_memory(source.dialogues() if isinstance(source, Run) else source)
        yield from (_Read(dialogue, corpus.format) for dialogue in corpus)
        return
    formats: dict[str, str] = {}
    for part, form, dialogue in stream(source, format=options.format, limit=options.limit, notes=notes):
        formats.setdefault(profile_for(form.name), form.name)
        if options.profile is None and len(formats) > 1:
            raise DialgaugeError(
                f"it holds conversations of several datasets (formats {', '.join(formats.values())}); score them "
                "separately, or name a profile",
                file=part.name,
            )
        yield _Read(dialogue, form.name, part.name)


def _scoring(
    scored: _Scored, read: Iterable[_Read], advance: Callable[[int], None] = lambda number: None
) -> Iterator[Dialogue]:
    """The dialogues, each of which is scored as it passes. The second one of an id is a failure and left out."""
    seen: set[str] = set()
    for dialogue, _, file in read:
        key = dialogue_key(dialogue.id)
        if key in seen:
            why = "this id was already used by an earlier dialogue; ids must be unique"
            scored.failures.append(DialgaugeError(why, dialogue=dialogue.id, file=file))
            continue
        seen.add(key)
        try:
            scored.results.append(scored.scorer.score(dialogue))
        except DialgaugeError as error:
            scored.failures.append(error.at(file=file))
        scored.turns += len(dialogue.turns)
        advance(1)
        yield dialogue


# What a run holds beside its tables.


def _fit(scored: _Scored) -> tuple[str, list[str]]:
    """How much the profile recognises, in one line, and the domains that it does not know; an error where it knows
    nothing."""
    profile = scored.scorer.profile
    acts, known, slots, uttered, requested, misnamed = (
        sum(getattr(result, name) for result in scored.results)
        for name in ("acts", "acts_known", "slots", "slots_uttered", "requested", "misnamed")
    )
    goals = [result.goal for result in scored.results] or [each.goal for each in scored.dialogues if each.goal]
    domains = Counter(domain for goal in goals for domain in goal.tasks)
    unknown = {domain: count for domain, count in domains.items() if profile.domain(domain) is None}
    other = "name another profile with --dataset, or write one (docs/users.md)"
    wrong = ""
    if acts and not known:
        wrong = f"recognises none of the {counted(acts, 'act')}; {other}"
    elif domains and len(unknown) == len(domains):
        wrong = f"knows none of the domains of the goals ({some_of(list(domains), 5)}); {other}"
    elif misnamed == requested > 0:
        form = "'service-slot'" if profile.requests_carry_service else "bare slots"
        wrong = (
            f"expects requested slots written as {form}, and none of the {requested:,} is; change "
            "requests_carry_service in the profile, or choose another one"
        )
    if wrong:
        raise DialgaugeError(f"the profile {profile.name} {wrong}", file=scored.source)
    parts = []
    if acts:
        parts.append(f"{known / acts:.1%} of {counted(acts, 'act')} are recognised by the profile {profile.name}")
    if slots:
        parts.append(f"either side mentions {uttered / slots:.1%} of the {counted(slots, 'goal slot')}")
    sentences = [
        f"the profile {profile.name} does not know the domain '{domain}' of {counted(count, 'goal')}."
        f"{nearest(domain, profile.domains)}"
        for domain, count in unknown.items()
    ]
    return f"{'; '.join(parts)}." if parts else "", sentences


def _scores(scored: _Scored, names: Sequence[str], how: Resampling | None) -> Scores:
    """The measures asked for; ours also of every domain."""
    evidence, coverage = UserEvidence(scored.results), _coverage(scored)
    asked = asked_for(names, KIND, _LISTS)
    measures: dict[str, Measure[Any]] = {}
    left_out: dict[str, str] = {}
    for each in parse_measures(names, KIND, _LISTS):
        ours = each.card.name in DEFAULT and not each.part
        domains = evidence.domains(each.card.name.partition(" ")[0]) if ours else []
        for measure in (each, *(replace(each, part=domain) for domain in domains)):
            why = measure.obstacle(evidence)
            if why is None:
                measures[str(measure)] = measure
            elif str(measure) in asked:
                raise DialgaugeError(f"{measure} cannot be computed: {why}")
            else:
                left_out[str(measure)] = why
    signature = scored.scorer.signature().with_(dialogues=str(evidence.dialogues), turns=str(coverage["turns"].scored))
    system = SystemEvidence(
        evidence=evidence,
        measures=list(measures.values()),
        dialogues=evidence.ids,
        signature=signature,
        coverage=coverage,
        left_out=left_out,
    )
    return score_systems([system], how)[0]


def _coverage(scored: _Scored) -> Coverage:
    done, failed = len(scored.results), len(scored.failures)
    turns = sum(result.turns for result in scored.results)
    return Coverage(
        {
            "dialogues": Count(expected=done + failed, read=done + failed - scored.unread, scored=done, failed=failed),
            "turns": Count(expected=scored.turns, read=scored.turns, scored=turns, failed=scored.turns - turns),
        }
    )
