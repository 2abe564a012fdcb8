"""All tests in two processes: ``python tools/halves.py [options of pytest]``.

Each half collects, imports and prepares only what its own tests need. Workers that share all tests would each do all of
that, and report test by test (``make test WORKERS=8`` uses such workers, for more processors).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parents[1]
#: Rooms whose tests take half of the time; what takes long to prepare (the workbench, the pages) is needed here only.
FIRST = tuple(f"tests/{room}" for room in ("cli", "docs", "explorer", "rendering", "tasks", "tracking"))
#: Tests that ``make test`` runs before all others.
BEFORE = "tests/install"
#: To take two gigabytes of objects apart, one by one, before the process ends would take ten CPU seconds; and pytest
#: looks twice for what was left as garbage, where once is enough for all that is still in use.
PYTEST = """
import atexit, gc, os, sys, pytest
class Garbage:
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        gc.collect()
        gc.freeze()
code = pytest.main(sys.argv[1:], plugins=[Garbage()])
atexit._run_exitfuncs()
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
"""


def main(options: list[str]) -> int:
    """Run both; the first half is shown when both are done."""
    pytest = [sys.executable, "-c", PYTEST, *options]
    first = [*pytest, "-o", "cache_dir=.pytest_cache/first", *FIRST]
    second = [*pytest, *(f"--ignore={folder}" for folder in (*FIRST, BEFORE)), "tests"]
    with TemporaryFile() as shown:
        started = subprocess.Popen(first, cwd=ROOT, stdout=shown, stderr=subprocess.STDOUT)  # noqa: S603
        try:
            code = subprocess.run(second, cwd=ROOT, check=False).returncode  # noqa: S603
        finally:
            code_of_first = started.wait()
        shown.seek(0)
        sys.stdout.buffer.write(shown.read())
    return code_of_first or code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
