"""GCDF1 from Python: one call gives runs in memory, with scores, tables, figures and explanations.

users = dialgauge.score_users("talks/", canonical_map="map.json")
users["talks"]["I-GCDF1"], users["talks"]["R-GCDF1[hotel]"]
print(users.explain("MUL0003"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
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
from dialgauge.rendering import RunSet, Table, figure_label
from dialgauge.runs import Run, new_run
from dialgauge.text import Note
from dialgauge.users.fit import fit_of, fit_sentences, refuse_misfits
from dialgauge.users.measures import ASPECTS, DEFAULT, UserEvidence, gcdf1
from dialgauge.users.presentation import FIT, HEARD, LOST, SCORED, WARNINGS, as_system, score_tables
from dialgauge.users.profile import DatasetProfile
from dialgauge.users.scorer import Failure
from dialgauge.users.scorer_settings import ScorerSettings, UserOptions
from dialgauge.users.scoring import Conversations, ScoredConversations, score_conversations
from dialgauge.users.tables import run_tables
from dialgauge.users.verdicts import MEASURES

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
) -> UserRuns:
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
    runs = []
    chosen = measure_names(measures)
    for label, source in named.items():
        with progress.bar("scoring files") as advance:
            run = users_scored(
                source,
                options,
                measures=chosen,
                resamples=resamples,
                seed=seed,
                name=label,
                on_file=advance,
            )
        for note in run.notes:
            progress.say(f"{run.name}: {note}")
        runs.append(run)
    return UserRuns(runs)


def users_scored(
    conversations: Conversations,
    options: UserOptions,
    *,
    measures: str | Iterable[str] = ("default",),
    resamples: int = 1000,
    seed: int = 0,
    name: str | None = None,
    on_file: Callable[[int], None] | None = None,
) -> Run:
    """One user model as a run in memory."""
    names = measure_names(measures)
    _parsed(names)  # a misspelt measure is an error before the work
    scored = score_conversations(conversations, options, name=name, on_file=on_file)
    roles = {
        "conversations": conversations if isinstance(conversations, str | Path) else None,
        "canonical map": options.canonical_map,
        "config": options.config,
    }
    inputs = [(role, path) for role, path in roles.items() if path is not None and str(path) != "-"]
    return users_run(scored, names, resamples=resamples, seed=seed, inputs=inputs)


def user_scores(conversations: Sequence[Dialogue], options: UserOptions, *, resamples: int, seed: int) -> Scores:
    """The scores of one user model, for who needs no run of it."""
    scored = ScoredConversations("conversations", "", ScorerSettings.load(options), dialogues=list(conversations))
    for result in scored.settings.scorer().score_all(conversations):
        if isinstance(result, Failure):
            scored.failures.append(result)
        else:
            scored.results.append(result)
    how = Resampling(resamples, seed) if resamples else None
    return _scores(scored, UserEvidence(scored.results), measure_names(("default",)), how)


def users_run(
    scored: ScoredConversations,
    measures: Sequence[str] = ("default",),
    *,
    resamples: int = 1000,
    seed: int = 0,
    inputs: Iterable[tuple[str, str | Path]] = (),
) -> Run:
    """Scored conversations as a run in memory: scores with intervals, tables that are made when asked for."""
    refuse_misfits(scored)
    evidence = UserEvidence(scored.results)
    settings = scored.settings
    fit = fit_of(scored.results)
    return new_run(
        kind=KIND,
        name=scored.name,
        scores=_scores(scored, evidence, measures, Resampling(resamples, seed) if resamples else None),
        tables=run_tables(scored.results, scored.failures),
        corpus=scored.dialogues,
        config=msgspec.to_builtins(settings.config) | {"profile": settings.profile.name},
        inputs=inputs,
        seeds=seed,
        details={
            "mode": settings.config.mode,
            "profile": settings.profile.name,
            SCORED: {
                measure: {domain: evidence.count(measure, domain) for domain in evidence.domains(measure)}
                for measure in MEASURES
            },
            LOST: {
                measure: {
                    domain: split for domain in evidence.domains(measure) if (split := evidence.split(measure, domain))
                }
                for measure in MEASURES
            },
            FIT: msgspec.structs.asdict(fit),
            HEARD: {side: sum(side in result.heard_by for result in scored.results) for side in ("user", "system")},
            WARNINGS: sum(len(result.warnings) for result in scored.results),
        },
        notes=[
            *(Note("reading", f"{what} ({count:,})") for what, count in sorted(scored.notes.items())),
            *(Note("fit", sentence) for sentence in fit_sentences(scored, fit)),
        ],
    )


def _scores(
    scored: ScoredConversations, evidence: UserEvidence, names: Sequence[str], how: Resampling | None
) -> Scores:
    """The scores of our own measures, combined and of every domain, and of other packages' measures.

    The latter are drawn apart, so that installing one changes no last bit of an interval of ours. Intervals are drawn
    over the dialogues in the order of their ids: the order of files must not change a number.
    """
    coverage = _coverage(scored)
    turns = str(coverage["turns"].scored)
    base = SystemEvidence(
        evidence=evidence,
        measures=(),
        dialogues=evidence.ids,
        signature=scored.settings.signature().with_(dialogues=str(evidence.dialogues), turns=turns),
        coverage=coverage,
    )
    chosen = {str(measure): measure for measure in _parsed(names)}
    grid = [  # in the order in which intervals are drawn
        each
        for measure in MEASURES
        for domain in evidence.domains(measure)
        for each in (gcdf1(measure, aspect, domain) for aspect in ASPECTS)
        if {each.card.name, str(each)} & chosen.keys()
    ]
    own, left_out = _possible(grid, evidence, names)
    others, more_left_out = _possible(
        [measure for name, measure in chosen.items() if name not in set(map(str, grid))], evidence, names
    )
    left_out |= more_left_out
    [scores] = score_systems([replace(base, measures=own, left_out=left_out)], how)
    if not others:
        return scores
    [more] = score_systems([replace(base, measures=others)], how)
    return scores.joined(more)


def _possible(
    measures: Iterable[Measure[Any]], evidence: UserEvidence, names: Sequence[str]
) -> tuple[list[Measure[Any]], dict[str, str]]:
    possible: list[Measure[Any]] = []
    left_out: dict[str, str] = {}
    for measure in measures:
        why = measure.obstacle(evidence)
        if why is None:
            possible.append(measure)
        elif str(measure) in asked_for(names, KIND, _lists(names)):
            raise DialgaugeError(f"{measure} cannot be computed: {why}")
        else:
            left_out[str(measure)] = why
    return possible, left_out


def _parsed(names: Sequence[str]) -> list[Measure[Any]]:
    return parse_measures(names, KIND, _lists(names))


def _lists(names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Names for several measures; other packages' are looked up only where ``all`` are asked for."""
    everything = any("all" in name.lower().split(",") for name in names)
    return {
        "default": DEFAULT,
        **({"all": [*DEFAULT, *(name for name in cards(KIND) if name not in DEFAULT)]} if everything else {}),
    }


def _coverage(scored: ScoredConversations) -> Coverage:
    done, failed = len(scored.results), len(scored.failures)
    turns = sum(result.turns for result in scored.results)
    read = sum(len(dialogue.turns) for dialogue in scored.dialogues)
    return Coverage(
        {
            "dialogues": Count(expected=done + failed, read=done + failed - scored.unread, scored=done, failed=failed),
            "turns": Count(expected=read, read=read, scored=turns, failed=read - turns),
        }
    )


class UserRuns(RunSet):
    """User models by name, with everything behind their scores."""

    def _check(self, run: Run) -> None:
        if run.kind != KIND:
            raise DialgaugeError(f"the run {run.id} is not a run of 'dialgauge users score'")

    def tables(self, *, verdicts: bool = False) -> list[Table]:
        """For each user model its scores by domain and what each fault costs; how often each verdict was given."""
        tables = []
        for run in self.runs:
            tables += score_tables(run)
            if verdicts:
                from dialgauge.users.figures import verdict_table

                tables.append(verdict_table(run))
        return tables

    def document(self, *, per_dialogue: bool = False) -> dict[str, Any]:
        """The JSON that ``dialgauge users score --json`` writes."""
        systems = [as_system(run, per_dialogue=per_dialogue) for run in self.runs]
        coverage = {system["name"]: system["coverage"] for system in systems}
        return {"signature": self.signature, "coverage": coverage, "systems": systems}

    def _explained(self, run: Run, dialogue: str) -> list[Table]:
        from dialgauge.users.conversations import explanation

        return explanation(run, dialogue)

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """The scores with their intervals, and the paper's analyses, Figures 1 to 7."""
        from dialgauge.users.figures import draw, paper_figures

        analyses = {
            f"{paper_figure.name}_{figure_label(index, run.name)}" if len(self) > 1 else paper_figure.name: partial(
                draw, paper_figure
            )
            for index, run in enumerate(self.runs, 1)
            for paper_figure in paper_figures(run)
        }
        return {**super().figures(), **analyses}
