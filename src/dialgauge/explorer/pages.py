"""What each page of the explorer shows, as HTML: from a run store, and what an address asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from string import digits
from typing import Any, TypeVar
from urllib.parse import urlencode

from msgspec.structs import replace

from dialgauge._version import __version__
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.beside_runs import StoredTable
from dialgauge.explorer.comparing import ranking, ranking_charts
from dialgauge.explorer.dialogue_list import PAGE_SIZE, DialogueList
from dialgauge.explorer.evidence import evidence_of
from dialgauge.explorer.library import Library, MissingRun
from dialgauge.explorer.markup import search_words
from dialgauge.explorer.run_list import SORTS, annotations_of, fits, run_groups
from dialgauge.explorer.run_overview import run_overview, trial_grid
from dialgauge.explorer.sentences import run_sentences
from dialgauge.explorer.sides import MOST_SIDES, dialogues_side_by_side, neighbours, side_by_side, trials_side_by_side
from dialgauge.explorer.templating import PageLinks, received, render
from dialgauge.measures import measure_of_kind
from dialgauge.presentation import Panel, pages_of, run_charts
from dialgauge.rendering import Column, Table, chart_specification, run_tables
from dialgauge.runs import DialogueNote, Run, Store

T = TypeVar("T")

_SHOWN_SCORES = 12
_OTHERS = 8


@cache
def assets() -> str:
    """Which version of scripts and styles pages need: part of their addresses, so that they can be kept for long."""
    static = files("dialgauge.explorer").joinpath("static")
    contents = [each.read_bytes() for each in sorted(static.iterdir(), key=lambda path: path.name)]
    return sha256(b"\0".join([*contents, __version__.encode()])).hexdigest()[:12]


class Explorer:
    """What every page needs: the library, and where its links go."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.library = Library(store)
        self.links = PageLinks()

    def page(self, template: str, here: str = "", **content: Any) -> str:
        return render(
            template, here=here, links=self.links, place=self.store.folder.name, version=__version__, assets=assets(),
            **content,
        )  # fmt: skip

    def runs(self, asked: Mapping[str, str]) -> str:
        """All runs in groups that can be compared: searched, sorted, some of them chosen."""
        survey = self.library.survey()
        groups = run_groups(self.library, survey.runs, lambda run: annotations_of(self.library, run))
        rows = [row for group in groups for row in group.rows]
        wanted = {name: received(asked.get(name, "")) for name in ("kind", "tag", "sort")} | {"q": asked.get("q", "")}
        sort = wanted["sort"] if wanted["sort"] in SORTS else next(iter(SORTS))
        matching = [
            (group, sorted((row for row in group.rows if fits(row, wanted)), key=SORTS[sort])) for group in groups
        ]
        kinds: dict[str, int] = {}
        for row in rows:
            kinds[row.run.kind] = kinds.get(row.run.kind, 0) + 1
        return self.page(
            "runs.html", "runs", groups=[(group, own) for group, own in matching if own], total=len(rows),
            problems=survey.problems, asked=wanted | {"sort": sort}, kinds=sorted(kinds.items()),
            tags=sorted({tag for row in rows for tag in row.tags}), sorts=list(SORTS),
        )  # fmt: skip

    def run(self, id: str, asked: Mapping[str, str]) -> str:
        """One run: its answers, scores, charts, tables and provenance."""
        run = self.library.run(id)
        pages = pages_of(run.kind)
        columns = pages.columns(run) if run.scores else []
        worst = {
            name: urlencode({"sort": name} | ({} if run.scores[name].higher_is_better else {"falling": "1"}))
            for name in columns
        }
        tables, problem = self._tables(run)
        facts = [table for name, table in run_tables(run).items() if name not in ("scores", "notes")]
        return self.page(
            "run.html", "runs", run=run, coverage=run.coverage.sentence(), sentences=self._sentences(run),
            dialogues=self.library.size(run), saved="saved" in asked, columns=columns, worst=worst,
            others=self._others(run), notes=annotations_of(self.library, run), titles=_titles(run),
            shown_scores=_SHOWN_SCORES, charts=list(run_charts(self.library, run)), tables=tables, facts=facts,
            problem=problem,
            panels=self._undamaged("panels", run, lambda: pages.panels(self.library, run), list[Panel]()),
            tried=self._undamaged(
                "tried", run, lambda: {one.task for one in pages.trials(self.library, run)}, set[str]()
            ),
            overview=run_overview(self.library, run, self._listed(run) if self.library.size(run) else None),
        )  # fmt: skip

    def _undamaged(self, what: str, run: Run, make: Callable[[], T], otherwise: T) -> T:
        """Something made of a run; where its tables are damaged, which the page says elsewhere, something else."""
        try:
            return self.library.of_run(what, run, make)
        except DialgaugeError:
            return otherwise

    def chart(self, id: str, asked: Mapping[str, str]) -> Mapping[str, Any]:
        """The specification of a chart of a run."""
        run = self.library.run(id)
        name = asked.get("name", "")
        draw = _named_chart(run_charts(self.library, run), name, f"the run '{id}'")
        return self.library.of_run(f"chart {name}", run, lambda: chart_specification(draw))

    def dialogues(self, id: str, asked: Mapping[str, str]) -> str:
        """The dialogues of a run, filtered and sorted, a page of them."""
        run = self.library.run(id)
        listed = self._listed(run)
        query = listed.asked_for(asked)
        page = listed.page(query)
        scores = [run.scores[name] for name in page.columns]
        return self.page(
            "dialogues.html", "runs", run=run, query=query, page=page, choices=listed.choices(query),
            usual=(query.sort, query.falling) == listed.worst_first, worst_by=listed.worst_basis,
            units=[score.unit for score in scores], rising=[score.higher_is_better is not False for score in scores],
            measures=[name for name in run.scores if run.scores[name].value is not None],
            words=search_words(query.text), evidence=self._evidence(run), most_sides=MOST_SIDES,
        )  # fmt: skip

    def _evidence(self, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """What there is to see in conversations that went wrong, where the kind of run tells."""
        pages = pages_of(run.kind)
        if not pages.read_first:
            return {}
        return self._undamaged("evidence", run, lambda: pages.evidence(self.library, run), {})

    def export(self, id: str, asked: Mapping[str, str]) -> str:
        """All dialogues that a list finds, as CSV."""
        run = self.library.run(id)
        listed = self._listed(run)
        query = listed.asked_for(asked)
        judged = ["passed"] if listed.passed is not None else []
        measures = [Column(name, digits=6) for name in listed.columns]
        table = Table("", ["dialogue", "turns", *judged, *measures, "labels", "begins"])
        for row in listed.all_rows(query):
            verdict = [None if row.passed is None else "yes" if row.passed else "no"] if judged else []
            table.add(row.dialogue, row.turns, *verdict, *row.values, ", ".join(row.labels), row.opening)
        return table.render("csv")

    def _listed(self, run: Run) -> DialogueList:
        return self.library.of_run("dialogue list", run, lambda: DialogueList(self.library, run))

    def dialogue(self, id: str, asked: Mapping[str, str]) -> str:
        run = self.library.run(id)
        dialogue = self.library.dialogue(run, asked.get("id", ""))
        listed = self._listed(run)
        query = listed.asked_for(asked)
        before, after, number, matching = listed.neighbours(query, dialogue.id)
        notes = annotations_of(self.library, run).dialogues
        view = listed.pages.dialogue(self.library, run, dialogue)
        evidence = evidence_of(dialogue, view, listed.sought(query, dialogue.id), search_words(query.text))
        return self.page(
            "dialogue.html", "runs", run=run, dialogue=dialogue, query=query, before=before, after=after,
            number=number, found=matching, view=view, evidence=evidence, page=-(-number // PAGE_SIZE),
            values=self._values(run, dialogue.id),
            others=[other for other in self._others(run) if self.library.has_dialogue(other, dialogue.id)],
            tells_outcome=listed.pages.tells_outcome, saved="saved" in asked,
            note=notes.get(dialogue.id) or DialogueNote(),
        )  # fmt: skip

    def compare(self, ids: Sequence[str], asked: Mapping[str, str], pair: Sequence[str] = ()) -> str:
        """Which of some runs is better; without runs, a choice of them."""
        chosen, problem = list(dict.fromkeys(ids)), ""
        if len(chosen) >= 2:
            shown = ranking(self.library, chosen, asked.get("measure", ""), pair, asked.get("better", ""))
            unit = shown.comparison.scores.run_score(shown.measure)
            return self.page(
                "compare.html", "compare", ranking=shown, charts=list(ranking_charts(shown.comparison)),
                chart_query=urlencode([("run", run.id) for run in shown.runs]), unit=unit.unit if unit else None,
                rising=shown.comparison.scores.higher_is_better(shown.measure),
                pair_ids=[shown.comparison.runs[name].id for name in shown.pair], titles=_titles(shown.runs[0]),
            )  # fmt: skip
        if chosen:
            problem = "one run alone cannot be compared; choose another one too"
        groups = run_groups(self.library, self.library.survey().runs, lambda run: annotations_of(self.library, run))
        best_first = next(iter(SORTS.values()))
        several = [replace(group, rows=sorted(group.rows, key=best_first)) for group in groups if len(group.rows) > 1]
        return self.page("compare.html", "compare", ranking=None, problem=problem, groups=several, chosen=chosen)

    def compare_chart(self, ids: Sequence[str], asked: Mapping[str, str]) -> Mapping[str, Any]:
        """The specification of a chart of a comparison."""
        charts = ranking_charts(self.library.comparison(ids))
        return chart_specification(_named_chart(charts, asked.get("name", ""), "this comparison"))

    def side(self, ids: Sequence[str], asked: Mapping[str, str]) -> str:
        dialogue = asked.get("id", "")
        shown = side_by_side(self.library, ids, dialogue)
        near = neighbours(self.library, ids, dialogue, asked.get("measure", ""))
        return self.page("side.html", "compare", side=shown, near=near, ids=[run.id for run in shown.runs])

    def report(self, ids: Sequence[str]) -> str:
        """The report on some runs, as one file."""
        from dialgauge.explorer.report_file import report_html

        return report_html([self.library.run(name) for name in dict.fromkeys(ids)])

    def trials(self, id: str, asked: Mapping[str, str]) -> str:
        """The trials of a task side by side; without one, all tasks with theirs."""
        run = self.library.run(id)
        if not asked.get("task"):
            grid = trial_grid(self.library, run, goals=True)
            if not grid.tasks:
                raise DialgaugeError(f"no task of the run '{run.id}' has several trials that are judged")
            steady = any(facet.name == "steady" for facet in pages_of(run.kind).facets)
            return self.page("trials_grid.html", "runs", run=run, grid=grid, has_steady=steady)
        side = trials_side_by_side(self.library, run, asked.get("task", ""))
        return self.page("trials_page.html", "runs", run=run, side=side, task=asked.get("task", ""))

    def chosen(self, id: str, names: Sequence[str]) -> str:
        """Dialogues of a run that were chosen in its list, side by side."""
        run = self.library.run(id)
        side = dialogues_side_by_side(self.library, run, [received(name) for name in names])
        return self.page("trials_page.html", "runs", run=run, side=side, task="")

    def annotate(self, id: str, form: Mapping[str, str]) -> str:
        """Keep labels and a note; the address to go back to."""
        run = self.library.run(id)
        labels = note = None
        if "labels" in form:
            labels = [label for part in form["labels"].split(",") if (label := part.strip())]
        if "note" in form:
            note = form["note"].replace("\r\n", "\n").strip()
        if "dialogue" in form:
            dialogue = received(form["dialogue"])
            self.store.annotate_dialogue(run.id, dialogue, labels=labels, note=note)
            kept = _query_of(form.get("back", ""))
            return self.links.dialogue(run.id, dialogue, f"{kept}&saved=1" if kept else "saved=1")
        self.store.annotate(run.id, tags=labels, note=note)
        return f"{self.links.run(run.id)}?saved=1"

    def _tables(self, run: Run) -> tuple[list[Table], str]:
        """The tables of the family, and why there are none; a table that is damaged does not hide the scores."""

        def make() -> list[StoredTable]:
            return [StoredTable.of(table) for table in pages_of(run.kind).tables(self.library, run)]

        try:
            return [stored.table() for stored in self.library.beside_run("tables", run, list[StoredTable], make)], ""
        except DialgaugeError as error:
            return [], str(error)

    def _others(self, run: Run) -> list[Run]:
        """Newer and older runs of the same kind over the same dialogues, to look at beside this one."""
        like = [other for other in self.library.survey().runs if other.kind == run.kind and other.id != run.id]
        like.sort(key=lambda other: other.manifest.corpus != run.manifest.corpus)
        return list(islice((other for other in like if self.library.comparable(run, other)), _OTHERS))

    def _sentences(self, run: Run) -> list[str]:
        """What the run says; its notes stand apart."""
        try:
            return self.library.of_run("sentences", run, lambda: run_sentences(run, notes=False))
        except DialgaugeError as error:
            return [str(error)]

    def _values(self, run: Run, dialogue: str) -> list[tuple[str, float | None, str | None]]:
        """What the measures say of one dialogue."""
        rows = self.library.rows(run, "dialogue_scores", dialogue)
        heads = pages_of(run.kind).columns(run)
        rows = [row for row in rows if row["measure"] in heads] or rows
        return [
            (row["measure"], row["num"] / row["den"], run.scores[row["measure"]].unit)
            for row in rows
            if row["measure"] in run.scores
        ][:_SHOWN_SCORES]


def _named_chart(charts: Mapping[str, Callable[[], Any]], name: str, whose: str) -> Callable[[], Any]:
    if name not in charts:
        raise MissingRun(f"{whose} has no chart '{name}'")
    return charts[name]


def _titles(run: Run) -> dict[str, str]:
    """What each measure is, in words, where a card says more than its name does."""
    titles = dict.fromkeys(run.scores, "")
    for name in titles:
        with suppress(DialgaugeError):
            title = measure_of_kind(name, run.kind).card.title
            titles[name] = "" if title.lower() in name.lower() or title == f"{name.rstrip(digits)}k" else title
    return titles


def _query_of(address: str) -> str:
    """The filters in an address of a dialogue, to go back to the same list."""
    pieces = address.partition("?")[2].partition("#")[0].split("&")
    return "&".join(piece for piece in pieces if piece and not piece.startswith("id="))
