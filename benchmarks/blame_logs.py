"""The suspects of failures against people's labels: confusion matrices, agreement, kappa, precision and recall.

    python benchmarks/blame_logs.py [DATA] [--write DATE]
    python benchmarks/blame_logs.py DATA --labels LABELS.csv... [--labels LABELS.csv...]

The signs were written on the failures of the development half whose task has an odd checksum. Reported: these, the
other half, and every labelled failure of a task that no sign was written on; then the failures that two labellers who
had not seen the signs labelled after these were frozen (``blame_labels``). The suspects are held against the first
labeller, and the labellers against each other; ``--labels`` takes other such tables, one option for each labeller.
Kappa's intervals resample tasks, 2,000 times.
``--write`` stores what ``review`` prints: the figures of the later labels, on tasks that no sign was written on.
"""

from __future__ import annotations

import csv
import hashlib
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TypeAlias

import msgspec

from dialgauge.data import data_folder
from dialgauge.dialogue import Blame
from dialgauge.formats import read
from dialgauge.stats import cohen_kappa
from dialgauge.trials import SUSPECTS, Estimate, Failure, Measured, audit_log, failures, read_log
from dialgauge.users.faults import LabelledConversation, check_user, load_labels, share

DEVELOPMENT, RESAMPLES, NEAR = 60, 2000, 2
UNSEEN = "tasks that no sign was written on"
LATER = [[Path(__file__).parent / "blame_labels" / f"{name}.csv"] for name in ("first", "second")]
RECORD = Path(__file__).parent.parent / "src/dialgauge/trials/measured.json"
ConversationKey: TypeAlias = tuple[str, str, int]
Pairs: TypeAlias = Sequence[tuple[LabelledConversation, Failure]]
Answers: TypeAlias = Sequence[tuple[LabelledConversation, str]]


def odd(task: str) -> bool:
    """Which tasks rules may be written on: fixed before any label was looked at."""
    return int(hashlib.sha256(task.encode()).hexdigest(), 16) % 2 == 1


def main() -> None:
    """Print everything."""
    given, date = sys.argv[1:], ""
    if "--labels" in given:
        report_later(Path(given[0]), sheets_of(given[1:]))
        return
    if "--write" in given:
        place = given.index("--write")
        date = given[place + 1]
        del given[place : place + 2]
    data = Path(given[0]) if given else data_folder().root
    labels, verdicts = labelled_verdicts(data)
    labellers()
    for title, chosen in parts(labels).items():
        report(title, [(label, verdicts[label.key]) for label in chosen])
    unseen = [(label, verdicts[label.key]) for label in parts(labels)[UNSEEN]]
    by_code(unseen)
    print(f"failures in these files: {len(verdicts)}, labelled: {len(labels)}")
    later = report_later(data, LATER)
    if date:
        RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(record(later, date)), indent=1) + b"\n")


def labelled_verdicts(data: Path) -> tuple[list[LabelledConversation], dict[ConversationKey, Failure]]:
    """The labels of failures, and the verdict on every failure of their files."""
    labels = [label for label in [*load_labels(), *load_labels("fresh.jsonl")] if label.blame is not None]
    files = sorted({label.file for label in labels})
    return labels, {key: verdict for name in files for key, verdict in blamed(data / "tau", name)}


def parts(labels: Sequence[LabelledConversation]) -> dict[str, list[LabelledConversation]]:
    """The failures that each figure is about."""
    development = [label for label in labels if label.number < DEVELOPMENT]
    written = [label for label in development if odd(label.task)]
    seen = {(label.file, label.task) for label in written}
    return {
        "where the rules were written": written,
        "development half": development,
        "other half (held out and fresh)": [label for label in labels if label.number >= DEVELOPMENT],
        "all labelled failures": list(labels),
        UNSEEN: [label for label in labels if (label.file, label.task) not in seen],
    }


def sheets_of(given: Sequence[str]) -> list[list[Path]]:
    """The files of each labeller."""
    labellers_files: list[list[Path]] = []
    for word in given:
        if word == "--labels":
            labellers_files.append([])
        else:
            labellers_files[-1].append(Path(word))
    return labellers_files


def later_verdicts(data: Path, paths: Sequence[Path]) -> Pairs:
    """The verdicts on failures that were labelled after the rules, with their labels."""
    labels = {label.key: label for path in paths for label in filled_in(path)}
    files = sorted({key[0] for key in labels})
    verdicts = {key: verdict for name in files for key, verdict in blamed(data / "tau", name)}
    return [(label, verdicts[key]) for key, label in labels.items()]


def unwritten(pairs: Pairs) -> Pairs:
    """Those of tasks that no rule was written on."""
    labels = [label for label in [*load_labels(), *load_labels("fresh.jsonl")] if label.blame is not None]
    seen = {(label.file, label.task) for label in parts(labels)["where the rules were written"]}
    return [(label, verdict) for label, verdict in pairs if (label.file, label.task) not in seen]


def report_later(data: Path, labellers_files: Sequence[Sequence[Path]]) -> Pairs:
    """The rules against labels that were made after them, and the labellers against each other."""
    pairs = later_verdicts(data, labellers_files[0])
    report("labelled after the rules", pairs)
    unseen = unwritten(pairs)
    report(f"of these, {UNSEEN}", unseen)
    for number, paths in enumerate(labellers_files[1:], start=2):
        other = {label.key: str(label.blame) for path in paths for label in filled_in(path)}
        compare(
            f"labeller 1 against labeller {number}",
            [(label, other[label.key]) for label, _ in pairs if label.key in other],
        )
    return unseen


def filled_in(path: Path) -> Iterator[LabelledConversation]:
    """The lines of a sheet's table that name somebody."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if blame := (row["blame"] or "").strip().lower():
                if blame not in SUSPECTS:
                    raise SystemExit(f"{path}: blame must be one of {', '.join(SUSPECTS)}, not '{blame}'")
                message = (row["blame_message"] or "").strip()
                yield LabelledConversation(
                    number=-1,
                    file=row["file"],
                    task=row["task"],
                    trial=int(row["trial"]),
                    faults=(),
                    blame=blame,
                    blame_message=int(message) if message.isdigit() else None,
                )


def record(pairs: Pairs, date: str) -> Measured:
    """What ``review`` prints of this."""
    answers = suspected(pairs)
    return Measured(
        measured=date,
        failures=len(pairs),
        right=_estimate(agreed(answers), len(pairs)),
        always_agent=_estimate(sum(label.blame == "agent" for label, _ in pairs), len(pairs)),
        kappa=Estimate(kappa(answers) or 0.0, *(round(end, 4) for end in kappa_interval(answers))),
    )


def _estimate(count: int, n: int) -> Estimate:
    part = share(count, n)
    return Estimate(part.value or 0.0, part.low, part.high)


def suspected(pairs: Pairs) -> Answers:
    """The suspects as answers."""
    return [(label, failure.suspect) for label, failure in pairs]


def blamed(folder: Path, name: str) -> list[tuple[tuple[str, str, int], Failure]]:
    """A file's failures with their suspects, by file, task and trial."""
    faults = {
        dialogue.id: [
            Blame(dialogue=dialogue.id, side="user", turn=fault.message, code=fault.kind, arguments=(fault.about,))
            for fault in check_user(dialogue).faults
        ]
        for dialogue in read(folder / name).dialogues
    }
    log = read_log(folder / name, name)
    world = log.domain(None, folder.parent)
    found = failures(log, audit_log(log, world), lambda dialogue, _: faults.get(dialogue.id, ()), world)
    return [((name, each.evidence.task, each.evidence.trial), each) for each in found]


def report(title: str, pairs: Pairs) -> None:
    """One part: agreement and kappa, and precision and recall of each suspect."""
    print(f"\n{title}: {len(pairs)} failures of {len({label.task for label, _ in pairs})} tasks")
    agent = sum(label.blame == "agent" for label, _ in pairs)
    print(f"  always the agent: agreement {shown(agent, len(pairs))}, kappa 0")
    compare("the suspects", suspected(pairs))
    for name in SUSPECTS:
        said = [label.blame for label, failure in pairs if failure.suspect == name]
        labelled = [failure.suspect for label, failure in pairs if label.blame == name]
        if said or labelled:
            precision, recall = shown(said.count(name), len(said)), shown(labelled.count(name), len(labelled))
            print(f"    '{name}': precision {precision}, recall {recall}")
    near = sum(
        abs(label.blame_message - failure.signs[0].message) <= NEAR
        for label, failure in pairs
        if label.blame_message is not None and failure.signs and failure.signs[0].message is not None
    )
    print(f"  message within two of the label's: {near} of {len(pairs)}")


def compare(title: str, answers: Answers) -> None:
    """A confusion matrix, with agreement and kappa; ``unclear`` is an answer, and a wrong one."""
    counts = Counter((label.blame, answer) for label, answer in answers)
    print(f"  {title}\n    {'label':<10}" + "".join(f"{name:>15}" for name in SUSPECTS))
    for name in SUSPECTS:
        if any(counts[name, other] for other in SUSPECTS):
            print(f"    {name:<10}" + "".join(f"{counts[name, other]:>15}" for other in SUSPECTS))
    low, high = kappa_interval(answers)
    print(f"    agreement {shown(agreed(answers), len(answers))}, kappa {kappa(answers)} [{low:.2f}, {high:.2f}]")


def agreed(answers: Answers) -> int:
    """How often an answer is the label's."""
    return sum(label.blame == answer for label, answer in answers)


def by_code(pairs: Pairs) -> None:
    """The suspects by the sign that decides."""
    print("\nby deciding sign, on tasks that no sign was written on")
    codes: dict[str, list[bool]] = {}
    for label, verdict in pairs:
        code = f"{verdict.suspect}: {verdict.signs[0].code if verdict.signs else 'no sign'}"
        codes.setdefault(code, []).append(label.blame == verdict.suspect)
    for code, right in sorted(codes.items()):
        print(f"  {code:<36} {sum(right)} of {len(right)}")


def shown(count: int, n: int) -> str:
    """A share with its interval."""
    part = share(count, n)
    return f"{count} of {n}" + (
        f" ({part.value:.2f} [{part.low:.2f}, {part.high:.2f}])" if part.value is not None else ""
    )


def kappa(answers: Answers) -> float | None:
    """Cohen's kappa."""
    value = cohen_kappa([(label.blame, answer) for label, answer in answers])
    return None if value is None else round(value, 4)


def kappa_interval(answers: Answers) -> tuple[float, float]:
    """The interval of kappa: tasks are drawn, each with all its failures."""
    tasks: dict[tuple[str, str], list[tuple[LabelledConversation, str]]] = {}
    for label, answer in answers:
        tasks.setdefault((label.file, label.task), []).append((label, answer))
    groups, draw = list(tasks.values()), random.Random(0)
    values = []
    for _ in range(RESAMPLES):
        drawn = [pair for group in draw.choices(groups, k=len(groups)) for pair in group]
        if (value := kappa(drawn)) is not None:
            values.append(value)
    values.sort()
    return values[int(0.025 * len(values))], values[int(0.975 * len(values)) - 1]


def labellers() -> None:
    """How independent the two labellers were: what they share beyond the verdict."""
    first = {label.key: label for label in load_labels()}
    pairs = [(first[label.key], label) for label in load_labels("second.jsonl")]
    failed = [(one, other) for one, other in pairs if one.blame is not None or other.blame is not None]
    notes = [SequenceMatcher(None, one.blame_note or "", other.blame_note or "").ratio() for one, other in failed]
    crossed = [
        SequenceMatcher(None, failed[place][0].blame_note or "", failed[place - 1][1].blame_note or "").ratio()
        for place in range(len(failed))
    ]
    print(f"two labellers, {len(pairs)} conversations, {len(failed)} failures")
    print(f"  same blame {sum(one.blame == other.blame for one, other in failed)}")
    print(f"  same deciding message {sum(one.blame_message == other.blame_message for one, other in failed)}")
    print(f"  task_wrong alike {sum(one.task_wrong == other.task_wrong for one, other in failed)}")
    same = sum(
        {(fault.kind, fault.message) for fault in one.faults} == {(fault.kind, fault.message) for fault in other.faults}
        for one, other in pairs
    )
    print(f"  the same faults in the same messages {same} of {len(pairs)}")
    print(f"  likeness of their sentences {sum(notes) / len(notes):.2f}")
    print(f"  likeness of unrelated sentences {sum(crossed) / len(crossed):.2f}")


if __name__ == "__main__":
    main()
