from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rich.console import Console

from dialgauge.errors import DialgaugeError
from dialgauge.rendering import (
    Cell,
    Column,
    Table,
    csv_text,
    inert,
    notebook_html,
    percent_note,
    render_tables,
    write_tables,
)


def scores() -> Table:
    return Table(
        "Scores on R&D_1",
        ["system", Column("JGA", digits=2, percent=True, best="max"), Column("loss", digits=1, best="min"), "n"],
        [
            ["trade|1", Cell(0.48624, 0.47, 0.501, "*"), 2.0, 10],
            ["som_dst", 0.486236, 1.04, None],
            ["none", None, math.nan, 3],
        ],
        notes=["signature: 100% of #1"],
    )


def test_markdown() -> None:
    assert scores().render("markdown").splitlines() == [
        r"**Scores on R\&D\_1**",
        "",
        "| system | JGA | loss | n |",
        "| :--- | ---: | ---: | ---: |",
        r"| trade\|1 | **48.62**\* \[47.00, 50.10\] | 2.0 | 10 |",
        r"| som\_dst | **48.62** | **1.0** | – |",
        "| none | – | – | 3 |",
        "",
        r"signature: 100% of \#1",
    ]


def test_latex_is_booktabs_with_everything_escaped() -> None:
    text = render_tables([scores(), scores()], "latex", intervals=True)
    assert text.count(r"\toprule") == 1
    assert r"\caption{Scores on R\&D\_1, in percent. signature: 100\% of \#1}" in text
    assert r"\label{tab:scores-on-r-d-1}" in text
    assert r"trade\textbar{}1 & \textbf{48.62}\textsuperscript{*} {\scriptsize [47.00, 50.10]} & 2.0 & 10 \\" in text
    assert r"none & -- & -- & 3 \\" in text
    assert r"\textbf{48.62}\textsuperscript{*} & 2.0" in scores().render("latex")


def test_what_only_users_of_the_program_need_is_a_comment_in_latex() -> None:
    table = Table("Scores", ["a", "b"], [[1, 2]], notes=["Read this.", percent_note()], signature="x:1|v:2\nline")
    comments, _, rest = table.render("latex").partition(r"\begin{table}")
    assert all(line.startswith("% ") for line in comments.splitlines())
    assert "CSV and JSON" in comments and "x:1|v:2" in comments and "CSV" not in rest and "x:1" not in rest
    assert r"\caption{Scores. Read this.}" in rest


def test_a_latex_table_without_intervals_has_a_signature_without_them() -> None:
    signature = "d:9|intervals:x-0.95|v:2 + p:canon|interval:0.95-y"
    table = Table("Scores", ["a"], [[Cell(0.5, 0.4, 0.6)]], signature=signature, caption="9 dialogues")
    assert "% Signature: d:9|v:2 + p:canon\n" in table.render("latex")
    assert f"% Signature: {signature}\n" in render_tables([table], "latex", intervals=True)
    assert r"\caption{Scores. 9 dialogues.}" in table.render("latex")


def test_marks_in_files_have_no_space() -> None:
    table = Table("Scores", ["a"], [[Cell(1, mark=" a")]])
    assert table.render("csv") == "a,a mark\n1,a\n"


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed (make soak does)")
def test_latex_compiles_where_it_is_put_in(tmp_path: Path) -> None:
    odd = Table(
        "Odd & 50% _ {x} \\ ~ ^ # $", ["a|b", "[c]"], [["* _x_", 0.5], ["[y] <z>", "ü – λ"]], notes=["p < 0.05 & more."]
    )
    for name, table in {"scores": scores(), "odd": odd}.items():
        write_tables([table], tmp_path / f"{name}.tex", intervals=True)
    paper = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{scores}\input{odd}" + "\n"
    (tmp_path / "paper.tex").write_text(
        paper + r"Tables \ref{tab:scores-on-r-d-1} and \ref{tab:odd-50-x}.\end{document}"
    )
    for _ in range(2):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert "undefined" not in done.stdout and (tmp_path / "paper.pdf").stat().st_size > 1000


def test_csv_and_json_hold_raw_values() -> None:
    rows = list(csv.DictReader(io.StringIO(scores().render("csv"))))
    assert rows[0] == {
        "system": "trade|1", "JGA": "0.48624", "JGA low": "0.47", "JGA high": "0.501", "JGA mark": "*",
        "loss": "2.0", "n": "10",
    }  # fmt: skip
    assert rows[2]["JGA"] == rows[2]["loss"] == ""
    content = json.loads(scores().render("json"))
    assert content["columns"] == ["system", "JGA", "loss", "n"]
    assert content["rows"][2]["loss"] is None
    assert content["notes"] == ["signature: 100% of #1"]


def test_columns_of_one_name_are_all_kept() -> None:
    table = Table("t", ["x", "x", "x low"], [[1, Cell(2.0, 1.0, 3.0), 4]])
    assert table.records() == [{"x": 1, "x (2)": 2.0, "x low": 1.0, "x high": 3.0, "x low (2)": 4}]
    assert table.render("csv").splitlines() == ["x,x (2),x low,x high,x low (2)", "1,2.0,1.0,3.0,4"]
    assert Table("t", ["x", "x"]).render("csv") == "x,x (2)\n"


def test_control_characters_never_reach_the_terminal() -> None:
    console = Console(file=io.StringIO(), width=80, soft_wrap=True, color_system=None)
    console.print(Table("t\x1b[2J", ["a\x07"], [["\x1b[31mred\u202e\nnext"]], notes=["n\x9b1m"]).render("terminal"))
    file = console.file
    assert isinstance(file, io.StringIO)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", file.getvalue())


def test_rich_markup_in_a_name_is_text() -> None:
    console = Console(file=io.StringIO(), width=80, soft_wrap=True, color_system=None)
    console.print(Table("t", ["a"], [["[bold]x[/bold]"]]).render("terminal"))
    file = console.file
    assert isinstance(file, io.StringIO)
    assert "[bold]x[/bold]" in file.getvalue()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.floats(allow_infinity=False))
def test_any_text_keeps_the_shape_of_every_format(text: str, number: float) -> None:
    table = Table(text, ["a", "b"], [[text, number], [text, None]], notes=[text])
    rows = list(csv.reader(io.StringIO(table.render("csv"), newline="")))
    assert [len(row) for row in rows] == [2, 2, 2]
    assert rows[1][0] == inert(re.sub("\r\n?", "\n", text))
    assert json.loads(table.render("json"))["rows"][0]["a"] == text
    body = [line for line in table.render("markdown").split("\n") if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in body[-2:]] == [3, 3]
    latex = [line for line in table.render("latex").split("\n") if line.endswith(r" \\")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in latex] == [1, 1, 1]


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(1)", "\t=1", "\n=1", "=", "+x", "-x"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_spreadsheet_computes_a_cell_of_ours(text: str) -> None:
    rows = list(csv.reader(io.StringIO(Table("", [text], [[text]]).render("csv"), newline="")))
    assert rows == [[f"'{text}"], [f"'{text}"]]


@pytest.mark.parametrize(
    "text", ["-3.5", "+12.0%", "1,234", "-", "–", "+1e-05", "-1E+05", "hotel-area", "a=b", "", "-inf", "nan"]
)
def test_what_no_spreadsheet_computes_stays_as_it_is(text: str) -> None:
    assert Table("", ["a"], [[text]]).render("csv").splitlines()[-1].strip('"') == (
        f'"{text}"' if "," in text else text
    ).strip('"')


@given(st.lists(st.tuples(*[st.text(st.sampled_from("a=\r\n\",'"), max_size=6)] * 2), max_size=4))
def test_csv_text_reads_back(rows: list[tuple[str, str]]) -> None:
    text = csv_text(rows)
    assert list(map(tuple, csv.reader(io.StringIO(text, newline="")))) == rows
    assert "\r" not in re.sub('"[^"]*"', "", text)


def test_numbers_in_csv_stay_numbers() -> None:
    assert Table("", ["a", "b"], [[-0.5, 3]]).render("csv") == "a,b\n-0.5,3\n"


@pytest.mark.parametrize("text", ["*x", "[x", "**", "* all *"])
def test_a_latex_row_may_begin_with_what_a_line_break_would_take(text: str) -> None:
    rows = [line for line in Table("", ["a"], [["x"], [text]]).render("latex").splitlines() if line.endswith(r" \\")]
    assert rows[-1].startswith("{}" + text[0])


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (Column("x"), 0.5, "0.5000"),
        (Column("x"), 7, "7"),
        (Column("x", signed=True), 7, "+7"),
        (Column("x", signed=True, digits=1), -0.25, "-0.2"),
        (Column("x", digits=1), -0.01, "0.0"),
        (Column("x", percent=True, digits=1), 1, "100.0"),
        (Column("x", percent=True, digits=1), 0.9998, "99.98"),
        (Column("x", percent=True, digits=2), 0.99996, "99.996"),
        (Column("x", percent=True, digits=1), 0.9994, "99.9"),
        (Column("x", percent=True, digits=1), 1 - 1e-12, "100.0"),
        (Column("x", digits=1), 99.98, "100.0"),
        (Column("x"), True, "yes"),
        (Column("x"), math.nan, "–"),
    ],
)
def test_numbers_look_as_the_column_says(column: Column, value: float, text: str) -> None:
    assert column.text(value) == text


def test_files_by_ending(tmp_path: Path) -> None:
    scores().write(tmp_path / "scores.tex")
    assert (tmp_path / "scores.tex").read_text(encoding="utf-8") == scores().render("latex")
    write_tables([scores(), scores()], tmp_path / "all.json")
    assert [part["title"] for part in json.loads((tmp_path / "all.json").read_text())] == ["Scores on R&D_1"] * 2
    with pytest.raises(DialgaugeError, match=r"\.md, \.tex"):
        scores().write(tmp_path / "scores.doc")
    assert not (tmp_path / "scores.doc").exists()


def test_bad_calls() -> None:
    with pytest.raises(DialgaugeError, match="Did you mean 'markdown'"):
        scores().render("markdwon")
    with pytest.raises(ValueError, match="2 cells in a table of 4"):
        scores().add(1, 2)


def test_a_cell_may_look_different_from_its_column() -> None:
    table = Table("", ["measure", Column("value", digits=1)])
    table.add("length", 6.54)
    table.add("share", Cell(0.5, 0.25, 0.75, like=Column("", digits=2, percent=True)))
    assert "| length | 6.5 |" in table.render("markdown")
    assert r"| share | 50.00 \[25.00, 75.00\] |" in table.render("markdown")
    assert table.records()[1]["value"] == 0.5


def test_short_forms() -> None:
    table = Table("Scores", ["system"], [["a"]])
    assert repr(table) == "<Table 'Scores': 1 row of 1 column>"
    assert table.render("html") in table._repr_html_()
    assert notebook_html([table, table]).count("<table>") == 2
