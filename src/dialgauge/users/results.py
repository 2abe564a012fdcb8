"""GCDF1 from Python: one call gives a run in memory, with scores, tables, figures and explanations.

users = dialgauge.score_users("talks/", canonical_map="map.json")
users["I-GCDF1"], users["R-GCDF1[hotel]"]
print(users.explain("MUL0003"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.engine import Workers
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import list_shards, system_name
from dialgauge.measures import (
    Count,
    Coverage,
    Measure,
    Resampling,
    Score,
    Scores,
    SystemEvidence,
    asked_for,
    cards,
    parse_measures,
    score_systems,
)
from dialgauge.runs import Parts, Run, Store, new_run
from dialgauge.text import Note
from dialgauge.users.fit import fit_of, fit_sentences, refuse_misfits
from dialgauge.users.measures import ASPECTS, DEFAULT, UserEvidence, gcdf1
from dialgauge.users.presentation import FIT, GOALS, HEARD, LOST, SCORED, WARNINGS, as_system, score_tables
from dialgauge.users.records import MEASURES
from dialgauge.users.scorer_settings import UserOptions
from dialgauge.users.scoring import Conversations, ScoredConversations, score_conversations
from dialgauge.users.tables import run_tables

if TYPE_CHECKING:
    import polars

    from dialgauge.users.figures import PaperFigure

KIND = "users"


def score_users(
    conversations: Conversations,
    *,
    canonical_map: str | Path | None = None,
    config: str | Path | None = None,
    overrides: Mapping[str, object] | None = None,
    mode: str | None = None,
    profile: str | None = None,
    database: str | Path | None = None,
    schema: str | Path | None = None,
    measures: Iterable[str] = ("default",),
    workers: Workers = None,
    resamples: int = 1000,
    seed: int = 0,
    name: str | None = None,
) -> UserScores:
    """I-GCDF1 and R-GCDF1 of the user in conversations: files, a corpus, a run, or any iterable of dialogues.

    ``overrides`` maps dotted option paths to values; ``measures`` may name those of other packages.
    """
    changed = [f"{path}={msgspec.json.encode(value).decode()}" for path, value in (overrides or {}).items()]
    options = UserOptions(
        canonical_map=canonical_map,
        config=config,
        overrides=(*changed, *([f"mode={mode}"] if mode else ())),
        profile=profile,
        database=database,
        schema=schema,
    )
    return users_scored(
        conversations, options, measures=measures, workers=workers, resamples=resamples, seed=seed, name=name
    )


def users_scored(
    conversations: Conversations,
    options: UserOptions,
    *,
    measures: Iterable[str] = ("default",),
    workers: Workers = None,
    resamples: int = 1000,
    seed: int = 0,
    name: str | None = None,
    store: Store | None = None,
    on_unit: Callable[[int], None] | None = None,
) -> UserScores:
    """The same with the options in one record, as commands have them. With a store, what is finished outlives the
    process until all is."""
    names = list(measures)
    _parsed(names)  # a misspelt measure is an error before the work
    with _kept(conversations, options, store) as done:
        scored = score_conversations(conversations, options, name=name, workers=workers, done=done, on_unit=on_unit)
    roles = {
        "conversations": conversations if isinstance(conversations, str | Path) else None,
        "canonical map": options.canonical_map,
        "config": options.config,
        "database": options.database,
        "schema": options.schema,
    }
    inputs = [(role, path) for role, path in roles.items() if path is not None and str(path) != "-"]
    return UserScores(users_run(scored, names, resamples=resamples, seed=seed, inputs=inputs))


@contextmanager
def _kept(conversations: Conversations, options: UserOptions, store: Store | None) -> Iterator[Parts | None]:
    """What is finished, found again by everything that decides it; None where nothing is to be kept."""
    if store is None or not isinstance(conversations, str | Path):
        yield None
        return
    named = (options.canonical_map, options.config, options.database, options.schema, options.profile)
    rules = [str(one) for one in named if one is not None and Path(one).exists()]
    config = {
        "source": str(conversations),  # what is finished of it changes with each of its files
        "options": msgspec.to_builtins(options, enc_hook=str),
        "files": [shard.key for shard in list_shards(rules)] if rules else [],
    }
    with store.kept_units(kind="conversations", name=system_name(conversations), config=config) as done:
        yield done


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
            GOALS: scored.goals(),
            HEARD: {side: sum(side in result.heard_by for result in scored.results) for side in ("user", "system")},
            WARNINGS: sum(len(result.warnings) for result in scored.results),
        },
        notes=[
            *(Note("reading", f"{what} ({count:,})") for what, count in sorted(scored.notes.items())),
            *(Note("fit", told) for told in fit_sentences(scored, fit)),
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
        signature=scored.signature().with_(dialogues=str(evidence.dialogues), turns=turns),
        coverage=coverage,
    )
    chosen = {str(measure): measure for measure in _parsed(names)}
    grid = [each for each in _grid(evidence) if {each.card.name, str(each)} & chosen.keys()]
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


def _grid(evidence: UserEvidence) -> list[Measure[Any]]:
    """Our own measures in the order in which intervals are drawn for them."""
    return [
        gcdf1(measure, aspect, domain)
        for measure in MEASURES
        for domain in evidence.domains(measure)
        for aspect in ASPECTS
    ]


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
    read = scored.turns
    return Coverage(
        {
            "dialogues": Count(expected=done + failed, read=done + failed - scored.unread, scored=done, failed=failed),
            "turns": Count(expected=read, read=read, scored=turns, failed=read - turns),
        }
    )


class UserScores:
    """The scores of one user model and everything behind them, made from a run in memory or in a store."""

    def __init__(self, run: Run) -> None:
        if run.kind != KIND:
            raise DialgaugeError(f"the run {run.id} is not a run of 'dialgauge users score'")
        self.run = run

    def __getitem__(self, name: str) -> float | None:
        if name not in self.run.scores:
            raise DialgaugeError(f"there is no score '{name}'.{nearest(name, self.run.scores)}")
        return self.run.scores[name].value

    @property
    def name(self) -> str:
        """What the user model is called."""
        return self.run.name

    @property
    def scores(self) -> Mapping[str, Score]:
        """Values with intervals and signatures, by measure."""
        return self.run.scores

    @cached_property
    def tables(self) -> Mapping[str, polars.DataFrame]:
        """The tables of the run, made or read when asked for: dialogue_scores, verdicts, behaviours, loops, ..."""
        return _Tables(self.run)

    @cached_property
    def figures(self) -> list[PaperFigure]:
        """The paper's analyses, Figures 1 to 7."""
        from dialgauge.users.figures import paper_figures

        return paper_figures(self.run)

    def explain(self, dialogue: str) -> str:
        """Where every point of one dialogue's scores was won or lost, as Markdown."""
        from dialgauge.users.conversations import explanation

        return "\n".join(table.render("markdown") for table in explanation(self.run, dialogue))

    def as_dict(self, *, per_dialogue: bool = False) -> dict[str, Any]:
        """The shape of ``dialgauge users score --json``, for this one user model."""
        return as_system(self.run, per_dialogue=per_dialogue)

    def __repr__(self) -> str:
        return f"<UserScores of {self.run!r}>"

    def _repr_markdown_(self) -> str:
        return "\n".join(table.render("markdown") for table in score_tables(self.run))

    def _repr_html_(self) -> str:
        from dialgauge.report import notebook_html

        return notebook_html(score_tables(self.run))

    __str__ = _repr_markdown_


class _Tables(Mapping[str, "polars.DataFrame"]):
    """The tables of a run by name."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getitem__(self, name: str) -> polars.DataFrame:
        return self._run.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.tables)

    def __len__(self) -> int:
        return len(self._run.tables)
