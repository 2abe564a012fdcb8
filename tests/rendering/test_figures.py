from __future__ import annotations

import builtins
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rendering import (
    SHADES,
    correlation_heatmap,
    domain_bars,
    error_onset,
    interval_plot,
    lambda_sweep,
    mean_spread,
    save_all,
    shades,
    slot_histogram,
)
from support.drawn_charts import datasets, heading, marks, scales

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

INTERVALS = [
    {"system": system, "measure": measure, "value": 0.5, "low": 0.4, "high": 0.6}
    for system in ("a", "b|c")
    for measure in ("JGA", "SA")
]

CHARTS: dict[str, Callable[[], Any]] = {
    "onset": lambda: error_onset([2, 0, 0, 0, 0, 1, 0, 0, 0, 1], note="4 dialogues"),
    "slots": lambda: slot_histogram([3, 3, 5, 12, 13], threshold=12),
    "heat": lambda: correlation_heatmap(["JGA", "SA"], [[1.0, 0.5], [0.5, None]]),
    "diverging": lambda: correlation_heatmap(["JGA", "SA"], [[1.0, -0.5], [-0.5, 1.0]]),
    "spread": lambda: mean_spread({"JGA": [0.4, 0.6]}),
    "intervals": lambda: interval_plot(INTERVALS),
    "sweep": lambda: lambda_sweep([0, 1], {"a": [0.1, 0.4], "b": [0.2, 0.3]}, swaps=[0.5]),
    "domains": lambda: domain_bars({"hotel": {"JGA": 0.5, "RSA": None}, "taxi": {"JGA": 0.6, "RSA": 0.7}}),
}


#: The characters that end the renderer's process, and some that do not.
ODD = [*map(chr, range(0x20)), "\x7f", "\x85", "\u2028", "\u202e", "\ufffe", "\uffff", "\ud800", "\U0010ffff"]


def test_no_character_of_a_name_ends_the_process(tmp_path: Path) -> None:
    """In a process of its own: what it guards against is no exception."""
    script = (
        "import sys; from pathlib import Path; from dialgauge.rendering import domain_bars, save_all\n"
        f"odd = ''.join({ODD!r})\n"
        "chart = domain_bars({f'ho{odd}tel': {f'J{odd}GA': 0.5}, 'taxi': {f'J{odd}GA': 0.7}})\n"
        "save_all(Path(sys.argv[1]), {'x': lambda: chart})\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(tmp_path.iterdir())) == 2


def test_figures_are_written_all_or_not_at_all(tmp_path: Path) -> None:
    def broken() -> Any:
        raise DialgaugeError("there is nothing to draw")

    with pytest.raises(DialgaugeError, match="nothing to draw"):
        save_all(tmp_path, {"a": CHARTS["slots"], "b": broken})
    (tmp_path / "b.svg").mkdir()
    with pytest.raises(DialgaugeError, match="this is a folder"):
        save_all(tmp_path, {"a": CHARTS["slots"], "b": CHARTS["slots"]})
    assert [path.name for path in tmp_path.iterdir()] == ["b.svg"]


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_renders_in_every_format_and_twice_alike(name: str, tmp_path: Path) -> None:
    svg, pdf = save_all(tmp_path, {"chart": CHARTS[name]})
    first = svg.read_bytes()
    assert first.startswith(b"<svg") and pdf.read_bytes().startswith(b"%PDF")
    save_all(tmp_path, {"chart": CHARTS[name]})
    assert svg.read_bytes() == first


@pytest.mark.parametrize("name", CHARTS)
def test_charts_carry_their_data_and_load_nothing(name: str) -> None:
    text = json.dumps(CHARTS[name]().to_dict())
    assert '"url"' not in text
    assert datasets(CHARTS[name]())


def test_onset_draws_the_counts_it_is_given() -> None:
    counts = {row["low"]: row["n"] for row in datasets(CHARTS["onset"]()) if "low" in row}
    assert counts[0.0] == 2
    assert counts[0.5] == 1
    assert counts[0.9] == 1
    assert sum(counts.values()) == 4


def test_slots_fill_the_gaps_and_say_the_share_below() -> None:
    rows = datasets(CHARTS["slots"]())
    assert {row["slots"]: row["n"] for row in rows if "n" in row}[4] == 0
    assert {row["text"] for row in rows if "text" in row} == {"60.0% below 12"}


def test_undefined_cells_and_bars() -> None:
    assert [row["text"] for row in datasets(CHARTS["heat"]())][3] == "–"
    assert ("hotel", "RSA") not in {(row["domain"], row["group"]) for row in datasets(CHARTS["domains"]())}


def test_many_systems_stay_apart() -> None:
    """By shade only as many as the test of colours covers; more stand beside their names."""
    assert shades(len(SHADES)) == list(SHADES)
    with pytest.raises(ValueError, match="only 5 shades can be told apart"):
        shades(len(SHADES) + 1)
    names = [f"system {place}" for place in range(len(SHADES) + 1)]
    chart = domain_bars(
        {"hotel": dict.fromkeys(names, 0.5), "taxi": dict.fromkeys(names, 0.9)},
        percent=True,
        counts={"hotel": 1234, "taxi": 56},
        intervals={"hotel": dict.fromkeys(names, (0.4, 0.6)), "taxi": {names[0]: (float("nan"), float("nan"))}},
    )
    rows = datasets(chart)
    assert {row["measure"] for row in rows} == {"hotel, n = 1,234 (%)", "taxi, n = 56 (%)"}
    assert {(row["low"], row["high"]) for row in rows} == {(40.0, 60.0), (90.0, 90.0)}
    assert not scales(chart, "color")
    assert [one["domain"] for one in scales(chart, "x")] == [[20.0, 100.0]] * 2, "one measure has one axis"
    sweep = lambda_sweep([0, 1], {str(number): [0.5, 0.6] for number in range(20)})
    (colours,), (dashes,) = ([one["range"] for one in scales(sweep, kind)] for kind in ("color", "strokeDash"))
    assert len({(colour, tuple(dash)) for colour, dash in zip(colours, dashes, strict=True)}) == 20


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_altair(name: str, *rest: Any, **options: Any) -> Any:
        if name == "altair":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_altair)
    with pytest.raises(DialgaugeError, match=r"pip install 'dialgauge\[figures\]'"):
        CHARTS["heat"]()


@pytest.mark.parametrize("least", [0.0, -0.4])
def test_zero_is_white_in_heat_maps(least: float) -> None:
    (scale,) = scales(correlation_heatmap(["a", "b"], [[1.0, least], [least, 1.0]]), "color")
    assert scale["range"][scale["domain"].index(0)] == "#ffffff"
    assert scale["interpolate"] == "rgb"


def test_axes_of_shares_end_at_a_hundred_percent() -> None:
    rows = [{"system": "a", "measure": "SA", "value": 0.99, "low": 0.97, "high": 1.0, "percent": True}]
    assert scales(interval_plot(rows), "x")[0]["domain"] == [95.0, 100.0]
    spread = mean_spread({"SA": [0.92, 1.0]}, percent=True)
    assert scales(spread, "y")[0]["domain"] == [0, 100]
    bars = domain_bars({"hotel": {"SA": 0.99}}, percent=True)
    assert scales(bars, "y")[0]["domain"] == [0, 100]
    sweep = lambda_sweep([0, 1], {"a": [0.9, 0.999]})
    assert scales(sweep, "y")[0]["domain"] == [85.0, 100.0]


def test_bars_of_domains_say_how_many_cases_and_how_sure() -> None:
    chart = domain_bars(
        {"hotel": {"JGA": 0.5}}, percent=True, counts={"hotel": 2588}, intervals={"hotel": {"JGA": (0.4, 0.6)}}
    )
    row = datasets(chart)[0]
    assert (row["label"], row["low"], row["high"], row["text"]) == ("hotel · n = 2,588", 40.0, 60.0, "50.0")


def test_bars_without_intervals_have_no_whiskers_and_those_with_them_do() -> None:
    bare = domain_bars({"hotel": {"JGA": 0.5}}, percent=True)
    assert "rule" not in {mark for mark, _ in marks(bare)}
    drawn = domain_bars({"hotel": {"JGA": 0.5}}, percent=True, intervals={"hotel": {"JGA": (0.4, 0.6)}})
    rules = [encoding for mark, encoding in marks(drawn) if mark == "rule"]
    assert [(one["y"]["field"], one["y2"]["field"]) for one in rules] == [("low", "high")] * 2


def test_lines_over_lambda_lie_in_their_intervals() -> None:
    undefined = (float("nan"), float("nan"))
    chart = lambda_sweep([0, 1], {"a": [0.5, 0.6]}, intervals={"a": [(0.42, 0.58), undefined]})
    bands = [encoding for mark, encoding in marks(chart) if mark == "area"]
    assert [(one["y"]["field"], one["y2"]["field"]) for one in bands] == [("low", "high")]
    ends = {(row["lambda"], round(row["low"], 6), round(row["high"], 6)) for row in datasets(chart)}
    assert ends == {(0, 42.0, 58.0), (1, 60.0, 60.0)}
    assert {tuple(one["domain"]) for one in scales(chart, "y")} == {(40.0, 65.0)}, "the axis shows the band too"
    assert "area" not in {mark for mark, _ in marks(lambda_sweep([0, 1], {"a": [0.5, 0.6]}))}


@pytest.mark.parametrize("most", [1, 2, 3, 7, 1234])
def test_dialogues_are_counted_in_whole_numbers(most: int) -> None:
    for chart in (error_onset([most, 0]), slot_histogram([3] * most)):
        (values,) = {tuple(one["y"]["axis"]["values"]) for _, one in marks(chart) if one["y"].get("axis")}
        assert all(value == int(value) for value in values)
        assert values[0] == 0
        assert values[-1] >= most


def test_a_spread_says_what_its_dots_are() -> None:
    assert "whiskers: one standard deviation; dots: the systems" in heading(CHARTS["spread"]())


def test_labels_of_neighbouring_bars_do_not_touch() -> None:
    long = {"told the user (COMMUNICATE)": {"a": 0.5, "b": 0.6}, "right database (DB)": {"a": 0.5, "b": 0.6}}
    chart = domain_bars(long, percent=True, counts={name: {"a": 19, "b": 14} for name in long})
    labels = {row["label"] for row in datasets(chart)}
    assert labels == {"told the user · (COMMUNICATE) · n = 19, 14", "right · database (DB) · n = 19, 14"}
    longest = max(len(line) for label in labels for line in label.split(" · "))
    assert 2 * chart.to_dict()["width"]["step"] >= 6.5 * longest


def test_every_system_of_many_has_its_own_n_where_they_differ() -> None:
    names = [f"system {place}" for place in range(len(SHADES) + 1)]
    sizes = {name: 20 + place for place, name in enumerate(names)}
    bars = {"hotel": dict.fromkeys(names, 0.5), "taxi": dict.fromkeys(names, 0.9)}
    chart = domain_bars(bars, percent=True, counts={"hotel": sizes, "taxi": dict.fromkeys(names, 7)})
    rows = datasets(chart)
    assert [row["text"] for row in rows if row["measure"] == "hotel (%)"] == [f"50.0, n = {n}" for n in sizes.values()]
    assert {row["text"] for row in rows if row["measure"] == "taxi, n = 7 (%)"} == {"90.0"}
