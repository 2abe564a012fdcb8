"""``dialgauge lab``: put a system and a user in front of each other, and score what they say in every way there is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge.cli import lab_blame, lab_chat, lab_study, lab_track, lab_train
from dialgauge.cli.common import StoreOption, WideOption, err, on_screen, out, present_tables, progress_bar, write_json
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.lab_options import (
    ChannelOption,
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
from dialgauge.cli.options import Option, OutputFile, OutputFolder, application

if TYPE_CHECKING:
    from dialgauge.runs import Run

app = application("Systems and users in conversation: held, recorded once, and scored in every way there is.")
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
    count: Annotated[
        int | None, Option("--count", "-n", metavar="N", min=1, help="Goals to pursue. Default: all; of town, 200.")
    ] = None,
    trials: Annotated[int, Option(metavar="K", min=1, help="Conversations for each goal, for pass^k.")] = 1,
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
        Option("--cassette", metavar="FILE", help="Where what language models are asked and answer is kept."),
    ] = None,
    render: Annotated[bool, Option("--render", help="At act level, put the acts into words too.")] = False,
    exchanges: ExchangesOption = 20,
    seconds: Annotated[
        float, Option(min=0, help="Wall time after which a conversation is cut off; 0: no limit.")
    ] = 300.0,
    loop: Annotated[int, Option(min=0, help="End after so many equal exchanges in a row; 0: never.")] = 0,
    seed: LabSeedOption = 0,
    town_seed: TownSeedOption = 0,
    resamples: Annotated[int, Option(min=0, help="Resamples for the 95% intervals; 0: none.")] = 1000,
    workers: Annotated[int, Option(min=0, help="Processes; 0 is one for each core.")] = 1,
    export: Annotated[
        Path | None,
        OutputFolder("--out", metavar="FOLDER", help="Also write the conversations: native JSONL and GCDF1."),
    ] = None,
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write the scores as JSON; - is the screen.")] = None,
    table: Annotated[
        Path | None, OutputFile(metavar="FILE", help="Write the tables: .md, .tex, .html, .csv, .json.")
    ] = None,
    detail: Annotated[
        bool, Option("--detail", help="Also beliefs, efficiency, and what was understood and misheard.")
    ] = False,
    store: StoreOption = None,
    wide: WideOption = False,
) -> int:
    """A conversation for every goal, recorded once, scored as tracking, as users and as tasks, and stored.

    An interrupted call resumes where it stopped. Exit code: 0 all conversations were held, 1 an agent failed in some.
    """
    out.wide = wide
    from dialgauge.lab import lab_tables, town_run, write_conversations
    from dialgauge.report import format_of
    from dialgauge.runs import Store
    from dialgauge.worlds.town import ontology_of

    if table is not None:
        format_of(table)
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
        stored = town_run(loaded, sitting, store=place, workers=workers, resamples=resamples, on_unit=advance)
    tables = lab_tables(stored, detail=detail)
    present_tables(tables, table, json)
    if json is not None:
        write_json(json, _document(stored))
    if export is not None:
        for path in write_conversations(list(stored.dialogues()), export, ontology_of(loaded.town)):
            err.print(f"written: {path}")
    err.print(f"stored as run {stored.id} in {place.folder}")
    for note in stored.notes:
        err.print(note)
    if loaded.refused:
        (name, why), more = loaded.refused[0], len(loaded.refused) - 1
        rest = f"; {more:,} more: dialgauge lab goals" if more else ""
        err.print(f"not pursued: {name}, {why}{rest}")
    return EXIT_INCOMPLETE if stored.notes or loaded.refused else 0


@app.command("goals")
def show_goals(
    goals: GoalsOption = "town",
    database: DatabaseOption = None,
    count: Annotated[int | None, Option("--count", "-n", metavar="N", min=1, help="Goals. Default: all.")] = None,
    failures: FailuresOption = "live",
    town_seed: TownSeedOption = 0,
    show: Annotated[str | None, Option("--show", metavar="ID", help="One goal in full.")] = None,
    folder: Annotated[
        Path | None,
        OutputFolder("--out", metavar="FOLDER", help="Write the synthetic town: database and goals, as MultiWOZ's."),
    ] = None,
    json: Annotated[Path | None, OutputFile(metavar="FILE", help="Write the goals as JSON; - is the screen.")] = None,
    wide: WideOption = False,
) -> None:
    """What the goals ask for, which of them nothing satisfies, and which failures are real."""
    out.wide = wide
    import msgspec

    from dialgauge.errors import DialgaugeError
    from dialgauge.lab import goal_tables, one_goal_table

    loaded = opened_town(goals, database, count, town_seed, failures)
    if show is not None:
        out.print(one_goal_table(loaded, show).render("terminal"))
    elif on_screen(json):
        present_tables(goal_tables(loaded), None, None)
    if json is not None:
        write_json(json, {goal.id: msgspec.to_builtins(goal) for goal in loaded.goals})
    if folder is not None:
        from dialgauge.worlds.town import generate_goals, write_town

        if goals != "town":
            raise DialgaugeError("--out writes the synthetic town; leave out --goals")
        write_town(folder, loaded.town, generate_goals(loaded.town, len(loaded.goals), town_seed))
        err.print(f"written: {folder}")


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
