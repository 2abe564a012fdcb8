"""``dialgauge lab``: put a system and a user in front of each other, and score what they say in every way there is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from dialgauge import agents as talkers, data, engine, lab, runs, tasks
from dialgauge.cli.common import Placement, ResamplesOption, TableOutput
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import Gates
from dialgauge.cli.lab_options import (
    Agents,
    BrokenOption,
    ChannelOption,
    CountOption,
    EndpointOption,
    ExchangesOption,
    FailuresOption,
    KeyOption,
    LabSeedOption,
    LevelOption,
    ModelOption,
    Town,
    lab_config_from,
    named_settings,
)
from dialgauge.cli.options import Argument, Option, OutputFolder, WholeNumber, application
from dialgauge.cli.output import AlwaysStoredOutput, OnScreen, Output
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.cli.writing import typed_command
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import domain, tools

app = application("Let systems and simulated users talk, and score the task, the tracker and the user.", parts=__name__)


class LanguageModel(Struct, frozen=True):
    """The language model of agents that are made of one, on either side."""

    endpoint: EndpointOption = ""
    model: ModelOption = ""
    key_env: KeyOption = ""
    cassette: Annotated[
        Path | None, Option(help="File that records requests to language models and their answers.")
    ] = None

    def asked(self) -> dict[str, str]:
        """The options as settings of an agent."""
        return {name: str(value or "") for name, value in asdict(self).items()}


class CutOff(Struct, frozen=True):
    """When a conversation ends at the latest."""

    exchanges: ExchangesOption = 20
    seconds: Annotated[float, Option(min=0, help="Time limit per conversation in seconds; 0 for none.")] = 300.0


class LabOfTools(Struct, frozen=True):
    """``lab run --domain``: conversations about the tasks of a tool domain."""

    domain: str
    count: int | None
    trials: int
    seed: int
    resamples: int
    exchanges: int
    seconds: float
    place: engine.WorkPlace

    @staticmethod
    def _partner(system: str) -> str:
        """The user in place of the agenda user, which cannot follow tasks: a model before a model, else a reader."""
        return "llm-user" if system == "llm-system" else "reader"

    def run(self, agents: Agents, asked: Mapping[str, str], output: Output, gates: Gates) -> int:
        """Hold, score and store the conversations; returns the exit code."""
        gate = gates.gate(output.store, kinds=("trials",))
        load = partial(tools.load_tool_domain, self.domain, root=data.data_folder().root)
        loaded = load()
        chosen = list(loaded.tasks)[: self.count]
        sides = {}
        for side in ("system", "user"):
            name, given = agents.given(side)
            name = self._partner(agents.system) if (side, name) == ("user", "agenda") else name
            general = {key: text for key, text in asked.items() if text} if name in talkers.LANGUAGE_MODELS else {}
            sides[side] = (name, {**general, **named_settings(given, f"--{side}-set")})
        err.print(f"the user is {sides['user'][0]}")
        with progress_bar("conversations", len(chosen) * self.trials) as advance:
            results = lab.run_tool_domain(
                loaded,
                system=sides["system"],
                user=sides["user"],
                tasks=chosen,
                trials=self.trials,
                seed=self.seed,
                limits=talkers.Limits(exchanges=self.exchanges, seconds=self.seconds),
                resamples=self.resamples,
                advance=advance,
                workers=self.place,
                again=load,
                store=runs.Store(output.store),
            )
        screen = out if output.on_screen else err
        for sentence in tasks.coverage_sentences(results.runs):
            screen.print(sentence)
        checks = gate.check(results.runs)
        output.present(results, "tasks-trials", tables=results.tables(), checks=checks)
        return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)


@app.command()
def run(
    count: CountOption = None,
    trials: Annotated[
        int, WholeNumber(of="trials", metavar="K", min=1, help="Conversations per goal, for pass^k.")
    ] = 1,
    level: LevelOption = "act",
    channel: ChannelOption = "clean",
    failures: FailuresOption = "live",
    broken: BrokenOption = None,
    seed: LabSeedOption = 0,
    resamples: ResamplesOption = 1000,
    export: Annotated[
        Path | None, OutputFolder("--out", help="Also export the conversations as native JSONL and GCDF1.")
    ] = None,
    detail: Annotated[bool, Option(help="Also show belief states, efficiency, and what was misunderstood.")] = False,
    *,
    agents: Agents,
    town: Town,
    model: LanguageModel,
    limits: CutOff,
    output: AlwaysStoredOutput,
    gates: Gates,
    placement: Placement,
) -> int:
    """Hold a conversation for every goal, and score task, tracker and user. The run is always stored.

    Rerun an interrupted command to resume it. Exit code: 0 all conversations were held, 1 an agent failed in some, 3 a
    --fail-under or --fail-on-drop check failed.
    """
    if town.has_tools:
        if broken == "fail":
            raise DialgaugeError(
                "--broken fail: conversations of a tool domain that infrastructure broke are always left out; the "
                "first lines and --json tell how many, and pass^1 if they counted as failed"
            )
        held = LabOfTools(
            town.domain, count, trials, seed, resamples, limits.exchanges, limits.seconds, placement.place
        )
        return held.run(agents, model.asked(), output, gates)
    gate = gates.gate(output.store, kinds=("lab",))
    loaded = town.open(count, failures)
    config = lab_config_from(
        user=agents.given("user"),
        system=agents.given("system"),
        channel=channel,
        level=level,
        asked=model.asked(),
        trials=trials,
        seed=seed,
        **asdict(limits),
    )
    store, where = runs.Store(output.store), placement.place
    results = lab.converse(
        config,
        goals=loaded,
        broken=broken or "",
        resamples=resamples,
        workers=where,
        store=store,
        progress=OnScreen(),
    )
    checks = gate.check(results.runs)
    [stored] = output.present(results, "lab-run", tables=results.tables(detail=detail), checks=checks)
    if export is not None:
        for path in lab.write_conversations(stored, export, loaded.search.domain, loaded.search.tracked):
            err.print(f"wrote {path}")
    err.print(f"stored as run {stored.id} in {store.folder}")
    for note in results.notes:
        err.print(note)
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)


@app.command("new")
def new(
    name: Annotated[str, Argument(help="The folder to write; its name becomes the domain's.")],
) -> None:
    """Write the folder of a small, commented domain that runs as it is: a start for your own."""
    written = domain.new_domain(name)
    out.print(f"wrote {', '.join(path.name for path in written)} into {written[0].parent}")
    folder = name if "/" in name else f"./{name}"
    out.print(f"Try it: {typed_command(f'dialgauge lab run --domain {folder}')}")


@app.command("goals")
def show_goals(
    count: CountOption = None,
    failures: FailuresOption = "live",
    goal: Annotated[str | None, Option(metavar="ID", help="Show one goal in full.")] = None,
    folder: Annotated[
        Path | None,
        OutputFolder(
            "--out",
            help="Write the goals: of your own domain as goals.jsonl, of the synthetic town as database and goals in "
            "MultiWOZ format.",
        ),
    ] = None,
    *,
    town: Town,
    output: TableOutput,
) -> None:
    """Show what the goals ask for, which cannot be satisfied, and which failures are real."""
    loaded = town.open(count, failures)
    output.show([lab.one_goal_table(loaded, goal)] if goal is not None else lab.goal_tables(loaded))
    if output.json is not None:
        output.document("lab-goals", {"goals": {each.id: msgspec.to_builtins(each) for each in loaded.goals}})
    if folder is not None:
        _write_goals(loaded, town, folder)


def _write_goals(loaded: lab.LoadedDomain, town: Town, folder: Path) -> None:
    from dialgauge.worlds.town import TownSearch, generate_goals, write_town

    if not isinstance(loaded.search, TownSearch):
        from dialgauge.files import atomic

        lines = [domain.declared_goal(loaded.search.domain, goal) for goal in loaded.goals]
        with atomic(folder / "goals.jsonl") as scratch:
            scratch.write_bytes(msgspec.json.Encoder().encode_lines(lines))
        err.print(f"wrote {folder / 'goals.jsonl'}")
        return
    if town.goals != "town":
        raise DialgaugeError("--out writes the synthetic town, or the goals of a domain of your own; drop --goals")
    database = loaded.search.town
    write_town(folder, database, generate_goals(database, len(loaded.goals), town.town_seed))
    err.print(f"wrote {folder}")
