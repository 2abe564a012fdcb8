"""First steps and explanations: ``dialgauge demo``, ``init``, ``explain`` and ``reproduce``."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dialgauge import explorer, measures, report, reproduce as papers, users, values
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.options import FOLDER, PATH, Whole, bundle, known, names_of
from dialgauge.cli.output import Figures, Json, Stored
from dialgauge.cli.pages import EXTRA, missing_explorer
from dialgauge.cli.screen import err, fold, out
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import atomic
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.runs import Run

_DEMO_MARK = ".dialgauge-demo"
_PROJECT_FILE = """\
# Defaults of options for everybody who works here.
[defaults]
store = "runs"

# [score]
# profile = "canon"
# measures = ["JGA", "F1"]
"""
#: Where the examples and the notebook lie in an installed package, and in a checkout of the project.
_SHIPPED = Path(__file__).parents[1] / "starter"
_CHECKOUT = Path(__file__).parents[3]
#: What lists everything of a sort.
_LISTS = ("measures", "profiles", "behaviours")


@command("demo")
@click.option("--out", "folder", type=FOLDER, default=Path("dialgauge-demo"), help="Folder to write to.")
@click.option("--dialogues", "dialogs", type=Whole(10, 2000), default=150, help="Dialogues per task and split.")
def demo(folder: Path, dialogs: int) -> None:
    """A guided tour: six questions about simulated dialogues, each answered in a sentence, and a report."""
    from dialgauge.demo import STEPS, Demo

    _fresh(folder)
    work = Demo(folder, dialogs, lambda line: err.print(f"· {line}", style="dim"))
    runs: list[Run] = []
    for step in STEPS:
        answer = step(work)
        runs += answer.runs
        out.print(answer.question, style="bold")
        out.print(fold(f"  {answer.sentence}", 80))
    out.print()
    err.print("· writing the report", style="dim")
    out.print(f"Report: {explorer.write_report(folder / 'report.html', runs, title='dialgauge demo')}")
    out.print("Try next:")
    for line in _next_commands(folder):
        out.print(f"  {line}")


def _next_commands(folder: Path) -> list[str]:
    """Commands to try next: look at the runs, review a log, then check and score files of one's own.

    Before what is not installed stands the line that installs it.
    """
    return [
        *([f"pip install 'dialgauge[{EXTRA}]'"] if missing_explorer() is not None else []),
        f"dialgauge explore --store {folder / 'runs'}",
        f"dialgauge review {folder / 'desk' / 'log.json'} --domain depot",
        "dialgauge data check YOUR_FILE",
        "dialgauge score GOLD YOUR_PREDICTIONS",
    ]


def _fresh(folder: Path) -> None:
    """An empty folder to work in; one that an earlier demo made is emptied, any other that holds files is refused."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _DEMO_MARK).exists():
            raise DialgaugeError(
                "the folder is not empty and not from a demo; choose another with --out", file=str(folder)
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic(folder / _DEMO_MARK) as scratch:
        scratch.write_text("made by dialgauge demo; a new demo may replace this folder\n")


@command("init")
@click.argument(
    "folder", required=False, default=Path(), type=PATH, help="Folder to write to. Default: the current one."
)
def init(folder: Path) -> None:
    """Write dialgauge.toml, a folder for runs, the tutorials' example files and a notebook. Existing files are kept.

    dialgauge init my-project && cd my-project/examples

    dialgauge score gold.jsonl careful.jsonl
    """
    if folder.exists() and not folder.is_dir():
        raise DialgaugeError("there is a file of this name; name a folder", file=str(folder))
    written, kept = 0, []
    for target, source in _files(folder):
        if target.exists():
            kept.append(target)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic(target) as scratch:
            if source is None:
                scratch.write_text(_PROJECT_FILE, encoding="utf-8")
            else:
                shutil.copyfile(source, scratch)
        written += 1
    (folder / "runs").mkdir(exist_ok=True)
    err.print(f"wrote {written} files to {folder.resolve()}")
    if kept:
        err.print(f"kept {len(kept)} that already existed, such as {kept[0]}")
    first = [] if folder == Path() else [f"cd {folder}"]
    out.print("Try next:")
    for line in (
        *first,
        "dialgauge score examples/gold.jsonl examples/careful.jsonl examples/hasty.jsonl",
        "dialgauge review examples/tau.json",
        "dialgauge data check YOUR_FILE",
    ):
        out.print(f"  {line}")
    out.print(f"Commands of the tutorials run in {folder / 'examples'}.")


def _files(folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Each file to write, and what it is a copy of; None for the project file."""
    yield folder / "dialgauge.toml", None
    examples = _SHIPPED / "examples" if _SHIPPED.is_dir() else _CHECKOUT / "docs" / "examples"
    notebook = _SHIPPED / "tour.ipynb" if _SHIPPED.is_dir() else _CHECKOUT / "notebooks" / "tour.ipynb"
    for source in sorted(examples.rglob("*")):
        if source.is_file():
            yield folder / "examples" / source.relative_to(examples), source
    yield folder / "tour.ipynb", notebook


def _names() -> list[str]:
    """Everything that can be explained, for completion and for hints."""
    labels = [label.rpartition("/")[2] for label in (*users.LABELS, *users.REASONS)]
    names = [*_LISTS, *measures.families(), *measures.cards(), *values.profile_names(), *labels]
    return list(dict.fromkeys(names))


@command("explain")
@click.argument(
    "what",
    required=False,
    shell_complete=known(_names),
    help="A measure (JGA), a family of measures (tracking), a profile (trade, or a YAML file) or a behaviour of users "
    "(unmatched); or measures, profiles or behaviours for a list. Default: all lists.",
)
@bundle(output=Json)
def explain(what: str | None, output: Json) -> None:
    """Say what a measure, a profile or a behaviour of simulated users means."""
    lists: dict[str, Callable[[], list[report.Table]]] = {
        "measures": lambda: [_measures_of(family) for family in measures.families()],
        "profiles": lambda: [_profiles()],
        "behaviours": _behaviours,
    }
    if what is None:
        tables = [table for tables in lists.values() for table in tables()]
    elif what in lists:
        tables = lists[what]()
    elif what in measures.families():
        tables = [_measures_of(what)]
    elif what.endswith((".yaml", ".yml")) or what in values.profile_names():
        rules = values.profile_named(what).explain().splitlines()
        tables = [report.Table(f"Profile {what}", ["rule"], [[rule] for rule in rules])]
    else:
        tables = _behaviours(what) or [_card_table(card) for card in _cards_named(what)]
    output.present(report.Page(title="", tables={table.title: table for table in tables}))


def _profiles() -> report.Table:
    listing = report.Table("Profiles", ["name", "what it is"])
    for entry in values.profile_listing():
        listing.add(entry.name, entry.content.summary if entry.content else entry.reason)
    return listing


def _behaviours(name: str = "") -> list[report.Table]:
    """A table for each group of labels, the group in its title: all labels, or those of a name."""
    tables: dict[str, report.Table] = {}
    for title, labels in (("Behaviours", users.LABELS), ("Reasons for lost points", users.REASONS)):
        for label, meaning in labels.items():
            group, slash, own = label.rpartition("/")
            if not name or name.lower() in (label.lower(), own.lower()):
                head = f"{title}: {group}{slash}..." if group else title
                tables.setdefault(head, report.Table(head, ["name", "meaning"])).add(own, meaning)
    return list(tables.values())


def _cards_named(name: str) -> list[measures.Card[Any]]:
    """The measures of a name in all families, in any case of letters; parameters may follow the name."""
    bare = re.split(r"[@^(\[]", name, maxsplit=1)[0].strip()
    by_family = {family: measures.cards(family) for family in measures.families()}
    every = [card for family in by_family.values() for card in family.values()]
    same = list({id(card): card for card in every if card.name.lower() == bare.lower()}.values())
    if not same:
        raise DialgaugeError(
            f"there is no measure, profile or behaviour '{name}'.{nearest(name, _names(), listed=False)}"
        )
    measures.parse_measure(name if name != bare else same[0].name, None if len(same) > 1 else same[0].family)
    return same


def _card_table(card: measures.Card[Any]) -> report.Table:
    parameters = [*([card.cutoff] if card.cutoff else []), *card.parameters]
    settings = [
        f"{parameter.name}: {', '.join(parameter.choices) if parameter.choices else 'a number'}"
        for parameter in parameters
    ]
    better = {True: "higher", False: "lower", None: "neither"}[card.higher_is_better]
    rows = {
        "meaning": card.summary,
        "formula": card.formula,
        **(
            {"where": "; ".join(f"{name}: {meaning}" for name, meaning in card.symbols.items())} if card.symbols else {}
        ),
        "parameters": "; ".join(settings) or "none",
        "unit": "percent" if card.unit == "share" else card.unit,
        "better": better,
        "source": card.source,
    }
    return report.Table(f"{card.name} ({card.family}): {card.title}", ["field", "value"], list(rows.items()))


def _measures_of(family: str) -> report.Table:
    table = report.Table(f"Measures: {family}", ["name", "meaning", "formula", "parameters"])
    letters: dict[str, str] = {}
    entries = list(measures.card_listing(family))
    table.notes += [f"{entry.name}: {entry.reason}" for entry in entries if entry.content is None]
    repeated = measures.TRIAL_CARDS if family == "trials" else ()  # of logs, and of recordings of the lab
    for card in (*repeated, *filter(None, (entry.content for entry in entries))):
        parameters = [f"@{card.cutoff.name}"] if card.cutoff else []
        parameters += [f"{parameter.name}={'|'.join(parameter.choices)}" for parameter in card.parameters]
        table.add(card.name, card.summary, card.formula, " ".join(parameters))
        letters.update(card.symbols)
    table.notes += [f"{name}: {meaning}" for name, meaning in letters.items()]
    return table


@command("reproduce")
@click.argument(
    "paper",
    shell_complete=names_of("reproduce", "PAPERS"),
    help=f"{', '.join(papers.PAPERS)}, or a YAML file of claims.",
)
@click.option(
    "--data",
    type=PATH,
    metavar="FOLDER",
    help="Dataset folder. Default: $DIALGAUGE_DATA, else that of 'data get'.",
)
@click.option(
    "--run",
    multiple=True,
    metavar="NAME=RUN",
    help="A stored run that claims are judged by, and its name in them; repeatable.",
)
@click.option("--only", multiple=True, metavar="PART", help='Show the lines of a part, such as "Table 2"; repeatable.')
@click.option("--all", "everything", is_flag=True, help="Show every line.")
@bundle(store=Stored, output=Figures)
def reproduce(
    paper: str,
    data: Path | None,
    run: tuple[str, ...],
    only: tuple[str, ...],
    everything: bool,
    store: Stored,
    output: Figures,
) -> int:
    """Judge what a paper prints and says: five published ones, or yours.

    Nothing is downloaded. Exit code: 0 everything that can be computed was, 1 data is missing that 'dialgauge data get'
    can fetch, 2 nothing could be computed.
    """
    runs = {}
    for text in run:
        name, separator, meant = text.partition("=")
        if not (name.strip() and separator and meant):
            raise DialgaugeError(f"--run expects NAME=RUN, for example SOM-DST=latest (got '{text}')")
        runs[name.strip()] = store.folder.open(meant)
    with err.status(f"judging what {paper} says"):
        reproduction = papers.reproduce(paper, data, runs=runs)
    page = reproduction.whole_page(only) if only or everything else reproduction.page()
    output.present(page, everything=bool(only) or everything)
    if reproduction.is_empty:
        raise DialgaugeError(f"nothing of {paper} could be computed: {papers.how_to_get(paper, data)}")
    if not reproduction.absent:
        return 0
    lines = counted(reproduction.tally()[papers.IMPOSSIBLE], "line")
    err.print(f"{lines} could not be computed; for more, run {papers.get_commands(reproduction.absent)}")
    return EXIT_INCOMPLETE
