"""A kind of run from another package: one module brings its measure, view, pages, template and sentences."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import polars
import pytest

import dialgauge as dialgauge_package
from dialgauge import Dialogue, Store, Turn, compare
from dialgauge.comparison import comparison_tables, view_of
from dialgauge.errors import DialgaugeError
from dialgauge.explorer import Explorer, markdown_summary, report_html, run_sentences
from dialgauge.kinds import BUILT_IN, Kind, kind_named
from dialgauge.measures import Score, Scores, families, parse_measure
from dialgauge.presentation import RunPages, pages_of
from dialgauge.runs import Run, new_run
from support.commands import dialgauge
from support.packages import install, on_the_path

JUGGLING = '''
    """Runs of jugglers: how many balls stay in the air."""

    from dialgauge.comparison import ComparisonView
    from dialgauge.kinds import Kind
    from dialgauge.measures import Card
    from dialgauge.presentation import READ_FIRST, Badge, DialogueView, Facet, RunPages, TurnView
    from dialgauge.rendering import Table

    CARDS = (
        Card(
            name="Caught", family="juggling", title="balls caught", summary="Balls that were caught.",
            formula="caught / thrown", source="none", units=lambda evidence, settings: evidence,
        ),
        Card(
            name="Root", family="juggling", title="root of the balls", summary="Root of the balls that were caught.",
            formula="root of caught", source="none",
            sums=lambda evidence, settings: evidence[:1], of=lambda sums: sums[..., 0] ** 0.5,
        ),
    )


    class JugglingView(ComparisonView):
        unit = "dialogue"
        always = ("drops",)

        def tables(self, comparison):
            rows = [(name, run.table("throws")["dropped"].sum()) for name, run in comparison.runs.items()]
            return {"drops": lambda: [Table("Balls on the floor", ["juggler", "balls"], rows)]}


    class JugglingPages(RunPages):
        template = "acme_juggling:TEMPLATE"
        facets = (
            Facet("ball", "colour of a ball", "throws", ("ball",)),
            Facet(READ_FIRST, "read first", "throws", ("ball",)),
        )
        read_first = ("red",)

        def dialogue(self, library, run, dialogue):
            balls = {row["turn"]: row["ball"] for row in library.rows(run, "throws", dialogue.id)}
            turns = [
                TurnView(place, turn.speaker, turn.text, [Badge("thrown", "good")], balls.get(place))
                for place, turn in enumerate(dialogue.turns)
            ]
            return DialogueView(self.template, turns, overview="a juggler's evening")

        def tables(self, library, run):
            return [Table("Throws", ["ball"], [(ball,) for ball in library.table(run, "throws")["ball"].unique()])]

        def sentences(self, run, words):
            yield f"{run.name} keeps the balls up: {words.said('Caught')}"

        def went_wrong(self, tables, dialogue):
            rows = tables.rows("throws", dialogue, text=("ball",), number=("dropped",))
            return f"dropped {rows['dropped'].sum():.0f}"


    TEMPLATE = """{% macro overview(view) %}<p>{{ view.overview | shown }}</p>{% endmacro %}
    {% macro legend() %}<p>legend of balls</p>{% endmacro %}
    {% macro turn_cell(turn, other=none) %}<b>ball: {{ turn.cell }}</b>{% endmacro %}"""
    VIEW, PAGES = JugglingView(), JugglingPages()
    KIND = Kind(
        "juggling", cards="acme_juggling:CARDS", comparison="acme_juggling:VIEW", pages="acme_juggling:PAGES",
        headline=("Caught",),
    )
'''
ENTRY = "[dialgauge.kinds]\njuggling = acme_juggling:KIND\n"
IDS = [f"d{number:02}" for number in range(40)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    install(tmp_path, "acme_juggling", JUGGLING, ENTRY)
    with on_the_path(tmp_path):
        yield tmp_path


def juggled(name: str, caught: float) -> Run:
    ids = np.arange(len(IDS))
    num, den = np.minimum(10.0, np.round(10 * caught) + ids % 3), np.full(len(IDS), 10.0)
    mean = float(num.mean()) / 10
    turns = (Turn(speaker="user", text="throw"), Turn(speaker="system", text="thrown"))
    return new_run(
        kind="juggling",
        name=name,
        scores=Scores(
            dialogues=IDS,
            sums={"Height": (10 - num, den), "Caught": (num, den)},
            scores={
                "Height": Score(value=1 - mean, unit="share", higher_is_better=True, lower=0.0, upper=1.0),
                "Caught": Score(value=mean, unit="share", higher_is_better=True, lower=0.0, upper=1.0),
            },
        ),
        tables={
            "throws": lambda: polars.DataFrame(
                {
                    "dialogue": IDS,
                    "turn": [1] * len(IDS),
                    "ball": ["red", "<i>blue</i>"] * (len(IDS) // 2),
                    "dropped": [int(value) for value in 10 - num],
                }
            )
        },
        corpus=[Dialogue(id=name, turns=turns) for name in IDS],
    )


@pytest.fixture
def stored(folder: Path) -> tuple[Store, list[Run]]:
    store = Store(folder / "runs")
    return store, [store.add(juggled("ada", 0.7)), store.add(juggled("bob", 0.4))]


def test_its_pages_its_filter_its_sentence_and_its_table_are_shown(stored: tuple[Store, list[Run]]) -> None:
    store, (ada, _) = stored
    explorer = Explorer(store)
    page = explorer.run(ada.id, {})
    assert "ada keeps the balls up: Caught (balls caught)." in page
    assert "Throws" in page
    listed = explorer.dialogues(ada.id, {"ball": "red"})
    assert "colour of a ball" in listed
    assert "id=d00&amp;" in listed
    assert "id=d01&amp;" not in listed
    dialogue = explorer.dialogue(ada.id, {"id": "d01"})
    assert "a juggler&#39;s evening" in dialogue
    assert "legend of balls" in dialogue
    # What a run holds is escaped in the template of another package, too.
    assert "<b>ball: &lt;i&gt;blue&lt;/i&gt;</b>" in dialogue


def test_the_report_has_its_pages_and_the_verdict(stored: tuple[Store, list[Run]]) -> None:
    _, runs = stored
    text = report_html(runs, dialogues=2)
    for part in (
        "ada keeps the balls up",
        "legend of balls",
        "Balls on the floor",
        "ada is ahead of bob by 30.0 points",
    ):
        assert part in text, part
    assert "Conversations to read first" in report_html(runs[:1], dialogues=2)
    summary = markdown_summary(runs[1:])
    assert re.search(r"bob, d\d\d: Caught \d+\.\d%; dropped \d", summary)


def test_it_is_compared_by_its_view_with_its_headline_first(stored: tuple[Store, list[Run]]) -> None:
    compared = compare(stored[1], resamples=500)
    assert compared.measures[0] == "Height"
    assert str(compared.verdict).startswith(
        "ada is ahead of bob by 30.0 points in Caught (p = 0.002); in Height bob is"
    )
    assert comparison_tables(compared)[-1].title == "Balls on the floor"
    assert view_of("juggling").always == ("drops",)


def test_its_measures_of_several_sums_are_compared(folder: Path) -> None:
    def squared(name: str, balls: float) -> Run:
        sums = polars.DataFrame({"dialogue": IDS, "measure": "Root", "place": 0, "sum": balls})
        value = Score(value=(balls * len(IDS)) ** 0.5, unit="balls", higher_is_better=True, lower=0.0)
        scores = Scores(dialogues=IDS, sums={}, scores={"Root": value})
        return new_run(kind="juggling", name=name, scores=scores, tables={"dialogue_sums": lambda: sums})

    compared = compare([squared("ada", 9.0), squared("bob", 4.0)], resamples=500)
    assert compared.measures == ("Root",)
    assert str(compared.verdict).startswith("ada is ahead of bob by 6.32 balls in Root (p = ")


def test_the_commands_show_it(
    folder: Path, stored: tuple[Store, list[Run]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    store, runs = stored
    ids = [one.id for one in runs]

    def run(*arguments: object) -> str:
        outcome = dialgauge(capsys, *arguments)
        assert outcome.code == 0, outcome.err
        return outcome.out + outcome.err

    told = run("compare", *ids, "--store", store.folder, "--resamples", 500, "--json", folder / "c.json")
    assert "ada is ahead of bob by 30.0 points in Caught" in told
    assert "Balls on the floor" in told
    assert "ada keeps the balls up: Caught" in run("runs", "show", ids[0], "--store", store.folder)
    document = json.loads((folder / "c.json").read_text())
    first, second = document["verdict"]["measures"]
    assert (first["measure"], first["leader"], first["clear"]) == ("Caught", "ada", True)
    assert (second["measure"], second["leader"], second["clear"]) == ("Height", "bob", True)
    assert document["verdict"]["sentence"] in told.replace("\n", " ")
    run("report", *ids, "--store", store.folder, "--out", folder / "r.html")
    assert "legend of balls" in (folder / "r.html").read_text()


def test_its_measures_are_found_in_its_family(folder: Path) -> None:
    assert parse_measure("Caught", "juggling").card.title == "balls caught"
    assert "juggling" not in families()


def test_a_kind_that_nobody_knows_shows_what_was_said_and_its_scores() -> None:
    assert kind_named("chess") == Kind("chess")
    assert type(pages_of("chess")) is RunPages
    assert run_sentences(juggled("eve", 0.5))[0].startswith("eve has ")


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ("'a text'", "a Kind is expected, but it is of the type str"),
        ("Kind('odd', pages='acme_odd:VIEW')", "a RunPages is expected, but it is of the type int"),
        ("Kind('odd', pages='acme_odd:ABSENT')", "cannot be loaded: AttributeError"),
        ("Kind('odd', pages='acme_absent:PAGES')", "cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_a_faulty_record_is_an_error_that_names_its_package(tmp_path: Path, record: str, why: str) -> None:
    code = f"from dialgauge.kinds import Kind\nVIEW = 1\nKIND = {record}\n"
    install(tmp_path, "acme_odd", code, "[dialgauge.kinds]\nodd = acme_odd:KIND\n")
    with on_the_path(tmp_path), pytest.raises(DialgaugeError, match="of the package acme_odd") as caught:
        pages_of("odd")
    assert why in str(caught.value)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_record_of_ours_keeps_its_contract(name: str) -> None:
    kind = kind_named(name)
    assert kind.name == name
    assert isinstance(pages_of(name), RunPages)
    assert view_of(name).unit
    cards = kind.part("cards", tuple) or ()
    assert {card.family for card in cards} <= {name, "trials"}


def test_every_record_in_a_room_is_listed() -> None:
    house = Path(dialgauge_package.__file__).parent.parent
    files = [file.relative_to(house) for file in house.glob("dialgauge/**/kind.py")]
    rooms = [vars(import_module(".".join(file.with_suffix("").parts))) for file in files]
    records = {record.name for room in rooms for record in room.values() if isinstance(record, Kind)}
    assert records == set(BUILT_IN), "list it in kinds.BUILT_IN, or commands will not know it"


def test_a_record_imports_nothing_but_itself() -> None:
    """Start-up pays for the kinds that are used, and only for those of their parts that are."""
    code = (
        "import sys; from dialgauge.kinds import BUILT_IN, kind_named; [kind_named(name) for name in BUILT_IN];"
        "print([name for name in sys.modules if name.startswith(('numpy', 'polars', 'msgspec'))])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
