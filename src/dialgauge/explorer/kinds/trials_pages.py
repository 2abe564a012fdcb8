"""Pages of results of agents over several trials: tool calls of both sides, what was expected, the trials of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.explorer.families import READ_FIRST, Badge, DialogueView, Facet, FamilyPages, TurnView
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

    from dialgauge.dialogue import Call, Dialogue
    from dialgauge.explorer.library import Library
    from dialgauge.report import Table
    from dialgauge.runs import Run

TRIALS, CALLS, PARTS, FAULTS, CHECKS = "trials", "calls", "reward_parts", "faults", "fault_checks"
ERRED_AND_FAILED, ERRED_AND_PASSED = "failed, and the user erred", "passed although the user erred"
_USED_BY, _USED_WHY, _USED_TURN = "steps_used_by", "steps_sentence", "steps_turn"
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
    """Conversations by what makes them worth reading: verdict and faults of the user together.

    A user that used up the steps of a conversation erred too.
    """
    import polars as pl

    heads = library.table(run, "dialogues").select("dialogue", "outcome")
    success = pl.col("outcome").str.json_path_match("$.success")
    wrong = {*library.table(run, FAULTS)["dialogue"], *(row["dialogue"] for row in _steps_of(library, run, "user"))}
    erred = pl.col("dialogue").is_in(sorted(wrong))
    value = (
        pl.when(erred & (success == "false")).then(pl.lit(ERRED_AND_FAILED))
        .when(erred & (success == "true")).then(pl.lit(ERRED_AND_PASSED))
        .when(success == "false").then(pl.lit("failed, no fault of the user found"))
    )  # fmt: skip
    return heads.select("dialogue", value.alias("value")).drop_nulls()


def _steps_of(library: Library, run: Run, *sides: str) -> list[dict[str, Any]]:
    """The trials that failed at a limit whose steps one of these sides used up."""
    if TRIALS not in run.tables:
        return []
    frame = library.table(run, TRIALS)
    return frame.filter(frame[_USED_BY].is_in(sides)).to_dicts()


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
        Facet(READ_FIRST, "read first", FAULTS, (), made=read_first),
    )
    read_first = (ERRED_AND_FAILED, ERRED_AND_PASSED)

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
            _told(fault for fault in faults if fault.get("turn") is None),
        )
        return DialogueView(self.template, turns, overview, _verdict(row))

    def tables(self, library: Library, run: Run) -> list[Table]:
        """The tasks with their trials, those first that some trials pass and some do not."""
        from dialgauge.report import Table

        if TRIALS not in run.tables:
            return self.fault_tables(library, run)
        tasks: dict[str, list[str]] = {}
        for name, success in library.table(run, TRIALS).select("task", "success").rows():
            tasks.setdefault(str(name), []).append({True: "✓", False: "✗"}.get(success, "–"))
        table = Table("Tasks and their trials: those first that pass sometimes", ["task", "trials", "passed", "of"])
        order = sorted(tasks, key=lambda name: (len(set(tasks[name])) < 2, -tasks[name].count("✗"), name))
        for name in order[:_LISTED]:
            table.add(name, " ".join(tasks[name]), tasks[name].count("✓"), len(tasks[name]))
        if len(order) > _LISTED:
            table.notes.append(f"{len(order) - _LISTED:,} more are not listed; filter the dialogues by task.")
        return [table, *self.fault_tables(library, run)]

    def fault_tables(self, library: Library, run: Run) -> list[Table]:
        """How often each fault of the user was found, of how many conversations that were looked at."""
        from dialgauge.report import Column, Table

        if not library.has_table(run, CHECKS):
            return []
        table = Table(
            "Faults of the user",
            ["kind", "conversations with it", "looked at", Column("share", digits=1, percent=True)],
        )
        for kind, found, seen in _fault_counts(library, run):
            table.add(kind, found, seen, found / seen if seen else None)
        table.notes.append(
            "A conversation without a fault found is no proof of a faultless user: see what was not checked."
        )
        return [table]

    def evidence(self, library: Library, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """The first fault of the user, or how it used up the steps."""
        from dialgauge.users.faults import fault_words

        found = {row["dialogue"]: (row[_USED_TURN], row[_USED_WHY]) for row in _steps_of(library, run, "user")}
        for row in library.table(run, FAULTS).sort("turn", descending=True, maintain_order=True).to_dicts():
            if _is_fault(row):
                found[row["dialogue"]] = (row["turn"], f"{row['kind'].replace('_', ' ')}: {fault_words(row)}")
        return found

    def fault_sentence(self, library: Library, run: Run) -> str:
        """In how many conversations a fault of the user was found, and of which kinds."""
        if not (library.has_table(run, CHECKS) and library.has_table(run, FAULTS)):
            return ""
        with_faults = library.table(run, FAULTS)["dialogue"].n_unique()
        every = counted(library.table(run, CHECKS)["dialogue"].n_unique(), "conversation")
        kinds = sorted(_fault_counts(library, run), key=lambda one: -one[1])
        listed = ", ".join(f"{kind.replace('_', ' ')} {found:,}" for kind, found, _ in kinds if found)
        by_kind = f" ({listed})" if listed else ""
        return f"Faults of the user were found in {with_faults:,} of {every}{by_kind}; the checks find only a part"

    def charts(self, library: Library, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Which tools were called, and how that went."""
        return {"tool calls": partial(_call_chart, library, run)} if CALLS in run.tables else {}


def _fault_counts(library: Library, run: Run) -> list[tuple[str, int, int]]:
    """Each kind of fault, the conversations with it, and those that were looked at."""
    import polars as pl

    looked = library.table(run, CHECKS).filter(pl.col("checked") != "none")
    counts: list[tuple[str, int, int]] = (
        looked.group_by("kind", maintain_order=True).agg((pl.col("faults") > 0).sum(), pl.len().alias("looked")).rows()
    )
    return counts


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
    here = [fault for fault in faults if fault.get("turn") == place and _is_fault(fault)]
    return [*marks, *kind_badges(here, "a fault of the user")]


def kind_badges(faults: Sequence[Mapping[str, Any]], title: str = "") -> list[Badge]:
    """A badge for each kind of fault; milder where every fault of that kind is minor."""
    grave = {fault["kind"] for fault in faults if fault.get("minor") is not True}
    return [
        Badge(_spaced(kind), "bad", title) if kind in grave else Badge(f"{_spaced(kind)} (minor)", "warn", title)
        for kind in dict.fromkeys(fault["kind"] for fault in faults)
    ]


def _spaced(kind: Any) -> str:
    return str(kind).replace("_", " ")


def _cell(calls: Sequence[Call], faults: Iterable[Mapping[str, Any]], place: int) -> ToolCell | None:
    told = _told(fault for fault in faults if fault.get("turn") == place)
    return ToolCell(calls, told) if calls or told else None


def _told(faults: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Kind and words of each fault, as the command line has them."""
    from dialgauge.users.faults import fault_words

    return [(fault["kind"], fault_words(fault)) for fault in faults if _is_fault(fault)]


def _is_fault(row: Mapping[str, Any]) -> bool:
    """Whether a row tells of a fault, and not of a check that could not look."""
    return row.get("checked") not in (False, "not checked") and bool(row.get("sentence"))


def _facts(row: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    facts = [("reward", _number(row.get("reward")))] if row.get("reward") is not None else []
    facts += [(f"reward[{part['part']}]", _number(part["reward"])) for part in parts]
    facts += [("end", str(row["reason"]))] if row.get("reason") else []
    facts += [("steps used up by", f"{row[_USED_BY]}: {row[_USED_WHY]}")] if row.get(_USED_BY) else []
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
