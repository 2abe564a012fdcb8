"""Pages of lab runs: both sides of a conversation, what each heard, what the system believed and asked its database,
and what became of every task."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from dialgauge.agents import END_WORDS, EXPLANATION
from dialgauge.intents import OFFERING
from dialgauge.lab import blame_rows
from dialgauge.lab.blame.blame_views import blame_tables
from dialgauge.lab.comparison_view import LAB_VIEW
from dialgauge.lab.facets import (
    BLAME,
    BOTH,
    CONVERSATIONS,
    HEARD,
    LAB_FACETS,
    LOOP,
    LUCKY,
    ONLY_USER,
    OUTCOME_RULES,
    OUTCOMES,
    SIDES,
)
from dialgauge.lab.heard_rows import HeardRow, act_words, heard_rows
from dialgauge.lab.study import study_figure, study_sentences, study_tables
from dialgauge.presentation import (
    NAMED,
    Badge,
    Breakdown,
    DialogueRows,
    DialogueView,
    Glossary,
    Reason,
    RunPages,
    RunTables,
    StateRowReader,
    StateView,
    Tone,
    Trial,
    TurnView,
    capitalised,
    columns,
    first_scores,
    known,
    listed,
    percent,
    scored_units,
    tallied,
    value_with_interval,
)
from dialgauge.report import Column, Table, plain, stacked_bars
from dialgauge.tasks import (
    REASONS,
    dialogue_reasons,
    frequent_reasons,
    outcome_tables,
    reason_counts,
    reason_texts,
)
from dialgauge.text import counted
from dialgauge.worlds.town import TOWN

if TYPE_CHECKING:
    import polars

    from dialgauge.dialogue import Call, Dialogue, Task, Turn
    from dialgauge.runs import Run

_CONFUSIONS = 20
#: The tables of a study.
_STUDIED = {"predictors", "conditions"}
#: Measures that head the list of dialogues where the usual ones are missing.
_COLUMNS = 6
#: Rows of an answer that are listed.
_MOST_ROWS = 8
#: Slots that say what is offered in the town.
_NAMES = frozenset((*TOWN.names, *(service.gives[0] for service in TOWN.services.values() if service.rows is None)))


@dataclass(frozen=True)
class TaskView:
    """What became of a task of the goal: what was wanted, what was offered when, what the user ended up with, why not.

    ``verdicts`` are (rules, mark, reason).
    """

    domain: str
    wanted: Sequence[tuple[str, str]]
    offered: Sequence[tuple[str, int]]
    entity: str
    turn: int | None
    verdicts: Sequence[tuple[str, Badge, str]]


@dataclass(frozen=True)
class OtherTrial:
    """Another conversation about the same goal."""

    dialogue: str
    here: bool
    marks: Sequence[Badge]


@dataclass(frozen=True)
class LabOverview:
    """The tasks, how the conversation went (name, value), and the trials of the same goal."""

    tasks: Sequence[TaskView]
    went: Sequence[tuple[str, str]]
    trials: Sequence[OtherTrial]


@dataclass(frozen=True)
class CallView:
    """A call to the database."""

    name: str
    outcome: Badge
    arguments: Mapping[str, str]
    rows: str
    result: Mapping[str, str]


@dataclass(frozen=True)
class LabCell:
    """What stands beside a turn: acts, what the other side made of them, states, and calls before it.

    ``heard`` is None where nobody recorded it; ``alike`` of what was said was heard as it was said.
    """

    acts: Sequence[str] | None
    listener: str
    heard: Sequence[HeardRow] | None
    alike: int
    states: StateView | None
    calls: Sequence[CallView]


class LabPages(RunPages):
    """Lab runs."""

    template = "dialgauge.lab:pages.html"
    tells_outcome = True
    facets = LAB_FACETS
    read_first = (ONLY_USER, BOTH, LUCKY)
    breakdowns = (
        Breakdown("Whose fault failures were", "blame", tone="bad", note="conversations that failed by strict rules"),
        Breakdown("Why tasks failed", "why", tone="bad", note="conversations in which a task failed so"),
        Breakdown("How they ended", "end", parts="strict", tones={"done": "good", "not done": "bad"}),
    )

    def columns(self, run: Run) -> list[str]:
        """Task, tracker and user."""
        return list(LAB_VIEW.headlines(list(run.scores)))[:_COLUMNS]

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """Both sides turn by turn, and above them what became of every task."""
        outcomes = library.rows(run, OUTCOMES, dialogue.id)
        conversation = next(iter(library.rows(run, CONVERSATIONS, dialogue.id)), {})
        reader = StateRowReader()
        reasons = library.rows(run, REASONS, dialogue.id)
        blamed = _blamed(library.rows(run, BLAME, dialogue.id), reasons)
        turns = [_with_blame(_turn(index, turn, reader), blamed) for index, turn in enumerate(dialogue.turns)]
        overview = LabOverview(
            list(_tasks(outcomes, reason_texts(reasons), dialogue, run.manifest.config.get("names") or _NAMES)),
            list(_went(conversation, dialogue)),
            _trials(library, run, conversation),
        )
        return DialogueView(
            self.template, turns, overview, list(_marks(conversation)), reasons=list(_reasons(blamed, reasons))
        )

    def trials(self, library: RunTables, run: Run) -> list[Trial]:
        """The conversations of every goal that several are about, judged by the strict rules."""
        import polars as pl

        if CONVERSATIONS not in run.tables:
            return []
        frame = library.table(run, CONVERSATIONS).drop_nulls(["goal", "dialogue"])
        several = frame.filter(pl.len().over("goal") > 1).select("goal", "dialogue", "strict").rows()
        numbers: dict[str, Iterator[int]] = {goal: itertools.count() for goal, _, _ in several}
        return [Trial(goal, name, next(numbers[goal]), strict) for goal, name, strict in several]

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """Outcome by domain under both rules, ends, reasons of failure, and what was understood."""
        reasons = _given(library, run, REASONS)
        why = [] if reasons is None else [_reason_table(reasons)]
        verdicts: list[Table] = []
        conduct: list[Table] = []
        if {CONVERSATIONS, HEARD} <= run.tables.keys():
            tidy = partial(_tidy, library, run)
            verdicts = outcome_tables(run.scores, tidy, detail=False)
            conduct = outcome_tables(run.scores, tidy, confusions=_CONFUSIONS)[len(verdicts) :]
        return [table for table in (*verdicts, *_blame_tables(run), *why, *conduct) if len(table)]

    def evidence(self, library: RunTables, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """The link that is blamed for a failure; of what was done all the same, who erred."""
        by_dialogue: dict[str, tuple[int | None, str]] = {}
        for row in library.table(run, SIDES).to_dicts():
            sides = [side for side in ("user", "system") if row[f"{side}_erred"]]
            if row["success"] and sides:
                by_dialogue[row["dialogue"]] = (None, f"the {' and the '.join(sides)} erred")
        if BLAME in run.tables:
            reasons = library.table(run, REASONS).to_dicts() if REASONS in run.tables else []
            for row in _blamed(library.table(run, BLAME).to_dicts(), reasons):
                if row["first"]:
                    by_dialogue[row["dialogue"]] = (row["turn"], f"{_cause(row)}: {row['sentence']}")
        return by_dialogue

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Reasons of failure by domain, and how conversations ended."""
        return library.of_run("charts of the lab", run, lambda: self._drawn(library, run))

    def _drawn(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        import polars as pl

        charts: dict[str, Callable[[], Any]] = {}
        if (reasons := _given(library, run, REASONS)) is not None:
            for rules in OUTCOME_RULES:
                if (failed := reasons.filter(pl.col("rule") == rules)).height:
                    charts[f"reasons, {rules}"] = partial(_reason_chart, failed, rules)
        if (conversations := _given(library, run, CONVERSATIONS)) is not None:
            charts["ends"] = partial(_end_chart, conversations)
        return charts

    def sentences(self, run: Run, words: Glossary) -> Iterator[str]:
        """In how many conversations users got everything, how these ended, and why tasks failed."""
        strict, compat = known(run, "Success(rules=strict)"), known(run, "Success(rules=compat)")
        if strict is not None:
            loose = (
                f"; by compat rules, ConvLab-2's, which go by what the user heard, in {value_with_interval(compat)}"
                if compat is not None
                else ""
            )
            held = scored_units(run, "dialogues", "conversation")
            yield (
                f"With {plain(run.name)} the users got everything they came for in {value_with_interval(strict)} of "
                f"{held or 'the conversations'} (Success by strict rules){loose}"
            )
        else:
            yield from first_scores(run, words)
        frame = columns(run, "conversations", text=("reason",))
        if frame is not None and frame.height:
            ends = [
                f"{END_WORDS.get(end, plain(end))} ({percent(count, frame.height)})"
                for end, count in tallied(frame["reason"])
            ]
            if ends:
                yield f"Conversations ended because {listed(ends, 2 * NAMED)}"
        yield from _loops(run)
        yield from _failed_goals(run)

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        """Why the first tasks failed, and how the conversation ended."""
        talks = tables.rows(CONVERSATIONS, dialogue, text=("reason",))
        end = [f"ended by {plain(reason)}" for reason in talks["reason"].drop_nulls()] if talks is not None else []
        return "; ".join([*dialogue_reasons(tables, dialogue, "strict")[:2], *end])


# One dialogue


def _blame_tables(run: Run) -> list[Table]:
    """Whose fault failures were, and who erred at all."""
    return blame_tables(run) if {BLAME, SIDES} <= run.tables.keys() and run.tables[SIDES].rows else []


def _blamed(blame: Iterable[Mapping[str, Any]], reasons: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return blame_rows(blame, reasons)


def _reasons(blamed: Iterable[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]]) -> Iterator[Reason]:
    """Whose fault a failure was; where nobody is blamed, what the strict rules say."""
    explained = False
    for row in blamed:
        explained = True
        domain = f" ({row['domain']})" if row["domain"] else ""
        yield Reason(capitalised(f"{_cause(row)}{domain}: {row['sentence']}"), row["turn"])
    if not explained:
        for (_, failed, rule), text in reason_texts(reasons).items():
            if rule == "strict":
                yield Reason(capitalised(f"{failed or 'a task'}: {text}"))


def _cause(row: Mapping[str, Any]) -> str:
    return f"{row['side'] or 'unclear'}: {row['cause'] or 'unclear'}".replace("_", " ")


def _with_blame(turn: TurnView, rows: Iterable[Mapping[str, Any]]) -> TurnView:
    """The turn with a mark where a failure began."""
    marks = [Badge(f"blame, {_cause(row)}", "bad", row["sentence"]) for row in rows if row["turn"] == turn.place]
    return replace(turn, badges=[*turn.badges, *marks]) if marks else turn


def _turn(number: int, turn: Turn, reader: StateRowReader) -> TurnView:
    rows = None if turn.acts is None or turn.heard is None else heard_rows(turn.acts, turn.heard)
    alone = turn.heard if turn.acts is None else None
    listener = "system" if turn.speaker == "user" else "user"
    cell = LabCell(
        acts=None if turn.acts is None else act_words(turn.acts),
        listener=listener,
        heard=rows if alone is None else [HeardRow("", words, "right") for words in act_words(alone)],
        alike=0 if rows is None else sum(row.kind == "right" for row in rows),
        states=reader.read(turn) if turn.speaker == "user" else None,
        calls=[_call(call) for call in turn.calls or ()],
    )
    return TurnView(number, turn.speaker, turn.text, list(_turn_marks(cell)), cell)


def _turn_marks(cell: LabCell) -> Iterator[Badge]:
    if cell.heard is not None and cell.acts is not None and (wrong := len(cell.heard) - cell.alike):
        yield Badge(f"{wrong} misheard", "warn", f"the {cell.listener} heard something other than what was said")
    if cell.states is not None:
        yield from cell.states.badges()
    for call in cell.calls:
        if call.outcome.tone == "bad":
            yield Badge(f"{call.name}: {call.outcome.text}", "bad")


def _call(call: Call) -> CallView:
    listed = ", ".join(map(str, call.rows[:_MOST_ROWS]))
    more = ", …" if len(call.rows) > _MOST_ROWS else ""
    return CallView(
        f"{call.name} {call.domain}".strip(),
        Badge(call.outcome or "no outcome recorded", _call_tone(call.outcome)),
        call.arguments,
        f"{'row' if len(call.rows) == 1 else 'rows'} {listed}{more}" if call.rows else "",
        call.result,
    )


def _call_tone(outcome: str) -> Tone:
    tones: dict[str, Tone] = {"booked": "good", "refused": "bad", "0 found": "warn"}
    return tones.get(outcome, "plain")


def _tasks(
    outcomes: Sequence[Mapping[str, Any]],
    whys: Mapping[tuple[str | None, str | None, str | None], str],
    dialogue: Dialogue,
    names: Collection[str],
) -> Iterator[TaskView]:
    tasks = dialogue.goal.tasks if dialogue.goal else {}
    offers = _offers(dialogue.turns, names)
    for domain in dict.fromkeys([*tasks, *(row["domain"] or "unknown" for row in outcomes)]):
        rows = [row for row in outcomes if (row["domain"] or "unknown") == domain]
        verdicts = [
            (row["rule"] or "", _done(row["success"]), whys.get((row["dialogue"], row["domain"], row["rule"]), ""))
            for row in rows
        ]
        settled = next((row for row in rows if row["entity"]), None)
        yield TaskView(
            domain,
            _wanted(tasks[domain]) if domain in tasks else [],
            list(offers.get(domain, {}).items()),
            settled["entity"] if settled else "",
            settled["turn"] if settled else None,
            verdicts,
        )


def _wanted(task: Task) -> list[tuple[str, str]]:
    return [*task.info.items(), *((f"book {slot}", value) for slot, value in task.book.items())]


def _offers(turns: Sequence[Turn], names: Collection[str]) -> dict[str, dict[str, int]]:
    """By domain what the system named, each with the turn in which it was named first."""
    offers: dict[str, dict[str, int]] = {}
    for index, turn in enumerate(turns):
        if turn.speaker != "system":
            continue
        booked = next((call.domain for call in reversed(turn.calls or ()) if call.name == "book"), "")
        for act in (turn.acts if turn.acts is not None else turn.heard) or ():
            if act.slot in names and act.intent in OFFERING:
                domain = (booked or act.domain) if act.domain == "booking" else act.domain
                for value in act.values:
                    offers.setdefault(domain, {}).setdefault(value, index)
    return offers


def _done(success: bool | None, name: str = "") -> Badge:
    word = "not judged" if success is None else "done" if success else "not done"
    tone: Tone = "plain" if success is None else "good" if success else "bad"
    return Badge(f"{name}: {word}" if name else word, tone)


def _marks(conversation: Mapping[str, Any]) -> Iterator[Badge]:
    if not conversation:
        return
    for rules in OUTCOME_RULES:
        yield _done(conversation[rules], rules)
    if (conversation["longest_run"] or 0) >= LOOP:
        yield Badge(f"loop: the same user turn {conversation['longest_run']} times in a row", "warn")


def _went(conversation: Mapping[str, Any], dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    """How it went, in words."""
    outcome = dialogue.outcome
    reason = conversation.get("reason") or (outcome.reason if outcome else "")
    if reason:
        yield "end", END_WORDS.get(reason, reason)
    if by := conversation.get("ended_by") or (outcome.ended_by if outcome else ""):
        yield "ended by", f"the {by}" if by in ("user", "system", "session") else by
    if outcome is not None and outcome.details.get(EXPLANATION):
        yield "what failed", outcome.details[EXPLANATION]
    if not conversation:
        return
    believes = {True: "that it is done", False: "that it is not done", None: "nothing known"}
    yield "the user believes", believes[conversation["complete"]]
    names = {
        "exchanges": "exchanges", "utterances": "utterances", "repeated_constraints": "constraints said again",
        "repeated_requests": "requests said again", "longest_run": "longest run of one user turn",
    }  # fmt: skip
    for column, name in names.items():
        if conversation[column] is not None:
            yield name, f"{conversation[column]:,}"


def _trials(library: RunTables, run: Run, conversation: Mapping[str, Any]) -> list[OtherTrial]:
    """The conversations about the same goal, where there are several."""
    import polars as pl

    goal = conversation.get("goal")
    if not goal:
        return []
    same = library.table(run, CONVERSATIONS).filter(pl.col("goal") == goal).to_dicts()
    trials = [
        OtherTrial(name, name == conversation["dialogue"], [_done(row[rules], rules) for rules in OUTCOME_RULES])
        for row in same
        if (name := row["dialogue"]) is not None
    ]
    return trials if len(trials) > 1 else []


# What was said against what was heard


# The page of a run


def _given(library: RunTables, run: Run, name: str) -> polars.DataFrame | None:
    """A table without nulls in its texts and counts; None where there is none or nothing in it."""
    if name not in run.tables:
        return None
    frame = _tidy(library, run, name)
    return frame if frame.height else None


def _tidy(library: RunTables, run: Run, name: str) -> polars.DataFrame:
    """A table with empty texts and zeros for what is not there; verdicts that are not there stay so."""
    import polars as pl
    import polars.selectors as cs

    frame = library.table(run, name).with_columns(cs.string().fill_null(""), cs.integer().fill_null(0))
    if name == CONVERSATIONS:
        return frame.with_columns(pl.col("usage").replace("", "{}"))
    return frame.filter(pl.col("times") > 0) if name == HEARD else frame


def _reason_table(reasons: polars.DataFrame) -> Table:
    counts = reason_counts(reasons, "rule")
    table = Table("Why tasks failed", ["reason", *(Column(rules, align="right") for rules in OUTCOME_RULES)])
    for name in sorted(counts, key=lambda group: (-sum(counts[group].values()), group)):
        table.add(name, *(counts[name].get(rules, 0) for rules in OUTCOME_RULES))
    table.notes.append("Tasks of goals; one that failed for several reasons counts for each.")
    return table


def _reason_chart(failed: polars.DataFrame, rules: str) -> Any:
    counts = reason_counts(failed, "domain")
    domains = sorted({domain for bars in counts.values() for domain in bars})
    return stacked_bars(counts, domains, title=f"Why tasks failed, {rules}", value="tasks of goals")


def _end_chart(conversations: polars.DataFrame) -> Any:
    counted_ends = conversations.group_by("reason", "strict").len().rows()
    bars: dict[str, dict[str, float]] = {}
    for reason, strict, count in counted_ends:
        bars.setdefault(reason or "not recorded", {})[_done(strict).text] = count
    groups = ["done", "not done", "not judged"]
    return stacked_bars(
        bars, groups, title="How conversations ended", value="conversations", note="done or not by the strict rules"
    )


def _loops(run: Run) -> Iterator[str]:
    frame = columns(run, "conversations", number=("longest_run",))
    if frame is None or not frame.height:
        return
    loops = int((frame["longest_run"] >= LOOP).sum())
    if loops:
        held = f"{counted(loops, 'conversation')} ({percent(loops, frame.height)})"
        longest = max(map(int, frame["longest_run"]))
        yield f"In {held} the user says the same {LOOP} times or more in a row, at most {longest} times"


def _failed_goals(run: Run) -> Iterator[str]:
    frame = columns(run, OUTCOMES, text=("rule",), number=("success",))
    reasons = frequent_reasons(run, "strict")
    if frame is not None and reasons:
        failed = frame.filter((frame["rule"] == "strict") & (frame["success"] == 0))
        yield f"Of {counted(failed.height, 'failed task')} the most frequent reasons are: {reasons}"


class StudyPages(RunPages):
    """Studies of what predicts success, which have measures and conditions and no dialogues."""

    scored = False

    def sentences(self, run: Run, words: Glossary) -> Iterable[str]:
        """Which measure predicts success best."""
        return study_sentences(run) if run.tables.keys() >= _STUDIED else super().sentences(run, words)

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """The measures by how well they predict success, and the conditions."""
        return study_tables(run) if run.tables.keys() >= _STUDIED else []

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Success over each measure."""
        return {"success by measure": partial(study_figure, run)} if run.tables.keys() >= _STUDIED else {}


PAGES = LabPages()
STUDY_PAGES = StudyPages()
