"""The loader against real installed packages: a module and a ``dist-info`` folder each, in a folder on the path."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from textwrap import dedent

import pytest

from dialgauge import plugins
from dialgauge.errors import DialgaugeError

GROUP = plugins.PROFILES

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package: its module's code and its entry points, ``name = attribute`` each."""
    (tmp_path / "support_halves.py").write_text("from fractions import Fraction\nHALF = Fraction(1, 2)\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def make(package: str, code: str, entries: str, group: str = GROUP, metadata: str | None = None) -> None:
        (tmp_path / f"{package}.py").write_text(dedent(code))
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        if metadata is not None:
            (folder / "METADATA").write_text(metadata)
        (folder / "entry_points.txt").write_text(f"[{group}]\n{entries}\n")
        plugins._scan.cache_clear()

    yield make
    plugins._scan.cache_clear()
    for name in set(sys.modules) - before:
        del sys.modules[name]


OURS = {"half": "support_halves:HALF"}


def test_a_good_plugin_is_loaded_when_it_is_named(install: Install) -> None:
    install("acme", "from fractions import Fraction\nTENTH = Fraction(1, 10)", "tenth = acme:TENTH")
    assert plugins.names(GROUP, OURS) == ["half", "tenth"]
    assert "acme" not in sys.modules
    assert plugins.load(GROUP, "tenth", Fraction, OURS) == Fraction(1, 10)
    assert plugins.names(plugins.FORMATS, {}) == []


@pytest.mark.parametrize(
    ("code", "entry", "reason"),
    [
        ("import no_such_package", "bad = acme:X", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("", "bad = acme:X", "AttributeError: module 'acme' has no attribute 'X'"),
        ("X = = 1", "bad = acme:X", "SyntaxError"),
        ("import sys; sys.exit('no')", "bad = acme:X", "SystemExit: no"),
        ("1 / 0", "bad = acme:X", "ZeroDivisionError"),
        ("X = 1", "bad = no.such.module:X", "ModuleNotFoundError"),
        ("X = 'text'", "bad = acme:X", "a Fraction is expected, but it is of the type str"),
        ("", "bad = acme", "a Fraction is expected, but it is of the type module"),
    ],
)
def test_a_faulty_plugin_is_named_with_its_package_and_the_reason(
    install: Install, code: str, entry: str, reason: str
) -> None:
    install("acme", code, entry)
    with pytest.raises(DialgaugeError) as error:
        plugins.load(GROUP, "bad", Fraction, OURS)
    text = str(error.value)
    assert text.startswith("the profile 'bad' of the package acme (")
    assert reason in text
    assert text.endswith("; update or uninstall acme")
    half, bad = sorted(plugins.listing(GROUP, Fraction, OURS), key=lambda plugin: plugin.package != "dialgauge")
    assert (half.name, half.content, half.reason) == ("half", Fraction(1, 2), None)
    assert (bad.name, bad.content, bad.reason) == ("bad", None, text)


def test_two_plugins_of_one_name_are_refused_and_others_are_not(install: Install) -> None:
    code = "from fractions import Fraction\nX = Fraction(1, 10)"
    install("acme", code, "same = acme:X\nalone = acme:X")
    install("bolt", code, "same = bolt:X")
    with pytest.raises(DialgaugeError, match=r"more than one profile is named 'same': .*(acme|bolt).* and .*uninstall"):
        plugins.load(GROUP, "same", Fraction, {})
    assert plugins.load(GROUP, "alone", Fraction, {}) == Fraction(1, 10)
    assert plugins.names(GROUP, {}) == ["alone", "same"]
    alone, *same = plugins.listing(GROUP, Fraction, {})
    assert alone.reason is None
    assert [plugin.package for plugin in same] == ["acme", "bolt"]
    assert all("acme (acme:X)" in (plugin.reason or "") and "bolt (bolt:X)" in (plugin.reason or "") for plugin in same)


def test_a_plugin_cannot_take_the_name_of_one_of_ours(install: Install) -> None:
    install("acme", "from fractions import Fraction\nX = Fraction(1, 10)", "half = acme:X")
    assert plugins.load(GROUP, "half", Fraction, OURS) == Fraction(1, 2)
    assert plugins.names(GROUP, OURS) == ["half"]
    ours, theirs = plugins.listing(GROUP, Fraction, OURS)
    assert (ours.package, ours.content, ours.reason) == ("dialgauge", Fraction(1, 2), None)
    assert theirs.content is None
    assert "package acme (acme:X)" in (theirs.reason or "")
    assert "dialgauge's own (support_halves:HALF)" in (theirs.reason or "")


@pytest.mark.parametrize("entries", ["no equals sign", "x = acme:X\n]["])
def test_a_file_of_entry_points_that_nobody_can_read_stops_nothing(install: Install, entries: str) -> None:
    install("acme", "", entries)
    install("bolt", "from fractions import Fraction\nX = Fraction(1, 10)", "tenth = bolt:X")
    assert plugins.names(GROUP, OURS) == ["half", "tenth"]


def test_a_missing_extra_of_ours_carries_its_install_line(install: Install) -> None:
    install("acme", "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')", "", group="other")
    table = {"deep": "acme:Deep"}
    with pytest.raises(DialgaugeError, match=r"The model deep needs the package torch; .*dialgauge\[neural\]"):
        plugins.load_class(plugins.RANKERS, "deep", int, table)
    (deep,) = plugins.class_listing(plugins.RANKERS, int, table)
    assert "dialgauge[neural]" in (deep.reason or "")


def test_a_mistake_in_our_own_table_is_a_bug_and_not_a_sentence() -> None:
    with pytest.raises(ModuleNotFoundError):
        plugins.load(GROUP, "half", Fraction, {"half": "dialgauge.no_such_module:HALF"})
