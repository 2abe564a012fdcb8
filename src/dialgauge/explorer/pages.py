"""The pages over a store: each makes a page of a run, of its dialogues, of a comparison, or of all runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeAlias

from msgspec.structs import replace

from dialgauge.comparison import comparison_page, differing_units, unit_example
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.library import Library
from dialgauge.kinds import kind_named
from dialgauge.report import (
    Cell,
    Chart,
    Choice,
    Column,
    Link,
    Page,
    Remark,
    Table,
    dialogue_page,
    list_page,
    run_page,
    score_cell,
    side_page,
    system_names,
    table_page,
)
from dialgauge.runs import DialogueNote, Run
from dialgauge.text import counted

#: Other runs that the page of a dialogue leads to, and that of a run.
_BESIDE, _OTHERS = 4, 12
#: Dialogues that stand side by side.
_SIDES = 8
#: What an address says of the list of runs.
_KIND, _TAG, _TEXT = "kind", "tag", "text"


#: A run with the labels that people gave it.
_Tagged: TypeAlias = tuple[Run, Sequence[str]]


@dataclass(frozen=True)
class Pages:
    """The pages over a store."""

    library: Library

    def runs(self, asked: Mapping[str, str]) -> Page:
        """All runs, the newest first, those that can be compared in one table."""
        every = [(run, self.library.annotations(run).tags) for run in self.library.runs()]
        shown = [(run, tags) for run, tags in every if _fits(run, tags, asked)]
        groups: dict[tuple[object, ...], list[_Tagged]] = {}
        for run, tags in shown:
            groups.setdefault(self.library.group_of(run), []).append((run, tags))
        lists: dict[object, list[_Tagged]] = {}
        for key, own in groups.items():
            lists.setdefault(key if len(own) > 1 else own[0][0].kind, []).extend(own)
        made = (_group_table(own) if key in groups else _single_table(own) for key, own in lists.items())
        tables = {f"group-{number}": table for number, table in enumerate(made)}
        some = f"{len(shown):,} of " if len(shown) < len(every) else ""
        return Page(
            title="Runs",
            verdict=f"{some}{counted(len(every), 'run')} in {self.library.store.folder}.",
            warnings=self.library.problems(),
            tables=tables,
            choices=_run_choices(every, asked),
        )

    def run(self, id: str) -> Page:
        """One run: its answer, tables, dialogues, provenance, and other runs to compare it with."""
        run = self.library.run(id)
        page = run_page(run)
        others = _others_table(run, self.library.others(run)[:_OTHERS])
        notes = self.library.annotations(run)
        tables = {**page.tables, **({"others": others} if others.rows else {})}
        return replace(page, tables=tables, remark=Remark(notes.tags, notes.note))

    def dialogues(self, id: str, only: Mapping[str, str]) -> Page:
        """The dialogues of a run that pass the filters."""
        return list_page(self.library.run(id), only, self._labels(id))

    def dialogue(self, id: str, name: str, only: Mapping[str, str]) -> Page:
        """One dialogue turn by turn, with the ways through its list and to other runs of it."""
        run = self.library.run(id)
        page = dialogue_page(run, name, only=only, labels=self._labels(id))
        own = page.dialogues[0][0].dialogue
        others = [other for other in self.library.others(run) if self.library.has_dialogue(other, own)][:_BESIDE]
        names = dict(zip((other.id for other in others), system_names(others), strict=True))
        beside = {f"beside {names[other.id]}": Link(runs=(run.id, other.id), dialogue=own) for other in others}
        note = self.library.annotations(run).dialogues.get(own) or DialogueNote()
        return replace(page, ways={**page.ways, **beside}, remark=Remark(note.labels, note.note))

    def table(self, id: str, name: str, number: int) -> Page:
        """One table of a run with all of its rows."""
        return table_page(self.library.run(id), name, number)

    def compare(self, ids: Sequence[str], measure: str, better: str) -> Page:
        """Which of some runs is better."""
        return comparison_page(self.library.comparison(ids), None, measure, better)

    def side(self, ids: Sequence[str], name: str) -> Page:
        """One dialogue as two runs have it, with the ways to those that make more and less of the difference."""
        runs = [self.library.run(own) for own in dict.fromkeys(ids)][:2]
        page = side_page(runs, name)
        both = tuple(run.id for run in runs)
        ways = {"the comparison": Link(runs=both)}
        try:
            comparison = self.library.comparison(both)
        except DialgaugeError:  # they can stand beside each other all the same
            return page
        units = [unit_example(comparison, runs[0], runs[1], unit) for unit in differing_units(comparison)]
        if name in units:
            place = units.index(name)
            near = {"previous": place - 1, "next": place + 1}
            ways |= {
                way: Link(runs=both, dialogue=units[other])
                for way, other in near.items()
                if 0 <= other < len(units) and units[other]
            }
        return replace(page, ways=ways)

    def chosen(self, id: str, names: Sequence[str]) -> Page:
        """Dialogues of a run beside each other, such as the trials of a task."""
        run = self.library.run(id)
        page = side_page([run], *list(dict.fromkeys(names))[:_SIDES])
        return replace(page, ways={"the run": Link(runs=(run.id,))})

    def annotate(self, id: str, form: Mapping[str, str], name: str = "") -> None:
        """Keep labels and a note of a run, or of a dialogue of it."""
        run = self.library.run(id)
        labels = [label for part in form.get("labels", "").split(",") if (label := part.strip())]
        note = form.get("note", "").replace("\r\n", "\n").strip()
        dialogue = run.dialogue(name).id if name else ""
        self.library.store.annotate(run.id, dialogue=dialogue, labels=labels, note=note)

    def _labels(self, id: str) -> list[tuple[str, str]]:
        """Dialogues with the labels that people gave them."""
        notes = self.library.annotations(self.library.run(id)).dialogues
        return [(name, label) for name, note in notes.items() for label in note.labels]


def _fits(run: Run, tags: Sequence[str], asked: Mapping[str, str]) -> bool:
    text = " ".join([run.id, run.name, run.kind, *tags]).lower()
    return (
        all(word in text for word in asked.get(_TEXT, "").lower().split())
        and asked.get(_KIND, "") in ("", run.kind)
        and (not asked.get(_TAG) or asked[_TAG] in tags)
    )


def _run_choices(every: Sequence[_Tagged], asked: Mapping[str, str]) -> list[Choice]:
    kinds: dict[str, int] = {}
    tagged: dict[str, int] = {}
    for run, tags in every:
        kinds[run.kind] = kinds.get(run.kind, 0) + 1
        for tag in tags:
            tagged[tag] = tagged.get(tag, 0) + 1
    choices = [
        Choice(name=name, label=name, values=dict(sorted(values.items())), chosen=asked.get(name, ""))
        for name, values in ((_KIND, kinds), (_TAG, tagged))
        if values
    ]
    return [*choices, Choice(name=_TEXT, label="words", chosen=asked.get(_TEXT, ""))]


def _group_table(group: Sequence[_Tagged]) -> Table:
    """Runs that can be compared, the best first, to choose from."""
    measure, table = _run_table(group, ", ".join([kind_named(group[0][0].kind).heading, *_measured_on(group[0][0])]))
    names = system_names([run for run, _ in group])
    rows = sorted(zip(names, group, strict=True), key=lambda row: _rank_key(row[1][0], measure))
    for name, (run, tags) in rows:
        table.add(*_run_row(name, run, tags, measure))
    return table


def _single_table(group: Sequence[_Tagged]) -> Table:
    """Runs of one kind that are each about other dialogues, the newest first."""
    measure, table = _run_table(group, kind_named(group[0][0].kind).heading)
    if len(group) > 1:
        table.notes.append("These runs are about different dialogues; a comparison takes those that they share.")
    for run, tags in group:
        name = ", ".join([run.name, *_measured_on(run)]) if len(group) > 1 else run.name
        table.add(*_run_row(name, run, tags, measure))
    return table


def _run_table(group: Sequence[_Tagged], title: str) -> tuple[str, Table]:
    """The measure that heads a list of runs, and the list without rows."""
    headline = kind_named(group[0][0].kind).headline
    measure = next((name for name in headline for run, _ in group if name in run.scores), "")
    spare = [Column(name, spare=place) for place, name in enumerate(("scored", "tags", "created"), start=1)]
    chart = Chart("intervals", (measure,)) if measure else None
    return measure, Table(title, ["run", Column(measure or "score"), *spare], chart=chart, chosen_from=True)


def _run_row(name: str, run: Run, tags: Sequence[str], measure: str) -> list[Cell | str]:
    unit = next(iter(run.coverage.units.items()), None)
    scored = "" if unit is None or unit[1].scored is None else f"{unit[1].scored:,} {unit[0]}"
    score = score_cell(run.scores.get(measure))
    return [Cell(name, link=Link(runs=(run.id,))), score, scored, ", ".join(tags), _created(run)]


def _measured_on(run: Run) -> list[str]:
    """What the runs of a group have in common: keys of their configuration, else their gold file."""
    keys = kind_named(run.kind).measured_on
    known = [f"{key} {run.manifest.config[key]}" for key in keys if key in run.manifest.config]
    return known or [PurePath(given.path).name for given in run.manifest.inputs if given.role == "gold"]


def _rank_key(run: Run, measure: str) -> float:
    score = run.scores.get(measure)
    if score is None or score.value is None:
        return float("inf")
    return score.value if score.higher_is_better is False else -score.value


def _others_table(run: Run, others: Sequence[Run]) -> Table:
    table = Table("Other runs of these dialogues", ["compare with", "created"])
    for name, other in zip(system_names(others), others, strict=True):
        table.add(Cell(name, link=Link(runs=(run.id, other.id))), _created(other))
    return table


def _created(run: Run) -> str:
    return f"{run.manifest.created:%Y-%m-%d %H:%M}"
