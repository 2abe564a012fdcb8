"""Dies before every single step on the file system in turn, and looks at the store after each death.

Run as a program with a folder. Python announces each step it takes (PEP 578), so a process can be made to kill
itself before the first, the second, ... step that touches the store, until one attempt gets through. The attempts are
forks of a process that has imported everything, because there are hundreds of them; that process must not read a
table itself, as the threads of polars do not survive a fork. Prints how many attempts there were.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import polars

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.runs import Store, new_run
from dialgauge.source import own_source

FRAME = polars.DataFrame({"x": [1, 2, 3]})
DIALOGUES = [Dialogue(id="d", turns=(Turn(speaker="user", text="hi"),))]


def create(store: Store) -> None:
    """Build and store a run of two tables and its dialogues."""
    store.add(new_run(kind="k", name="created", tables={"one": FRAME, "two": FRAME}, corpus=DIALOGUES))


def share(store: Store) -> None:
    """Another run with a corpus that is there already."""
    store.add(new_run(kind="k", name="shared", tables={"one": FRAME, "two": FRAME}, corpus=DIALOGUES))


def resume(store: Store) -> None:
    """Do what is left of some work and store what comes of it."""
    with store.kept_units(kind="k", name="resumed", config={}) as parts:
        for unit in ("a", "b"):
            if unit not in parts:
                parts[unit] = b"done"
        two = polars.DataFrame({"x": [len(part) for part in parts.values()]})
        dialogues = [Dialogue(id="other", turns=())]
        store.add(new_run(kind="k", name="resumed", tables={"one": FRAME, "two": two}, corpus=dialogues))


def remove(store: Store) -> None:
    """Remove the first run, whose corpus another has too."""
    store.remove(store.list()[0].id)


def remove_last(store: Store) -> None:
    """Remove the run that alone has its corpus."""
    store.remove(next(manifest.id for manifest in store.list() if manifest.name == "resumed"))


def dies_before(step: int, action: Callable[[Store], None], store: Store) -> bool:
    """Whether a process died that was to kill itself before this step."""
    child = os.fork()
    if child == 0:
        left = step

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event == "fcntl.flock" or any(str(store.folder) in str(argument) for argument in arguments):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        action(store)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"{action.__name__} failed at step {step}")
    return os.WIFSIGNALED(status)


def check(store: Store) -> int:
    """The number of runs, all of them whole."""
    survey = store.survey()
    for problem in survey.problems:
        raise problem
    for run in survey.runs:
        run.verify()
        if list(run.manifest.tables) != ["dialogue_scores", "one", "two"]:
            raise SystemExit(f"{run.id} is not whole")
        if "turns" not in run.files:
            raise SystemExit(f"{run.id} has lost its dialogues")
    return len(survey.runs)


def all_deaths(action: Callable[[Store], None], store: Store, *, change: int, stride: int) -> int:
    """Let the action die at its steps; the runs in the store change by ``change`` once, and only once."""
    before, step = check(store), 1
    while check(store) == before and dies_before(step, action, store):
        step += stride
    if check(store) - before != change:
        raise SystemExit(f"{action.__name__} changed the store by {check(store) - before} runs")
    return step


def main(folder: Path, stride: int) -> None:
    """Create, resume and remove, dying all the way, at every step or at every few."""
    store = Store(folder)
    own_source()  # once for all attempts
    actions = ((create, 1), (share, 1), (resume, 1), (remove, -1), (remove_last, -1))
    steps = [all_deaths(action, store, change=change, stride=stride) for action, change in actions]
    store.add(new_run(kind="k", name="last", tables={"one": FRAME, "two": FRAME}))
    for name in store.unfinished():  # of a process that died after it had stored its run
        store.remove(name)
    left = [path.name for path in (folder / ".work").iterdir()]
    if left:
        raise SystemExit(f"left behind: {left}")
    present = {path.name for path in (folder / "corpora").iterdir() if path.is_dir()}
    if present != {manifest.corpus for manifest in store.list()} - {""}:
        raise SystemExit(f"corpora without runs: {present}")
    print(*steps)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
