"""``dialgauge users``: how well a simulated user expresses its goals (GCDF1), and where every point was lost."""

from __future__ import annotations

from pathlib import Path

import click

from dialgauge import formats, report, users as scoring
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    PATH,
    RUN,
    bundle,
    format_option,
    given,
    measures_option,
    named_settings,
    names_of,
    option,
    options,
)
from dialgauge.cli.output import Json, OnScreen, Output, Resampling, Stored, named_systems


@options
class Reading:
    """How conversations are read, and which values mean the same."""

    canonical_map: Path | None = option(
        "--canonical-map", type=PATH, help="Canonical values and their paraphrases (JSON)."
    )
    profile: str | None = option(
        "--dataset",
        metavar="NAME|FILE",
        shell_complete=names_of("users", "shipped"),
        help="Dataset profile: multiwoz21, multiwoz21-people, a YAML file, or the folder of a domain.",
    )
    format: str | None = format_option()


@options
class Scoring(Reading):
    """How conversations are read and scored."""

    measures: tuple[str, ...] = measures_option("Measures, comma-separated; 'all' includes plugins.", "users")
    mode: str | None = option(
        "--mode",
        type=click.Choice(["reference", "recommended"]),
        help="'reference': identical to the authors' evaluator; 'recommended': with its bugs fixed.",
    )
    config: Path | None = option("--config", type=PATH, help="Scoring options (YAML).")
    overrides: tuple[str, ...] = option(
        "--set",
        multiple=True,
        metavar="PATH=VALUE",
        help="Set one scoring option: igcd_f1.repetitions.max_repetitions=3; repeatable.",
    )


users = group(
    "users",
    "Simulated users: do they express their whole goal, ask everything they should, and why do they repeat themselves?",
)


@users.command()
@click.argument(
    "conversations",
    nargs=-1,
    required=True,
    help="Recorded conversations: one source (file, folder, NAME=FILE, ...) per user model.",
)
@bundle(scored_by=Scoring, resampling=Resampling, output=Output, gates=Gates)
def score(
    conversations: tuple[str, ...], scored_by: Scoring, resampling: Resampling, output: Output, gates: Gates
) -> int:
    """Score how users express their goals: I-GCDF1, R-GCDF1.

    'dialgauge show RUN' has the rest: --only figure-2 a figure of the paper, --only loops, --dialogue ID one
    conversation with every point won and lost.

    Exit code: 0 all dialogues were scored, 1 some could not be (each is named with the reason), 2 nothing could be
    scored, 3 a --fail-under or --fail-on-drop check failed.
    """
    gate = gates.gate(output.store, "users")
    how = given(scored_by)
    measures, mode = how.pop("measures", ["default"]), how.pop("mode", None)
    how["overrides"] = (*scored_by.overrides, *([f"mode={mode}"] if mode else ()))
    results = scoring.score_users(
        named_systems(conversations),
        options=scoring.UserOptions(**how),
        measures=measures,
        progress=OnScreen(),
        **given(resampling),
    )
    checks = gate.check(results.runs)
    output.present_runs(results, checks, named=bool(scored_by.measures))
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)


@options
class Judging:
    """How faults are looked for."""

    format: str | None = format_option()
    judge: str | None = option(
        "--judge", metavar="URL|local", help="Also ask a language model, which only adds faults."
    )
    settings: tuple[str, ...] = option(
        "--judge-set",
        multiple=True,
        metavar="NAME=VALUE",
        help="Judge setting: model, key_env, cassette, ...; repeatable.",
    )


@users.command()
@click.argument(
    "conversations",
    nargs=-1,
    required=True,
    metavar="FILE...",
    help="Recorded conversations with goals or instructions (tau-bench, tau2-bench, lab, GCDF1, ...), or the folder "
    "of a stored run.",
)
@bundle(judging=Judging, resampling=Resampling, output=Output)
def faults(conversations: tuple[str, ...], judging: Judging, resampling: Resampling, output: Output) -> int:
    """Find what users get wrong: nine kinds of fault.

    Each has the message as evidence. With recorded acts and a goal of slots, what was said is compared exactly. In
    texts only what has a shape (ids, codes, addresses) or is declared is checked; for the rest, --judge asks a language
    model. 'dialgauge show RUN --only trust' says how many faults of labelled logs are found.

    Exit code: 0 complete; 1 a file holds fewer conversations than planned, or some in which the user never speaks.
    """
    from dialgauge.users.faults import model_judge, user_faults

    settings = named_settings(judging.settings, "--judge-set")
    results = user_faults(
        named_systems(conversations),
        format=judging.format,
        judge=model_judge(judging.judge, settings, seed=resampling.seed) if judging.judge else None,
        progress=OnScreen(),
        **given(resampling),
    )
    output.present_runs(results)
    return 0 if results.complete else EXIT_INCOMPLETE


@options
class Conditions:
    """What happened in a conversation."""

    behaviour: str | None = option(
        "--behaviour",
        metavar="NAME",
        shell_complete=names_of("users", "LABELS"),
        help="With this behaviour (see 'dialgauge explain behaviours').",
    )
    verdict: str | None = option(
        "--verdict",
        metavar="NAME",
        shell_complete=names_of("users", "VERDICTS"),
        help="With this verdict, for example missing.",
    )
    cause: str | None = option(
        "--cause",
        metavar="NAME",
        shell_complete=names_of("users", "CAUSES"),
        help="With a point lost by this cause, for example 'user policy'.",
    )
    domain: str | None = option("--domain", metavar="NAME", help="In this domain.")
    slot: str | None = option("--slot", metavar="NAME", help="About this slot.")
    end: str | None = option(
        "--end", type=click.Choice(["loop", "goodbye", "open"]), help="How it ends: loop, goodbye or open."
    )


@users.command()
@click.argument("run", type=RUN, help="A run of 'users score': its id or the beginning, system, tag or latest.")
@bundle(conditions=Conditions, store=Stored, output=Json)
def find(run: str, conditions: Conditions, store: Stored, output: Json) -> None:
    """Find conversations of a run by what happened in them.

    All conditions but --end are about one mention.

    dialgauge users find latest --behaviour missed_constraints --domain restaurant --end loop
    """
    opened = store.open(run)
    output.present(scoring.find_conversations(opened, **given(conditions)), runs=[opened])


@users.command()
@click.argument("conversations", nargs=-1, required=True, help="Recorded conversations: one source per user model.")
@click.option(
    "--corpus", type=PATH, required=True, help="People's dialogues with user acts and the same ids (MultiWOZ)."
)
@bundle(read_by=Reading, output=Json)
def likeness(conversations: tuple[str, ...], corpus: Path, read_by: Reading, output: Json) -> None:
    """Compare users with people: acts, lengths and GCDF1."""
    named = formats.named_files(conversations)
    table = scoring.likeness(corpus, named, scoring.UserOptions(**given(read_by)))
    output.present(report.Page(title=", ".join(named), tables={"likeness": table}))
