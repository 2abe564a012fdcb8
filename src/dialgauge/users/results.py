"""GCDF1 from Python: one call gives a run in memory, with scores, tables, figures and explanations.

users = dialgauge.score_users("talks/", canonical_map="map.json")
users["I-GCDF1"], users["R-GCDF1[hotel]"]
print(users.explain("MUL0003"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.errors import DialgaugeError, nearest
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
from dialgauge.report import Cell, Column, Table
from dialgauge.runs import Run, new_run
from dialgauge.users.measures import ASPECTS, CARDS, UserEvidence, gcdf1, score_name
from dialgauge.users.records import COMBINED, MEASURES, MeasureName
from dialgauge.users.scoring import Conversations, ScoredConversations, UserOptions, score_conversations
from dialgauge.users.tables import run_tables

if TYPE_CHECKING:
    import polars

    from dialgauge.users.figures import PaperFigure

KIND = "users"
DEFAULT = tuple(card.name for card in CARDS)
#: Where a run keeps over how many dialogues a mean was taken: measure to domain to dialogues.
SCORED = "scored_dialogues"
#: Where a run keeps how many warnings the table ``conversation_facts`` holds.
WARNINGS = "warnings"


def score_users(
    conversations: Conversations,
    *,
    canonical_map: str | Path | None = None,
    config: str | Path | None = None,
    overrides: Mapping[str, object] | None = None,
    mode: str | None = None,
    profile: str | None = None,
    database: str | Path | None = None,
    measures: Iterable[str] = ("default",),
    workers: int | None = None,
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
    )
    return users_scored(
        conversations, options, measures=measures, workers=workers, resamples=resamples, seed=seed, name=name
    )


def users_scored(
    conversations: Conversations,
    options: UserOptions,
    *,
    measures: Iterable[str] = ("default",),
    workers: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
    name: str | None = None,
    on_unit: Callable[[int], None] | None = None,
) -> UserScores:
    """The same with the options in one record, as commands have them."""
    names = list(measures)
    _parsed(names)  # a misspelt measure is an error before the work
    scored = score_conversations(conversations, options, name=name, workers=workers, on_unit=on_unit)
    roles = {
        "conversations": conversations if isinstance(conversations, str | Path) else None,
        "canonical map": options.canonical_map,
        "config": options.config,
        "database": options.database,
    }
    inputs = [(role, path) for role, path in roles.items() if path is not None and str(path) != "-"]
    return UserScores(users_run(scored, names, resamples=resamples, seed=seed, inputs=inputs))


def users_run(
    scored: ScoredConversations,
    measures: Sequence[str] = ("default",),
    *,
    resamples: int = 1000,
    seed: int = 0,
    inputs: Iterable[tuple[str, str | Path]] = (),
) -> Run:
    """Scored conversations as a run in memory: scores with intervals, tables that are made when asked for."""
    evidence = UserEvidence(scored.results)
    settings = scored.settings
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
            WARNINGS: sum(len(result.warnings) for result in scored.results),
        },
        notes=[f"{what} ({count:,})" for what, count in sorted(scored.notes.items())],
    )


def _scores(
    scored: ScoredConversations, evidence: UserEvidence, names: Sequence[str], how: Resampling | None
) -> Scores:
    """The scores of our own measures, combined and of every domain, and of other packages' measures.

    The latter are drawn apart, so that installing one changes no last bit of an interval of ours.
    """
    coverage = _coverage(scored)
    turns = str(coverage["turns"].scored)
    base = SystemEvidence(
        evidence=evidence,
        measures=(),
        dialogues=[result.id for result in scored.results],
        signature=scored.settings.signature().with_(dialogues=str(evidence.dialogues), turns=turns),
        coverage=coverage,
    )
    chosen = {str(measure): measure for measure in _parsed(names)}
    own = [each for each in _grid(evidence) if {each.card.name, str(each)} & chosen.keys()]
    others, left_out = _possible(
        [measure for name, measure in chosen.items() if name not in set(map(str, own))], evidence, names
    )
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
    return {"default": DEFAULT, **({"all": [*DEFAULT, *(cards(KIND).keys() - {*DEFAULT})]} if everything else {})}


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
        return "\n".join(table.render("html") for table in score_tables(self.run))

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


def score_tables(run: Run) -> list[Table]:
    """One row for each domain: F1 with interval, precision, recall and dialogues, for both measures.

    Measures of other packages stand in a table of their own.
    """
    columns = [Column("domain")]
    for measure in MEASURES:
        columns += [Column(measure), Column("P"), Column("R"), Column("dialogues")]
    scored: dict[MeasureName, dict[str, int]] = run.details[SCORED]
    domains = sorted({domain for measure in MEASURES for domain in scored[measure]} - {COMBINED})
    table = Table(f"{run.name}: how the user expresses its goals", columns)
    for domain in [COMBINED, *domains]:
        cells: list[Cell | float | int | None] = []
        for measure in MEASURES:
            f1, precision, recall = (run.scores.get(score_name(measure, aspect, domain)) for aspect in ASPECTS)
            count = scored[measure].get(domain, 0)
            cells += [_cell(f1), _value(precision), _value(recall), count] if count else [None] * 4
        table.add(domain, *cells)
    table.notes.append(run.signature)
    others = {name: score for name, score in run.scores.items() if name.partition("[")[0] not in DEFAULT}
    if not others:
        return [table]
    more = Table(f"{run.name}: other measures", ["measure", "value"])
    for name, score in others.items():
        more.add(name, _cell(score))
    return [table, more]


def as_system(run: Run, *, per_dialogue: bool = False) -> dict[str, Any]:
    """One system in the shape of ``dialgauge score --json``."""
    coverage = msgspec.to_builtins(run.coverage.units)
    scored: dict[MeasureName, dict[str, int]] = run.details[SCORED]
    system: dict[str, Any] = {
        "name": run.name,
        "mode": run.details["mode"],
        "profile": run.details["profile"],
        "dialogues": coverage["dialogues"]["scored"],
        "turns": coverage["turns"]["scored"],
        "scores": {
            name: score.as_dict() | _dialogues(scored, name) for name, score in run.scores.items() if "[" not in name
        },
        "by": {"domain": _by_domain(run, scored)},
        "coverage": coverage,
        "failures": failure_sentences(run),
    }
    if per_dialogue:
        system["per_dialogue"] = _per_dialogue(run)
    return system


def failure_sentences(run: Run) -> list[str]:
    """A sentence for each dialogue that failed."""
    if not run.coverage["dialogues"].failed:
        return []
    rows = run.table("failures").select("reason", "file", "dialogue", "turn").rows()
    return [str(DialgaugeError(reason, file=file, dialogue=name, turn=turn)) for reason, file, name, turn in rows]


def warnings(run: Run) -> list[tuple[str, str]]:
    """What was odd about scored dialogues: dialogue and sentence."""
    if not run.details[WARNINGS]:
        return []
    rows = run.table("conversation_facts").select("dialogue", "warnings").drop_nulls().rows()
    decode = msgspec.json.Decoder(list[str]).decode
    return [(dialogue, warning) for dialogue, sentences in rows for warning in decode(sentences)]


def _dialogues(scored: Mapping[MeasureName, Mapping[str, int]], name: str) -> dict[str, int]:
    """Over how many dialogues a mean of ours was taken."""
    measure = next((each for each in MEASURES if name.split(" ")[0] == each), None)
    return {} if measure is None else {"dialogues": scored[measure].get(COMBINED, 0)}


def _by_domain(run: Run, scored: Mapping[MeasureName, Mapping[str, int]]) -> dict[str, Any]:
    groups: dict[str, Any] = {}
    for measure, counts in scored.items():
        for domain, count in counts.items():
            if domain == COMBINED:
                continue
            group = groups.setdefault(domain, {"dialogues": 0, "scores": {}, "details": {}})
            group["dialogues"] = max(group["dialogues"], count)
            for aspect in ASPECTS:
                score = run.scores.get(score_name(measure, aspect, domain))
                if score is not None:
                    name = score_name(measure, aspect)
                    group["scores"][name] = score.value
                    group["details"][name] = score.as_dict() | {"dialogues": count}
    return groups


def _per_dialogue(run: Run) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Dialogue to measure to domain to F1, precision and recall."""
    ids = run.table("conversation_facts")["dialogue"].to_list()
    scores: dict[str, dict[str, Any]] = {dialogue: {measure: {} for measure in MEASURES} for dialogue in ids}
    for dialogue, measure, domain, *values in (
        run.table("domain_scores").select("dialogue", "measure", "domain", *ASPECTS).iter_rows()
    ):
        scores[dialogue][measure][domain] = dict(zip(ASPECTS, values, strict=True))
    return scores


def _cell(score: Score | None) -> Cell | None:
    return None if score is None else Cell(score.value, score.low, score.high)


def _value(score: Score | None) -> float | None:
    return None if score is None else score.value
