"""``dialgauge users``: how well a simulated user expresses its goals (GCDF1), and where every point was lost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dialgauge import formats, measures, rendering, runs, users
from dialgauge.cli import common, writing
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.common import (
    TableOutput,
    row_limit,
)
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    BEHAVIOURS,
    FILE,
    FORMATS,
    PATH,
    Real,
    Whole,
    bundle,
    measures_of,
    named_settings,
    names_of,
    option,
    options,
    refuse,
)
from dialgauge.cli.output import OldOutput as Output, OnScreen
from dialgauge.cli.screen import err, out
from dialgauge.cli.writing import frame_table
from dialgauge.errors import DialgaugeError
from dialgauge.rendering import SHARE, Column, Table, percent_note, plain
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.runs import Run


#: How many warnings and failures are printed one by one.
_MOST = 10


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


def fresh_or_stored(
    conversations: str | None,
    from_run: str | None,
    store: Path | None,
    options: users.UserOptions,
    measures: Sequence[str] = ("default",),
) -> Run:
    """The run to present: conversations scored now, or a stored run."""
    if conversations is None:
        if from_run is None:
            raise DialgaugeError("give recorded conversations, or a stored run with --from RUN")
        refuse("--from shows a run that is already scored", Scoring)
        return opened(from_run, store)
    refuse("conversations are scored now", names=("from_run",))
    return users.score_users(conversations, options=options, measures=measures, resamples=0, progress=OnScreen())[0]


def opened(run: str, store: Path | None) -> Run:
    """A stored run of conversations."""
    return users.UserRuns([runs.Store(store).open(run)])[0]


def finish(runs: Sequence[Run]) -> int:
    """Say what failed or looked odd, in fresh runs and stored ones alike; incomplete results are exit code 1."""
    incomplete = False
    for run in runs:
        odd = users.warnings(run)
        for dialogue, warning in odd[:_MOST]:
            err.print(plain(f"{run.name}: dialogue {dialogue}: {warning}"))
        if len(odd) > _MOST:
            err.print(f"{run.name}: ... and {len(odd) - _MOST} more warnings")
        failures = users.failure_sentences(run)
        if failures:
            incomplete = True
            total = run.coverage["dialogues"].expected
            err.print(f"{run.name}: {len(failures)} of {total} dialogues could not be scored:")
            for line in failures[:_MOST]:
                err.print(f"  {plain(line)}")
            if len(failures) > _MOST:
                err.print(f"  ... and {len(failures) - _MOST} more")
    return EXIT_INCOMPLETE if incomplete else 0


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
    "measures",
    multiple=True,
    metavar="NAMES",
    shell_complete=measures_of("users"),
    help="Measures, comma-separated; 'all' includes plugins.",
)
@click.option("--verdicts", "verdicts", is_flag=True, help="Show how often each verdict was given.")
@click.option(
    "--resamples",
    "resamples",
    type=Whole(0, 1_000_000),
    default=1000,
    help="Bootstrap resamples for the 95% intervals; 0 for none.",
)
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed for resampling.")
@click.option(
    "--per-dialogue", "per_dialogue", is_flag=True, help="Include precision, recall and F1 of every dialogue in --json."
)
@click.option("--reference", "reference", type=FILE, help="Write results in the reference evaluator's JSON layout.")
@bundle(scoring=Scoring, output=Output, gates=Gates)
def score(
    conversations: tuple[str, ...],
    measures: tuple[str, ...],
    verdicts: bool,
    resamples: int,
    seed: int,
    per_dialogue: bool,
    reference: Path | None,
    scoring: Scoring,
    output: Output,
    gates: Gates,
) -> int:
    """I-GCDF1 and R-GCDF1 with intervals, per domain and combined.

    Exit code: 0 all dialogues were scored, 1 some could not be (each is named with the reason), 2 nothing could be
    scored, 3 a --fail-under or --fail-on-drop check failed.
    """
    gate = gates.gate(output.store, kinds=("users",), family="users", scores_files=True)
    if reference is not None and len(conversations) > 1:
        raise DialgaugeError("--reference writes the results of one user model; give one source")
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
    runs = output.present(
        results,
        "users-score",
        tables=results.tables(verdicts=verdicts),
        document=lambda: results.document(per_dialogue=per_dialogue),
        checks=checks,
    )
    if reference is not None:
        writing.write_json(reference, users.reference_report(results[0]))
    return checks.exit_code(finish(runs))


@app.command()
@click.argument(
    "conversations",
    required=False,
    help="Recorded conversations (folder, file, pattern or archive), unless --from names a stored run.",
)
@click.option(
    "--from", "from_run", metavar="RUN", help="Show a stored run instead of scoring (id, system, tag or latest)."
)
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@click.option("--by-slot", "by_slot", is_flag=True, help="Also break behaviours down by slot.")
@click.option(
    "--by-sentence",
    "by_sentence",
    is_flag=True,
    help="Also list the sentences that were misheard, and what was heard instead.",
)
@click.option(
    "--limit", "limit", type=Whole(0), default=15, help="Rows to show of each list; 0 for all. Files have all."
)
@bundle(scoring=Scoring, output=common.DrawnOutput)
def figures(
    conversations: str | None,
    from_run: str | None,
    store: Path | None,
    by_slot: bool,
    by_sentence: bool,
    limit: int,
    scoring: Scoring,
    output: common.DrawnOutput,
) -> int:
    """The paper's analyses: Figures 1 to 7 as tables and plots, NLU confusions, and loops with their causes."""
    presented = fresh_or_stored(conversations, from_run, store, scoring.options())
    analyses = users.paper_figures(presented)
    tables = [users.figure_table(figure) for figure in analyses]
    if tables:
        # Nothing here has an interval, so how a stored run made its own is no part of it.
        tables[0].signature = measures.Signature.parse(presented.signature).with_(interval="").long()
    if by_slot:
        tables += [users.slot_table(figure) for figure in analyses if figure.slots]

    def lists(rows: int) -> list[rendering.Table]:
        sentences = [users.sentence_table(presented, rows)] if by_sentence else []
        return [users.confusion_table(presented, rows), *sentences, users.loop_table(presented, rows)]

    whole = [*tables, *lists(common.row_limit(0))] if output.table else None
    output.show([*tables, *lists(common.row_limit(limit))], in_file=whole)
    if output.json is not None:
        output.document("users-figures", users.figure_numbers(presented))
    output.draw({analysis.name: partial(users.draw, analysis) for analysis in analyses})
    return finish([presented])


@app.command()
@click.argument(
    "names",
    nargs=-1,
    required=True,
    metavar="[CONVERSATIONS] DIALOGUE",
    help="The conversations, unless --from names a stored run, and the dialogue id.",
)
@click.option(
    "--from", "from_run", metavar="RUN", help="Show a stored run instead of scoring (id, system, tag or latest)."
)
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@click.option("--talk", "talk", is_flag=True, help="Show the conversation first, with what was understood.")
@bundle(scoring=Scoring, output=common.TableOutput)
def explain(
    names: tuple[str, ...],
    from_run: str | None,
    store: Path | None,
    talk: bool,
    scoring: Scoring,
    output: common.TableOutput,
) -> None:
    """Explain where every point of one dialogue's scores was won or lost.

    dialgauge users explain talks/ PMUL2009 --talk, or from a stored run:
    dialgauge users explain PMUL2009 --from RUN
    """
    *source, dialogue = names
    if len(source) != (from_run is None):
        raise DialgaugeError("give the conversations and the dialogue, or the dialogue and a stored run (--from RUN)")
    if from_run is not None:
        refuse("--from shows a run that is already scored", Scoring)
        presented = opened(from_run, store)
    else:
        conversation, chosen = users.conversation_named(source[0], dialogue, scoring.options())
        presented = users.users_scored([conversation], chosen, resamples=0, name=source[0])
    tables = users.explanation(presented, dialogue)
    if talk and output.on_screen:
        for line in users.transcript(presented, dialogue):
            out.print(line)
    output.show(tables)
    if output.json is not None:
        output.document("users-explain", users.explanation_record(presented, dialogue, talk=talk))


@app.command()
@click.argument(
    "conversations",
    nargs=-1,
    required=True,
    metavar="FILE...",
    help="Recorded conversations with goals or instructions (tau-bench, tau2-bench, lab, GCDF1, ...), or the folder "
    "of a stored run.",
)
@click.option(
    "--format", "format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection."
)
@click.option("--dialogue", "dialogue", metavar="ID", help="Show everything the checks found in one conversation.")
@click.option(
    "--limit", "limit", type=Whole(0), default=20, help="Rows to show of each list; 0 for all. Files have all."
)
@click.option(
    "--detail",
    "detail",
    is_flag=True,
    help="Also show how the checks were measured, by parts and earlier; files always have it.",
)
@click.option(
    "--resamples",
    "resamples",
    type=Whole(0, 1_000_000),
    default=1000,
    help="Bootstrap resamples for the 95% intervals; 0 for none.",
)
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed for resampling.")
@click.option(
    "--judge",
    "judge",
    default="",
    show_default=False,
    metavar="URL|local",
    help="Also ask a language model, which only adds faults.",
)
@click.option(
    "--judge-set",
    "judge_set",
    multiple=True,
    metavar="NAME=VALUE",
    help="Judge setting: model, key_env, cassette, ...; repeatable.",
)
@bundle(output=Output)
def faults(
    conversations: tuple[str, ...],
    format: str | None,
    dialogue: str | None,
    limit: int,
    detail: bool,
    resamples: int,
    seed: int,
    judge: str,
    judge_set: tuple[str, ...],
    output: Output,
) -> int:
    """Find what the simulated user got wrong: nine kinds of fault, each with the message as evidence.

    The user ends too early, invents facts, contradicts itself or its instruction, leaks the instruction, repeats
    itself, speaks as the agent, says nothing, withholds, or disobeys. Each check reports what it could not look at, and
    its precision and recall on labelled conversations. No language model is used unless --judge names one.

    Exit code: 0 complete; 1 a file holds fewer conversations than planned, or some that failed through
    infrastructure, were never judged, or contain no user message.
    """
    from dialgauge.users.faults import missing_sentence, model_judge, record_table, user_faults

    asked = model_judge(judge, named_settings(judge_set, "--judge-set"), seed=seed) if judge else None
    results = user_faults(
        conversations, format=format, resamples=resamples, seed=seed, judge=asked, progress=OnScreen()
    )
    screen = out if output.on_screen else err
    for each in results.runs:
        for note in each.notes:
            screen.print(f"{each.name}: {note}{'' if note.endswith('?') else '.'}")
        if missing := missing_sentence(each):
            screen.print(missing)

    def tables(rows: int, *, detailed: bool) -> list[rendering.Table]:
        if dialogue is None:
            return results.tables(limit=rows, detail=detailed)
        explained = [part for part in results.explain(dialogue) if not isinstance(part, str)]
        return [*explained, record_table(detail=detailed), *results.agreement]

    shown = tables(row_limit(limit), detailed=detail)
    output.present(results, "users-faults", tables=shown, in_files=lambda: tables(row_limit(0), detailed=True))
    return 0 if results.complete else EXIT_INCOMPLETE


@options
class Search:
    """What to look for: the fields of the library's ``Query``."""

    behaviour: str | None = option(
        "--behaviour",
        metavar="NAME",
        shell_complete=BEHAVIOURS,
        help="With this behaviour (see 'dialgauge explain behaviours').",
    )
    verdict: str | None = option(
        "--verdict",
        metavar="NAME",
        shell_complete=names_of("users", "VERDICTS"),
        help="With this verdict, for example missing.",
    )
    fault: str | None = option(
        "--fault",
        metavar="NAME",
        shell_complete=names_of("users", "CAUSES"),
        help="Points lost through this component, for example 'user policy'.",
    )
    domain: str | None = option("--domain", metavar="NAME", help="In this domain.")
    slot: str | None = option("--slot", metavar="NAME", help="About this slot.")
    first_turn: int | None = option("--from-turn", type=Whole(0), help="At this turn or later.")
    last_turn: int | None = option("--to-turn", type=Whole(0), help="At this turn or earlier.")
    min_repeats: int | None = option(
        "--min-repeats", type=Whole(1), help="A constraint or request is repeated at least this often."
    )
    measure: str = option(
        "--measure",
        default="I-GCDF1",
        metavar="NAME",
        shell_complete=measures_of("users", several=False),
        help="Measure for --min-score and --max-score: 'R-GCDF1 recall', a plugin's, ...",
    )
    min_score: float | None = option("--min-score", type=Real(), help="Score at least this (in --domain, if given).")
    max_score: float | None = option("--max-score", type=Real(), help="Score at most this.")
    min_turns: int | None = option("--min-turns", type=Whole(0), help="At least this many turns, counting both sides.")
    max_turns: int | None = option("--max-turns", type=Whole(0), help="At most this many turns.")
    end: Literal["loop", "goodbye", "open"] | None = option(
        "--end", type=click.Choice(["loop", "goodbye", "open"]), help="How it ends: loop, goodbye or open."
    )
    cause: str | None = option(
        "--cause",
        metavar="NAME",
        shell_complete=names_of("users", "CAUSES"),
        help="Has a loop with this cause, for example 'user NLU'.",
    )


@app.command()
@click.argument(
    "conversations",
    required=False,
    help="Recorded conversations (folder, file, pattern or archive), unless --from names a stored run.",
)
@click.option(
    "--from", "from_run", metavar="RUN", help="Show a stored run instead of scoring (id, system, tag or latest)."
)
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@click.option(
    "--limit", "limit", type=Whole(0), default=20, help="Rows to show of each list; 0 for all. Files have all."
)
@bundle(search=Search, scoring=Scoring, output=TableOutput)
def find(
    conversations: str | None,
    from_run: str | None,
    store: Path | None,
    limit: int,
    search: Search,
    scoring: Scoring,
    output: TableOutput,
) -> int:
    """Find conversations by what happened in them, where, how often, how they scored and how they ended.

    dialgauge users find talks/ --behaviour unmatched --domain restaurant --min-repeats 5 --end loop
    """
    from dialgauge.cli.sql import frame_json

    query = users.Query(**asdict(search))
    named = [] if search.measure in users.MEASURES else [search.measure]
    searched = fresh_or_stored(conversations, from_run, store, scoring.options(), ["default", *named])
    rows = users.find(searched, query)
    if output.json is not None:
        import orjson

        output.document("users-find", {"rows": orjson.loads(frame_json(rows))})
    shares = [name for name, score in searched.scores.items() if score.unit == SHARE]
    output.show([_shown(frame_table("", rows.head(limit or rows.height)), shares)], in_file=[frame_table("", rows)])
    meanings = users.several_meanings(search.behaviour) if search.behaviour else []
    if meanings:
        err.print(f"'{search.behaviour}' matches {' and '.join(meanings)}; write one in full to select only that")
    shown = f", {limit} shown" if 0 < limit < rows.height else ""
    err.print(f"{counted(rows.height, 'conversation')}{shown}")
    return finish([searched])


#: Columns in words, and which of them go first on a narrow screen; scores are shares, and stay.
_COLUMNS = {
    "turns": Column("turns", drop=2),
    "domains": Column("domains", drop=1),
    "loops": Column("loops", drop=3),
    "longest_loop": Column("longest loop", drop=4),
    "most_mentions": Column("most mentions", drop=5),
}


def _shown(table: Table, shares: Collection[str]) -> Table:
    """What was found, in words and percent."""
    columns = [
        _COLUMNS.get(column.title) or Column(column.title, digits=2, percent=column.title in shares)
        for column in table.columns
    ]
    notes = [percent_note("Scores in percent")] if any(column.percent for column in columns) else []
    return Table(table.title, columns, table.cells, notes)


@app.command()
@click.argument("conversations", nargs=-1, required=True, help="Recorded conversations: one source per user model.")
@click.option(
    "--corpus",
    "corpus",
    type=PATH,
    required=True,
    help="People's dialogues with user acts and the same ids (MultiWOZ).",
)
@click.option(
    "--resamples",
    "resamples",
    type=Whole(0, 1_000_000),
    default=1000,
    help="Bootstrap resamples for the 95% intervals; 0 for none.",
)
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed for resampling.")
@bundle(scoring=Scoring, output=TableOutput)
def likeness(
    conversations: tuple[str, ...], corpus: Path, resamples: int, seed: int, scoring: Scoring, output: TableOutput
) -> None:
    """Compare users with people: acts turn by turn, distributions of acts and lengths, and GCDF1."""
    compared = users.likeness(
        corpus,
        formats.named_files(conversations),
        scoring.options(),
        resamples=resamples,
        seed=seed,
    )
    output.show([users.likeness_table(compared, corpus.name)])
    if output.json is not None:
        output.document("users-likeness", users.likeness_document(compared, str(corpus)))
