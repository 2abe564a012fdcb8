"""Pages of results of agents over several trials: tool calls of both sides, what was expected, the trials of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.explorer.families import Badge, DialogueView, Facet, FamilyPages, TurnView
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

    from dialgauge.dialogue import Call, Dialogue
    from dialgauge.explorer.library import Library
    from dialgauge.report import Table
    from dialgauge.runs import Run

TRIALS, CALLS, PARTS, FAULTS = "trials", "calls", "reward_parts", "faults"
_COLUMNS = ("Reward", "Turns", "ToolCalls", "Cost")
#: Tasks that a table of the page of a run lists.
_LISTED = 60


@dataclass(frozen=True)
class ToolCell:
    """The tool calls before a turn, and what the user did wrong in it."""

    calls: Sequence[Call]
    faults: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ExpectedAction:
    """An action that the task expects, and whether a call of that name was made with these arguments."""

    name: str
    arguments: str
    made: bool
    same: bool


@dataclass(frozen=True)
class TrialOverview:
    """How a trial went: its reward by parts, what was expected, its siblings, and faults that belong to no turn."""

    facts: Sequence[tuple[str, str]]
    expected: Sequence[ExpectedAction]
    siblings: Sequence[tuple[str, int, bool | None]]
    run: str
    task: str
    faults: Sequence[tuple[str, str]]


def _passed(frame: polars.DataFrame) -> polars.DataFrame:
    import polars as pl

    value = pl.when(pl.col("success")).then(pl.lit("yes")).when(~pl.col("success")).then(pl.lit("no"))
    return frame.select("dialogue", value.otherwise(pl.lit("not judged")).alias("value"))


def _steady(frame: polars.DataFrame) -> polars.DataFrame:
    """Whether all trials of a dialogue's task went the same way."""
    import polars as pl

    share = pl.col("success").cast(pl.Float64).mean().over("task")
    value = pl.when(share == 1).then(pl.lit("all pass")).when(share == 0).then(pl.lit("none passes"))
    return frame.select("dialogue", value.otherwise(pl.lit("some pass")).alias("value"))


def read_first(library: Library, run: Run) -> polars.DataFrame:
    """Conversations by what makes them worth reading: verdict and faults of the user together."""
    import polars as pl

    heads = library.table(run, "dialogues").select("dialogue", "outcome")
    success = pl.col("outcome").str.json_path_match("$.success")
    erred = pl.col("dialogue").is_in(library.table(run, FAULTS)["dialogue"].unique().to_list())
    value = (
        pl.when(erred & (success == "false")).then(pl.lit("failed, and the user erred"))
        .when(erred & (success == "true")).then(pl.lit("passed although the user erred"))
        .when(success == "false").then(pl.lit("failed, no fault of the user found"))
    )  # fmt: skip
    return heads.select("dialogue", value.alias("value")).drop_nulls()


class TrialsPages(FamilyPages):
    """Results of agents."""

    template = "trials.html"
    tells_outcome = True
    facets: Sequence[Facet] = (
        Facet("passed", "passed", TRIALS, (), pairs=_passed),
        Facet("task", "task", TRIALS, ("task",)),
        Facet("steady", "trials of its task", TRIALS, (), pairs=_steady),
        Facet("end", "how it ended", TRIALS, ("reason",)),
        Facet("tool", "tool called", CALLS, ("name",)),
        Facet("call", "outcome of a call", CALLS, ("outcome",)),
        Facet("fault", "fault of the user", FAULTS, ("kind",)),
        Facet("first", "read first", FAULTS, (), made=read_first),
    )

    def columns(self, run: Run) -> list[str]:
        """What every conversation has a value for."""
        return [name for name in _COLUMNS if name in run.scores]

    def dialogue(self, library: Library, run: Run, dialogue: Dialogue) -> DialogueView:
        """The messages, and beside each the calls that led to it."""
        row = next(iter(library.rows(run, TRIALS, dialogue.id)), {})
        faults = library.rows(run, FAULTS, dialogue.id)
        turns = [
            TurnView(place, turn.speaker, turn.text, _marks(turn.calls or (), faults, place),
                     _cell(turn.calls or (), faults, place))
            for place, turn in enumerate(dialogue.turns)
        ]  # fmt: skip
        overview = TrialOverview(
            _facts(row, library.rows(run, PARTS, dialogue.id)),
            _expected(dialogue),
            _siblings(library, run, row.get("task")),
            run.id,
            str(row.get("task", "")),
            [(fault["kind"], fault["sentence"]) for fault in faults if fault.get("turn") is None and _is_fault(fault)],
        )
        return DialogueView(self.template, turns, overview, _verdict(row))

    def tables(self, library: Library, run: Run) -> list[Table]:
        """The tasks with their trials, those first that some trials pass and some do not."""
        from dialgauge.report import Table

        if TRIALS not in run.tables:
            return []
        tasks: dict[str, list[str]] = {}
        for name, success in library.table(run, TRIALS).select("task", "success").rows():
            tasks.setdefault(str(name), []).append({True: "✓", False: "✗"}.get(success, "–"))
        table = Table("Tasks and their trials: those first that pass sometimes", ["task", "trials", "passed", "of"])
        order = sorted(tasks, key=lambda name: (len(set(tasks[name])) < 2, -tasks[name].count("✗"), name))
        for name in order[:_LISTED]:
            table.add(name, " ".join(tasks[name]), tasks[name].count("✓"), len(tasks[name]))
        if len(order) > _LISTED:
            table.notes.append(f"{len(order) - _LISTED:,} more are not listed; filter the dialogues by task.")
        return [table]

    def charts(self, library: Library, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Which tools were called, and how that went."""
        return {"tool calls": partial(_call_chart, library, run)} if CALLS in run.tables else {}


def trials_of(library: Library, run: Run, task: str) -> list[str]:
    """The dialogues of a task, one for each trial."""
    import polars

    if TRIALS not in run.tables:
        return []
    frame = library.table(run, TRIALS)
    found: list[str] = frame.filter(polars.col("task") == task).sort("trial")["dialogue"].to_list()
    return found


def _verdict(row: Mapping[str, Any]) -> list[Badge]:
    success = row.get("success")
    told = Badge("not judged") if success is None else Badge("passed", "good") if success else Badge("failed", "bad")
    trial = [Badge(f"trial {row['trial']}")] if row.get("trial") is not None else []
    return [told, *trial]


def _marks(calls: Sequence[Call], faults: Iterable[Mapping[str, Any]], place: int) -> list[Badge]:
    wrong = sum(call.outcome == "error" for call in calls)
    marks = [Badge(counted(len(calls), "call"), "warn" if wrong else "plain")] if calls else []
    kinds = dict.fromkeys(fault["kind"] for fault in faults if fault.get("turn") == place and _is_fault(fault))
    return [*marks, *(Badge(kind.replace("_", " "), "bad", "a fault of the user") for kind in kinds)]


def _cell(calls: Sequence[Call], faults: Iterable[Mapping[str, Any]], place: int) -> ToolCell | None:
    told = [(fault["kind"], fault["sentence"]) for fault in faults if fault.get("turn") == place and _is_fault(fault)]
    return ToolCell(calls, told) if calls or told else None


def _is_fault(row: Mapping[str, Any]) -> bool:
    """Whether a row tells of a fault, and not of a check that could not look."""
    return row.get("checked") not in (False, "not checked") and bool(row.get("sentence"))


def _facts(row: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    facts = [("reward", _number(row.get("reward")))] if row.get("reward") is not None else []
    facts += [(f"reward[{part['part']}]", _number(part["reward"])) for part in parts]
    facts += [("end", str(row["reason"]))] if row.get("reason") else []
    costs = [(name, row.get(f"{name}_cost")) for name in ("agent", "user")]
    return facts + [(f"cost of the {name}", f"{cost:.4f}") for name, cost in costs if cost is not None]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _expected(dialogue: Dialogue) -> list[ExpectedAction]:
    """The expected actions, beside the calls that were made: by name, and with the same arguments."""
    text = dialogue.outcome.details.get("expected_actions", "[]") if dialogue.outcome else "[]"
    try:
        actions = msgspec.json.decode(text, type=list[dict[str, Any]])
    except (msgspec.DecodeError, msgspec.ValidationError):
        return []
    made = [call for turn in dialogue.turns for call in turn.calls or ()]
    return [_beside(action, made) for action in actions]


def _beside(action: Mapping[str, Any], made: Sequence[Call]) -> ExpectedAction:
    name = str(action.get("name", ""))
    given = action.get("arguments") or action.get("kwargs") or {}
    wanted = {str(key): _plain(value) for key, value in given.items()} if isinstance(given, dict) else {}
    own = [call for call in made if call.name == name]
    same = any({key: _plain(value) for key, value in call.arguments.items()} == wanted for call in own)
    shown = ", ".join(f"{key} = {value}" for key, value in wanted.items())
    return ExpectedAction(name, shown, bool(own), same)


def _plain(value: Any) -> str:
    """A value however its file writes it: calls keep theirs as text."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return str(value)
    return msgspec.json.encode(value, order="sorted").decode()


def _siblings(library: Library, run: Run, task: Any) -> list[tuple[str, int, bool | None]]:
    import polars

    if task is None:
        return []
    frame = library.table(run, TRIALS).filter(polars.col("task") == task).sort("trial")
    rows: list[tuple[str, int, bool | None]] = frame.select("dialogue", "trial", "success").rows()
    return rows


def _call_chart(library: Library, run: Run) -> Any:
    from dialgauge.explorer.charts import stacked_bars

    bars: dict[str, dict[str, float]] = {}
    for name, outcome, count in library.table(run, CALLS).group_by("name", "outcome").len().rows():
        bars.setdefault(name, {})[outcome or "done"] = count
    outcomes = sorted({outcome for one in bars.values() for outcome in one}, key=lambda one: (one != "done", one))
    return stacked_bars(bars, outcomes, title="Tool calls", value="calls")


PAGES = TrialsPages()
