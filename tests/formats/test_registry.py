"""Picking a format by name and by looking, which modules that imports, and formats of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.formats import (
    BUILT_IN,
    LAST_RESORT,
    Notes,
    format_listing,
    format_named,
    formats,
    read,
    recognise,
    writer_named,
)
from support.examples import EXAMPLES
from support.packages import install, on_the_path
from support.reading import part_of

# -- by name ---------------------------------------------------------------------------------------------------------


def test_a_misspelt_format_gets_the_nearest_name() -> None:
    with pytest.raises(DialgaugeError, match=r"no format named 'multiwos'\. Did you mean 'multiwoz'"):
        format_named("multiwos")


def test_a_format_without_a_writer_lists_those_with_one() -> None:
    with pytest.raises(DialgaugeError, match=r"multiwoz can be read but not written; writable: .*native.*sgd"):
        writer_named("multiwoz")
    with pytest.raises(DialgaugeError, match="can be read but not written"):
        format_named("multiwoz").write([], None, Notes())  # type: ignore[union-attr, arg-type]


# -- by looking ------------------------------------------------------------------------------------------------------


def test_a_file_of_two_formats_is_an_error_and_never_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {name: format_named(name) for name in BUILT_IN}
    monkeypatch.setitem(BUILT_IN, "twin", "")
    ours["twin"] = type("Twin", (type(ours["native"]),), {"name": "twin"})()
    monkeypatch.setattr("dialgauge.formats.registry._own", ours.__getitem__)
    with pytest.raises(
        DialgaugeError, match=r"any of these formats: native, twin; name one of them \(--help says how\)"
    ):
        recognise(part_of(EXAMPLES["native"]))


# -- formats of other packages ---------------------------------------------------------------------------------------

BANG = '''
from dialgauge import Dialogue, Turn
from dialgauge.formats import DialogueFormat

class Bang(DialogueFormat):
    """Dialogues of one line each that begin with an exclamation mark."""
    name = "bang"
    summary = "lines that begin with an exclamation mark"
    fields = frozenset({"text"})

    def recognise(self, peek):
        return peek.lines[0].startswith("!")

    def read(self, part, notes):
        for number, line in part.lines():
            yield Dialogue(id=str(number), turns=(Turn(speaker="user", text=line.decode()[1:]),))

class Bare(Bang):
    name = "bare"
    recognise = DialogueFormat.recognise

class Nameless(DialogueFormat):
    recognise = read = lambda *_: False

class Misnamed(Bang):
    name = "other"

class Failing(Bang):
    name = "failing"
    def recognise(self, peek):
        return 1 / 0

class Greedy(Bang):
    name = "greedy"
    def recognise(self, peek):
        return True

NUMBER = 3
'''
FAULTS = {
    "absent": ("bang_package:Absent", "AttributeError"),
    "bare": ("bang_package:Bare", "Can't instantiate abstract class Bare"),
    "gone": ("no_such_package:Format", "ModuleNotFoundError"),
    "misnamed": ("bang_package:Misnamed", "its class is named 'other'"),
    "nameless": ("bang_package:Nameless", "its class is named 'None'"),
    "number": ("bang_package:NUMBER", "a subclass of DialogueFormat or ResourceFormat is expected"),
}


@pytest.fixture
def plugged(tmp_path: Path) -> Iterator[Path]:
    """A folder in which a good format is installed, and every kind of bad one."""
    folder = tmp_path / "installed"
    folder.mkdir()
    targets = {"bang": "bang_package:Bang", "native": "bang_package:Bang"}
    targets |= {name: target for name, (target, _) in FAULTS.items()}
    lines = "\n".join(f"{name} = {target}" for name, target in targets.items())
    install(folder, "bang_package", BANG, f"[dialgauge.formats]\n{lines}\n")
    with on_the_path(folder):
        yield folder


def test_a_good_plugin_is_used_whatever_the_others_do(plugged: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("!hello\n!again\n")
    corpus = read(tmp_path / "file")
    assert (corpus.format, [dialogue.turns[0].text for dialogue in corpus.dialogues]) == ("bang", ["hello", "again"])
    assert format_named("bang").name == "bang"
    assert "bang" in formats() and not FAULTS.keys() & formats().keys()


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_faulty_plugin_is_named_with_the_reason(plugged: Path, name: str) -> None:
    reason = FAULTS[name][1]
    with pytest.raises(DialgaugeError, match=f"format '{name}'") as error:
        format_named(name)
    assert reason in str(error.value)
    (listed,) = (plugin for plugin in format_listing() if plugin.name == name)
    assert (listed.package, listed.content) == ("bang_package", None)
    assert reason in (listed.reason or "")


def test_a_plugin_cannot_claim_our_files(tmp_path: Path) -> None:
    install(tmp_path, "greedy_package", BANG, "[dialgauge.formats]\ngreedy = greedy_package:Greedy\n")
    with on_the_path(tmp_path):
        claimed = {name: recognise(part_of(content)).name for name, content in EXAMPLES.items()}
        assert claimed == {name: name for name in EXAMPLES} | {LAST_RESORT: "greedy"}  # asked after all plugins
        assert recognise(part_of(b"?")).name == "greedy"


def test_a_plugin_that_fails_is_named(tmp_path: Path) -> None:
    install(tmp_path, "failing_package", BANG, "[dialgauge.formats]\nfailing = failing_package:Failing\n")
    with on_the_path(tmp_path), pytest.raises(DialgaugeError, match="'failing' of the package failing_package fails"):
        recognise(part_of(b"?"))
