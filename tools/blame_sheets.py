"""Failures as texts for people who label them: the task, what was expected, the conversation; nothing of the rules.

    python tools/blame_sheets.py RESULTS FOLDER [DOMAIN]

writes a sheet for every failure that has no label yet, a guide, and a table to fill in, which
``benchmarks/blame_logs.py --labels`` reads.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Collection
from pathlib import Path

from dialgauge.data import data_folder
from dialgauge.files import write_all
from dialgauge.formats import LoggedConversation, read_agent_log
from dialgauge.tasks import failed_conversations
from dialgauge.users.faults import load_labels
from dialgauge.worlds.tools import ToolTask, load_tool_domain, log_domain, tasks_of_log

#: Answers of tools are cut after so many characters: records of flights are long.
_MOST = 3000
_COLUMNS = ("file", "task", "trial", "sheet", "blame", "blame_message", "task_wrong", "blame_note")
_GUIDE = """How to label a failed conversation

Read the sheet: what the user was told, what was expected, the conversation with every call. Then fill one line of
labels.csv. Do not look at what any program says of it, nor at other people's labels.

blame          agent: with a faultless user this agent would have failed all the same
               user: with a faultless agent this user would have failed all the same
               both: each suffices, or only the combination does
               task: no agent that keeps to the policy could have passed with a faultless user
               infrastructure: a technical failure; unclear: what is here does not decide
               Where the task is wrong and a side erred, name the side and put yes under task_wrong.
blame_message  the number of the first message that went wrong and was never put right
blame_note     one sentence, in your own words
"""


def main(source: str, folder: str, domain: str | None = None) -> None:
    """Write the sheets of one log."""
    labels = [*load_labels(), *load_labels("fresh.jsonl")]
    known = {(label.task, label.trial) for label in labels if label.file == Path(source).name}
    files = label_sheets(source, domain=domain, root=data_folder().root, known=known)
    write_all({Path(folder) / file: content for file, content in files.items()})
    written = len(files.keys() - {"GUIDE.txt", "POLICY.txt", "labels.csv"})
    print(f"failures without a label in {folder}: {written}; read GUIDE.txt there, fill in labels.csv")  # noqa: T201


def label_sheets(
    source: str | Path, *, domain: str | None = None, root: Path | None = None, known: Collection[tuple[str, int]] = ()
) -> dict[str, bytes]:
    """File names and contents: a sheet for every failure but those known by task and trial, a guide, an empty table."""
    log = read_agent_log(source)
    world = load_tool_domain(domain, root=root) if domain else log_domain(log, root)
    tasks = {task.id: task for task in tasks_of_log(log, world.tasks if world is not None else None)}
    file = Path(source).name
    files: dict[str, bytes] = {"GUIDE.txt": _GUIDE.encode()}
    if world is not None and world.policy:
        files["POLICY.txt"] = world.policy.encode()
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for conversation in failed_conversations(log):
        if (conversation.task, conversation.trial) in known or conversation.task not in tasks:
            continue
        sheet = sheet_name(f"{conversation.task[:60]}-{conversation.trial}")
        if sheet in files:
            sheet = f"{len(files)}-{sheet}"
        files[sheet] = _sheet(conversation, tasks[conversation.task], file).encode()
        rows.writerow([file, conversation.task, conversation.trial, sheet, "", "", "", ""])
    files["labels.csv"] = table.getvalue().encode()
    return files


def sheet_name(text: str) -> str:
    """A name for a file, whatever an id holds.

    >>> sheet_name("../[mobile]-0")
    '____mobile_-0.txt'
    """
    return re.sub(r"[^A-Za-z0-9-]", "_", text) + ".txt"


def _sheet(conversation: LoggedConversation, task: ToolTask, file: str) -> str:
    lines = [
        f"{file}, task {conversation.task}, trial {conversation.trial}",
        "",
        "WHAT THE USER WAS TOLD",
        task.instruction,
        "",
    ]
    lines += ["WHAT WAS EXPECTED", *(f"  {call.name} {_json(call.arguments)}" for call in task.expected or ())]
    lines += [] if task.expected else ["  no call that changes anything"]
    lines += [f"  to be told: {output}" for output in task.outputs]
    lines += [f"  to hold: {text}" for text in task.nl_assertions]
    ended = "came to an end" if conversation.finished else "did not come to an end of its own"
    lines += ["", f"WHAT HAPPENED (the conversation {ended})"]
    steps = [(text.place, 0, f"{_WHO[text.speaker]}: {text.text}") for text in conversation.texts]
    for call in conversation.calls:
        result = "no answer was recorded" if call.result is None else call.result
        cut = f"{result[:_MOST]} … ({len(result) - _MOST:,} more characters)" if len(result) > _MOST else result
        steps.append((call.place, 1, f"{_WHO[call.speaker]} calls {call.name} {_json(call.arguments)}\n    → {cut}"))
    lines += [f"[{message}] {text}" for message, _, text in sorted(steps)]
    return "\n".join(lines) + "\n"


_WHO = {"system": "AGENT", "user": "USER"}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
