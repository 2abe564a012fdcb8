"""The steps of the guided tour: each asks one question, stores runs, and answers from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from dialgauge.agents import make_agent
from dialgauge.comparison import Comparison, compare_runs
from dialgauge.comparison import divergences as diverging_dialogues
from dialgauge.demo.trackers import learn_words, track
from dialgauge.dialogue import Dialogue, Ontology, SlotSpec
from dialgauge.formats import read, write
from dialgauge.lab import (
    AgentSpec,
    Sitting,
    dialog_file,
    interact,
    move_to,
    open_town,
    town_run,
    write_release,
)
from dialgauge.rankers import load_task, ranker_class
from dialgauge.report import Cell, Column, Table, score_column
from dialgauge.responses import jobs_of, run_jobs
from dialgauge.runs import Run, Store
from dialgauge.tracking import score
from dialgauge.worlds.restaurant import Parameters, load_world

TASKS = (1, 3, 5)
MODELS = ("rules", "nearest", "tfidf")
SPLITS = ("trn", "dev", "tst", "tst-OOV")
#: At most so many conversations with the simulated user.
CONVERSATIONS = 50
#: At most so many goals in the town.
TOWN_GOALS = 300


class Demo(Struct, frozen=True):
    """Where the demo works, how large it is, and whom it tells what it does."""

    folder: Path
    dialogs: int
    seed: int
    tell: Callable[[str], None]

    @property
    def corpus(self) -> Path:
        """The simulated dialogs, as the official text files and as native JSONL."""
        return self.folder / "corpus"

    @property
    def store(self) -> Store:
        """The demo's run store."""
        return Store(self.folder / "runs")


class Answer(Struct, frozen=True, kw_only=True):
    """What one step shows: its question, a small table and a verdict; and the runs that the report is about."""

    question: str
    verdict: str
    table: Table | None = None
    runs: tuple[Run, ...] = ()


def simulate_world(demo: Demo) -> Answer:
    """Simulate the restaurant world and say what came out."""
    demo.tell(f"simulating {demo.dialogs} dialogs per task and split of the restaurant world")
    written = write_release(
        load_world("restaurant"),
        demo.corpus,
        tasks=TASKS,
        splits=SPLITS,
        dialogs=demo.dialogs,
        parameters=Parameters(seed=demo.seed),
        forms=("babi", "native"),
    )
    official = [one for one in written if one.file.endswith(".txt")]
    dialogs, turns = (sum(getattr(one, name) for one in official) for name in ("dialogs", "turns"))
    return Answer(
        question="A world, simulated",
        verdict=f"{dialogs:,} dialogs with {turns:,} exchanges; half of the test dialogs name towns and\n"
        "cuisines that training never shows.",
    )


def track_states(demo: Demo) -> Answer:
    """Two trackers on the full dialogs, scored by every measure and compared."""
    demo.tell("two trackers follow the full dialogs, one of them deaf to changes of mind")
    train = _dialogs(demo, "trn")
    gold = [*_dialogs(demo, "tst"), *_dialogs(demo, "tst-OOV")]
    words = learn_words(train)
    systems = {
        "latest": [track(dialogue, words, overwrite=True) for dialogue in gold],
        "first": [track(dialogue, words, overwrite=False) for dialogue in gold],
    }
    for name, dialogues in systems.items():
        write(dialogues, demo.folder / "predictions" / f"{name}.json", format="nested")
    results = score(gold, systems, profile="verbatim", ontology=_ontology([*train, *gold]), seed=demo.seed)
    runs = [demo.store.add(system.run) for system in results]
    comparison = compare_runs(runs)
    return Answer(
        question="Which tracker is better?",
        runs=tuple(runs),
        table=_score_table("tracker", runs, ("JGA", "FGA@0.5", "SA")),
        verdict=_verdict(comparison, "JGA"),
    )


def answer_turns(demo: Demo) -> Answer:
    """Three bots that choose replies, by reply and by whole dialog."""
    demo.tell(f"{', '.join(MODELS)} answer tasks {', '.join(map(str, TASKS))}")
    jobs = jobs_of(demo.corpus, MODELS, TASKS, ("tst", "tst-OOV"), 1, demo.store.folder)
    runs = [run for cells in run_jobs(jobs) for run in cells]
    full = [run for run in runs if run.manifest.config["task"] == 5 and run.manifest.config["split"] == "tst"]
    good = next(run for run in full if run.manifest.config["model"] == "nearest")
    return Answer(
        question="Which bot carries a whole dialog?",
        runs=tuple(full),
        table=_score_table("bot", full, ("per-response", "per-dialog")),
        verdict=f"nearest is right in {_percent(good, 'per-response')} of its replies, and carries "
        f"{_percent(good, 'per-dialog')} of the dialogs.",
    )


def talk(demo: Demo) -> Answer:
    """Two of the bots in front of the simulated user, where their own words count."""
    demo.tell("rules and nearest talk to simulated users")
    world, parameters = load_world("restaurant"), Parameters(seed=demo.seed)
    nearest = ranker_class("nearest")()
    nearest.fit(load_task(demo.corpus, 5))
    move_to(nearest, world, demo.seed)
    count = min(CONVERSATIONS, demo.dialogs)
    runs = [
        demo.store.add(interact(system, world, 5, "A", count, parameters)) for system in (make_agent("rules"), nearest)
    ]
    comparison = compare_runs(runs, measures=["completed"], resamples=2000, seed=demo.seed)
    return Answer(
        question="And in conversation?",
        runs=tuple(runs),
        table=_score_table("bot", runs, ("completed",)),
        verdict=_divergence(comparison, runs),
    )


def live_in_town(demo: Demo) -> Answer:
    """A whole system in front of a simulated user, through text that is sometimes misheard."""
    count = min(TOWN_GOALS, 2 * demo.dialogs)
    demo.tell(f"rule-system and agenda talk about {count} goals in a town, and mishear now and then")
    loaded = open_town(count=count, seed=demo.seed)
    sitting = Sitting(
        user=AgentSpec("agenda", {"channel": "mild"}),
        system=AgentSpec("rule-system", {"channel": "mild"}),
        level="text",
        seed=demo.seed,
    )
    run = town_run(loaded, sitting, store=demo.store)
    return Answer(
        question="What does a whole system get done?",
        runs=(run,),
        table=_town_table(run),
        verdict=f"The job was done in {_percent(run, 'Success(rules=strict)')} of the conversations. The tracker is "
        f"right in {_percent(run, 'JGA')}\nof the turns, and the user said {_percent(run, 'I-GCDF1')} of its goal"
        f"{': what fails is understanding.' if _user_is_sound(run) else '.'}",
    )


def _user_is_sound(run: Run) -> bool:
    """The user says its goal, so that failures have another cause."""
    user, tracker = (run.scores[name].value or 0.0 for name in ("I-GCDF1", "JGA"))
    return user > 0.99 > tracker


STEPS: tuple[Callable[[Demo], Answer], ...] = (simulate_world, track_states, answer_turns, talk, live_in_town)


def _verdict(comparison: Comparison, measure: str) -> str:
    """Who is better by a measure, and how sure that is."""
    difference = next(one for one in comparison.differences() if one.measure == measure)
    low, high = sorted((abs(difference.low), abs(difference.high)))
    if not difference.significant:
        return f"The difference in {measure} could be noise (p = {difference.p_randomisation:.2g})."
    return (
        f"{difference.better} is better: its {measure} is {100 * abs(difference.difference):.1f} points higher "
        f"[{100 * low:.1f}, {100 * high:.1f}], p = {difference.p_randomisation:.2g}."
    )


def _divergence(comparison: Comparison, runs: Sequence[Run]) -> str:
    """The turn where two systems say different things to the same user."""
    first, second = (run.name for run in runs)
    dialogues = diverging_dialogues(comparison, first, second, "completed", 1)
    if not dialogues or dialogues[0].turn is None:
        return "Both fare alike."
    place, (item, *_) = dialogues[0].turn.turn, dialogues[0].turn.items
    return (
        f"In dialogue {dialogues[0].dialogue} they diverge at turn {place}:\n"
        f"  {_system(runs[0])} says '{item.first}',\n  {_system(runs[1])} says '{item.second}'."
    )


def _town_table(run: Run) -> Table:
    """One line each on task, tracker and user."""
    table = Table("", ["", "measure", Column("score", digits=1, percent=True)])
    for what, measure in {"task": "Success(rules=strict)", "tracker": "JGA", "user": "I-GCDF1"}.items():
        score = run.scores[measure]
        table.add(what, measure, Cell(score.value, score.low, score.high))
    return table


def _score_table(what: str, runs: Sequence[Run], measures: Sequence[str]) -> Table:
    """Some scores of runs, in percent with intervals."""
    columns = [score_column(measure, runs[0].scores[measure], best=True) for measure in measures]
    table = Table("", [what, *columns])
    for run in runs:
        scores = [run.scores[measure] for measure in measures]
        table.add(_system(run), *(Cell(one.value, one.low, one.high) for one in scores))
    return table


def _system(run: Run) -> str:
    return str(run.manifest.config.get("model", run.name))


def _percent(run: Run, measure: str) -> str:
    return f"{100 * (run.scores[measure].value or 0.0):.1f}%"


def _dialogs(demo: Demo, split: str) -> list[Dialogue]:
    return read(demo.corpus / dialog_file(5, split, "native"), format="native").dialogues


def _ontology(dialogues: list[Dialogue]) -> Ontology:
    """The slots the simulated users fill: the inventory of slot accuracy."""
    domains: dict[str, dict[str, SlotSpec]] = {}
    for dialogue in dialogues:
        for turn in dialogue.user_turns():
            for domain, slots in (turn.state or {}).items():
                domains.setdefault(domain, {}).update(dict.fromkeys(slots, SlotSpec()))
    return Ontology(domains=domains)
