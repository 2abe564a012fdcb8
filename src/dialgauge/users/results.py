"""GCDF1 from Python: one call scores conversations and gives their runs.

users = dialgauge.score_users("talks/", canonical_map="map.json")
users["talks"]["I-GCDF1"], users["talks"]["R-GCDF1[hotel]"]
users.explain("MUL0003")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.engine import SILENT, Progress
from dialgauge.errors import DialgaugeError
from dialgauge.formats import named_sources
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
from dialgauge.text import Note
from dialgauge.users.measures import DEFAULT, UserEvidence
from dialgauge.users.profile import DatasetProfile
from dialgauge.users.scorer import ScorerSettings, UserOptions
from dialgauge.users.scoring import (
    Conversations,
    ScoredConversations,
    fit_line,
    fit_of,
    fit_sentences,
    refuse_misfits,
    score_conversations,
)
from dialgauge.users.tables import run_tables

KIND = "users"


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
    name: str | None = None,
    progress: Progress = SILENT,
) -> RunSet:
    """I-GCDF1 and R-GCDF1 of the user in conversations: files, a run, dialogues, or a frame or dataset of them.

    Several user models are a list of files or folders, or a mapping of names to any of these. ``overrides`` maps dotted
    option paths to values; ``measures`` may name those of other packages. ``options`` are all settings in one record,
    in place of those before it.

    >>> from dialgauge import Act, Dialogue, Goal, Task, Turn, score_users
    >>> goal = Goal(tasks={"hotel": Task(info={"area": "north"})})
    >>> said = Turn(speaker="user", acts=(Act("inform", "hotel", "area", ("north",)),))
    >>> users = score_users([Dialogue(id="d", goal=goal, turns=(said,))], name="mine")
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
    if name is not None and len(named) == 1 and not isinstance(conversations, Mapping):
        named = dict.fromkeys([name], *named.values())
    chosen = measure_names(measures)
    _parsed(chosen)  # a misspelt measure is an error before the work
    runs = []
    for label, source in named.items():
        with progress.bar("scoring") as advance:
            scored = score_conversations(source, options, name=label, advance=advance)
        roles = {
            "conversations": source if isinstance(source, str | Path) else None,
            "canonical map": options.canonical_map,
            "config": options.config,
        }
        inputs = [(role, path) for role, path in roles.items() if path is not None and str(path) != "-"]
        runs.append(_run(scored, chosen, Resampling(resamples, seed) if resamples else None, seed, inputs))
    return RunSet(runs)


def user_scores(conversations: Sequence[Dialogue], options: UserOptions, *, resamples: int, seed: int) -> Scores:
    """The scores of one user model without a run."""
    scored = ScoredConversations("", ScorerSettings.load(options), dialogues=conversations)
    scored = score_conversations(conversations, options) if conversations else scored
    return _scores(scored, ["default"], Resampling(resamples, seed) if resamples else None)


def _run(
    scored: ScoredConversations,
    measures: Sequence[str],
    how: Resampling | None,
    seed: int,
    inputs: Iterable[tuple[str, str | Path]],
) -> Run:
    """Scored conversations as a run in memory; its tables are made when asked for."""
    refuse_misfits(scored)
    settings = scored.settings
    return new_run(
        kind=KIND,
        name=scored.name,
        scores=_scores(scored, measures, how),
        tables=run_tables(scored.results, scored.failures),
        corpus=scored.dialogues,
        config=msgspec.to_builtins(settings.config) | {"profile": settings.profile.name},
        inputs=inputs,
        seeds=seed,
        details={
            "mode": settings.config.mode,
            "profile": settings.profile.name,
            "fit": fit_line(fit_of(scored.results), settings.profile.name),
            "heard": {side: sum(side in result.heard_by for result in scored.results) for side in ("user", "system")},
        },
        notes=[
            *(Note("reading", f"{what} ({count:,})") for what, count in sorted(scored.notes.items())),
            *(Note("fit", sentence) for sentence in fit_sentences(scored)),
        ],
    )


def _scores(scored: ScoredConversations, names: Sequence[str], how: Resampling | None) -> Scores:
    """The measures asked for; ours also of every domain."""
    evidence, coverage = UserEvidence(scored.results), _coverage(scored)
    asked = asked_for(names, KIND, _lists(names))
    measures: dict[str, Measure[Any]] = {}
    left_out: dict[str, str] = {}
    for each in _parsed(names):
        domains = (
            evidence.domains(each.card.name.partition(" ")[0]) if each.card.name in DEFAULT and not each.part else []
        )
        for measure in (each, *(replace(each, part=domain) for domain in domains)):
            why = measure.obstacle(evidence)
            if why is None:
                measures[str(measure)] = measure
            elif str(measure) in asked:
                raise DialgaugeError(f"{measure} cannot be computed: {why}")
            else:
                left_out[str(measure)] = why
    signature = scored.settings.signature().with_(
        dialogues=str(evidence.dialogues), turns=str(coverage["turns"].scored)
    )
    system = SystemEvidence(
        evidence=evidence,
        measures=list(measures.values()),
        dialogues=evidence.ids,
        signature=signature,
        coverage=coverage,
        left_out=left_out,
    )
    return score_systems([system], how)[0]


def _parsed(names: Sequence[str]) -> list[Measure[Any]]:
    return parse_measures(names, KIND, _lists(names))


def _lists(names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Names for several measures; other packages' are looked up only where ``all`` are asked for."""
    everything = any("all" in name.lower().split(",") for name in names)
    return {"default": DEFAULT, **({"all": [*dict.fromkeys((*DEFAULT, *cards(KIND)))]} if everything else {})}


def _coverage(scored: ScoredConversations) -> Coverage:
    done, failed = len(scored.results), len(scored.failures)
    turns = sum(result.turns for result in scored.results)
    return Coverage(
        {
            "dialogues": Count(expected=done + failed, read=done + failed - scored.unread, scored=done, failed=failed),
            "turns": Count(expected=scored.turns, read=scored.turns, scored=turns, failed=scored.turns - turns),
        }
    )
