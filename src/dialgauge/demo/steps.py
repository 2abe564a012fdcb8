"""The steps of the demo, each a function from what was made before to tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dialgauge.comparison import Wishes, compare_results, comparison_tables, drawings
from dialgauge.data import check, show
from dialgauge.demo.trackers import learn_words, track
from dialgauge.dialogue import Dialogue, Ontology, SlotSpec
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read, write
from dialgauge.lab import dialog_file, write_release
from dialgauge.report import Figure, Section, Table
from dialgauge.responses import jobs_of, results_table, run_jobs
from dialgauge.runs import Store
from dialgauge.tracking import score, store_results
from dialgauge.worlds.restaurant import Parameters, load_world

TASKS = (1, 3, 5)
MODELS = ("rules", "tfidf", "nearest")
SPLITS = ("trn", "dev", "tst", "tst-OOV")
#: The figures of the comparison that the report shows.
_SHOWN = ("intervals", "lambda_sweep")


@dataclass(frozen=True)
class Demo:
    """Where the demo works, how large it is, and whom it tells what it does."""

    folder: Path
    dialogs: int
    seed: int
    tell: Callable[[str], None]
    sections: list[Section] = field(default_factory=list)

    @property
    def corpus(self) -> Path:
        """The simulated dialogs, as the official text files and as native JSONL."""
        return self.folder / "corpus"

    @property
    def store(self) -> Store:
        """The demo's run store."""
        return Store(self.folder / "runs")


def simulate_world(demo: Demo) -> None:
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
    made = Table(
        "Simulated files (each also as JSONL with acts and belief states)", ["file", "dialogs", "turns", "facts"]
    )
    for one in (listed for listed in written if listed.file.endswith(".txt")):
        made.add(one.file, one.dialogs, one.turns, one.facts)
    report = check([demo.corpus / dialog_file(5, "tst", "native")])
    found = [part for part in show(report) if isinstance(part, Table)]
    demo.sections.append(
        Section(
            "A world, simulated", "Users book restaurants, change their minds and ask questions.", [made, *found[:2]]
        )
    )


def track_states(demo: Demo) -> None:
    """Two trackers on the full dialogs, scored by every measure and compared."""
    demo.tell("two trackers follow the full dialogs, one of them deaf to changes of mind")
    train = _dialogs(demo, "trn")
    gold = [*_dialogs(demo, "tst"), *_dialogs(demo, "tst-OOV")]
    words = learn_words(train)
    systems = {
        "latest": [track(dialogue, words, overwrite=True) for dialogue in gold],
        "first": [track(dialogue, words, overwrite=False) for dialogue in gold],
    }
    paths = {name: str(demo.folder / "predictions" / f"{name}.json") for name in systems}
    for name, dialogues in systems.items():
        write(dialogues, paths[name], format="nested")
    results = score(gold, systems, profile="verbatim", ontology=_ontology([*train, *gold]), seed=demo.seed)
    store_results(results, demo.store, paths=paths, gold=None, config={"demo": demo.dialogs})
    comparison = compare_results(results, resamples=2000, seed=demo.seed)
    figures = _draw(demo, drawings(comparison))
    text = (
        "Gold is the simulated user's own belief state; half of the dialogs name towns and cuisines never trained on."
    )
    demo.sections.append(
        Section("Which tracker is better?", text, [*comparison_tables(comparison, Wishes(sweep=True)), *figures])
    )


def answer(demo: Demo) -> None:
    """Three bots that choose replies, per reply and per whole dialog."""
    demo.tell(f"{', '.join(MODELS)} answer tasks {', '.join(map(str, TASKS))}")
    jobs = jobs_of(demo.corpus, MODELS, TASKS, ("tst", "tst-OOV"), 1, demo.store.folder)
    cells = [cell for done in run_jobs(jobs) for cell in done]
    text = "A bot that is right in most replies can still fail to carry a single dialog to its end."
    demo.sections.append(Section("Which bot carries a whole dialog?", text, [results_table(cells)]))


def _dialogs(demo: Demo, split: str) -> list[Dialogue]:
    return read(demo.corpus / dialog_file(5, split, "native"), format="native").dialogues


def _ontology(dialogues: list[Dialogue]) -> Ontology:
    """The slots the simulated users fill: the inventory of slot accuracy."""
    slots = {
        (domain, slot): None
        for dialogue in dialogues
        for turn in dialogue.user_turns()
        for domain, filled in (turn.state or {}).items()
        for slot in filled
    }
    domains: dict[str, dict[str, SlotSpec]] = {}
    for domain, slot in slots:
        domains.setdefault(domain, {})[slot] = SlotSpec()
    return Ontology(domains=domains)


def _draw(demo: Demo, charts: dict[str, Callable[[], object]]) -> list[Figure]:
    """The figures for the report; without the extra ``figures`` there are none, and that is said."""
    from dialgauge.report import save

    drawn = []
    try:
        for name in _SHOWN:
            if name in charts:
                path = save(charts[name](), demo.folder / "figures" / f"{name}.svg")
                drawn.append(Figure(path, name.replace("_", " ")))
    except DialgaugeError as error:
        demo.tell(f"no figures: {error}")
    return drawn
