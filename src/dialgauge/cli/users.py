"""``dialgauge users``: how well a simulated user expresses its goals (GCDF1), and where every point was lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

import click

from dialgauge import formats, report, runs, users
from dialgauge.cli import common
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    BEHAVIOURS,
    FORMATS,
    PATH,
    RUN,
    Whole,
    bundle,
    measures_of,
    named_settings,
    names_of,
    option,
    options,
)
from dialgauge.cli.output import OnScreen, Output, PageOutput


@options
class Scoring:
    """How conversations are scored."""

    canonical_map: Path | None = option(
        "--canonical-map", type=PATH, help="Canonical values and their paraphrases (JSON)."
    )
    config: Path | None = option("--config", type=PATH, help="Scoring options (YAML).")
    override: tuple[str, ...] = option(
        "--set",
        multiple=True,
        metavar="PATH=VALUE",
        help="Set one scoring option: igcd_f1.repetitions.max_repetitions=3; repeatable.",
    )
    mode: Literal["reference", "recommended"] | None = option(
        "--mode",
        type=click.Choice(["reference", "recommended"]),
        help="'reference': identical to the authors' evaluator; 'recommended': with its bugs fixed.",
    )
    dataset: str | None = option(
        "--dataset",
        metavar="NAME|FILE",
        shell_complete=names_of("users", "shipped"),
        help="Dataset profile: multiwoz21, multiwoz21-people, a YAML file, or the folder of a domain.",
    )
    format: str | None = option(
        "--format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection."
    )

    def options(self) -> users.UserOptions:
        """The options as the library takes them."""
        return users.UserOptions(
            canonical_map=self.canonical_map,
            config=self.config,
            overrides=(*(self.override or ()), *([f"mode={self.mode}"] if self.mode else ())),
            profile=self.dataset,
            format=self.format,
        )


app = group(
    "users",
    "Simulated users: do they express their whole goal, ask everything they should, and why do they repeat themselves?",
)


@app.command()
@click.argument(
    "conversations",
    nargs=-1,
    required=True,
    help="Recorded conversations: one source (file, folder, NAME=FILE, ...) per user model.",
)
@click.option(
    "-m",
    "--measures",
    multiple=True,
    metavar="NAMES",
    shell_complete=measures_of("users"),
    help="Measures, comma-separated; 'all' includes plugins.",
)
@click.option(
    "--resamples", type=Whole(0, 1_000_000), default=1000, help="Bootstrap resamples for the 95% intervals; 0 for none."
)
@click.option("--seed", type=Whole(0), default=0, help="Random seed for resampling.")
@bundle(scoring=Scoring, output=Output, gates=Gates)
def score(
    conversations: tuple[str, ...],
    measures: tuple[str, ...],
    resamples: int,
    seed: int,
    scoring: Scoring,
    output: Output,
    gates: Gates,
) -> int:
    """Score how users express their goals: I-GCDF1, R-GCDF1.

    'dialgauge show RUN' has the rest: --only figure-2 a figure of the paper, --only loops, --dialogue ID one
    conversation with every point won and lost.

    Exit code: 0 all dialogues were scored, 1 some could not be (each is named with the reason), 2 nothing could be
    scored, 3 a --fail-under or --fail-on-drop check failed.
    """
    gate = gates.gate(output.store, kinds=("users",), family="users", scores_files=True)
    scored = partial(
        users.score_users,
        options=scoring.options(),
        measures=measures or ["default"],
        resamples=resamples,
        seed=seed,
        progress=OnScreen(),
    )
    results = scored(common.named_systems(conversations))
    checks = gate.check(results.runs, lambda file: scored([file]).runs[0])
    output.present(results, checks=checks)
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)


@app.command()
@click.argument(
    "conversations",
    nargs=-1,
    required=True,
    metavar="FILE...",
    help="Recorded conversations with goals or instructions (tau-bench, tau2-bench, lab, GCDF1, ...), or the folder "
    "of a stored run.",
)
@click.option("--format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection.")
@click.option(
    "--resamples", type=Whole(0, 1_000_000), default=1000, help="Bootstrap resamples for the 95% intervals; 0 for none."
)
@click.option("--seed", type=Whole(0), default=0, help="Random seed for resampling.")
@click.option(
    "--judge",
    default="",
    show_default=False,
    metavar="URL|local",
    help="Also ask a language model, which only adds faults.",
)
@click.option(
    "--judge-set",
    multiple=True,
    metavar="NAME=VALUE",
    help="Judge setting: model, key_env, cassette, ...; repeatable.",
)
@bundle(output=Output)
def faults(
    conversations: tuple[str, ...],
    format: str | None,
    resamples: int,
    seed: int,
    judge: str,
    judge_set: tuple[str, ...],
    output: Output,
) -> int:
    """Find what users get wrong: nine kinds of fault.

    Each has the message as evidence. With recorded acts and a goal of slots, what was said is compared exactly. In
    texts only what has a shape (ids, codes, addresses) or is declared is checked; for the rest, --judge asks a language
    model. 'dialgauge show RUN --only trust' says how many faults of labelled logs are found.

    Exit code: 0 complete; 1 a file holds fewer conversations than planned, or some in which the user never speaks.
    """
    from dialgauge.users.faults import model_judge, user_faults

    asked = model_judge(judge, named_settings(judge_set, "--judge-set"), seed=seed) if judge else None
    results = user_faults(
        common.named_systems(conversations),
        format=format,
        resamples=resamples,
        seed=seed,
        judge=asked,
        progress=OnScreen(),
    )
    output.present(results)
    return 0 if results.complete else EXIT_INCOMPLETE


@app.command()
@click.argument("run", type=RUN, help="A run of 'users score': its id or the beginning, system, tag or latest.")
@click.option(
    "--behaviour",
    default="",
    metavar="NAME",
    shell_complete=BEHAVIOURS,
    help="With this behaviour (see 'dialgauge explain behaviours').",
)
@click.option(
    "--verdict",
    default="",
    metavar="NAME",
    shell_complete=names_of("users", "VERDICTS"),
    help="With this verdict, for example missing.",
)
@click.option(
    "--cause",
    default="",
    metavar="NAME",
    shell_complete=names_of("users", "CAUSES"),
    help="With a point lost by this cause, for example 'user policy'.",
)
@click.option("--domain", default="", metavar="NAME", help="In this domain.")
@click.option("--slot", default="", metavar="NAME", help="About this slot.")
@click.option("--end", type=click.Choice(["loop", "goodbye", "open"]), help="How it ends: loop, goodbye or open.")
@click.option("--store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs.")
@bundle(output=PageOutput)
def find(
    run: str,
    behaviour: str,
    verdict: str,
    cause: str,
    domain: str,
    slot: str,
    end: str | None,
    store: Path | None,
    output: PageOutput,
) -> None:
    """Find conversations of a run by what happened in them.

    All conditions but --end are about one mention.

    dialgauge users find latest --behaviour missed_constraints --domain restaurant --end loop
    """
    opened = runs.Store(store).open(run)
    page = users.find_conversations(
        opened, behaviour=behaviour, verdict=verdict, cause=cause, domain=domain, slot=slot, end=end or ""
    )
    output.present(page, runs=[opened])


@app.command()
@click.argument("conversations", nargs=-1, required=True, help="Recorded conversations: one source per user model.")
@click.option(
    "--corpus", type=PATH, required=True, help="People's dialogues with user acts and the same ids (MultiWOZ)."
)
@click.option(
    "--resamples", type=Whole(0, 1_000_000), default=1000, help="Bootstrap resamples for the 95% intervals; 0 for none."
)
@click.option("--seed", type=Whole(0), default=0, help="Random seed for resampling.")
@bundle(scoring=Scoring, output=PageOutput)
def likeness(
    conversations: tuple[str, ...], corpus: Path, resamples: int, seed: int, scoring: Scoring, output: PageOutput
) -> None:
    """Compare users with people: acts, lengths and GCDF1."""
    named = formats.named_files(conversations)
    compared = users.likeness(corpus, named, scoring.options(), resamples=resamples, seed=seed)
    table = users.likeness_table(compared, corpus.name)
    output.present(report.Page(title=", ".join(named), tables={"likeness": table}))
