"""An option that several commands have means the same in all of them: one declaration, one help text."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.cli import (
    COMMANDS,
    AlwaysOn,
    CommandParameter,
    command_page,
    command_parameters,
    read_words,
    stores_by_name,
)

#: What the table in docs/decisions/command-line.md promises.
SAME = (
    "--json", "--table", "--figures", "--store", "--format", "--fail-under",
    "--fail-on-drop", "--view", "--gold-format", "--pred-format",
)  # fmt: skip
#: Commands with --json whose answer is no table.
NO_TABLE = {"data convert", "babi convert-dstc2", "review"}
#: Commands that hold conversations or train, and so always store.
ALWAYS_STORE = {"lab run", "lab study", "babi table", "babi evaluate", "babi interact", "babi train"}


def commands() -> Iterator[tuple[str, dict[str, CommandParameter]]]:
    for name in COMMANDS:
        group = importlib.import_module(f"dialgauge.cli.{name}").app.commands
        for command, function in group.items():
            parameters = command_parameters(function)
            options = {option: one for one in parameters if one.is_option for option in one.options}
            yield name if len(group) == 1 else f"{name} {command}", options


EVERY = dict(commands())
#: All others that store runs do where that is asked for.
ON_REQUEST = {name for name, options in EVERY.items() if "--run" in options} - ALWAYS_STORE


#: Options that mean one thing and are worded for the command, each with what differs. docs/decisions/command-line.md.
WORDED = {
    "--accept": "likely mistakes that are scored all the same, or how often bAbI's user accepts an offer",
    "--by": "what the scores of the family can be broken down by",
    "--correlation": "between measures over several systems, or within each",
    "--data": "the folder of one corpus, or of all",
    "--database": "what it is needed for, and its default",
    "--detail": "what is shown beside the answer",
    "--dialogues": "dialogues per what",
    "--dialogue": "what is done with the dialogue: shown, annotated, included; bAbI's have numbers, no ids",
    "--domain": "where a conversation happens, with which default, or which of its services is looked for",
    "--force": "what would be replaced",
    "--fresh": "what is computed again",
    "--from": "repeatable where several systems are shown",
    "--goal": "what is done with the goal",
    "--judge": "who judges what: graders whether a task was done, or a model what the user got wrong",
    "--limit": "'runs show' writes as many rows as it shows: the tables whole are files already",
    "--load": "the one command that needs a memory network says so",
    "--measures": "examples of the family",
    "--model": "of ours, or of an endpoint",
    "--ontology": "what it is for, and its default",
    "--out": "what the command exists to make",
    "--profile": "repeatable where several are scored",
    "--resamples": "of what, and whether there may be none",
    "--run": "whether the command stores without being asked",
    "--seed": "what is random",
    "--seeds": "of what",
    "--set": "settings of what",
    "--split": "which splits the command takes",
    "--splits": "which splits the command takes",
    "--system": "what the command does to the system",
    "--task": "which tasks there are, and the default",
    "--tasks": "which tasks there are",
    "--to": "the formats that the command writes",
    "--worst": "a list with errors, or dialogues turn by turn",
    "--workers": "reproduce has workers only with --fresh",
    "--world": "instead of --data where both are possible",
    "--ratings": "which measure goes with them, for one system or several, or for the paper's dialogues",
    "--preset": "the settings that a model learns by, or the trainings that are shown",
}


def wordings(option: str) -> set[tuple[str, str]]:
    return {
        (options[option].declaration.settings["help"], options[option].value_name)
        for options in EVERY.values()
        if option in options
    }


def test_options_of_one_name_have_one_text_but_for_those_declared() -> None:
    named = {option for options in EVERY.values() for option in options if option.startswith("--")}
    assert {option for option in named if len(wordings(option)) > 1} == set(WORDED)


@pytest.mark.parametrize("option", ["--level", "--missing", "--show", "--profile", "--candidates", "--dataset"])
def test_no_name_has_two_kinds_of_values(option: str) -> None:
    """Each of these once meant two things."""
    kinds = {(one.type, one.value_name) for options in EVERY.values() if (one := options.get(option))}
    assert len(kinds) == 1


def test_rows_are_limited_by_one_option() -> None:
    others = {"--most", "--rows", "--top", "--max-rows", "--head"}  # --all is that of show
    assert not [(name, option) for name, options in EVERY.items() for option in options if option in others]


@pytest.mark.parametrize("option", SAME)
def test_an_option_is_declared_the_same_everywhere(option: str) -> None:
    having = {name: options[option] for name, options in EVERY.items() if option in options}
    meanings = {(one.type, one.many, tuple(sorted(one.declaration.settings.items()))) for one in having.values()}
    assert having and len(meanings) == 1, sorted(having)


def test_what_shows_tables_writes_them() -> None:
    for name, options in EVERY.items():
        assert ("--json" in options) == ("--table" in options or name in NO_TABLE), name


#: Commands that store runs and draw nothing: 'babi evaluate' draws what they trained.
UNDRAWN = {"babi train"}


def test_every_command_with_scores_draws_them() -> None:
    draw = {name for name, options in EVERY.items() if "--figures" in options}
    assert {name for name, options in EVERY.items() if "--run" in options} - draw == UNDRAWN
    gated = {name for name, options in EVERY.items() if "--fail-under" in options}
    assert gated | {"compare", "users figures", "reproduce"} <= draw


#: Commands without --json and --table, and why: they have no results, or make a file for people or programs.
NO_RESULTS = {
    "demo": "its results are the runs it stores",
    "init": "it writes a folder to begin with",
    "data get": "it fetches files",
    "babi chat": "a conversation with a person",
    "lab chat": "a conversation with a person",
    "lab new": "it writes a folder to begin with",
    "explore": "pages to look at",
    "report": "a page; 'compare' and 'runs show' have the numbers",
    "runs annotate": "it writes into the store",
    "runs export": "it writes another store",
    "runs tag": "it writes into the store",
    "runs rm": "it removes runs",
}


def test_every_command_with_results_writes_json_and_tables() -> None:
    lacking = {name for name, options in EVERY.items() if "--json" not in options}
    assert lacking == set(NO_RESULTS)


def test_what_a_narrow_screen_shortens_can_be_shown_whole() -> None:
    assert {name for name, options in EVERY.items() if "--table" in options and "--wide" not in options} == set()


def test_runs_are_stored_the_same_way_everywhere() -> None:
    asked = {name: options["--run"].declaration for name, options in EVERY.items() if "--run" in options}
    assert {name for name, one in asked.items() if isinstance(one, AlwaysOn)} == ALWAYS_STORE
    assert len({one.settings["help"] for one in asked.values()}) == 2
    for name in asked:
        assert "--store" in EVERY[name], name


@pytest.mark.parametrize("name", sorted(ALWAYS_STORE))
def test_what_always_stores_takes_run_and_says_so(name: str) -> None:
    word, inner = name.split()
    group = importlib.import_module(f"dialgauge.cli.{word}").app
    command = group.commands[inner]
    assert read_words(name, command, ["--run"]).named == {"--run"}
    assert not stores_by_name(command, read_words(name, command, ["--store", "x"]))
    assert "This command always does" in " ".join(command_page(f"dialgauge {name}", group.commands[inner]).split())


@pytest.mark.parametrize("name", sorted(ON_REQUEST))
@pytest.mark.parametrize(
    ("words", "stores"),
    [
        (["--store", "x"], True),
        (["--store=x"], True),
        ([], False),
        (["--store", "x", "--run"], False),
        (["--store", "x", "--from", "2026"], False),
        (["--store", "x", "--fail-on-drop=2026"], False),
        (["--store", "x", "--view"], False),
    ],
)
def test_a_store_that_was_named_means_run(name: str, words: list[str], stores: bool) -> None:
    word, *inner = name.split()
    group = importlib.import_module(f"dialgauge.cli.{word}").app
    command = group.commands[inner[0]] if inner else next(iter(group.commands.values()))
    options = [option for one in command_parameters(command) for option in one.options]
    if all(word.partition("=")[0] in options for word in words if word.startswith("--")):
        assert stores_by_name(command, read_words(name, command, [__file__, *words])) is stores


def test_a_store_says_where_the_runs_are_that_are_compared(tmp_path: Path) -> None:
    """The folder is there; what is compared are runs in it, and no files."""
    [command] = importlib.import_module("dialgauge.cli.compare").app.commands.values()
    runs = read_words("compare", command, ["20260101", "20260102", "--store", str(tmp_path)])
    files = read_words("compare", command, ["--store", str(tmp_path), __file__, __file__])
    assert not stores_by_name(command, runs)
    assert stores_by_name(command, files)


#: Whole numbers that may be as large as they like: seeds, places, and where what is shown or found is cut off.
UNBOUNDED = {
    "--seed", "--town-seed", "--world-seed", "--dialogue", "--turn", "--from-turn", "--to-turn",
    "--limit", "--worst", "--show", "--max-bytes", "--min-repeats", "--min-turns", "--max-turns",
}  # fmt: skip


def test_what_is_made_in_numbers_has_an_upper_bound() -> None:
    bounds = {
        (option, one.declaration.settings.get("max"))
        for options in EVERY.values()
        for option, one in options.items()
        if one.type is int and option.startswith("--")
    }
    assert {option for option, most in bounds if most is None} == UNBOUNDED


def test_a_stored_run_is_named_by_from_and_nowhere_by_run() -> None:
    for name, options in EVERY.items():
        if "--run" in options:
            assert options["--run"].type is bool, name
        if "--from" in options:
            assert options["--from"].declaration.settings["metavar"] == "RUN", name


def test_format_is_of_inputs_and_to_of_outputs() -> None:
    assert {name for name, options in EVERY.items() if "--to" in options} == {
        "data convert", "babi simulate", "babi convert-dstc2"
    }  # fmt: skip
    for options in EVERY.values():
        if "--format" in options:
            assert "Input format" in options["--format"].declaration.settings["help"]
        if "--to" in options:
            assert "Output format" in options["--to"].declaration.settings["help"]


def test_no_option_only_explains() -> None:
    assert not [option for options in EVERY.values() for option in options if option.startswith("--explain")]
