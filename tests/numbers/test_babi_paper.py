"""The bAbI paper: its deterministic rows on the released dialogs, Table 1, and what follows from counting replies.

Every number of the document is computed here, or listed with the reason why it is not.

Notices: the last printed digit of a value, one dialogue missing, two tasks, splits or classes of replies swapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import surface
from documents import leaves

SPLITS = {"train": "trn", "dev": "dev", "test": "tst", "test_oov": "tst-OOV"}
MODELS = {"rules": "rule_based", "nearest": "nearest_neighbor", "tfidf": "tfidf", "tfidf-type": "tfidf_type"}
#: Our per-response accuracy in the order of the paper's columns. The paper leaves open how inputs and ties are treated
#: (specification, 8.1 and 8.2); babi_oracle.py gives the same in all columns. Its rules for task 6 are not published:
#: 50.59 is a value of ours alone.
OURS = {
    "rules": (100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 50.59),
    "nearest": (62.33, 78.87, 62.22, 57.18, 57.54, 63.06, 78.86, 62.35, 56.98, 57.86, 21.90),
    "tfidf": (5.58, 9.87, 5.35, 0, 4.75, 5.83, 9.85, 9.64, 0, 5.40, 2.04),
    "tfidf-type": (22.42, 20.09, 5.35, 0, 10.36, 22.44, 20.01, 9.80, 0, 11.26, 1.52),
}
#: The columns in which that is what the paper prints.
PRINTED = {
    "rules": "T1 T2 T3 T4 T5 T1-OOV T2-OOV T3-OOV T4-OOV T5-OOV",
    "nearest": "T6",
    "tfidf": "T1 T1-OOV",
    "tfidf-type": "T1 T1-OOV",
}
#: Where the averages of the released files do not round to those of Table 1 (specification, 1.5): ours, rounded.
OTHER_AVERAGES = {
    "avg_utterances": {"T1": 10, "T2": 16, "T3": 40, "T4": 14, "T6": 58},
    "avg_user": {"T1": 4, "T2": 6, "T3": 6},
    "avg_bot": {"T1": 6, "T2": 9, "T6": 9},
    "avg_api_outputs": {"T6": 43},
}
NOT_COMPUTED = {
    r"(paper|unit|notes|tasks)\b.*": "words",
    r".*\bConcierge.*": "private data, never released",
    r"table2/(supervised_embeddings|memn2n|memn2n_match_type)/.*": "trained models; `dialgauge babi table` trains them",
    r"table10/.*": "trained models",
    r"extra_results_in_text/.*": "trained models, and rules that were not published",
    r"hyperparameters/.*": "settings of trained models",
    r"table1_as_printed/vocabulary/.*": "counted with one word more, or in a way that is not said",
    r"measured_on_released_files/rule_based_check/.*": "ten of its twenty files are in Table 2",
    r"measured_on_released_files/(vocabulary|T6_test_responses).*": "counts of words and texts; no command gives them",
    r"reference_runs_throwaway/.*": "of a program that was not kept; OURS are its numbers of the deterministic rows",
    r"speed_anchor.*": "seconds on a machine",
}


@pytest.fixture(scope="module")
def document(fact: Callable[[str], Any]) -> Any:
    return fact("babi_paper.json")


def column(task: int, split: str) -> str:
    return f"T{task}-OOV" if split == "tst-OOV" else f"T{task}"


Cells = dict[tuple[str, int, str], Any]


class Evaluated(NamedTuple):
    """Cells of Table 2, what is said to be printed there, and the rows of Table 1 of their tasks."""

    cells: Cells
    printed: dict[tuple[str, str, str], tuple[float, float]]
    statistics: dict[str, dict[str, float]]


def soak(models: str, tasks: str) -> Any:
    return pytest.param((models, tasks), marks=pytest.mark.soak, id=f"{models} on {tasks}")


#: All cells take a minute and a half, so most are soaked; for everybody there is test_babi_rankers.py.
GROUPS = [
    pytest.param(("rules,tfidf", "1"), id="rules and tfidf on 1"),
    pytest.param(("rules", "5"), id="rules on 5"),
    pytest.param(("rules,nearest", "6"), id="rules and nearest on 6"),
    soak("rules", "2-4"),
    soak("nearest", "1-5"),
    soak("tfidf", "2-6"),
    soak("tfidf-type", "1-6"),
]


@pytest.fixture(scope="module", params=GROUPS)
def evaluated(request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    folder = tmp_path_factory.mktemp("released")
    models, tasks = request.param
    cells = surface.reply_scores(folder, shared_data / "babi", models, tasks, "tst,tst-OOV")
    return Evaluated(cells, surface.printed_accuracies(folder), surface.task_statistics(folder))


@pytest.mark.long
def test_cells_of_table_2(evaluated: Evaluated, document: Any) -> None:
    columns = [name for name in document["tasks"] if name != "Concierge"]
    for (model, task, split), cell in evaluated.cells.items():
        name = column(task, split)
        printed = document["table2"][MODELS[model]][name]
        shown = evaluated.printed[model, f"T{task}", split]
        assert shown == pytest.approx((printed["per_response"] / 100, printed["per_dialog"] / 100), abs=1e-12)
        per_response, per_dialog = (100 * cell["values"][measure] for measure in ("per-response", "per-dialog"))
        assert round(per_response, 2) == OURS[model][columns.index(name)], (model, name)
        assert (round(per_response, 1) == printed["per_response"]) == (name in PRINTED[model].split()), (model, name)
        if (model, name) != ("rules", "T6"):
            assert per_dialog == printed["per_dialog"]


@pytest.mark.long
def test_accuracy_if_only_some_classes_are_right(evaluated: Evaluated, document: Any) -> None:
    """Which explains the plateaus of the paper."""
    measured = document["measured_on_released_files"]
    fixed = measured["per_response_if_only_fixed_sentences_right"]
    further = {"T5": measured["T5_further_ceilings_test"], "T5-OOV": measured["T5_OOV_further_ceilings_test"]}
    members = {"api": ("api 1", "api 2"), "info": ("phone", "address"), "options": ("option",), "fixed": ("fixed",)}
    for (_, task, split), cell in evaluated.cells.items():
        name = column(task, split)
        if name == "T6":
            continue
        total = sum(count for _, count in cell["classes"].values())
        for right, value in {"fixed": fixed[name], **further.get(name, {})}.items():
            classes = [each for part in right.split("+") for each in members[part]]
            share = sum(cell["classes"].get(each, (0, 0))[1] for each in classes) / total
            assert round(100 * share, 2) == value, (name, right)


@pytest.mark.long
def test_table_1(evaluated: Evaluated, document: Any) -> None:
    counts = document["measured_on_released_files"]["counts"]
    candidates = document["measured_on_released_files"]["candidates"]
    printed = document["table1_as_printed"]
    names = {"avg_utterances": "utterances", "avg_user": "user", "avg_bot": "bot", "avg_api_outputs": "api outputs"}
    assert evaluated.statistics.keys() == {f"T{task}" for _, task, _ in evaluated.cells}
    for task, row in evaluated.statistics.items():
        train = counts[task]["train"]
        assert row["dialogs"] == train["dialogs"]
        # In six turns of task 6 the user's side is empty: silences that are not written as such.
        spoken = train["responses"] - train["silence_turns"] - (6 if task == "T6" else 0)
        exact = {"user": spoken, "bot": train["responses"], "api outputs": train["kb_lines"]}
        exact["utterances"] = sum(exact.values())
        for name, number in exact.items():
            assert row[name] == pytest.approx(number / train["dialogs"], abs=1e-12), (task, name)
        for key, name in names.items():
            assert round(row[name]) == OTHER_AVERAGES[key].get(task, printed[key][task]), (task, name)
        part = "T6" if task == "T6" else "T1-T5"
        assert row["candidates"] == candidates[part]
        assert {split: of["dialogs"] for split, of in counts[task].items()} == printed["dialogs"][part]
    assert candidates["T1-T5"] == printed["candidates"]["T1-T5"]
    assert candidates["T6"] == printed["candidates"]["T6"] + 1  # the paper counts line ends; the last line has none


def test_counts_of_the_released_files(shared_data: Path, document: Any) -> None:
    measured = document["measured_on_released_files"]["counts"]
    theirs = {(task, split): counts for task, splits in measured.items() for split, counts in splits.items()}
    assert len(theirs) == 23
    for (task, split), counts in theirs.items():
        [path] = (shared_data / "babi").glob(f"dialog-babi-task{task[1:]}-*-{SPLITS[split]}.txt.gz")
        dialogs = surface.restaurant_dialogs(path)
        lines = [line for dialog in dialogs for line in dialog]
        spoken = [text for speaker, text in lines if speaker == "system"]
        assert counts == {
            "dialogs": len(dialogs),
            "responses": len(spoken),
            "kb_lines": sum(speaker == "fact" for speaker, _ in lines),
            "silence_turns": sum(line == ("user", "<SILENCE>") for line in lines),
            "api_calls": sum(text.startswith("api_call ") for text in spoken),
        }, (task, split)


def test_every_number_is_computed_or_listed_with_a_reason(document: Any) -> None:
    rows = "|".join(MODELS.values())
    computed = [
        rf"table2/({rows})/T\d(-OOV)?/per_(response|dialog)",
        r"table1_as_printed/(avg_\w+|candidates|dialogs)/T.*",
        r"measured_on_released_files/(counts|candidates|T5_(OOV_)?further)[^/]*/.*",
        r"measured_on_released_files/per_response_if[^/]*/.*",
    ]
    used: set[str] = set()
    for path in (path.removeprefix("/") for path, _ in leaves(document)):
        ours = [pattern for pattern in computed if re.fullmatch(pattern, path)]
        theirs = [pattern for pattern in NOT_COMPUTED if re.fullmatch(pattern, path)]
        assert bool(ours) != bool(theirs), path
        used |= {*ours, *theirs}
    assert used == {*computed, *NOT_COMPUTED}
