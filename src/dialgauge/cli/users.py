"""``dialgauge users``: how well a simulated user expresses its goals (GCDF1), and where every point was lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from dialgauge import measures, rendering, users
from dialgauge.cli import common, writing
from dialgauge.cli.choices import measures_of
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.cli.output import OnScreen, Output
from dialgauge.cli.screen import out
from dialgauge.cli.users_options import Scoring, Source, finish, fresh_or_stored, opened
from dialgauge.errors import DialgaugeError

app = application(
    "Simulated users: do they express their whole goal, ask everything they should, and why do they repeat themselves?",
    parts=__name__,
)


@app.command()
def score(
    conversations: Annotated[
        list[str], Argument(help="Recorded conversations: one source (file, folder, NAME=FILE, ...) per user model.")
    ],
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures",
            "-m",
            metavar="NAMES",
            known=measures_of("users"),
            help="Measures, comma-separated; 'all' includes plugins.",
        ),
    ] = None,
    verdicts: Annotated[bool, Option(help="Show how often each verdict was given.")] = False,
    resamples: common.ResamplesOption = 1000,
    seed: common.SeedOption = 0,
    per_dialogue: Annotated[bool, Option(help="Include precision, recall and F1 of every dialogue in --json.")] = False,
    reference: Annotated[
        Path | None, OutputFile(help="Write results in the reference evaluator's JSON layout.")
    ] = None,
    *,
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
def figures(
    conversations: Source = None,
    from_run: common.FromOption = None,
    store: common.StoreOption = None,
    by_slot: Annotated[bool, Option(help="Also break behaviours down by slot.")] = False,
    by_sentence: Annotated[
        bool, Option(help="Also list the sentences that were misheard, and what was heard instead.")
    ] = False,
    limit: common.LimitOption = 15,
    *,
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
def explain(
    names: Annotated[
        list[str],
        Argument(
            metavar="[CONVERSATIONS] DIALOGUE",
            help="The conversations, unless --from names a stored run, and the dialogue id.",
        ),
    ],
    from_run: common.FromOption = None,
    store: common.StoreOption = None,
    talk: Annotated[bool, Option(help="Show the conversation first, with what was understood.")] = False,
    *,
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
