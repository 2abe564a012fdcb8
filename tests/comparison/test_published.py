from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.comparison import printed_page, read_system_table
from dialgauge.errors import DialgaugeError


def write(folder: Path, text: str) -> Path:
    path = folder / "systems.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rsa_table_1_as_a_file(expected: Path, tmp_path: Path) -> None:
    paper = json.loads((expected / "dst_paper_tables.json").read_text())["rsa_paper"]
    lines = [f"{row['model']},{row['jga']},{row['sa']},{row['f1']},{row['rsa']}" for row in paper["table1"]]
    source = write(tmp_path, "\n".join(["model,jga,sa,f1,rsa", *lines]))
    tables = {name: table.records() for name, table in printed_page(read_system_table(source)).tables.items()}
    for row in tables["spread"]:
        assert row["mean"] == pytest.approx(paper["figure4_mean_std"]["mean"][row["measure"]])
        assert row["std (population)"] == pytest.approx(paper["figure4_mean_std"]["std_population"][row["measure"]])
        assert row["std (sample)"] == pytest.approx(paper["figure4_mean_std"]["std_sample"][row["measure"]])
        assert row["range"] == pytest.approx(paper["table1_ranges"]["expected"][row["measure"]])
    for kind in ("pearson", "spearman"):
        flat = [value for row in tables[kind] for value in list(row.values())[1:]]
        theirs = [value for row in paper["table1_model_level_correlation"][kind] for value in row]
        assert flat == pytest.approx(theirs)


def test_percent_empty_cells_and_constants(tmp_path: Path) -> None:
    table = read_system_table(write(tmp_path, "system,JGA,SA,AGA\na,48.86%,0.9,\nb, 50% ,0.9,0.5\n"))
    spread, pearson, *_ = printed_page(table).tables.values()
    assert spread.records()[0]["mean"] == pytest.approx(0.4943)
    assert spread.records()[2] == {
        "measure": "AGA", "systems": 1, "mean": 0.5, "std (population)": 0.0, "std (sample)": None,
        "lowest": 0.5, "highest": 0.5, "range": 0.0,
    }  # fmt: skip
    assert pearson.records()[1]["JGA"] is None
    assert "nan" not in str(pearson)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a header line"),
        ("system\na\n", "a header line"),
        ("system,JGA\na,0.5\n", "at least two systems"),
        ("system,JGA,JGA\na,1,1\nb,1,1\n", "line 1: the column 'JGA' appears twice"),
        ("system,JGA,\na,1,1\nb,1,1\n", "a column has no name"),
        ("system,JGA\na,1\na,2\n", "the system 'a' appears twice"),
        ("system,JGA\na,1\n,2\n", "a system has no name"),
        ("system,JGA\na,1_0\nb,1\n", "the score '1_0' is not a number"),
        ("system,JGA\na,1\nb," + 400 * "9", "is not a number"),
        ('system,JGA\na,"1\nb,1\n', "cannot be read as CSV"),
        ("system,JGA\na,0.5\nb,0.5,0.6\n", "line 3: it has 3 cells where the first line has 2"),
        ("system,JGA\na,0.5\nb,high\n", "the score 'high' is not a number"),
        ("system,JGA\na,0.5\nb,inf\n", "is not a number"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DialgaugeError, match=message):
        read_system_table(write(tmp_path, text))
