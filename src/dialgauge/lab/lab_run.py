"""One run of the lab: conversations held, recorded once, and scored as tracking, as users and as tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.agents import (
    AGENT_ERROR,
    BUILT_IN,
    EXPLANATION,
    TIME_BUDGET,
    TOKEN_BUDGET,
    deciding_options,
)
from dialgauge.dialogue import Dialogue, Ontology
from dialgauge.engine import SILENT, Progress, Workers
from dialgauge.errors import DialgaugeError, choice
from dialgauge.files import atomic, together
from dialgauge.formats import bulk_load, write
from dialgauge.lab.blame.attribution import blame_conversations
from dialgauge.lab.blame.blame_scores import BLAME_SIDES, blame_frames, score_blame
from dialgauge.lab.blame.blame_views import blame_document, blame_explanation, blame_tables
from dialgauge.lab.domain_source import SYNTHETIC, LoadedDomain, open_domain
from dialgauge.lab.lab_config import (
    ASKS_OTHERS,
    LAB_LIMITS,
    AgentSpec,
    LabConfig,
    check_setting,
    checksum_of,
    held_at_once,
    hold_conversations,
    make_lab_config,
    speaks_freely,
)
from dialgauge.lab.self_reports import (
    BROKEN_POLICY,
    FROM_WORDS,
    cost_tables,
    coverage_tables,
    judged_by_acts,
    labels_note,
    report_tables,
)
from dialgauge.measures import Resampling, Score, Scores, Signature, parse_measure, ratio_row, ratio_row_intervals
from dialgauge.rankers import code_of, files_named
from dialgauge.report import Cell, Column, RunSet, Table, numbered
from dialgauge.runs import Parts, Run, Store, new_run
from dialgauge.source import own_source
from dialgauge.tasks import (
    BROKEN,
    Broken,
    JudgedConversations,
    judge_outcomes,
    outcome_frames,
    outcome_tables,
    score_outcomes,
    uneven_trials,
)
from dialgauge.text import Note, counted
from dialgauge.tracking import PreparedInputs, chosen_measures, state_scores
from dialgauge.users import UserOptions, domain_profile, user_scores
from dialgauge.values import profile_named
from dialgauge.worlds.domain import Domain

LAB_KIND = "lab"
#: The profile under which states of the lab are compared: both sides write values alike.
_PROFILE = "verbatim"
_TRACKING = ("JGA", "SA", "AGA", "RSA", "F1", "FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1")


class LabRuns(RunSet):
    """Conversations of systems with simulated users, scored in every way."""

    def __init__(self, runs: Iterable[Run], refused: Sequence[tuple[str, str]] = ()) -> None:
        """``refused`` are goals that could not be pursued, with the reason."""
        super().__init__(runs)
        self.refused = list(refused)

    @property
    def complete(self) -> bool:
        """Was every conversation held, for every goal?"""
        return not self.refused and not any(run.notes for run in self.runs)

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores should know, and which goals were skipped."""
        if not self.refused:
            return super().notes
        (name, why), more = self.refused[0], len(self.refused) - 1
        rest = f"; {more:,} more, see 'dialgauge lab goals'" if more else ""
        return [*super().notes, f"skipped goal {name}: {why}{rest}"]

    def tables(self, *, detail: bool = False) -> list[Table]:
        """Verdicts on task, tracker and user, and whose fault failures were; how conversations went."""
        return [table for run in self.runs for table in lab_tables(run, detail=detail)]

    def document(self) -> dict[str, Any]:
        """The JSON that ``dialgauge lab run --json`` writes; of several runs a list of them."""
        runs = [
            {
                "run": run.id,
                "signature": run.signature,
                "scores": {name: msgspec.to_builtins(score) for name, score in run.scores.items()},
                "coverage": msgspec.to_builtins(run.coverage),
                "config": run.manifest.config,
                "blame": blame_document(run)["blame"],
            }
            for run in self.runs
        ]
        return runs[0] if len(runs) == 1 else {"runs": runs}

    def _explained(self, run: Run, dialogue: str) -> list[Table]:
        return blame_explanation(run, dialogue)

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """The scores of task, tracker, user and conversation, and whose fault failures were."""
        from dialgauge.report import run_figures

        # The sum over all causes is 100% whatever the system does.
        talkers = dict(zip(numbered([_talkers(run) for run in self.runs]), self.runs, strict=True))
        return run_figures(talkers, parts=_PARTS, sections=_SECTIONS, names=_NAMES, without=("Blame",))


#: What the parts of measures are that have no domains. Failures have a cause and a side at fault: two ways to divide
#: the same failures, and the last two are both.
_CAUSE, _SIDE = "cause", "side at fault"
_PARTS: dict[str, str | tuple[str, ...]] = {
    "Blame": _CAUSE, "Blame[user]": _SIDE, "Blame[system]": _SIDE, "Blame[world]": _SIDE, "Blame[limit]": _SIDE,
    "Blame[infrastructure]": (_CAUSE, _SIDE), "Blame[unclear]": (_CAUSE, _SIDE), "Erred": "side that erred",
}  # fmt: skip
_NAMES = {"Blame": "share of the failed conversations (Blame)", "Erred": "share of all conversations (Erred)"}
#: What the families of measures are about.
_SECTIONS = {
    "outcomes": "task", "tasks": "task", "trials": "task", "tracking": "tracker", "users": "user",
    "lab": "conversation",
}  # fmt: skip


def _talkers(run: Run) -> str:
    """Who talked to whom, in words: the run's own name joins them with all their settings."""
    talked = Signature.parse(run.signature)
    if not {"system", "user"} <= talked.keys():
        return run.name
    names = []
    for agent in (AgentSpec.parse(talked[side]) for side in ("system", "user")):
        settings = ",".join(f"{name}: {value}" for name, value in agent.options.items()).replace("=", ": ")
        names.append(f"{agent.name} ({settings})" if settings else agent.name)
    return " with ".join(names)


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
    loop: int = 0,
    broken: str = "",
    resamples: int = 1000,
    workers: Workers = None,
    store: Store | None = None,
    progress: Progress = SILENT,
) -> LabRuns:
    """Put a system in front of a simulated user, once for every goal, and score what they say in every way there is.

    Agents are named as in ``dialgauge lab run``, with settings as ``AgentSpec(name, settings)``. The options are those
    of that command; a ``Sitting`` in place of the system has all that decide what is said. With a ``store`` the run is
    stored, and what is finished outlives the process until it is. Conversations that infrastructure broke are left out
    of success with ``broken="leave-out"``, and failed with ``"fail"``.

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
        sitting = system
    else:
        for agent in (user, system):
            if not isinstance(agent, str | AgentSpec):
                raise DialgaugeError(f"an agent is a name or an AgentSpec (got {agent!r:.60})")
        specs = [agent if isinstance(agent, AgentSpec) else AgentSpec(agent) for agent in (user, system)]
        sitting = make_lab_config(
            *specs,
            level=level,
            trials=trials,
            seed=seed,
            mask=loaded.failures == "masked",
            exchanges=exchanges,
            seconds=seconds,
            loop=loop,
        )
    policy = choice(broken, ("", *BROKEN), "broken")
    with progress.bar("talking", len(loaded.goals) * sitting.trials) as advance:
        run = run_lab(
            loaded, sitting, broken=policy, store=store, workers=workers, resamples=resamples, on_unit=advance
        )
    return LabRuns([run], loaded.refused)


def run_lab(
    loaded: LoadedDomain,
    sitting: LabConfig,
    *,
    broken: Broken = "",
    store: Store | None = None,
    workers: Workers = None,
    resamples: int = 1000,
    on_unit: Callable[[int], None] | None = None,
) -> Run:
    """Hold the conversations and score them. With a store the run is stored, and what is finished outlives the process
    until it is."""
    check_setting(sitting, loaded.search.domain)
    # Nothing that our own agents make is garbage before the run is scored; what others make may be.
    ours = all(spec.name in BUILT_IN and spec.name not in ASKS_OTHERS for spec in (sitting.user, sitting.system))
    with bulk_load() if ours else nullcontext():
        return _run_lab(loaded, sitting, store, workers, resamples, on_unit, broken)


def _run_lab(
    loaded: LoadedDomain,
    sitting: LabConfig,
    store: Store | None,
    workers: Workers,
    resamples: int,
    on_unit: Callable[[int], None] | None,
    broken: Broken,
) -> Run:
    if store is None or held_at_once(loaded.goals, sitting):
        held = hold_conversations(loaded.again, loaded.goals, sitting, workers=workers, on_unit=on_unit)
        run = scored_run(list(held), loaded, sitting, broken=broken, resamples=resamples)
        return run if store is None else store.add(run)
    with lab_workbench(store, LAB_KIND, loaded, sitting) as folder:
        done = Parts(folder / "conversations") if folder is not None else None
        held = hold_conversations(loaded.again, loaded.goals, sitting, workers=workers, done=done, on_unit=on_unit)
        return store.add(scored_run(list(held), loaded, sitting, broken=broken, resamples=resamples))


def lab_workbench(
    store: Store, kind: str, loaded: LoadedDomain, sitting: LabConfig, **more: Any
) -> AbstractContextManager[Path | None]:
    """Where half-done conversations are kept: found again by everything that decides them, our own code included."""
    config = {
        "signature": lab_signature(loaded, sitting).long(),
        "sitting": msgspec.to_builtins(sitting) | {"user": str(sitting.user), "system": str(sitting.system)},
        "code": own_source(),
        **more,
    }
    return store.workbench(kind=kind, name=_name(sitting), config=config)


def scored_run(
    held: Sequence[Dialogue],
    loaded: LoadedDomain,
    sitting: LabConfig,
    *,
    broken: Broken = "",
    resamples: int = 1000,
) -> Run:
    """Recorded conversations as a run with the scores of all families."""
    signature = lab_signature(loaded, sitting).with_(broken=broken)
    judged = judged_conversations(held, loaded, broken)
    blamed = blame_conversations(judged)
    scores = _joined(
        [
            score_outcomes(judged, resamples=resamples, seed=sitting.seed),
            *(
                _over_goals(family, resamples, sitting)
                for family in (
                    *_tracking(held, loaded, sitting.seed, resamples),
                    *_users(held, loaded, sitting.seed, resamples),
                )
            ),
            score_blame(blamed, resamples=resamples, seed=sitting.seed),
        ]
    )
    scores = replace(scores, scores={name: _signed(score, signature) for name, score in scores.scores.items()})
    return new_run(
        kind=LAB_KIND,
        name=_name(sitting),
        scores=scores,
        tables={**outcome_frames(judged), **blame_frames(blamed)},
        corpus=held,
        config={
            "user": str(sitting.user),
            "system": str(sitting.system),
            "level": sitting.level,
            "goals": loaded.name,
            "failures": loaded.failures,
            **_of_domain(loaded.search.domain),
            "trials": sitting.trials,
            "limits": msgspec.to_builtins(sitting.limits),
            **({BROKEN_POLICY: broken} if broken else {}),
            **_labelled(sitting),
        },
        inputs=loaded.files,
        seeds=sitting.seed,
        signature=signature,
        notes=[*_notes(held), *_uneven_goals([conversation.goal for conversation in judged])],
    )


def _of_domain(domain: Domain) -> dict[str, Any]:
    """What pages must know of a domain other than the town: its name, and the slots that name what is offered."""
    return {} if domain.multiwoz else {"domain": domain.name, "names": sorted(domain.names)}


def _uneven_goals(goals: Sequence[str]) -> list[str]:
    """That pass^k of some k rests on fewer goals, where trials are missing."""
    trials = Counter(goals).values()
    rests = {f"pass^{k}": sum(count >= k for count in trials) for k in range(1, max(trials, default=0) + 1)}
    return [Note("uneven_trials", uneven)] if (uneven := uneven_trials(rests, "goal")) else []


def _labelled(sitting: LabConfig) -> dict[str, dict[str, Any]]:
    """Of agents that have only words: who labels them with acts, and what a million of their tokens costs."""
    sides = {"user": sitting.user, "system": sitting.system}
    agents = {side: spec.make() for side, spec in sides.items() if spec.name in BUILT_IN}
    acts = {side: agent.acts_source for side, agent in agents.items() if hasattr(agent, "acts_source")}
    if speaks_freely(sitting):
        acts.setdefault("system", FROM_WORDS)
    prices = {side: agent.prices for side, agent in agents.items() if hasattr(agent, "prices") and any(agent.prices)}
    return {name: text for name, text in (("acts", acts), ("prices", prices)) if text}


def _name(sitting: LabConfig) -> str:
    return f"{sitting.system}-{sitting.user}"


def lab_signature(loaded: LoadedDomain, sitting: LabConfig) -> Signature:
    """Everything that decides what was said."""
    limits = sitting.limits
    return Signature(
        user=str(sitting.user),
        system=str(sitting.system),
        level=sitting.level,
        goals=checksum_of(loaded.goals),
        database=loaded.search.told_checksum,
        failures=loaded.failures,
        trials=str(sitting.trials),
        exchanges=str(limits.exchanges),
        loop=str(limits.loop),
        lab_seed=str(sitting.seed),
        understanding="free" if speaks_freely(sitting) else "",
        user_code=_code(sitting.user),
        system_code=_code(sitting.system),
        user_files=_files(sitting.user),
        system_files=_files(sitting.system),
    )


def _code(spec: AgentSpec) -> str:
    """Which code an agent of another package was; ours goes with the version."""
    return "" if spec.name in BUILT_IN else code_of(spec.make())


def _files(spec: AgentSpec) -> str:
    """Checksums of the files that an agent's settings name: a model or a channel may change and keep its name."""
    return ",".join(
        f"{name}={checksum}" for name, checksum in files_named(deciding_options(spec.name, spec.options)).items()
    )


def _tracking(held: Sequence[Dialogue], loaded: LoadedDomain, seed: int, resamples: int) -> list[Scores]:
    """The system's tracker against what the user said; nothing where the system shows no states."""
    if not any(turn.predicted is not None for dialogue in held for turn in dialogue.turns):
        return []
    return [tracking_scores(held, loaded, resamples=resamples, seed=seed)]


def tracking_scores(
    held: Sequence[Dialogue],
    loaded: LoadedDomain,
    *,
    measures: Sequence[str] = _TRACKING,
    resamples: int = 0,
    seed: int = 0,
) -> Scores:
    """The states that the system believed in against those that follow from what the user said.

    Values are compared as the domain compares them: 9:00 is 09:00, true is yes.
    """
    domain = loaded.search.domain
    if not domain.multiwoz:
        held = [_with_canonical_states(dialogue, domain) for dialogue in held]
    # A turn after which the system shows no state is no turn that it got right.
    study = PreparedInputs(held, {"system": held}, coverage="empty", ontology=loaded.search.tracked)
    resampling = Resampling(resamples, seed) if resamples else None
    [scores] = state_scores(study, chosen_measures(measures), profile_named(_PROFILE), resampling=resampling)
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


def judged_conversations(held: Sequence[Dialogue], loaded: LoadedDomain, broken: Broken = "") -> JudgedConversations:
    """What became of conversations that the lab held."""
    goals = {goal.id: goal for goal in loaded.goals}
    return judge_outcomes(
        held, loaded.search, failures=loaded.failures, calls_recorded=True, goals=goals, broken=broken
    )


def outcome_of(held: Sequence[Dialogue], loaded: LoadedDomain) -> NDArray[np.float64]:
    """Which conversations did all that was asked for, by the strict rules; NaN for those that cannot be judged."""
    judged = judged_conversations(held, loaded)
    done = {
        conversation.dialogue.id: conversation.strict.success
        for conversation in judged
        if conversation.strict is not None
    }
    return np.array([float(done[dialogue.id]) if dialogue.id in done else np.nan for dialogue in held])


def _users(held: Sequence[Dialogue], loaded: LoadedDomain, seed: int, resamples: int) -> list[Scores]:
    """How the user expressed its goals; nothing where it has no acts."""
    if not any(turn.acts for dialogue in held for turn in dialogue.turns if turn.speaker == "user"):
        return []
    domain = loaded.search.domain
    profile = None if domain.multiwoz else domain_profile(domain)
    return [user_scores(held, UserOptions(profile=profile), resamples=resamples, seed=seed)]


def _over_goals(scores: Scores, resamples: int, sitting: LabConfig) -> Scores:
    """The same scores with intervals that resample goals: trials of one goal are not independent."""
    about = [dialogue.rpartition("#")[0] for dialogue in scores.dialogues]
    goals = {goal: index for index, goal in enumerate(dict.fromkeys(about))}
    names = [name for name, score in scores.scores.items() if name in scores.sums and score.low is not None]
    if not resamples or sitting.trials == 1 or not names:
        return scores
    places = [goals[goal] for goal in about]
    above, below = (
        np.stack([np.bincount(places, scores.sums[name][side], len(goals)) for name in names]) for side in (0, 1)
    )
    how = Resampling(resamples, sitting.seed)
    rows = [ratio_row(parse_measure(name), *sums) for name, *sums in zip(names, above, below, strict=True)]
    made = ratio_row_intervals(rows, how)
    limited = replace(scores, scores={name: scores.scores[name] for name in names}).with_intervals(made, how)
    return replace(scores, scores={**scores.scores, **limited.scores})


def _joined(parts: Sequence[Scores]) -> Scores:
    if not parts:
        return Scores(dialogues=(), sums={}, scores={})
    scores, *others = parts
    for other in others:
        scores = scores.joined(other)
    return scores


def _signed(run_score: Score, lab: Signature) -> Score:
    """A score whose signature also says how the conversations came about."""
    own = Signature.parse(run_score.signature)
    return msgspec.structs.replace(run_score, signature=own.with_(**lab).long())


def _notes(held: Sequence[Dialogue]) -> list[str]:
    """What failed, once for each reason."""
    why = Counter(
        dialogue.outcome.details.get(EXPLANATION, "")
        for dialogue in held
        if dialogue.outcome and dialogue.outcome.reason in (AGENT_ERROR, TIME_BUDGET)
    )
    spent = Counter(
        dialogue.outcome.details.get(EXPLANATION, "")
        for dialogue in held
        if dialogue.outcome and dialogue.outcome.reason == TOKEN_BUDGET
    )
    return [
        Note(kind, f"{counted(count, 'conversation')} {ended}: {reason}")
        for kind, ended, reasons in (
            ("agent_failed", "ended because an agent failed", why),
            ("budget_spent", "ended early or never began", spent),
        )
        for reason, count in reasons.items()
    ]


def write_conversations(run: Run, folder: Path, domain: Domain, ontology: Ontology) -> list[Path]:
    """The conversations as native JSONL and as the GCDF1 evaluator reads them, with the schema of the domain.

    The success in an outcome is what the user believes; the verdict by the strict rules stands beside it.
    """
    verdicts = _verdicts(run)
    held = [_with_verdict(dialogue, verdicts) for dialogue in run.dialogues()]
    files = [folder / "conversations.jsonl", folder / "gcdf1" / "dialogues_001.json", folder / "schema.json"]
    with together():
        write(held, files[0], format="native")
        write(held, files[1], format="gcdf1")
        with atomic(files[2]) as scratch:
            scratch.write_bytes(msgspec.json.format(msgspec.json.encode(_schema(domain, ontology)), indent=1) + b"\n")
    return files


def _verdicts(run: Run) -> dict[str, bool | None]:
    """By dialogue, whether all was done that was asked for."""
    return dict(run.table(BLAME_SIDES).select("dialogue", "success").iter_rows())


def _with_verdict(dialogue: Dialogue, verdicts: Mapping[str, bool | None]) -> Dialogue:
    if dialogue.outcome is None:
        return dialogue
    words = {True: "done", False: "failed", None: "not judged"}[verdicts.get(dialogue.id)]
    outcome = msgspec.structs.replace(dialogue.outcome, details={**dialogue.outcome.details, "verdict": words})
    return msgspec.structs.replace(dialogue, outcome=outcome)


def _schema(domain: Domain, ontology: Ontology) -> list[dict[str, Any]]:
    """Services with their slots and values, as the schema beside the GCDF1 paper's conversations has them."""
    return [
        {
            "service_name": name,
            "slots": [
                {
                    "name": f"{name}-{slot}",
                    "description": spec.description or f"{slot} of the {name}",
                    "possible_values": list(spec.values),
                    "is_categorical": domain.is_choice(name, slot),
                }
                for slot, spec in slots.items()
            ],
            "intents": [{"name": f"find_{name}", "required_slots": [], "optional_slots": {}}],
        }
        for name, slots in ontology.domains.items()
    ]


def lab_tables(run: Run, *, detail: bool = False) -> list[Table]:
    """The verdicts on task, tracker and user, and whose fault failures were; with ``detail`` also how conversations
    went and what was misheard."""
    verdicts = [*outcome_tables(run.scores, run.table, detail=detail), _parts(run), *blame_tables(run)]
    verdicts[0].signature = run.signature
    return [*coverage_tables(run), *verdicts, *report_tables(run), *cost_tables(run)]


def _parts(run: Run) -> Table:
    parts = Table(
        "Tracker and user",
        ["what", "measure", Column("score", digits=2, percent=True)],
        notes=[
            "The tracker against what the user said; the user against its goal."
            + (" Success is judged by the acts behind the words." if judged_by_acts(run) else "")
            + labels_note(run)
        ],
    )
    for what, names in {"tracker": ("JGA", "F1", "SA", "FGA@0.5"), "user": ("I-GCDF1", "R-GCDF1")}.items():
        for name in names:
            if name in run.scores:
                score = run.scores[name]
                parts.add(what, name, Cell(score.value, score.low, score.high))
    return parts
