"""What people see of user faults, from a run in memory or in a store: found, not checked, and how far to trust it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge import rendering
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rendering import Cell, Column, RunSet, Table
from dialgauge.text import counted
from dialgauge.users.faults.fault_measures import NO_FAULT_FOUND, USER_FAULT
from dialgauge.users.faults.fault_records import KINDS
from dialgauge.users.faults.fault_runs import CHECKS, FAULTS
from dialgauge.users.faults.judge import FaultJudge, judge_records
from dialgauge.users.faults.labelled import PARTS, CheckMeasurement, Share, load_earlier, load_labels, load_record
from dialgauge.users.faults.wordings import fault_sentence, fault_words, scope_sentence

if TYPE_CHECKING:
    from dialgauge.runs import Run

_FULL = {"whole": "all of it", "part": "a part", "none": "not checked"}
_PLACE = (Column("message", align="right"), Column("turn", align="right"))
_REWARD = Column("reward", digits=1, align="right")
_RECALL = Column("recall", percent=True, digits=0, align="right")
#: The precision below which a rule of a check is withdrawn.
GOOD_ENOUGH = 0.9
#: Conversations that the list shows unless more are asked for.
MOST = 20


class FaultRuns(RunSet):
    """What the users of recorded conversations got wrong, by file."""

    def __init__(self, runs: Iterable[Run], agreement: Table | None = None) -> None:
        super().__init__(runs)
        #: How the judge agrees with the labels, where one was asked.
        self.agreement = [] if agreement is None else [agreement]

    @property
    def notes(self) -> list[str]:
        """What each file lacks, to be read before any number; then what else a reader should know."""
        return [*filter(None, map(missing_sentence, self.runs)), *super().notes]

    def tables(self, *, limit: int = MOST, detail: bool = False) -> list[Table]:
        """Shares by kind, where the faults are, what was not checked, and how far the checks can be trusted.

        With ``detail`` also the parts that the checks were measured on, and earlier measurements.
        """
        found = [table for run in self.runs for table in fault_tables(run, limit)]
        return [*found, record_table(detail=detail), *self.agreement]

    def document(self) -> dict[str, Any]:
        """The JSON of ``dialgauge users faults --json``: every fault, how far every check looked, their record."""
        return {
            "record": msgspec.to_builtins(load_record()),
            "earlier_held_out_measurements": load_earlier(),
            "systems": [
                {
                    "name": run.name,
                    "scores": {name: score.as_dict() for name, score in run.scores.items()},
                    "coverage": _coverage_document(run),
                    "not_computed": run.details.get("left_out", {}),
                    "faults": _with_rewards(run),
                    "checks": [{**row, "scope": scope_sentence(row)} for row in run.table(CHECKS).to_dicts()],
                }
                for run in self.runs
            ],
        }

    def _explained(self, run: Run, dialogue: str) -> list[Table]:
        return explanation_tables(run, dialogue)

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """The shares with their intervals, also by kind of fault."""
        return rendering.run_figures(self, parts={USER_FAULT: "kind of fault"})


def agreement_table(judge: FaultJudge) -> Table:
    """The judge alone against the labels of those conversations that people labelled."""
    labels = [label for label in load_labels() if label.key in judge.judged]
    shares = [Column(name, digits=1, percent=True) for name in ("precision", "recall")]
    table = Table(f"How the judge {judge.name} agrees with the labels", ["kind", "right", "wrong", "missed", *shares])
    if not labels:
        table.notes.append("None of these conversations is labelled, so how far the judge can be trusted is unknown.")
        return table
    for kind, record in judge_records({label.key: judge.judged[label.key] for label in labels}, labels).items():
        if record.right or record.wrong or record.missed:
            table.add(kind, record.right, record.wrong, record.missed, record.precision.value, record.recall.value)
    table.notes.append(f"On {len(labels)} labelled conversations; what the checks found is not counted here.")
    return table


def missing_sentence(run: Run) -> str:
    """What a file lacks, to be read before any number: conversations that were planned, words to look at, ends.

    Empty where nothing is missing.
    """
    count, parts = run.coverage["dialogues"], []
    if run.coverage.complete:
        return ""
    read, looked = count.read or 0, count.scored or 0
    if count.expected is not None and read < count.expected:
        are = "is" if read == 1 else "are"
        parts.append(f"{read:,} of {counted(count.expected, 'planned conversation')} {are} there")
    for key, what in (("nothing_to_look_at", "nothing to look at"), ("broken_off", "no end of their own")):
        reasons = run.details.get(key, {})
        if number := sum(reasons.values()):
            why = ", ".join(f"{reason} {times:,}" for reason, times in reasons.items())
            parts.append(f"{counted(number, 'conversation')} of {read:,} with {what} ({why})")
    of = "those that are there" if looked == read else f"the {looked:,} that can be looked at"
    return f"{run.name}: {'; '.join(parts)}; shares are of {of}."


def _rewards(run: Run) -> dict[str, float | None]:
    """The reward of each conversation; where only success is recorded, 1 or 0."""
    import polars as pl

    outcome = pl.col("outcome")
    success = outcome.str.json_path_match("$.success").replace_strict({"true": 1.0, "false": 0.0}, default=None)
    reward = outcome.str.json_path_match("$.reward").cast(pl.Float64, strict=False)
    return dict(run.table("dialogues").select("dialogue", pl.coalesce(reward, success)).rows())


def _with_rewards(run: Run) -> list[dict[str, Any]]:
    rewards = _rewards(run)
    return [
        {**row, "sentence": fault_sentence(row), "reward": rewards.get(row["dialogue"])}
        for row in run.table(FAULTS).to_dicts()
    ]


def fault_tables(run: Run, most: int = MOST) -> list[Table]:
    """Shares, the conversations with faults, and what was not checked."""
    return [table for table in (_shares(run), _conversations(run, most), _unchecked(run)) if len(table)]


def _shares(run: Run) -> Table:
    table = Table(
        f"User faults found: {run.name}",
        [
            "kind",
            "the user",
            Column("found in", align="right"),
            Column("share", percent=True, digits=1),
            *([_RECALL] if run.details.get("by_texts") else []),
        ],
    )
    checks = run.table(CHECKS)
    measured = load_record().overall if run.details.get("by_texts") else {}
    for kind, meaning in KINDS.items():
        ours = checks.filter(checks["kind"] == kind)
        looked = ours.filter(ours["checked"] != "none")
        score = run.scores.get(f"{USER_FAULT}[{kind}]")
        cell = Cell(score.value, score.low, score.high) if score else None
        found_in = looked.filter(looked["faults"] > 0).height
        recall = [measured[kind].recall.value] if measured else []
        shown = f"{found_in} of {looked.height}" if looked.height else "not checked"
        table.add(_words(kind), meaning, shown, cell, *recall)
    table.signature = run.signature
    if measured:
        table.notes.append(
            "Recall: the share of labelled conversations with such a fault in which the check reports it; where it is "
            "low, most faults are missed. –: none was labelled."
        )
    faultless = run.scores.get(NO_FAULT_FOUND)
    if faultless and faultless.value is not None:
        every = counted(int(run.details.get("compared", run.coverage["dialogues"].scored or 0)), "conversation")
        table.notes.append(
            f"No fault found in {100 * faultless.value:.1f}% of {every}; "
            "that is no proof of a faultless user: see what was not checked, and the recall of the checks."
        )
    elif why := run.details.get("left_out", {}).get(NO_FAULT_FOUND):
        table.notes.append(f"No fault found: not checked, as {why}.")
    if faultless and faultless.low is not None:
        table.notes.append("95% intervals resample tasks, each with all of its trials.")
    return table


def _conversations(run: Run, most: int) -> Table:
    frame = run.table(FAULTS)
    several = frame["by"].n_unique() > 1
    heads: list[str | Column] = [
        Column("conversation", exact=True),
        _REWARD,
        "kind",
        *_PLACE,
        "why",
        *(["by"] if several else []),
    ]
    table, rewards = Table("Where", heads), _rewards(run)
    for row in frame.head(most).iter_rows(named=True):
        by = [row["by"]] if several else []
        reward = rewards.get(row["dialogue"])
        table.add(row["dialogue"], reward, _words(row["kind"]), row["message"], row["turn"], fault_words(row), *by)
    if frame.height > most:
        table.notes.append(f"The first {most} of {counted(frame.height, 'fault')}; --limit shows more.")
    return table


def _words(kind: str) -> str:
    """A kind of fault as people read it; files and runs have the code."""
    return kind.replace("_", " ")


def _unchecked(run: Run) -> Table:
    table = Table(
        "Not checked, or only in part", ["kind", Column("conv.", align="right"), "looked at", "scope or reason"]
    )
    checks = run.table(CHECKS)
    counts = Counter(
        (row["kind"], row["checked"], scope_sentence(row))
        for row in checks.filter(checks["checked"] != "whole").iter_rows(named=True)
    )
    order = {kind: index for index, kind in enumerate(KINDS)}
    for (kind, checked, scope), count in sorted(
        counts.items(), key=lambda item: (order[item[0][0]], -item[1], item[0][2])
    ):
        table.add(_words(kind), count, _FULL[checked], scope)
    return table


def record_table(*, detail: bool = False) -> Table:
    """Precision and recall of the checks of texts, as measured on labelled conversations; by parts with ``detail``."""
    record = load_record()
    table = Table("How far the checks can be trusted", ["kind", "on", "precision", "recall"], unit="percent")
    for kind in KINDS:
        earlier = {"fresh": record.checks["fresh"][kind], "held out": record.checks["held_out"][kind]}
        parts = {**(earlier if detail else {}), "all": record.overall[kind]}
        if not parts["all"].recall.n and not parts["all"].precision.n:
            table.add(_words(kind), "all", "never reported", "never occurred")
            continue
        for index, (name, check_record) in enumerate(parts.items()):
            table.add(
                _words(kind) if not index else "", name,
                _share(check_record.precision) or "nothing reported", _share(check_record.recall) or "never labelled",
            )  # fmt: skip
    table.notes += _record_history(record) if detail else [_record_note(record)]
    return table


def _record_note(record: CheckMeasurement) -> str:
    every = counted(sum(record.conversations[part] for part in PARTS), "labelled conversation")
    return (
        f"On {every} of tau-bench and tau2-bench, those that the checks were written on among them; --detail shows the "
        "others apart, and what was measured before. 95% intervals; n: conversations in which the check "
        "reports, or the labeller marked, that kind. Precision holds if the conversation belongs to its task."
    )


def _record_history(record: CheckMeasurement) -> list[str]:
    parts = record.conversations
    every = sum(parts[part] for part in PARTS)
    notes = [
        f"Checks of texts, measured {record.measured} on {every} labelled conversations of tau-bench and tau2-bench "
        f"(seeds {record.seed} and {record.fresh_seed}): the {parts['fresh']} drawn after the first version of the "
        f"checks, the {parts['held_out']} held out, then all. Rules changed after both had been seen: see the page on "
        "the checks. 95% intervals. n: conversations in which the check reports, or the labeller marked, that "
        "kind. Precision holds if the conversation belongs to its task."
    ]
    if earlier := load_earlier():
        notes.append(
            f"The held-out half was measured {len(earlier) + 1} times, as rules were changed after "
            f"{counted(len(earlier), 'earlier measurement')}."
        )
        notes += [
            f"Measurement {index}, {measurement['what']}: {_below(measurement)}."
            for index, measurement in enumerate(earlier, start=1)
        ]
    return [*notes, "By acts and a goal of slots, as in the lab, what was said is compared exactly."]


def _below(earlier: dict[str, Any]) -> str:
    """The kinds whose reports were often wrong then, with their counts."""
    counts = [(kind, each["right"], each["right"] + each["wrong"]) for kind, each in earlier["held_out"].items()]
    poor = [f"{_words(kind)} {right} of {n}" for kind, right, n in counts if n and right / n < GOOD_ENOUGH]
    if not poor:
        return f"every kind had a precision of at least {GOOD_ENOUGH:.0%}"
    return f"of what was reported, this was right: {', '.join(poor)}"


def _share(share: Share) -> str:
    if share.value is None:
        return ""
    low, high = (100 * end for end in (share.low, share.high))
    return f"{100 * share.value:.0f} [{low:.0f}, {high:.0f}] n={share.n}"


def explanation_tables(run: Run, dialogue: str) -> list[Table]:
    """All that the checks say of one conversation."""
    checks, faults = run.table(CHECKS), run.table(FAULTS)
    ours = checks.filter(checks["dialogue"] == dialogue)
    if not ours.height:
        known = checks["dialogue"].unique().to_list()
        raise DialgaugeError(f"there is no conversation '{dialogue}'.{nearest(dialogue, known)}")
    own = faults.filter(faults["dialogue"] == dialogue)
    where = Table(f"User faults in {dialogue}", ["kind", *_PLACE, "why"])
    for row in own.iter_rows(named=True):
        where.add(_words(row["kind"]), row["message"], row["turn"], fault_words(row))
    looked = Table("What was looked at", ["kind", "looked at", Column("faults", align="right"), "scope or reason"])
    for row in ours.iter_rows(named=True):
        looked.add(
            _words(row["kind"]),
            _FULL[row["checked"]],
            None if row["checked"] == "none" else row["faults"],
            scope_sentence(row),
        )
    turns = [turn for each in run.dialogues() if each.id == dialogue for turn in each.turns]
    words = Table("What the user said there", [Column("message", align="right"), "text"])
    for row in own.unique("turn", maintain_order=True).iter_rows(named=True):
        words.add(row["message"], turns[row["turn"]].text or "(no text)")
    return [table for table in (where, words, looked) if len(table)]


def _coverage_document(run: Run) -> dict[str, Any]:
    count = run.coverage["dialogues"]
    return {
        "complete": run.coverage.complete,
        "planned": count.expected,
        "read": count.read,
        "looked_at": count.scored,
        "nothing_to_look_at": run.details.get("nothing_to_look_at", {}),
        "broken_off": run.details.get("broken_off", {}),
    }
