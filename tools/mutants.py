"""Mutants: does tests/numbers notice when a rule that makes numbers is changed?

    python tools/mutants.py [--sample N] [--seed S] [--minutes M] [FILE...]

Every mutant is one small change in a copy of the source: a comparison, an operator, a constant, a condition. The test
files of its room (ROOMS) are run against it, first the tests that call the changed function, the quickest first, until
one fails. FILE is a path below src/dialgauge, or a pattern; without one all TARGETS are used. A sample has as many of
each file as its share of all mutants. What no test notices is printed as a diff of one line. Seconds are those of the
processor, so a busy machine changes nothing.

No mutants are made of what no number can show: texts (docstrings, what errors and warnings say, functions of SAYS such
as __repr__), annotations, and arguments such as frozen=True. Those of mutants_equal.txt, which make the same numbers
for the reason written there, are not run; a line of it that fits no mutant any more is an error. Tests marked soak are
left out, those marked long too unless LONG names them, and laws have five examples. Not part of `make test`.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from fnmatch import fnmatch
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "dialgauge"
#: What numbers rest on: measures, statistics, equal values, the rule sets of tasks and recordings, GCDF1's rules.
TARGETS = (
    "measures/*.py", "stats/*.py", "values/*.py", "tasks/rules.py",
    *(f"tasks/recordings/{name}.py" for name in ("compat", "strict", "tracker")),
    *(f"users/{name}.py" for name in ("acts", "causes", "normalise", "rules", "scorer", "talk",
                                      "verdicts")),
)  # fmt: skip
#: The test files that can notice a mutant of a file, by patterns; the first that fits counts. They are in tests/numbers
#: unless their folder is named.
ROOMS = {
    "stats/agreement.py": "graders ratings",
    "stats/divergences.py": "likeness",
    "stats/correlations.py": "intervals ratings expected_tracking",
    "stats/*": "intervals measures steps ratings paired graders likeness mends trials_laws",
    "measures/repeated.py": "trials_laws trials_expected graders lab_numbers",
    "measures/*": "measures intervals steps mends trials_laws laws_tracking tasks_laws",
    "values/canonical_map.py": "users_synthetic users_recommended mends",
    "values/standard_evaluator.py": "mwzeval_oracle tasks_laws tasks_oracle mends",
    "values/same.py": "lab_numbers tasks/recordings/strict_outcomes tasks/recordings/compat_outcomes",
    "values/*": "profiles_tracking tracking_oracle expected_tracking mwzeval_oracle laws_tracking mends",
    "tasks/recordings/*": "lab_numbers tasks/recordings/strict_outcomes tasks/recordings/compat_outcomes",
    "tasks/*": "tasks_laws tasks_oracle tasks_expected",
    "users/*": "users_synthetic users_causes users_recommended laws_users users_conversations mends",
}
#: Tests marked long that are run all the same.
LONG = (
    "tests/numbers/test_lab_numbers.py::test_recordings_dialogue_by_dialogue",
    "tests/numbers/test_users_conversations.py::test_figures",
)
#: Functions that make texts and no numbers.
SAYS = {
    "__repr__", "__str__", "__format__", "__hash__", "sentence", "_sentence", "uneven_trials", "short_form",
    "screen_form", "_short_parts", "_escaped", "_digest", "_agreed", "_of_values", "no_score", "_unfit",
    "offer_wanted", "main_confusion", "describe", "template",
}  # fmt: skip
EQUAL = Path(__file__).with_name("mutants_equal.txt")
#: Seconds of tests that a mutant may outlive.
LONGEST = 20.0
#: How many tests are tried before the others.
QUICK = 8
#: What every test takes and calls, by the text of its file and of what it tests.
KEPT = ROOT / ".mutants" / "notes.json"
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
#: Arguments that change no number.
SAYS_NOTHING = (
    "strict", "frozen", "kw_only", "order", "slots", "copy", "dtype", "gc", "eq", "array_like", "repr", "hash",
    "version", "summary", "title", "formula",
)  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """One change: where it is, the lines before and after, and the source of the changed file."""

    file: str
    line: int
    function: int  # its first line; 0 outside of functions
    before: str
    after: str
    source: str

    @property
    def text(self) -> str:
        """As mutants_equal.txt has it."""
        return f"{self.file}: {self.before}  ->  {self.after}"


def main() -> int:
    """Run the mutants and print the rate of each file; 1 if fewer than 90% were noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=TARGETS, help="paths or patterns below src/dialgauge")
    parser.add_argument("--sample", type=int, help="how many mutants; all of them by default")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start none after so many minutes")
    options = parser.parse_args()
    files = target_files(options.files)
    by_file = [list(mutants_of(file)) for file in files]
    equal = equal_mutants(by_file)
    left = [[each for each in some if each.text not in equal] for some in by_file]
    mutants = sample(left, options.sample, options.seed)
    print(
        f"{len(mutants)} mutants of {sum(map(len, by_file))}; {len(equal)} are known to make equal numbers", flush=True
    )
    ends = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workshop = Workshop(Path(folder), sorted({mutant.file for mutant in mutants}))
        rates: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for tried, mutant in enumerate(mutants):
            if time.monotonic() > ends:
                print(f"out of time: {tried} of {len(mutants)} mutants")
                break
            fate = workshop.try_out(mutant)
            rates[mutant.file][("noticed", "survived", "not run").index(fate)] += 1
            if fate != "noticed":
                place = f"{tried + 1} of {len(mutants)}: {mutant.file}:{mutant.line}"
                print(f"{place} {fate}\n  - {mutant.before}\n  + {mutant.after}", flush=True)
    return report(rates)


def equal_mutants(by_file: list[list[Mutant]]) -> set[str]:
    """Mutants that make the same numbers: of each a line, under a line (#) with the reason."""
    lines = [line.strip() for line in EQUAL.read_text().splitlines()] if EQUAL.exists() else []
    named = {line for line in lines if line and not line.startswith("#")}
    made = {each.text for some in by_file for each in some}
    files = {some[0].file for some in by_file if some}
    gone = {line for line in named if not (PACKAGE / line.partition(":")[0]).exists()}
    if stale := gone | {line for line in named - made if line.partition(":")[0] in files}:
        sys.exit("\n".join([f"no longer mutants, take them out of {EQUAL.name}:", *sorted(stale)]))
    return named & made


def report(rates: dict[str, list[int]]) -> int:
    """Print how many mutants of each file were noticed."""
    print(f"{'file':40}{'noticed':>8}{'survived':>9}{'not run':>8}{'rate':>7}")
    total = [sum(counts) for counts in zip(*rates.values(), strict=True)]
    for name, counts in [*sorted(rates.items()), ("all", total)]:
        print(f"{name:40}{counts[0]:>8}{counts[1]:>9}{counts[2]:>8}{counts[0] / sum(counts):>7.0%}")
    return int(total[0] < 0.9 * sum(total))


def target_files(patterns: list[str]) -> list[str]:
    """Files below the package that match; every pattern must match one."""
    found: list[str] = []
    for pattern in patterns:
        paths = sorted(PACKAGE.glob(pattern))
        if not paths:
            sys.exit(f"no file is {pattern}: mend TARGETS")
        found += [str(path.relative_to(PACKAGE)) for path in paths if path.name != "__init__.py"]
    return found


def sample(by_file: list[list[Mutant]], size: int | None, seed: int) -> list[Mutant]:
    """So many mutants, of each file as many as its share, and one at least; in an order of their own."""
    chance, total = random.Random(seed), sum(map(len, by_file))
    share = 1.0 if size is None else min(1.0, size / total)
    drawn = [each for some in by_file if some for each in chance.sample(some, max(1, round(share * len(some))))]
    chance.shuffle(drawn)
    return drawn


def mutants_of(file: str) -> Iterator[Mutant]:
    """Every mutant of a file."""
    text = (PACKAGE / file).read_text()
    tree = ast.parse(text)
    lines = text.splitlines()
    for node, function in sites(tree, 0):
        for changed in changes(node):
            source = replaced(lines, node, changed)
            number = node.lineno
            after = source[number - 1].strip()
            if source != lines:
                yield Mutant(file, number, function, lines[number - 1].strip(), after, "\n".join(source) + "\n")


def sites(node: ast.AST, function: int) -> Iterator[tuple[ast.expr, int]]:
    """Expressions that make values, with the first line of the function that they are in."""
    for name, child in ast.iter_fields(node):
        for each in child if isinstance(child, list) else [child]:
            if name in ("annotation", "returns", "decorator_list") or not isinstance(each, ast.AST):
                continue
            if isinstance(each, ast.Raise | ast.Assert | ast.ImportFrom | ast.JoinedStr):
                continue  # what an error says is no number
            if isinstance(each, ast.keyword) and each.arg in SAYS_NOTHING:
                continue
            if name == "args" and isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "reshape":
                continue  # another shape is an error, or the same: numpy takes any negative length as the one to fill
            if isinstance(each, ast.FunctionDef) and each.name in SAYS:
                continue
            inside = each.lineno if isinstance(each, ast.FunctionDef) and not function else function
            if isinstance(each, ast.expr):
                yield each, inside
            yield from sites(each, inside)


def changes(node: ast.expr) -> Iterator[ast.expr]:
    """What may stand in place of an expression."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            changed = deepcopy(node)
            changed.ops = [COMPARISONS[type(op)]()]
            yield changed
        case ast.BinOp(op=op) if type(op) in OPERATORS and not isinstance(node.left, ast.Constant | ast.JoinedStr):
            changed_sum = deepcopy(node)
            changed_sum.op = OPERATORS[type(op)]()
            yield changed_sum
        case ast.BoolOp():
            changed_both = deepcopy(node)
            changed_both.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield changed_both
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield deepcopy(operand)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(deepcopy(test), deepcopy(orelse), deepcopy(body))
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            changed_call = deepcopy(node)
            changed_call.func = ast.Name(CALLS[name])
            yield changed_call


def replaced(lines: list[str], node: ast.expr, changed: ast.expr) -> list[str]:
    """The lines of a file with another expression in the place of one."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    head = lines[first].encode()[: node.col_offset].decode()
    tail = lines[last].encode()[node.end_col_offset :].decode()
    written = f"{head}({ast.unparse(ast.fix_missing_locations(changed))}){tail}"
    return [*lines[:first], written, *lines[last + 1 :]]


#: Loaded by every Python that runs in the workshop: notes the functions that are called, by file and line.
NOTES = """
import builtins, os
called = set()
def note(place):
    if place not in called:
        called.add(place)
        if "MUTANTS_NOTES" in os.environ:
            with open(os.environ["MUTANTS_NOTES"] + f".{os.getpid()}", "a") as file:
                print(place, file=file)
builtins.mutants_called = note
"""
#: A plugin of pytest: takes the time and the functions of every test, or runs the chosen tests alone, in their order.
PLUGIN = """
import json, os, mutants_notes
from hypothesis import Phase, settings
from pathlib import Path
chosen = json.loads(os.environ.get("MUTANTS_TESTS", "null"))
long = os.environ["MUTANTS_LONG"].split()
def seconds():
    return sum(os.times()[:4])
noted, began = {}, {}
notes = Path(os.environ.get("MUTANTS_NOTES", "/none"))
def pytest_configure():
    settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.nodeid in long or not item.get_closest_marker("long")]
    if chosen is not None:
        place = {name: number for number, name in enumerate(chosen)}
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])
def pytest_runtest_logstart(nodeid):
    began[nodeid] = seconds()
def pytest_runtest_logfinish(nodeid):
    if chosen is None:
        called = set(mutants_notes.called)
        mutants_notes.called.clear()
        for path in notes.parent.glob(notes.name + ".*"):
            called |= set(path.read_text().split())
            path.unlink()
        noted[nodeid] = [seconds() - began[nodeid], sorted(called)]
def pytest_sessionfinish():
    if chosen is None:
        notes.with_suffix(".json").write_text(json.dumps(noted))
"""
#: Imported once; every mutant is tried in a fork, which saves their seconds.
HEAVY = ("pytest", "hypothesis", "numpy", "scipy.stats", "polars", "msgspec", "click", "rich.console", "yaml")


class Workshop:
    """A copy of the package in which mutants are tried."""

    def __init__(self, folder: Path, files: list[str]) -> None:
        self.folder = folder
        self.package = folder / "dialgauge"
        shutil.copytree(PACKAGE, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        if (ROOT / "docs" / "examples").exists():
            shutil.copytree(ROOT / "docs" / "examples", self.package / "starter" / "examples")
        (folder / "mutants_notes.py").write_text(NOTES)
        (folder / "sitecustomize.py").write_text("import mutants_notes\n")
        (folder / "mutants_plugin.py").write_text(PLUGIN)
        sys.path.insert(0, str(folder))
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
            os.environ[name] = "1"
        for name in HEAVY:
            import_module(name)
        noted = self.noted(files)
        self.seconds = {name: seconds for name, (seconds, _) in noted.items()}
        self.callers: dict[str, set[str]] = defaultdict(set)
        for name, (_, called) in noted.items():
            for each in called:
                self.callers[each].add(name)
                self.callers[f"{each.rpartition(':')[0]}:0"].add(name)
        for file in files:
            self.put(file, (PACKAGE / file).read_text())

    def noted(self, files: list[str]) -> dict[str, tuple[float, list[str]]]:
        """Seconds and called functions of every test; of test files that were noted before, as they are in KEPT."""
        sources = {file: noting(file) for file in files}
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        known, found = {}, {}
        for test in sorted({test for file in files for test in tests_of(file)}):
            text = "".join([(ROOT / test).read_text(), *(sources[file] for file in files if test in tests_of(file))])
            known[test] = hashlib.sha256(text.encode()).hexdigest()
        for file, source in sources.items():
            (self.package / file).write_text(source)
        for test, digest in known.items():
            if digest not in kept:
                notes = self.folder / "notes"
                if self.pytest([test], {"MUTANTS_NOTES": str(notes)}, None):
                    sys.exit(f"{test} is not green without a change")
                kept[digest] = json.loads(notes.with_suffix(".json").read_text())
                notes.with_suffix(".json").unlink()
                KEPT.parent.mkdir(exist_ok=True)
                KEPT.write_text(json.dumps(kept))
            found.update(kept[digest])
        print(f"{len(found)} tests of {sum(seconds for seconds, _ in found.values()):.0f} s", flush=True)
        return found

    def put(self, file: str, source: str) -> None:
        """Write a file of the package; what was compiled of it goes."""
        path = self.package / file
        path.write_text(source)
        Path(cache_from_source(str(path))).unlink(missing_ok=True)

    def try_out(self, mutant: Mutant) -> str:
        """What becomes of a mutant: noticed, survived, or not run by any test."""
        callers = self.callers[f"{mutant.file}:{mutant.function}"]
        room = tests_of(mutant.file)
        callers = {name for name in callers if name.partition("::")[0] in room}
        # What is done on import, or kept by a fixture or a cache, is noted for the first test alone, or for none: so
        # all tests of the test files that call anything of this file may notice; where none does, all of its room.
        modules = {name.partition("::")[0] for name in self.callers[f"{mutant.file}:0"]} & set(room) or set(room)
        others = [name for name in self.seconds if name.partition("::")[0] in modules and name not in callers]
        tests: list[str] = []
        spent = 0.0
        for name in [*sorted(callers, key=self.seconds.__getitem__), *sorted(others, key=self.seconds.__getitem__)]:
            spent += self.seconds[name]
            if spent < LONGEST or not tests:
                tests.append(name)
        if not tests:
            return "not run"
        self.put(mutant.file, mutant.source)
        try:
            # Most mutants fall to the quickest tests, whose files alone are read then.
            failed = self.fails(tests[:QUICK]) or bool(tests[QUICK:] and self.fails(tests[QUICK:]))
        finally:
            self.put(mutant.file, (PACKAGE / mutant.file).read_text())
        return "noticed" if failed else "survived"

    def fails(self, tests: list[str]) -> bool:
        """Whether one of these tests fails."""
        patience = 30 + 3 * sum(self.seconds[name] for name in tests)
        files = sorted({name.partition("::")[0] for name in tests})
        return self.pytest(files, {"MUTANTS_TESTS": json.dumps(tests)}, patience)

    def pytest(self, words: list[str], environment: dict[str, str], limit: float | None) -> bool:
        """Whether a test fails, or takes far too long; in a fork, so that nothing of the package stays imported."""
        child = os.fork()
        if not child:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            os._exit(self._tested(words, environment))
        # A test that waits for ever takes no time of the processor.
        ends = float("inf") if limit is None else time.monotonic() + 20 * limit
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status != 0
            if time.monotonic() > ends:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return True
            time.sleep(0.02)

    def _tested(self, words: list[str], environment: dict[str, str]) -> int:
        os.setsid()
        own = {"PYTHONPATH": str(self.folder), "PYTHONPYCACHEPREFIX": "", "DIALGAUGE_EXAMPLES": "few",
               "MUTANTS_LONG": " ".join(LONG)}  # fmt: skip
        os.environ.update(own | environment)
        os.chdir(ROOT)
        output = os.open(self.folder / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        marks = ["-m", "not soak", "-p", "mutants_plugin", "-p", "no:cacheprovider"]
        try:
            return int(import_module("pytest").main(["-x", "-q", *marks, *words]))
        except BaseException:  # whatever a mutant does, it is noticed
            return 1


def tests_of(file: str) -> list[str]:
    """The test files that can notice a mutant of a file."""
    names = next(names for pattern, names in ROOMS.items() if fnmatch(file, pattern))
    paths = [Path("tests" if "/" in name else "tests/numbers", name) for name in names.split()]
    return [str(path.with_name(f"test_{path.name}.py")) for path in paths]


def noting(file: str) -> str:
    """The source of a file in which every function of the first level notes that it was called."""
    tree = ast.parse((PACKAGE / file).read_text())

    def walk(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                call = ast.parse(f"mutants_called({f'{file}:{child.lineno}'!r})").body
                child.body[isinstance(child.body[0], ast.Expr) : 0] = call
            else:
                walk(child)

    walk(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


if __name__ == "__main__":
    sys.exit(main())
