"""One run of the lab: conversations held, recorded once, and scored as tracking, as users and as tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.agents import AGENT_ERROR, BROKEN_ENDS, BUILT_IN, EXPLANATION, deciding_options
from dialgauge.dialogue import Dialogue
from dialgauge.engine import SILENT, Progress, Workers
from dialgauge.errors import DialgaugeError
from dialgauge.formats import carries, hold
from dialgauge.lab.blame.attribution import blame_conversations
from dialgauge.lab.blame.scores import blame_frames, score_blame
from dialgauge.lab.domain_source import SYNTHETIC, LoadedDomain, open_domain
from dialgauge.lab.services import check_setting, checksum_of, hold_conversations, speaks_freely
from dialgauge.lab.sessions import LAB_LIMITS, AgentSpec, LabConfig, make_lab_config
from dialgauge.measures import (
    Resampling,
    Score,
    Scores,
    Signature,
    Summed,
    parse_measure,
    summed_intervals,
    uneven_trials,
)
from dialgauge.rankers import code_of, files_named
from dialgauge.report import RunSet
from dialgauge.runs import Parts, Run, Store, new_run
from dialgauge.tasks import JudgedConversations, judge_outcomes, outcome_frames, score_outcomes
from dialgauge.text import Note, counted
from dialgauge.tracking import DEFAULT_MEASURES, PreparedInputs, SystemInput, chosen_measures, state_scores
from dialgauge.users import UserOptions, domain_profile, user_scores
from dialgauge.values import profile_named
from dialgauge.worlds.domain import Domain

LAB_KIND = "lab"
#: The source of the acts of a system that has only words.
FROM_WORDS = "words and calls"
#: The profile under which states of the lab are compared: both sides write values alike.
_PROFILE = "verbatim"
#: Ends that a reader is told of: the kind of the note, and what happened.
_TOLD_ENDS = {
    AGENT_ERROR: ("agent_failed", "ended because an agent failed"),
    **dict.fromkeys(BROKEN_ENDS, ("left_out", "left out")),
}


def converse(
    system: str | AgentSpec | LabConfig = "rule-system",
    user: str | AgentSpec = "agenda",
    *,
    domain: str = SYNTHETIC,
    goals: str | LoadedDomain = SYNTHETIC,
    database: str | Path | None = None,
    count: int | None = None,
    failures: str = "live",
    town_seed: int = 0,
    level: str = "act",
    trials: int = 1,
    seed: int = 0,
    exchanges: int = LAB_LIMITS.exchanges,
    seconds: float = LAB_LIMITS.seconds,
    resamples: int = 1000,
    workers: Workers = None,
    store: Store | None = None,
    progress: Progress = SILENT,
) -> RunSet:
    """Put a system in front of a simulated user, once for every goal, and score what they say in every way there is.

    Agents are named as in ``dialgauge lab run``, with settings as ``AgentSpec(name, settings)``. The options are those
    of that command; a ``LabConfig`` in place of the system has all that decide what is said. With a ``store`` the run
    is stored, and what is finished outlives the process until it is. An agent's own error is a failure; conversations
    that a dead endpoint, a time limit or a spent budget ended are left out of success and counted.

    >>> from dialgauge import converse
    >>> results = converse("rule-system", "agenda", count=2, resamples=0)
    >>> f"{results[0]['Success(rules=strict)']:.0%}", len(list(results[0].dialogues()))
    ('100%', 2)
    """
    loaded = (
        goals
        if isinstance(goals, LoadedDomain)
        else open_domain(domain, goals, database=database, count=count, seed=town_seed, failures=failures)
    )
    if isinstance(system, LabConfig):
        config = system
    else:
        for agent in (user, system):
            if not isinstance(agent, str | AgentSpec):
                raise DialgaugeError(f"an agent is a name or an AgentSpec (got {agent!r:.60})")
        specs = [agent if isinstance(agent, AgentSpec) else AgentSpec(agent) for agent in (user, system)]
        config = make_lab_config(
            *specs,
            level=level,
            trials=trials,
            seed=seed,
            exchanges=exchanges,
            seconds=seconds,
        )
    with progress.bar("talking", len(loaded.goals) * config.trials) as advance:
        run = run_lab(loaded, config, store=store, workers=workers, resamples=resamples, on_unit=advance)
    return RunSet([run])


def run_lab(
    loaded: LoadedDomain,
    config: LabConfig,
    *,
    store: Store | None = None,
    workers: Workers = None,
    resamples: int = 1000,
    on_unit: Callable[[int], object] = lambda conversations: None,
) -> Run:
    """Hold the conversations and score them. With a store the run is stored, and what is finished outlives the process
    until it is."""
    check_setting(config, loaded.search.domain)
    with kept_conversations(store, LAB_KIND, loaded, config) as done:
        held = hold_conversations(loaded.again, loaded.goals, config, workers=workers, done=done, on_unit=on_unit)
        run = scored_run(hold(held), loaded, config, resamples=resamples)
        return run if store is None else store.add(run)


def kept_conversations(
    store: Store | None, kind: str, loaded: LoadedDomain, config: LabConfig, **more: Any
) -> AbstractContextManager[Parts | None]:
    """The finished conversations of a run, found again by everything that decides them; None without a store."""
    if store is None:
        return nullcontext()
    facts = {
        "signature": lab_signature(loaded, config).long(),
        "lab": msgspec.to_builtins(config) | {"user": str(config.user), "system": str(config.system)},
        **more,
    }
    return store.kept_units(kind=kind, name=_name(config), config=facts)


def scored_run(
    held: Sequence[Dialogue],
    loaded: LoadedDomain,
    config: LabConfig,
    *,
    resamples: int = 1000,
) -> Run:
    """Recorded conversations as a run with the scores of all families."""
    signature = lab_signature(loaded, config)
    judged = judged_conversations(held, loaded)
    blamed = blame_conversations(judged)
    families = [
        score_outcomes(judged, resamples=resamples, seed=config.seed),
        *(_over_goals(scores, resamples, config) for scores in _tracker_and_user(held, loaded, config, resamples)),
        score_blame(blamed, reads_text=config.level == "text", resamples=resamples, seed=config.seed),
    ]
    domain = loaded.search.domain
    scores = reduce(Scores.joined, families)
    scores = replace(scores, scores={name: _signed(score, signature) for name, score in scores.scores.items()})
    return new_run(
        kind=LAB_KIND,
        name=_name(config),
        scores=scores,
        tables={**outcome_frames(judged), **blame_frames(blamed)},
        corpus=held,
        config={
            "user": str(config.user),
            "system": str(config.system),
            "level": config.level,
            "goals": loaded.name,
            "failures": loaded.failures,
            # What pages must know of a domain other than the town: its name, and the slots that name what is offered.
            **({} if domain.multiwoz else {"domain": domain.name, "names": sorted(domain.names)}),
            "trials": config.trials,
            "limits": msgspec.to_builtins(config.limits),
            **_labelled(config),
        },
        inputs=loaded.files,
        seeds=config.seed,
        signature=signature,
        notes=[
            *_notes(held),
            *_skipped(loaded.refused),
            *_uneven_goals([conversation.goal for conversation in judged]),
        ],
    )


def _skipped(refused: Sequence[tuple[str, str]]) -> list[str]:
    """Goals that could not be pursued."""
    if not refused:
        return []
    (name, why), more = refused[0], len(refused) - 1
    rest = f"; {more:,} more, see 'dialgauge lab goals'" if more else ""
    return [Note("skipped_goals", f"skipped goal {name}: {why}{rest}")]


def _uneven_goals(goals: Sequence[str]) -> list[str]:
    """That pass^k of some k rests on fewer goals, where trials are missing."""
    trials = Counter(goals).values()
    rests = {f"pass^{k}": sum(count >= k for count in trials) for k in range(1, max(trials, default=0) + 1)}
    return [Note("uneven_trials", uneven)] if (uneven := uneven_trials(rests, "goal")) else []


def _labelled(config: LabConfig) -> dict[str, dict[str, Any]]:
    """Of agents that have only words: who labels them with acts, and what a million of their tokens costs."""
    sides = {"user": config.user, "system": config.system}
    agents = {side: spec.make() for side, spec in sides.items() if spec.name in BUILT_IN}
    acts = {side: agent.acts_source for side, agent in agents.items() if hasattr(agent, "acts_source")}
    if speaks_freely(config):
        acts.setdefault("system", FROM_WORDS)
    prices = {side: agent.prices for side, agent in agents.items() if hasattr(agent, "prices") and any(agent.prices)}
    return {name: text for name, text in (("acts", acts), ("prices", prices)) if text}


def _name(config: LabConfig) -> str:
    """Both agents, with settings that they share once."""
    shared = str(config.user).removeprefix(config.user.name)
    system = str(config.system)
    return f"{system.removesuffix(shared) if shared else system}-{config.user}"


def lab_signature(loaded: LoadedDomain, config: LabConfig) -> Signature:
    """Everything that decides what was said."""
    limits = config.limits
    return Signature(
        user=str(config.user),
        system=str(config.system),
        level=config.level,
        goals=checksum_of(loaded.goals),
        database=loaded.search.domain.checksum,
        failures=loaded.failures,
        trials=str(config.trials),
        exchanges=str(limits.exchanges),
        lab_seed=str(config.seed),
        understanding="free" if speaks_freely(config) else "",
        user_code=_code(config.user),
        system_code=_code(config.system),
        user_files=_files(config.user),
        system_files=_files(config.system),
    )


def _code(spec: AgentSpec) -> str:
    """Which code an agent of another package was; ours goes with the version."""
    return "" if spec.name in BUILT_IN else code_of(spec.make())


def _files(spec: AgentSpec) -> str:
    """Checksums of the files that an agent's settings name: a model or a channel may change and keep its name."""
    return ",".join(
        f"{name}={checksum}" for name, checksum in files_named(deciding_options(spec.name, spec.options)).items()
    )


def _tracker_and_user(
    held: Sequence[Dialogue], loaded: LoadedDomain, config: LabConfig, resamples: int
) -> Iterator[Scores]:
    """The system's tracker against what the user said, where it shows states; how the user expressed its goals, where
    it has acts."""
    if carries(held, "predicted"):
        yield tracking_scores(held, loaded, resamples=resamples, seed=config.seed)
    if any(turn.acts for dialogue in held for turn in dialogue.turns if turn.speaker == "user"):
        domain = loaded.search.domain
        options = UserOptions(profile=None if domain.multiwoz else domain_profile(domain))
        yield user_scores(held, options, resamples=resamples, seed=config.seed)


def tracking_scores(held: Sequence[Dialogue], loaded: LoadedDomain, *, resamples: int = 0, seed: int = 0) -> Scores:
    """The states that the system believed in against those that follow from what the user said.

    Values are compared as the domain compares them: 9:00 is 09:00, true is yes.
    """
    domain = loaded.search.domain
    if not domain.multiwoz:
        held = hold(_with_canonical_states(dialogue, domain) for dialogue in held)
    # A turn after which the system shows no state is no turn that it got right.
    inputs = PreparedInputs(
        SystemInput("gold", held),
        [SystemInput("system", held)],
        coverage="empty",
        ontology=loaded.search.domain.tracked,
    )
    resampling = Resampling(resamples, seed) if resamples else None
    [scores] = state_scores(inputs, chosen_measures(DEFAULT_MEASURES), profile_named(_PROFILE), resampling=resampling)
    return scores


def _with_canonical_states(dialogue: Dialogue, domain: Domain) -> Dialogue:
    turns = (
        msgspec.structs.replace(
            turn,
            state=None if turn.state is None else domain.canonical(turn.state),
            predicted=None if turn.predicted is None else domain.canonical(turn.predicted),
        )
        for turn in dialogue.turns
    )
    return msgspec.structs.replace(dialogue, turns=tuple(turns))


def judged_conversations(held: Sequence[Dialogue], loaded: LoadedDomain) -> JudgedConversations:
    """What became of conversations that the lab held."""
    goals = {goal.id: goal for goal in loaded.goals}
    return judge_outcomes(held, loaded.search, failures=loaded.failures, calls_recorded=True, goals=goals)


def outcome_of(held: Sequence[Dialogue], loaded: LoadedDomain) -> NDArray[np.float64]:
    """Which conversations did all that was asked for, by the strict rules; NaN for those that cannot be judged."""
    judged = judged_conversations(held, loaded)
    done = {conversation.id: conversation.strict.success for conversation in judged if conversation.strict is not None}
    return np.array([float(done[dialogue.id]) if dialogue.id in done else np.nan for dialogue in held])


def _over_goals(scores: Scores, resamples: int, config: LabConfig) -> Scores:
    """The same scores with intervals that resample goals: trials of one goal are not independent."""
    about = [dialogue.rpartition("#")[0] for dialogue in scores.dialogues]
    goals = {goal: index for index, goal in enumerate(dict.fromkeys(about))}
    names = [name for name, score in scores.scores.items() if name in scores.sums and score.low is not None]
    if not resamples or config.trials == 1 or not names:
        return scores
    places = [goals[goal] for goal in about]
    how = Resampling(resamples, config.seed)
    by_goal = (
        np.array([np.bincount(places, row, len(goals)) for row in scores.sums[name]], np.float64) for name in names
    )
    summed = [Summed.by(parse_measure(name), sums) for name, sums in zip(names, by_goal, strict=True)]
    made = summed_intervals(summed, how)
    limited = replace(scores, scores={name: scores.scores[name] for name in names}).with_intervals(made, how)
    return replace(scores, scores={**scores.scores, **limited.scores})


def _signed(run_score: Score, lab: Signature) -> Score:
    """A score whose signature also says how the conversations came about."""
    own = Signature.parse(run_score.signature)
    return msgspec.structs.replace(run_score, signature=own.with_(**lab).long())


def _notes(held: Sequence[Dialogue]) -> list[str]:
    """What failed, once for each reason."""
    ends = Counter(
        (*_TOLD_ENDS[outcome.reason], outcome.facts.get(EXPLANATION, ""))
        for dialogue in held
        if (outcome := dialogue.outcome) and outcome.reason in _TOLD_ENDS
    )
    return [
        Note(kind, f"{counted(count, 'conversation')} {ended}: {reason}")
        for (kind, ended, reason), count in sorted(ends.items(), key=lambda end: end[0][0])
    ]
