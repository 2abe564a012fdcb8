"""``dialgauge lab``: put a system and a user in front of each other, and score what they say in every way there is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Struct
from msgspec.structs import asdict

from dialgauge.cli import lab_call, lab_chat, lab_study
from dialgauge.cli.common import (
    LimitOption,
    Placement,
    ProcessesOption,
    ResamplesOption,
    RunArgument,
    SeedOption,
    StoreOption,
    TableOutput,
    tables_document,
    typed_command,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.gates import Gates
from dialgauge.cli.lab_options import (
    Agents,
    ChannelOption,
    CountOption,
    DatabaseOption,
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
from dialgauge.cli.options import Argument, Option, OutputFile, OutputFolder, WholeNumber, application
from dialgauge.cli.output import AlwaysStoredOutput, OnScreen
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.agents.speech import LinearNlu, NluSample
    from dialgauge.dialogue import Speaker
    from dialgauge.lab import LoadedDomain
    from dialgauge.report import Table


app = application("Let systems and simulated users talk, and score the task, the tracker and the user.")


class LanguageModel(Struct, frozen=True):
    """The language model of agents that are made of one, on either side."""

    endpoint: EndpointOption = ""
    model: ModelOption = ""
    key_env: KeyOption = ""
    cassette: Annotated[
        Path | None,
        Option("--cassette", metavar="FILE", help="File that records requests to language models and their answers."),
    ] = None

    def asked(self) -> dict[str, str]:
        """What was asked for, as settings of an agent."""
        return {name: str(value or "") for name, value in asdict(self).items()}


class CutOff(Struct, frozen=True):
    """When a conversation ends at the latest."""

    exchanges: ExchangesOption = 20
    seconds: Annotated[float, Option(min=0, help="Time limit per conversation in seconds; 0 for none.")] = 300.0
    loop: Annotated[
        int, WholeNumber(of="exchanges", min=0, help="Stop after this many identical exchanges in a row; 0 for never.")
    ] = 0


@app.command()
def run(
    count: CountOption = None,
    trials: Annotated[
        int, WholeNumber(of="trials", metavar="K", min=1, help="Conversations per goal, for pass^k.")
    ] = 1,
    level: LevelOption = "act",
    channel: ChannelOption = "clean",
    failures: FailuresOption = "live",
    broken: Annotated[
        Literal["leave-out", "fail"] | None,
        Option(
            "--broken",
            help="Conversations that an agent's error, the time limit or a spent budget ended: left out of success, or "
            "failed. Default: judged by what was done, and left out where the user failed.",
        ),
    ] = None,
    render: Annotated[bool, Option("--render", help="At act level, also render the acts as text.")] = False,
    seed: LabSeedOption = 0,
    resamples: ResamplesOption = 1000,
    export: Annotated[
        Path | None,
        OutputFolder("--out", metavar="FOLDER", help="Also export the conversations as native JSONL and GCDF1."),
    ] = None,
    detail: Annotated[
        bool, Option("--detail", help="Also show belief states, efficiency, and what was misunderstood.")
    ] = False,
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
    from dialgauge.lab import converse, write_conversations
    from dialgauge.runs import Store

    if town.has_tools:
        if broken == "fail":
            raise DialgaugeError(
                "--broken fail: conversations of a tool domain that infrastructure broke are always left out; the "
                "first lines and --json tell how many, and pass^1 if they counted as failed"
            )
        held = lab_call.LabOfTools(
            town.domain, count, trials, seed, resamples, limits.exchanges, limits.seconds, placement.place
        )
        return held.run(agents, model.asked(), output, gates)
    gate = gates.gate(output.store, kinds=("lab",))
    loaded = town.open(count, failures)
    sitting = lab_config_from(
        user=agents.given("user"),
        system=agents.given("system"),
        channel=channel,
        level=level,
        render=render,
        asked=model.asked(),
        trials=trials,
        seed=seed,
        mask=failures == "masked",
        **asdict(limits),
    )
    place, where = Store(output.store), placement.place
    results = converse(
        sitting,
        goals=loaded,
        broken=broken or "",
        resamples=resamples,
        workers=where,
        store=place,
        progress=OnScreen(),
    )
    checks = gate.check(results.runs)
    [stored] = output.present(results, "lab-run", tables=results.tables(detail=detail), checks=checks, verdict=True)
    if export is not None:
        for path in write_conversations(stored, export, loaded.search.domain, loaded.search.tracked):
            err.print(f"wrote {path}")
    err.print(f"stored as run {stored.id} in {place.folder}")
    for note in results.notes:
        err.print(note)
    return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)


@app.command("new")
def new(
    name: Annotated[str, Argument(metavar="NAME", help="The folder to write; its name becomes the domain's.")],
) -> None:
    """Write the folder of a small, commented domain that runs as it is: a start for your own."""
    from dialgauge.worlds.domain import new_domain

    written = new_domain(name)
    out.print(f"wrote {', '.join(path.name for path in written)} into {written[0].parent}")
    place = name if "/" in name else f"./{name}"
    out.print(f"Try it: {typed_command(f'dialgauge lab run --domain {place}')}")


@app.command("goals")
def show_goals(
    count: CountOption = None,
    failures: FailuresOption = "live",
    goal: Annotated[str | None, Option("--goal", metavar="ID", help="Show one goal in full.")] = None,
    folder: Annotated[
        Path | None,
        OutputFolder(
            "--out",
            metavar="FOLDER",
            help="Write the goals: of your own domain as goals.jsonl, of the synthetic town as database and goals in "
            "MultiWOZ format.",
        ),
    ] = None,
    *,
    town: Town,
    output: TableOutput,
) -> None:
    """Show what the goals ask for, which cannot be satisfied, and which failures are real."""
    import msgspec

    from dialgauge.lab import goal_tables, one_goal_table

    loaded = town.open(count, failures)
    output.show([one_goal_table(loaded, goal)] if goal is not None else goal_tables(loaded))
    if output.json is not None:
        output.document("lab-goals", {"goals": {one.id: msgspec.to_builtins(one) for one in loaded.goals}})
    if folder is not None:
        _write_goals(loaded, town, folder)


def _write_goals(loaded: LoadedDomain, town: Town, folder: Path) -> None:
    from dialgauge.worlds.town import TownSearch, generate_goals, write_town

    if not isinstance(loaded.search, TownSearch):
        import msgspec

        from dialgauge.files import atomic
        from dialgauge.worlds.domain import declared_goal

        lines = [declared_goal(loaded.search.domain, goal) for goal in loaded.goals]
        with atomic(folder / "goals.jsonl") as scratch:
            scratch.write_bytes(msgspec.json.Encoder().encode_lines(lines))
        err.print(f"wrote {folder / 'goals.jsonl'}")
        return
    if town.goals != "town":
        raise DialgaugeError("--out writes the synthetic town, or the goals of a domain of your own; drop --goals")
    database = loaded.search.town
    write_town(folder, database, generate_goals(database, len(loaded.goals), town.town_seed))
    err.print(f"wrote {folder}")


@app.command()
def blame(
    run: RunArgument,
    dialogue: Annotated[
        str | None, Option("--dialogue", metavar="ID", help="Show one conversation, with the turns that are evidence.")
    ] = None,
    limit: LimitOption = 20,
    store: StoreOption = None,
    *,
    output: TableOutput,
) -> None:
    """Show whose fault each failure in a 'lab run' was: the first broken link from goal to outcome, with the turns."""
    from dialgauge.lab import blame_document, blame_explanation, blame_list, blame_tables, require_blame
    from dialgauge.runs import Store

    blamed = Store(store).open(run)
    require_blame(blamed)
    if dialogue is not None:
        output.show(blame_explanation(blamed, dialogue))
    elif tables := blame_tables(blamed, listed=True):
        output.show([*tables, blame_list(blamed, limit or None)], in_file=[*tables, blame_list(blamed)])
    elif output.json is None and output.table is None:
        out.print("No conversation in this run failed.")
    if output.json is not None:
        output.document("lab-blame", blame_document(blamed))


@app.command()
def cross(
    runs: Annotated[list[str], Argument(metavar="RUN...", help="Lab runs: one for each user and system.")],
    measure: Annotated[
        str, Option("--measure", metavar="NAME", help="What a cell shows; any measure of the runs.")
    ] = "Success(rules=strict)",
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    store: StoreOption = None,
    *,
    output: TableOutput,
) -> None:
    """Cross-evaluation: a matrix of users and systems with intervals, the mean of each, and GCDF1 of the users."""
    from dialgauge.lab import cross_evaluation
    from dialgauge.runs import Store

    stored = Store(store)
    made = cross_evaluation([stored.open(run) for run in runs], measure, resamples=resamples, seed=seed)
    output.show([made.table()])
    if output.json is not None:
        output.document("lab-cross", made.document())


@app.command()
def track(
    corpus: Annotated[str, Argument(metavar="CORPUS", help="Dialogues, in any known format.")],
    predictions: Annotated[Path, OutputFile("--out", metavar="FILE", help="Predictions file to write (.jsonl).")],
    endpoint: EndpointOption = "local",
    model: ModelOption = "",
    key_env: KeyOption = "",
    cassette: Annotated[
        Path | None,
        Option("--cassette", metavar="FILE", help="File that records requests and answers. Default: next to --out."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        Option("--set", metavar="NAME=VALUE", help="Setting: mode, max_tokens, budget_tokens, ...; repeatable."),
    ] = None,
    ontology: Annotated[
        str | None, Option(metavar="FILE", help="Slots and values. Default: the slots in the annotated states.")
    ] = None,
    count: Annotated[
        int | None,
        WholeNumber(
            "--count", "-n", of="dialogues read", metavar="N", min=1, help="Number of dialogues. Default: all."
        ),
    ] = None,
    seed: Annotated[int, Option(min=0, help="Random seed passed to the model.")] = 0,
    workers: ProcessesOption = 1,
) -> int:
    """Ask a language model for the belief state after each turn, and write predictions that 'dialgauge score' reads.

    Rerun an interrupted command to resume it: no answered request is repeated. Score the file with
    'dialgauge score --profile llm'. Exit code: 0 all dialogues were tracked, 1 some were not.
    """
    from dialgauge.agents.llm import chat_settings, slots_to_track
    from dialgauge.formats import read, read_ontology
    from dialgauge.lab import track_corpus

    kept = cassette or predictions.with_name(f"{predictions.name}.cassette.jsonl")
    given = {"endpoint": endpoint, "model": model, "key_env": key_env, "cassette": str(kept)}
    asked = chat_settings({**given, **named_settings(settings, "--set")})
    dialogues = read(corpus).dialogues[:count]
    slots = slots_to_track(dialogues, read_ontology(ontology) if ontology else None)
    with progress_bar("tracking", len(dialogues)) as advance:
        tracked = track_corpus(dialogues, slots, asked, predictions, seed=seed, workers=workers, on_dialogue=advance)
    err.print(f"wrote {predictions} ({counted(tracked.answers, 'turn')}); requests and answers are in {kept}")
    for dialogue, why in list(tracked.failed.items())[:1]:
        err.print(f"could not track {counted(len(tracked.failed), 'dialogue')}; the first is {dialogue}: {why}")
    return EXIT_INCOMPLETE if tracked.failed else 0


@app.command()
def train(
    dialogues: Annotated[
        list[str], Argument(metavar="DIALOGUES...", help="Annotated dialogues (MultiWOZ with dialogue acts).")
    ],
    model: Annotated[Path, OutputFile("--out", metavar="FILE", help="Model file to write (.npz).")],
    database: DatabaseOption = None,
    practice: Annotated[
        int, WholeNumber(of="turns", min=0, help="Template-generated turns to add to the training data.")
    ] = 10_000,
    epochs: Annotated[int, WholeNumber(of="epochs", min=1, help="Passes over the training turns.")] = 5,
    seed: Annotated[int, Option(min=0, help="Random seed for the order of turns.")] = 0,
    test: Annotated[
        str | None,
        Option(metavar="FILE", help="Evaluate on these held-out dialogues."),
    ] = None,
    *,
    output: TableOutput,
) -> None:
    """Train an NLU model on human dialogues, for town agents that exchange text.

    Use it with 'dialgauge lab run --user-set nlu=FILE --system-set nlu=FILE'. The same dialogues always give the same
    model.
    """
    from dialgauge.agents.speech import LinearNlu, human_samples, practice_samples, train_nlu
    from dialgauge.formats import read
    from dialgauge.worlds.town import load_town, spoken_ontology, town_beside

    if test is None and (output.json or output.table):
        raise DialgaugeError("--json and --table hold the evaluation; add --test FILE to evaluate")
    town = load_town(database) if database else town_beside(dialogues[0])
    ontology = spoken_ontology(town)
    learned = [dialogue for file in dialogues for dialogue in read(file).dialogues]
    samples = list(human_samples(learned))
    if not any(sample.acts for sample in samples):
        raise DialgaugeError("none of the dialogues has dialogue acts to train on", file=dialogues[0])
    others = read(test).dialogues if test else []
    if shared := {other.id for other in others} & {dialogue.id for dialogue in learned}:
        raise DialgaugeError(
            f"{counted(len(shared), 'dialogue')}, for example {min(shared)}, {'is' if len(shared) == 1 else 'are'} "
            "in both the training and the --test files",
            file=test,
        )
    with err.status(f"training on {len(samples):,} human and {practice:,} generated turns"):
        made = train_nlu([*samples, *practice_samples(practice, seed=seed)], ontology, epochs=epochs, seed=seed)
    made.save(model)
    err.print(f"wrote {model}")
    if others:
        understood = [_understood(LinearNlu(made, ontology), list(human_samples(others)))]
        output.show(understood)
        output.document("tables", tables_document(understood))


def _understood(nlu: LinearNlu, samples: Sequence[NluSample]) -> Table:
    from dialgauge.agents.speech import understanding
    from dialgauge.report import Column, Table

    shares = [Column(name, digits=1, percent=True) for name in ("precision", "recall", "F1")]
    table = Table("NLU accuracy", ["speaker", "compared", *shares])
    speakers: tuple[Speaker, ...] = ("user", "system")
    for speaker in speakers:
        for what, values in {"act and slot": False, "with value": True}.items():
            found = understanding(nlu, samples, speaker, values=values)
            table.add(speaker, what, found.precision, found.recall, found.f1)
    return table


for _command in (lab_call.call, lab_chat.chat, lab_study.study):
    app.command()(_command)
