"""The release as its users get it: sdist and wheel built, checked, and the wheel tried in a fresh environment.

``make release-check``, or ``python tools/release_check.py [FOLDER]``, which keeps both files in FOLDER (default: dist).
It takes the package registry and the standard library. Exit code 1, and what went wrong, where a step fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What must be in both files, below the folder of the release or of its metadata.
SHIPPED = ("LICENSE", "NOTICE")
#: Prints the MB of every installed package, the largest first.
SIZES = """
from importlib.metadata import distributions
sizes = []
for package in distributions():
    files = {path.resolve() for file in package.files or () if (path := package.locate_file(file)).is_file()}
    sizes.append((sum(path.stat().st_size for path in files) / 1e6, package.metadata["Name"]))
print(f"{sum(size for size, _ in sizes):6.1f} MB in all")
for size, name in sorted(sizes, reverse=True):
    if size >= 1:
        print(f"{size:6.1f} {name}")
"""


def main() -> int:
    """Every step in order; the first that fails ends it."""
    dist = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            version = same_version()
            sdist, wheel = built(dist, version, Path(scratch) / "tools")
            shipped(sdist, wheel, version)
            tried(wheel, version, Path(scratch))
        except subprocess.CalledProcessError as error:
            return _failed(f"{' '.join(map(str, error.cmd))}\n{(error.stdout + error.stderr)[-3000:]}")
        except ValueError as error:
            return _failed(str(error))
    _say(f"dialgauge {version}: {sdist.name} and {wheel.name} in {dist} are fit to be released")
    return 0


def same_version() -> str:
    """The version, which package, citation, changelog and release note must agree on."""
    version = _found(r'__version__ = "(.+)"', "src/dialgauge/_version.py")
    for pattern, file in ((r"^version: (.+)$", "CITATION.cff"), (r"^## ([\d.]+)", "CHANGELOG.md")):
        if (other := _found(pattern, file)) != version:
            raise ValueError(f"{file} says {other}, the package {version}")
    if not (ROOT / "docs" / f"release-{version}.md").exists():
        raise ValueError(f"there is no release note docs/release-{version}.md")
    return version


def built(dist: Path, version: str, tools: Path) -> tuple[Path, Path]:
    """Source archive and wheel, the wheel built from the archive, and both as the registry would accept them."""
    python = environment(tools, "build", "twine")
    _run(python, "-m", "build", "--outdir", dist, ROOT)
    made = dist / f"dialgauge-{version}.tar.gz", dist / f"dialgauge-{version}-py3-none-any.whl"
    _run(python, "-m", "twine", "check", "--strict", *made)
    _say("built, and twine finds nothing wrong")
    return made


def shipped(sdist: Path, wheel: Path, version: str) -> None:
    """Licence and notices are in both, the starter files and no tests in the wheel."""
    with tarfile.open(sdist) as archive:
        sources = set(archive.getnames())
    with zipfile.ZipFile(wheel) as package:
        names = set(package.namelist())
    wanted = {f"dialgauge-{version}.dist-info/licenses/{name}" for name in SHIPPED}
    wanted |= {"dialgauge/py.typed", "dialgauge/starter/tour.ipynb", "dialgauge/starter/examples/gold.jsonl"}
    if missing := (wanted - names) | ({f"dialgauge-{version}/{name}" for name in SHIPPED} - sources):
        raise ValueError(f"not shipped: {', '.join(sorted(missing))}")
    if strangers := {name for name in names if not name.startswith(("dialgauge/", f"dialgauge-{version}."))}:
        raise ValueError(f"shipped without need: {', '.join(sorted(strangers)[:5])}")
    _say(f"{sdist.name} {sdist.stat().st_size / 1e6:.1f} MB, {wheel.name} {wheel.stat().st_size / 1e6:.1f} MB")


def tried(wheel: Path, version: str, folder: Path) -> None:
    """The wheel alone in a fresh environment: its size, the demo with its report, and a project to begin in."""
    python = environment(folder / "fresh", wheel)
    dialgauge = python.with_name("dialgauge")
    if (said := _run(dialgauge, "--version").strip()) != f"dialgauge {version}":
        raise ValueError(f"the installed wheel says '{said}'")
    _say(_run(python, "-c", SIZES).rstrip())
    _run(dialgauge, "demo", "--out", folder / "demo")
    report = folder / "demo" / "report.html"
    _say(f"the demo of the wheel wrote its report ({report.stat().st_size / 1e6:.1f} MB)")
    _run(dialgauge, "init", folder / "mine")
    examples = folder / "mine" / "examples"
    _run(dialgauge, "score", examples / "gold.jsonl", examples / "careful.jsonl")


def environment(folder: Path, *packages: object) -> Path:
    """The Python of a new environment with these packages."""
    _run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def _run(*words: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout


def _found(pattern: str, file: str) -> str:
    match = re.search(pattern, (ROOT / file).read_text("utf-8"), re.MULTILINE)
    if match is None:
        raise ValueError(f"{file} names no version")
    return match[1]


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _failed(why: str) -> int:
    sys.stderr.write(f"not fit to be released: {why}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
