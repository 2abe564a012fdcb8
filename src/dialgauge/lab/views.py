"""How runs of the lab are shown: was the job done, whose fault failures were, what was misheard; and studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

import msgspec
import polars as pl

from dialgauge.agents import BROKEN_ENDS, END_WORDS
from dialgauge.dialogue import Act, Blame, Call, Dialogue, Outcome
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.lab.blame.reasons import CAUSE_WORDS, CAUSES, SIDE_OF, blame_sentence
from dialgauge.lab.blame.scores import BLAME, BLAME_SIDES
from dialgauge.lab.lab_run import FROM_WORDS
from dialgauge.lab.study import condition_words, nothing_to_predict
from dialgauge.measures import Score
from dialgauge.report import (
    PERCENT,
    Cell,
    Chart,
    Column,
    Finding,
    Link,
    Mark,
    Number,
    Slots,
    Table,
    Tone,
    Transcript,
    Turn,
    View,
    count_cell,
    count_table,
    part_table,
    recorded_slots,
    score_cell,
    state_table,
)
from dialgauge.runs import Run
from dialgauge.tasks import (
    ALIKE,
    CALLS,
    CONVERSATIONS,
    HEARD,
    NEEDS_ACTS,
    OTHER,
    OUTCOMES,
    REASON_GROUPS,
    REASONS,
    paired_items,
    reason_texts,
)
from dialgauge.text import counted
from dialgauge.values import canonical

RULES = ("strict", "compat")
NOT_UNDERSTOOD = "not understood"
_DONE: Mapping[str, Tone] = {"done": "good", "not done": "bad", "not judged": "plain", NOT_UNDERSTOOD: "warn"}
_BOTH = ("Success", "Book", "InformRecall", "InformPrecision", "InformF1")
_STRICT_ONLY = ("SuccessOfSatisfiable", "EntityMatch", "RefusedThenFixed", "FailPath", "Complete")
#: The scores that are shown first: of the task, the tracker and the user.
_HEADS = ("Success(rules=strict)", "Success(rules=compat)", "JGA", "F1", "I-GCDF1", "R-GCDF1")
#: Who erred, and what came of it: what is worth reading first.
_READ: Mapping[tuple[bool, bool, bool], str] = {
    (False, True, False): "failed, only the user erred",
    (False, True, True): "failed, both erred",
    (False, False, True): "failed, only the system erred",
    (True, True, False): "done although the user erred",
    (True, False, True): "done although the system erred",
    (True, True, True): "done although both erred",
}
#: From so many user turns in a row with the same acts on, a conversation is in a loop.
LOOP = 3
_COUNTED = {"calls": "calls", "tokens_in": "tokens in", "tokens_out": "tokens out"}
#: The parts in which what was heard rightly agrees.
_SAME = slice(0, 3)


def verdict(run: Run) -> str:
    """In how many conversations users got everything they came for, and what most failures come from."""
    score = run.scores.get("Success(rules=strict)")
    if score is None or score.value is None:
        return f"{run.name}: {run.coverage.sentence()}."
    interval = f" {Column('', PERCENT).interval(score_cell(score))}" if score.low is not None else ""
    unread = run.scores.get("NotUnderstood")
    if unread is not None and unread.value:
        most, number = score.value + unread.value, _not_understood(run).height
        interval = f" to {most:.1%} (in {counted(number, 'conversation')} the lab did not understand the assistant)"
    done = f"With {run.name} the users got everything they came for in {score.value:.1%}{interval} of the conversations"
    first = _blame(run)
    if not first.height:
        return f"{done}."
    cause, count = first["blamed on"].value_counts(sort=True).row(0)
    return f"{done}; most failures are {cause} ({count:,} of {first.height:,})."


def warnings(run: Run) -> list[str]:
    """Conversations that were not held or could not be judged."""
    return [] if run.coverage.complete else [f"{run.coverage.sentence()}."]


def done(run: Run) -> Table:
    """The job under both rule sets, side by side."""
    table = Table("Was the job done?", ["measure", *(Column(rules, PERCENT) for rules in RULES)])
    missing = run.details.get("left_out") or {}
    for name in _BOTH:
        cells = [score_cell(run.scores.get(f"{name}(rules={rules})")) for rules in RULES]
        if str(missing.get(f"{name}(rules=compat)", "")).startswith(NEEDS_ACTS):
            cells[1] = Cell(NEEDS_ACTS)
        if any(not cell.is_empty for cell in cells):
            table.add(name, *cells)
    for name in _STRICT_ONLY:
        if name in run.scores:
            table.add(name, score_cell(run.scores[name]), None)
    table.notes.append("strict: what was said, booked and true. compat: ConvLab-2's rules, by what the user heard.")
    if "NotUnderstood" in run.scores:
        table.add("not understood", score_cell(run.scores["NotUnderstood"]), None)
        table.notes.append("strict success lies between Success and Success plus what was not understood.")
    return table


def by_domain(run: Run) -> Table | None:
    """Success in each domain."""
    frame = run.table(OUTCOMES).select("dialogue", "domain").unique().drop_nulls()
    counts = {name: count_cell(frame, {"domain": name}) for name in sorted(frame["domain"].unique())}
    scores = {
        name: score for name, score in run.scores.items() if name.startswith(("Success(", "EntityMatch", "Book("))
    }
    return part_table("By domain", "domain", scores, counts) if counts else None


def parts(run: Run) -> Table | None:
    """The tracker against what the user said, and the user against its goal."""
    table = Table("Tracker and user", ["who", "measure", "score"])
    for who, names in {"tracker": ("JGA", "F1", "SA", "FGA@0.5"), "user": ("I-GCDF1", "R-GCDF1")}.items():
        for name in names:
            if name in run.scores:
                table.add(who, name, score_cell(run.scores[name]))
    if _read_from_words(run):
        table.notes.append("The system gave no acts: what it did is read from its calls, what it told from its text.")
    return table if table.rows else None


def blame(run: Run) -> Table | None:
    """Whose fault failures were: the first broken link from goal to outcome decides."""
    first, rows = _blame(run), _table(run, BLAME)
    if not first.height:
        return None
    table = Table(
        "Whose fault failures were",
        ["side", "cause", "conversations", Column("share", PERCENT), Column("domains", spare=1)],
        chart=Chart("bars", ("conversations",)),
        answer=f"{counted(first['dialogue'].n_unique(), 'failed conversation')}: the first broken link decides.",
    )
    for cause in CAUSES:
        domains = rows.filter(pl.col("cause") == cause).height
        if domains:
            words = f"{SIDE_OF[cause]}: {CAUSE_WORDS[cause]}"
            share = score_cell(run.scores.get(f"Blame[{cause}]"))
            table.add(SIDE_OF[cause], CAUSE_WORDS[cause], count_cell(first, {"blamed on": words}), share, domains)
    return table


def erred(run: Run) -> Table | None:
    """Who erred at all, and how often the job was done all the same."""
    sides = _table(run, BLAME_SIDES).drop_nulls()
    if not sides.height:
        return None
    table = Table("Who erred", ["user", "system", "conversations", "done", Column("success", PERCENT)])
    for user, system in ((False, False), (True, False), (False, True), (True, True)):
        own = sides.filter((pl.col("user_erred") == user) & (pl.col("system_erred") == system))
        success = int(own["success"].sum())
        words = ("erred" if user else "faultless", "erred" if system else "faultless")
        table.add(*words, own.height, success, success / own.height if own.height else None)
    score = run.scores.get("SuccessOfFaultlessUser")
    if score is not None and score.value is not None:
        cell = score_cell(score)
        text = f"{Column('', PERCENT).text(cell)} {Column('', PERCENT).interval(cell)}".rstrip()
        table.notes.append(f"Success where the user was faultless: {text}.")
    return table


def why(run: Run) -> Table | None:
    """Why tasks failed, by rule set."""
    frame = _reasons(run)
    return count_table("Why tasks failed", frame, "reason", split="rules") if frame.height else None


def ends(run: Run) -> Table | None:
    """How conversations ended."""
    frame = _conversations(run)
    if not frame.height:
        return None
    return count_table("How conversations ended", frame, "end", split="strict", tones=_DONE)


def trials(run: Run) -> Table | None:
    """Goals that were tried several times, those first that were done sometimes."""
    frame = _table(run, CONVERSATIONS)
    several = frame.drop_nulls(["goal", "dialogue"]).filter(pl.len().over("goal") > 1) if frame.height else frame
    if not several.height:
        return None
    most = int(several.group_by("goal").len()["len"].max() or 0)  # type: ignore[arg-type]
    table = Table("Goals and their trials", ["goal", *(f"trial {number}" for number in range(most)), "done"], first=20)
    rows: list[tuple[tuple[bool, int, str], list[Cell | str | int]]] = []
    for (goal,), own in several.group_by("goal", maintain_order=True):
        flags = own["strict"].to_list()
        tried = [Cell(flag, link=Link(dialogue=name)) for name, flag in zip(own["dialogue"], flags, strict=True)]
        passed = sum(flag is True for flag in flags)
        padded = [*tried, *[Cell(None)] * (most - len(tried))]
        rows.append(((passed in (0, len(flags)), passed, str(goal)), [str(goal), *padded, passed]))
    for _, row in sorted(rows, key=lambda each: each[0]):
        table.add(*row)
    return table


def left_out(run: Run) -> Table | None:
    """What could not be judged, and why."""
    ends = _conversations(run).filter(pl.col("end").is_in([END_WORDS[end] for end in BROKEN_ENDS]))
    return count_table("What the lab could not judge", ends, "end") if ends.height else None


def cost(run: Run) -> Table | None:
    """Calls, tokens and money of each side that asked a language model."""
    spent: dict[str, Counter[str]] = {"user": Counter(), "system": Counter()}
    for outcome in run.table("dialogues")["outcome"].drop_nulls().to_list():
        for side, usage in msgspec.json.decode(outcome, type=Outcome).usage.items():
            amounts = {what: int(getattr(usage, what) or 0) for what in _COUNTED}
            spent["system" if side == "agent" else side].update(amounts)
    prices = run.manifest.config.get("prices", {})
    table = Table("What it cost", ["side", *_COUNTED.values(), Column("money", Number(4))])
    for side, amounts in spent.items():
        if any(amounts.values()):
            per_in, per_out = prices.get(side, (0.0, 0.0))
            money = (amounts["tokens_in"] * per_in + amounts["tokens_out"] * per_out) / 1_000_000
            table.add(side, *(amounts[what] for what in _COUNTED), money if per_in or per_out else None)
    return table if table.rows else None


def conduct(run: Run) -> Table | None:
    """How conversations went: means, beliefs against the truth, loops."""
    names = ("Exchanges", "Utterances", "Utterances(of=successful)", "ActsPerTurn", "ActsPerTurn(speaker=system)",
             "BookAttempts", "Repeated", "Repeated(what=requests)", "LongestRun")  # fmt: skip
    table = Table("How conversations went", ["measure", Column("mean", Number(2))])
    for name in names:
        if name in run.scores:
            table.add(name, score_cell(run.scores[name]))
    frame = _table(run, CONVERSATIONS)
    if frame.height:
        loops = int((frame["longest_run"] >= LOOP).sum())
        table.notes.append(f"{counted(loops, 'conversation')} with the same user turn {LOOP} times in a row.")
    return table if table.rows else None


def beliefs(run: Run) -> Table | None:
    """What users believe, and what is true."""
    frame = _table(run, CONVERSATIONS)
    if not frame.height:
        return None
    table = Table("Belief and truth", ["rules", "the user believes", "done", "not done"])
    for rules in RULES:
        for belief, words in ((True, "it is done"), (False, "it is not"), (None, "nothing known")):
            own = frame.filter(pl.col("complete").eq_missing(belief) & pl.col(rules).is_not_null())[rules]
            if len(own):
                table.add(rules, words, int(own.sum()), int((~own).sum()))
    return table if table.rows else None


def understood(run: Run) -> Table | None:
    """How well each side heard the other."""
    table = Table(
        "What was understood", ["listener", *(Column(name, PERCENT) for name in ("precision", "recall", "F1"))]
    )
    for listener, ending in (("system", ""), ("user", "(listener=user)")):
        cells = [score_cell(run.scores.get(f"Heard{aspect}{ending}")) for aspect in ("Precision", "Recall", "F1")]
        if any(not cell.is_empty for cell in cells):
            table.add(listener, *cells)
    return table if table.rows else None


def confusions(run: Run) -> Table | None:
    """What was heard for what."""
    heard = _table(run, HEARD)
    if not heard.height:
        return None
    wrong = heard.filter(pl.col("same").not_()).sort("times", "said", "heard", descending=[True, False, False])
    table = Table("Most frequent confusions", ["listener", "said", "heard", "times"], first=10)
    for row in wrong.iter_rows(named=True):
        other = "another value" if row["said"] == row["heard"] else row["heard"] or "nothing"
        table.add(row["listener"], row["said"] or "nothing", other, row["times"])
    return table if table.rows else None


@lru_cache(maxsize=8)
def findings(run: Run) -> Mapping[str, Finding]:
    """What a failure is blamed on, with the turn; else why the first task failed."""
    reasons = _table(run, REASONS).to_dicts()
    found: dict[str, Finding] = {}
    for (dialogue, domain, rule), text in reason_texts(reasons).items():
        if rule == "strict":
            found.setdefault(dialogue or "", Finding(f"{domain}: {text}"))
    for row in blame_rows(_table(run, BLAME).to_dicts(), reasons):
        if row["first"]:
            found[row["dialogue"]] = Finding(f"[{row['side']}] {row['sentence']}", row["turn"])
    return found


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """By verdict and end, blame, who erred, reason, failed domain, and calls."""
    yield _conversations(run)
    yield _blame(run)
    sides = _table(run, BLAME_SIDES)
    if sides.height:
        key = pl.struct("success", "user_erred", "system_erred")
        words = key.map_elements(lambda row: _READ.get(tuple(row.values())), return_dtype=pl.String)
        yield sides.drop_nulls().select("dialogue", read=words)
    yield _reasons(run)
    if (outcomes := _table(run, OUTCOMES)).height:
        failed = outcomes.filter(pl.col("success").not_())
        yield failed.select("dialogue", pl.col("domain").alias("failed domain"), pl.col("rule").alias("failed by"))
        yield outcomes.select("dialogue", "domain").unique().drop_nulls()
    if (calls := _table(run, CALLS)).height:
        yield calls.select("dialogue", "turn", call="name", outcome="outcome")


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """Both sides turn by turn with calls, what was heard and believed; above them what became of every task."""
    own = pl.col("dialogue") == dialogue.id
    reasons = _table(run, REASONS).filter(own).to_dicts() if REASONS in run.tables else []
    blamed = blame_rows(_table(run, BLAME).filter(own).to_dicts(), reasons) if BLAME in run.tables else []
    conversation = (
        next(iter(_table(run, CONVERSATIONS).filter(own).to_dicts()), {}) if CONVERSATIONS in run.tables else {}
    )
    outcomes = _table(run, OUTCOMES).filter(own).to_dicts() if OUTCOMES in run.tables else []
    turns: list[Turn] = []
    before: Slots = {}
    for number, turn in enumerate(dialogue.turns):
        beside = [_heard(turn.acts, turn.heard)] if turn.acts is not None or turn.heard is not None else []
        if turn.speaker == "user" and (slots := recorded_slots(turn)) is not None:
            beside.append(state_table(slots, before))
            before = slots
        turns.append(
            Turn(
                number=number,
                speaker=turn.speaker,
                text=turn.text or "; ".join(map(_words, _items(turn.acts or ()))),
                marks=[Mark(f"blame: {_cause(row)}", "bad") for row in blamed if row["turn"] == number],
                before=[_calls(turn.calls)] if turn.calls else [],
                beside=beside,
            )
        )
    tables = {
        "findings": _why(blamed, reasons),
        "tasks": _tasks(dialogue, outcomes, reasons),
        "trials": _siblings(run, conversation),
        "went": _went(conversation, dialogue),
    }
    shown = {name: table for name, table in tables.items() if table.rows}
    marks = [_verdict_mark(conversation[rules], rules) for rules in RULES] if conversation else []
    if dialogue.id in _not_understood(run)["dialogue"]:
        marks[:1] = [Mark(f"strict: {NOT_UNDERSTOOD}", "warn")]
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=marks, tables=shown)


VIEW = View(
    verdict=verdict,
    warnings=warnings,
    scores=lambda run: _HEADS,
    tables={
        "done": done,
        "by-domain": by_domain,
        "parts": parts,
        "blame": blame,
        "erred": erred,
        "why": why,
        "ends": ends,
        "left-out": left_out,
        "cost": cost,
        "trials": trials,
        "conduct": conduct,
        "beliefs": beliefs,
        "understood": understood,
        "confusions": confusions,
    },
    screen=("left-out", "blame", "erred", "cost"),
    transcript=transcript,
    columns=_HEADS,
    findings=findings,
    filters=filters,
    labels={"read": "worth reading", "rules": "by the rules", "reason": "why a task failed", "loop": "says it again"},
)


# Studies


def study_verdict(run: Run) -> str:
    """Which measure predicts success best, how well, and which cannot be told apart from it."""
    if reasons := nothing_to_predict(_table(run, CONVERSATIONS)["success"]):
        return " ".join(reasons)
    best, *others = _table(run, "predictors").iter_rows(named=True)
    level = [row["measure"] for row in others if row["behind_low"] <= 0]
    same = f" Not told apart from it: {', '.join(level)}." if level else ""
    return (
        f"{best['measure']} predicts success best: of a conversation that succeeds and one that fails, the first "
        f"scores higher in {best['auc']:.1%} [{100 * best['auc_low']:.1f}, {100 * best['auc_high']:.1f}] of such "
        f"pairs.{same}"
    )


def predictors(run: Run) -> Table:
    """The measures by how well they predict success."""
    table = Table(
        "Which measure of the tracker predicts success?",
        [
            Column("measure"),
            Column("AUC", Number(3), help="how often a success scores above a failure; 0.5 is guessing"),
            Column("gap", Number(3), help="to the best measure, on the same conversations", spare=1),
            Column("within", Number(3), help="the AUC within conditions", spare=2),
            Column("tau", Number(2), help="rank correlation of conditions with their rate of success", spare=2),
            Column("error", Number(1, percent=True), help="of a line through the other conditions", spare=3),
        ],
        chart=Chart("intervals", ("AUC",)),
        notes=["95% intervals resample goals."],
    )
    for row in _table(run, "predictors").iter_rows(named=True):
        ends = [Cell(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in ("auc", "behind")]
        table.add(row["measure"], *ends, row["auc_within"], row["tau"], row["error"])
    return table


def conditions(run: Run) -> Table:
    """Success and the measures under each condition."""
    names = ("JGA", "FGA@0.5", "F1", "SA")
    percent = Number(1, percent=True)
    columns = [Column(name, percent) for name in ("success", *names)]
    table = Table("Conditions", ["the system's hearing", *columns], first=25)
    for row in _table(run, "conditions").iter_rows(named=True):
        table.add(condition_words(row["condition"]), row["success"], *(row[name] for name in names))
    return table


def success_by_measure(run: Run) -> Table:
    """Success over joint goal accuracy and the best predictor, condition by condition."""
    rows = _table(run, "conditions").sort("JGA").iter_rows(named=True)
    percent = Number(1, percent=True)
    table = Table(
        "Success of conditions by their scores",
        [Column("JGA", percent), Column("success", percent), Column("condition", spare=1)],
        first=0,
        chart=Chart("lines", ("success",)),
    )
    for row in rows:
        table.add(row["JGA"], row["success"], row["condition"])
    return table


STUDY_VIEW = View(
    verdict=study_verdict,
    tables={"predictors": predictors, "conditions": conditions, "success": success_by_measure},
    screen=("predictors", "conditions"),
)


def blame_rows(blame: Iterable[Mapping[str, Any]], reasons: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the table ``blame``, each with its sentence; ``reasons`` are the rows of why tasks failed."""
    whys = reason_texts(row for row in reasons if row["rule"] == "strict")
    rows = []
    for row in blame:
        why = whys.get((row["dialogue"], row["domain"], "strict"), "")
        record = Blame(
            dialogue=row["dialogue"], unit=row["domain"] or "", side=row["side"] or "", turn=row["turn"],
            code=row["code"] or "", arguments=tuple(row["arguments"] or ()),
        )  # fmt: skip
        rows.append({**row, "sentence": blame_sentence(record, why)})
    return rows


def cross_evaluation(runs: Iterable[Run], measure: str = "Success(rules=strict)") -> Table:
    """Users down, systems across (Schatzmann et al., 2005): the measure in the run of each pair, and the means.

    A good user does well with several systems, a good system with several users. A pair without a run is left empty.
    """
    scores: dict[tuple[str, str], Score] = {}
    for run in runs:
        if run.kind != "lab":
            raise DialgaugeError(f"cross-evaluation needs runs of 'dialgauge lab run', but {run.id} is of {run.kind}")
        if measure not in run.scores:
            raise DialgaugeError(f"the run {run.id} has no measure '{measure}'.{nearest(measure, run.scores)}")
        user, system = str(run.manifest.config["user"]), str(run.manifest.config["system"])
        if (user, system) in scores:
            raise DialgaugeError(f"two runs have the user {user} and the system {system}; give one of them")
        scores[user, system] = run.scores[measure]
    users = list(dict.fromkeys(user for user, _ in scores))
    systems = list(dict.fromkeys(system for _, system in scores))
    columns = [Column(name, PERCENT) for name in (*systems, "mean")]
    table = Table(f"Cross-evaluation: {measure} of each user with each system", ["user", *columns])
    for user in users:
        row = [scores.get((user, system)) for system in systems]
        table.add(user, *map(score_cell, row), _mean(row))
    table.add("mean", *(_mean([scores.get((user, system)) for user in users]) for system in systems), None)
    return table


def _mean(scores: Iterable[Score | None]) -> float | None:
    values = [score.value for score in scores if score is not None and score.value is not None]
    return fmean(values) if values else None


def _read_from_words(run: Run) -> bool:
    """Are the system's acts read from its words and calls?"""
    return bool(run.manifest.config.get("acts", {}).get("system") == FROM_WORDS)


def _table(run: Run, name: str) -> pl.DataFrame:
    """A table of the run; an empty one without columns where it has none."""
    return run.table(name) if name in run.tables else pl.DataFrame()


def _conversations(run: Run) -> pl.DataFrame:
    """Each conversation with its verdicts, its end, and whether its user repeats itself."""
    frame = _table(run, CONVERSATIONS)
    if not frame.height or "reason" not in frame.columns:
        return pl.DataFrame(schema={"dialogue": pl.String})
    verdicts = [
        pl.when(pl.col(rules)).then(pl.lit("done")).when(pl.col(rules).not_()).then(pl.lit("not done"))
        .otherwise(pl.lit("not judged")).alias(rules)
        for rules in RULES
    ]  # fmt: skip
    unread = pl.col("dialogue").is_in(_not_understood(run)["dialogue"].implode())
    verdicts[0] = pl.when(unread).then(pl.lit(NOT_UNDERSTOOD)).otherwise(verdicts[0]).alias("strict")
    end = pl.col("reason").replace(END_WORDS).fill_null("not recorded").replace("", "not recorded").alias("end")
    loop = pl.when(pl.col("longest_run") >= LOOP).then(pl.lit(f"{LOOP} times or more")).alias("loop")
    return frame.select("dialogue", *verdicts, end, pl.col("ended_by").alias("ended by"), loop)


def _not_understood(run: Run) -> pl.DataFrame:
    """The conversations that fail only by what the lab did not understand."""
    frame = _table(run, BLAME)
    if not frame.height:
        return pl.DataFrame(schema={"dialogue": pl.String})
    return frame.group_by("dialogue", maintain_order=True).agg((pl.col("side") == "lab").all()).filter("side")


def _blame(run: Run) -> pl.DataFrame:
    """What each failed conversation is blamed on first."""
    frame = _table(run, BLAME)
    if not frame.height:
        return pl.DataFrame(schema={"dialogue": pl.String, "turn": pl.Int64, "blamed on": pl.String})
    words = {cause: f"{SIDE_OF[cause]}: {CAUSE_WORDS[cause]}" for cause in CAUSES}
    return frame.filter("first").select("dialogue", "turn", pl.col("cause").replace(words).alias("blamed on"))


def _reasons(run: Run) -> pl.DataFrame:
    frame = _table(run, REASONS)
    if not frame.height:
        return pl.DataFrame(schema={"dialogue": pl.String, "reason": pl.String, "rules": pl.String})
    group = pl.col("reason").replace_strict(REASON_GROUPS, default=OTHER, return_dtype=pl.String)
    given = frame.filter(pl.col("reason").fill_null("") != "")
    return given.select("dialogue", reason=group, rules="rule").unique(maintain_order=True)


def _cause(row: Mapping[str, Any]) -> str:
    return f"{row['side'] or 'unclear'}: {row['cause'] or 'unclear'}".replace("_", " ")


def _verdict_mark(success: bool | None, rules: str) -> Mark:
    word = "not judged" if success is None else "done" if success else "not done"
    return Mark(f"{rules}: {word}", _DONE[word])


def _why(blamed: Sequence[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("Why it failed", ["finding", "message"])
    for row in blamed:
        domain = f" ({row['domain']})" if row["domain"] else ""
        turn = Cell(row["turn"], link=None if row["turn"] is None else Link(turn=row["turn"]))
        table.add(Cell(f"{_cause(row)}{domain}: {row['sentence']}", tone="bad"), turn)
    if not blamed:
        for (_, failed, rule), text in reason_texts(reasons).items():
            if rule == "strict":
                table.add(Cell(f"{failed}: {text}", tone="bad"), None)
    return table


def _tasks(dialogue: Dialogue, outcomes: Sequence[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]]) -> Table:
    """What was wanted, what the user ended up with, and by which rules that will do."""
    tasks = dialogue.goal.tasks if dialogue.goal is not None else {}
    whys = reason_texts(reasons)
    table = Table("Its tasks", ["domain", "wanted", "ended up with", "message", *RULES, "why not"])
    for domain in dict.fromkeys([*tasks, *(row["domain"] or "unknown" for row in outcomes)]):
        rows = {row["rule"]: row for row in outcomes if (row["domain"] or "unknown") == domain}
        settled = next((row for row in rows.values() if row["entity"]), None)
        task = tasks.get(domain)
        wanted = (
            []
            if task is None
            else [*task.info.items(), *((f"book {slot}", value) for slot, value in task.book.items())]
        )
        asked = [] if task is None else [f"asks for {', '.join(task.requests)}"] if task.requests else []
        turn = None if settled is None else settled["turn"]
        why = next((text for (_, own, rule), text in whys.items() if own == domain and rule == "strict"), None)
        table.add(
            domain,
            ", ".join([*(f"{slot} {value}" for slot, value in wanted), *asked]),
            None if settled is None else settled["entity"],
            Cell(turn, link=None if turn is None else Link(turn=turn)),
            *(rows[rules]["success"] if rules in rows else None for rules in RULES),
            why,
        )
    return table


def _siblings(run: Run, conversation: Mapping[str, Any]) -> Table:
    """The conversations about the same goal, each leading to it beside this one."""
    goal, here = conversation.get("goal"), conversation.get("dialogue")
    same = _table(run, CONVERSATIONS).filter(pl.col("goal") == goal) if goal else pl.DataFrame()
    names = same["dialogue"].to_list() if same.height > 1 else []
    table = Table(f"Trials of goal {goal}", [f"trial {number}" for number in range(len(names))])
    if names:
        links = [Link(dialogue=str(here), beside=(name,)) if name != here else None for name in names]
        table.add(*(Cell(flag, link=link) for flag, link in zip(same["strict"], links, strict=True)))
    return table


def _went(conversation: Mapping[str, Any], dialogue: Dialogue) -> Table:
    outcome = dialogue.outcome
    reason = conversation.get("reason") or (outcome.reason if outcome else "")
    believes = {True: "that it is done", False: "that it is not done", None: "nothing known"}
    facts: dict[str, Any] = {
        "end": END_WORDS.get(reason, reason) or None,
        "ended by": conversation.get("ended_by") or (outcome.ended_by if outcome else "") or None,
    }
    if conversation:
        facts["the user believes"] = believes[conversation["complete"]]
        names = {"exchanges": "exchanges", "repeated_constraints": "constraints said again",
                 "repeated_requests": "requests said again", "longest_run": "longest run of one user turn"}  # fmt: skip
        facts |= {
            name: None if conversation[column] is None else f"{conversation[column]:,}"
            for column, name in names.items()
        }
    return Table("How it went", ["fact", "value"], [item for item in facts.items() if item[1] is not None])


def _calls(calls: Sequence[Call]) -> Table:
    table = Table("", ["call", "arguments", "outcome", "rows"])
    for call in calls:
        arguments = ", ".join(f"{slot} {value}" for slot, value in call.given.items())
        tone: Tone = "warn" if call.found == 0 else "bad" if call.failed else "plain"
        words = call.outcome_words or "no outcome recorded"
        table.add(f"{call.name} {call.domain}".strip(), arguments, Cell(words, tone=tone), len(call.rows) or None)
    return table


def _heard(said: Sequence[Act] | None, heard: Sequence[Act] | None) -> Table:
    """What was said against what was heard: the same first matched, then acts that differ least; errors come first."""
    if said is None or heard is None:
        table = Table("", ["said" if heard is None else "heard"])
        for item in _items(said or heard or ()):
            table.add(_words(item))
        return table
    lost, invented = list(_items(said)), list(_items(heard))
    right = list(paired_items(lost, invented, _SAME))
    wrong = [pair for parts in ALIKE for pair in paired_items(lost, invented, parts)]
    table = Table("", ["said", "heard", "verdict"], first=len(wrong) + len(lost) + len(invented))
    for own, other in wrong:
        table.add(_words(own), _words(other), Cell("misheard", tone="bad"))
    for item in lost:
        table.add(_words(item), None, Cell("missed", tone="bad"))
    for item in invented:
        table.add(None, _words(item), Cell("never said", tone="warn"))
    for own, other in right:
        table.add(_words(own), _words(other), Cell("understood", tone="good"))
    return table


def _items(acts: Sequence[Act]) -> Iterator[tuple[str, str, str, str]]:
    """Name, slot, value as values are compared, value as it was said."""
    return ((act.name, act.slot, canonical(value), value) for act in acts for value in act.values or ("",))


def _words(item: tuple[str, str, str, str]) -> str:
    name, slot, _, value = item
    words = f"{name} {slot}".strip()
    return f"{words} = {value}" if value else words
