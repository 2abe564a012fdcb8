"""``dialgauge lab``: put a system and a user in front of each other, and score what they say in every way there is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge.cli import lab_blame, lab_chat, lab_study, lab_track, lab_train
from dialgauge.cli.common import (
    AddressOption,
    AlwaysRunOption,
    EngineOption,
    FigureFormatOption,
    FiguresOption,
    JsonOption,
    ResamplesOption,
    StoreOption,
    TableOption,
    WideOption,
    WorkersOption,
    check_table,
    draw_scores,
    figure_kinds,
    place_from,
    present_tables,
    write_document,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import BuildGate, FailOnDropOption, FailUnderOption
from dialgauge.cli.lab_options import (
    ChannelOption,
    CountOption,
    DatabaseOption,
    EndpointOption,
    ExchangesOption,
    FailuresOption,
    GoalsOption,
    KeyOption,
    LabSeedOption,
    LevelOption,
    ModelOption,
    SystemOption,
    SystemSetting,
    TownSeedOption,
    UserOption,
    UserSetting,
    opened_town,
    sitting_from,
)
from dialgauge.cli.options import Option, OutputFolder, WholeNumber, application
from dialgauge.cli.screen import err, out, progress_bar

if TYPE_CHECKING:
    from dialgauge.runs import Run

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

app = application("Put systems and simulated users in conversation: recorded once, scored in every way.")
lab_blame.register(app)
lab_chat.register(app)
lab_study.register(app)
lab_track.register(app)
lab_train.register(app)


@app.command()
def run(
    system: SystemOption = "rule-system",
    user: UserOption = "agenda",
    goals: GoalsOption = "town",
    database: DatabaseOption = None,
    count: CountOption = None,
    trials: Annotated[
        int, WholeNumber(of="trials", metavar="K", min=1, help="Conversations per goal, for pass^k.")
    ] = 1,
    level: LevelOption = "act",
    channel: ChannelOption = "clean",
    failures: FailuresOption = "live",
    user_set: UserSetting = None,
    system_set: SystemSetting = None,
    endpoint: EndpointOption = "",
    model: ModelOption = "",
    key_env: KeyOption = "",
    cassette: Annotated[
        Path | None,
        Option("--cassette", metavar="FILE", help="File that records requests to language models and their answers."),
    ] = None,
    render: Annotated[bool, Option("--render", help="At act level, also render the acts as text.")] = False,
    exchanges: ExchangesOption = 20,
    seconds: Annotated[float, Option(min=0, help="Time limit per conversation in seconds; 0 for none.")] = 300.0,
    loop: Annotated[
        int, WholeNumber(of="exchanges", min=0, help="Stop after this many identical exchanges in a row; 0 for never.")
    ] = 0,
    seed: LabSeedOption = 0,
    town_seed: TownSeedOption = 0,
    resamples: ResamplesOption = 1000,
    engine: EngineOption = None,
    address: AddressOption = None,
    workers: WorkersOption = None,
    export: Annotated[
        Path | None,
        OutputFolder("--out", metavar="FOLDER", help="Also export the conversations as native JSONL and GCDF1."),
    ] = None,
    figures: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
    json: JsonOption = None,
    table: TableOption = None,
    detail: Annotated[
        bool, Option("--detail", help="Also show belief states, efficiency, and what was misunderstood.")
    ] = False,
    fail_under: FailUnderOption = None,
    fail_on_drop: FailOnDropOption = None,
    run_asked: AlwaysRunOption = False,
    store: StoreOption = None,
    wide: WideOption = False,
) -> int:
    """Hold a conversation for every goal and score it as tracking, as a user and as a task. The run is always stored.

    Rerun an interrupted command to resume it. Exit code: 0 all conversations were held, 1 an agent failed in some, 3 a
    --fail-under or --fail-on-drop check failed.
    """
    out.wide = wide
    from dialgauge.lab import lab_tables, town_run, write_conversations
    from dialgauge.runs import Store
    from dialgauge.worlds.town import ontology_of

    check_table(table)
    figure_kinds(figure_format, figures)
    gate = BuildGate.of(fail_under, fail_on_drop, store, kinds=("lab",))
    where = place_from(engine, workers, address)
    place = Store(store)
    place.check_writable()
    loaded = opened_town(goals, database, count, town_seed, failures)
    sitting = sitting_from(
        user=(user, user_set),
        system=(system, system_set),
        channel=channel,
        level=level,
        render=render,
        asked={
            "endpoint": endpoint,
            "model": model,
            "key_env": key_env,
            "cassette": str(cassette) if cassette else "",
        },
        trials=trials,
        seed=seed,
        mask=failures == "masked",
        exchanges=exchanges,
        seconds=seconds,
        loop=loop,
    )
    with progress_bar("talking", len(loaded.goals) * trials) as advance:
        stored = town_run(loaded, sitting, store=place, workers=where, resamples=resamples, on_unit=advance)
    tables = lab_tables(stored, detail=detail)
    present_tables(tables, table, json)
    if json is not None:
        write_document(json, "lab-run", _document(stored))
    if export is not None:
        for path in write_conversations(list(stored.dialogues()), export, ontology_of(loaded.town)):
            err.print(f"wrote {path}")
    err.print(f"stored as run {stored.id} in {place.folder}")
    # The sum over all causes is 100% whatever the system does.
    look: dict[str, Any] = {"parts": _PARTS, "sections": _SECTIONS, "names": _NAMES, "without": ("Blame",)}
    draw_scores({_talkers(stored): stored}, figures, figure_format, **look)
    for note in stored.notes:
        err.print(note)
    if loaded.refused:
        (name, why), more = loaded.refused[0], len(loaded.refused) - 1
        rest = f"; {more:,} more, see 'dialgauge lab goals'" if more else ""
        err.print(f"skipped goal {name}: {why}{rest}")
    return gate.exit_code([stored], EXIT_INCOMPLETE if stored.notes or loaded.refused else 0)


@app.command("goals")
def show_goals(
    goals: GoalsOption = "town",
    database: DatabaseOption = None,
    count: CountOption = None,
    failures: FailuresOption = "live",
    town_seed: TownSeedOption = 0,
    goal: Annotated[str | None, Option("--goal", metavar="ID", help="Show one goal in full.")] = None,
    folder: Annotated[
        Path | None,
        OutputFolder(
            "--out", metavar="FOLDER", help="Write the synthetic town (database and goals) in MultiWOZ format."
        ),
    ] = None,
    json: JsonOption = None,
    table: TableOption = None,
    wide: WideOption = False,
) -> None:
    """Show what the goals ask for, which cannot be satisfied, and which failures are real."""
    out.wide = wide
    import msgspec

    from dialgauge.errors import DialgaugeError
    from dialgauge.lab import goal_tables, one_goal_table

    check_table(table)
    loaded = opened_town(goals, database, count, town_seed, failures)
    present_tables([one_goal_table(loaded, goal)] if goal is not None else goal_tables(loaded), table, json)
    if json is not None:
        write_document(json, "lab-goals", {"goals": {one.id: msgspec.to_builtins(one) for one in loaded.goals}})
    if folder is not None:
        from dialgauge.worlds.town import generate_goals, write_town

        if goals != "town":
            raise DialgaugeError("--out writes the synthetic town; drop --goals")
        write_town(folder, loaded.town, generate_goals(loaded.town, len(loaded.goals), town_seed))
        err.print(f"wrote {folder}")


def _talkers(stored: Run) -> str:
    """Who talked to whom, in words: the run's own name joins them with all their settings."""
    from dialgauge.lab import AgentSpec
    from dialgauge.measures import Signature

    talked = Signature.parse(stored.signature)
    if not {"system", "user"} <= talked.keys():
        return stored.name
    names = []
    for agent in (AgentSpec.parse(talked[side]) for side in ("system", "user")):
        settings = ",".join(f"{name}: {value}" for name, value in agent.options.items()).replace("=", ": ")
        names.append(f"{agent.name} ({settings})" if settings else agent.name)
    return " with ".join(names)


def _document(stored: Run) -> dict[str, Any]:
    import msgspec

    from dialgauge.lab import blame_document

    return {
        "run": stored.id,
        "signature": stored.signature,
        "scores": {name: msgspec.to_builtins(score) for name, score in stored.scores.items()},
        "coverage": msgspec.to_builtins(stored.coverage),
        "config": stored.manifest.config,
        "blame": blame_document(stored)["blame"],
    }
