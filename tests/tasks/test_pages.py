"""Pages of tasks runs: verdicts with what was offered, told and why not; filters; the page of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace

from dialgauge.dialogue import State, Turn
from dialgauge.explorer import DialogueList, DialogueQuery, Library, PageLinks
from dialgauge.presentation import StateRowReader, pages_of, run_charts
from dialgauge.runs import Run, Store
from dialgauge.stats import share_interval
from dialgauge.tasks import (
    REASON_GROUPS,
    RULES,
    TaskEvaluation,
    TaskOptions,
    placeholders,
    predictions_from,
    read_predictions,
)
from support.drawn_charts import datasets, heading, scales
from support.pages import assert_harmless, shown_dialogue
from support.town import responses, small_gold, town

PAGES = pages_of("tasks")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A system that offers a hotel that does not fit, and tells no address; stored."""
    dialogues: dict[str, Any] = responses()
    for turn in dialogues["mul0001"]:
        turn["state"] = {**turn["state"], "hotel": {"area": "centre"}}
    dialogues["sng0002"][0]["response"] = "it is nice ."
    evaluation = TaskEvaluation(small_gold(tmp_path), town(), options=TaskOptions(measures=("all",), resamples=0))
    return Store(tmp_path / "runs").add(evaluation.score(predictions_from("mine", dialogues)))


def library_of(run: Run) -> Library:
    return Library(Store(run.path.parent))


def page(run: Run, name: str) -> str:
    library = library_of(run)
    return shown_dialogue(PAGES.dialogue(library, run, library.dialogue(run, name)))


def found(run: Run, **facets: str) -> list[str]:
    chosen = DialogueList(Library(runs=[run]), run)
    return [row.dialogue for row in chosen.page(DialogueQuery(facets=facets)).rows]


def test_a_dialogue_shows_each_domain_under_both_rule_sets(run: Run) -> None:
    library = library_of(run)
    view = PAGES.dialogue(library, run, library.dialogue(run, "mul0001"))
    rows = run.table("task_verdicts").filter(pl.col("dialogue") == "MUL0001.json").to_dicts()
    told = [row for rows in view.overview.domains.values() for row in rows]
    assert {(one.domain, one.rules) for one in told} == {(row["domain"], row["rules"]) for row in rows}
    assert [badge.text for badge in view.badges] == [
        "Inform (mwzeval): no", "Success (mwzeval): no", "Inform (grounded): no", "Success (grounded): no",
    ]  # fmt: skip
    hotel = view.overview.domains["hotel"][1]
    assert (hotel.rules, hotel.inform.text, hotel.turn) == ("grounded", "no", 1)
    assert hotel.offer == "1 row, 0 of which fit the goal; 1 in the database does"
    assert "cityroomz" in hotel.reason
    text = page(run, "mul0001")
    assert 'href="#turn-1"' in text and "cityroomz: area is centre, wanted north" in text


def test_what_was_never_told_is_said_and_not_only_coloured(run: Run) -> None:
    assert "✗</span> address <small>not told</small>" in page(run, "sng0002")
    assert "✗</span> phone <small>not credited</small>" in page(run, "mul0001")  # the offer failed, whatever was told
    assert "✓</span> train id <small>told</small>" in page(run, "mul0001")


def test_what_was_told_in_vain_is_not_called_untold(tmp_path: Path) -> None:
    dialogues: dict[str, Any] = responses()
    dialogues["mul0001"][1]["active_domains"] = ["train"]
    dialogues["mul0001"][1]["response"] = "booked . the phone is [hotel_phone] ."
    evaluation = TaskEvaluation(small_gold(tmp_path), town(), options=TaskOptions(resamples=0))
    run = Store(tmp_path / "runs").add(evaluation.score(predictions_from("mine", dialogues)))
    library = library_of(run)
    rows = PAGES.dialogue(library, run, library.dialogue(run, "mul0001")).overview.domains["hotel"]
    assert rows[0].reason.startswith("never told: reference; given in the wrong place: phone (")
    assert rows[0].asked == (("phone", "told in vain"), ("reference", "not told"))


def test_offers_that_count_are_marked_at_their_turn(run: Run) -> None:
    library = library_of(run)
    view = PAGES.dialogue(library, run, library.dialogue(run, "mul0001"))
    answers = [turn for turn in view.turns if turn.speaker == "system"]
    marked = {(turn.place, badge.text, badge.tone) for turn in answers for badge in turn.badges}
    rows = run.table("task_verdicts").filter((pl.col("dialogue") == "MUL0001.json") & pl.col("turn").is_not_null())
    assert marked == {
        (row["turn"], f"offer: {row['domain']}, {row['rules']}", "good" if row["inform"] else "bad")
        for row in rows.to_dicts()
    }


def test_placeholders_are_marked_as_the_evaluation_sees_them(run: Run) -> None:
    library = library_of(run)
    for name in ("mul0001", "sng0002"):
        for turn in PAGES.dialogue(library, run, library.dialogue(run, name)).turns:
            if turn.speaker == "system":
                assert "".join(piece for piece, _ in turn.cell.pieces) == turn.text
                marked = tuple(piece[1:-1].lower() for piece, is_marked in turn.cell.pieces if is_marked)
                assert marked == placeholders(turn.text)
    assert '<mark class="placeholder">[hotel_name]</mark>' in page(run, "mul0001")


def test_links_go_to_turns_of_this_dialogue_in_a_report_too(run: Run) -> None:
    library = library_of(run)
    view = PAGES.dialogue(library, run, library.dialogue(run, "mul0001"))
    text = shown_dialogue(replace(view, prefix="d7-"))
    assert 'href="#d7-turn-1"' in text and 'href="#turn-1"' not in text


def test_states_show_what_is_new_and_what_differs() -> None:
    reader = StateRowReader()
    both: State = {"hotel": {"area": ("North",), "bookday": ("monday",)}}
    first = reader.read(Turn(speaker="user", state=both, predicted={"hotel": {"area": ("north",), "day": ("monday",)}}))
    assert first is not None
    assert [(row.slot, row.kind, row.new) for row in first.rows] == [
        ("hotel-area", "right", True), ("hotel-day", "right", True),
    ]  # fmt: skip
    second = reader.read(
        Turn(
            speaker="user",
            state={"hotel": {"area": ("North",), "stars": ("4",), "type": ("inn",)}},
            predicted={"hotel": {"area": ("north",), "stars": ("5",), "parking": ("yes",)}},
        )
    )
    assert second is not None and second.differs == 3
    assert [(row.slot, row.kind) for row in second.rows] == [
        ("hotel-parking", "spurious"), ("hotel-stars", "wrong"), ("hotel-type", "missed"),
    ]  # fmt: skip
    assert [row.slot for row in second.rest] == ["hotel-area"]
    assert [(badge.text, badge.tone) for badge in second.badges()] == [("3 slots wrong", "bad")]
    third = reader.read(
        Turn(speaker="user", state={"hotel": {"stars": ("4",)}}, predicted={"hotel": {"stars": ("5",)}})
    )
    assert third is not None
    assert [(badge.text, badge.tone) for badge in third.badges()] == [("1 slot still wrong", "plain")]
    assert reader.read(Turn(speaker="user")) is None


def test_a_state_without_the_other_is_not_called_wrong() -> None:
    alone = StateRowReader().read(Turn(speaker="user", state={"hotel": {"area": ("north",)}}))
    assert alone is not None and (alone.side, alone.differs) == ("gold", 0)


def test_filters_find_what_the_tables_say(run: Run) -> None:
    assert found(run, **{"inform-mwzeval": "yes"}) == ["SNG0002.json"]
    assert found(run, **{"inform-mwzeval": "no"}) == ["MUL0001.json"]
    assert found(run, **{"success-grounded": "no"}) == ["MUL0001.json", "SNG0002.json"]
    assert found(run, failed="restaurant (grounded)") == ["SNG0002.json"]
    assert found(run, failed="train (grounded)") == []
    assert found(run, reason="never told (mwzeval)") == ["SNG0002.json"]
    assert found(run, reason="an offer does not fit (grounded)") == ["MUL0001.json"]
    choices = {
        choice.name: dict(choice.values) for choice in DialogueList(Library(runs=[run]), run).choices(DialogueQuery())
    }
    assert choices["inform-mwzeval"] == {"yes": 1, "no": 1}
    assert choices["reason"]["nothing was offered (grounded)"] == 1


def test_the_page_of_a_run_has_the_scores_of_its_domains(run: Run) -> None:
    table = PAGES.tables(library_of(run), run)[0]
    for row in table.records():
        for aspect in ("Inform", "Success"):
            for rules, name in (("mwzeval", aspect), ("grounded", f"{aspect}(rules=grounded)")):
                assert row[f"{aspect}, {rules}"] == run.scores[f"{name}[{row['domain']}]"].value
    assert {row["domain"] for row in table.records()} == {"hotel", "train", "restaurant"}


def test_the_reasons_of_a_run_add_up(run: Run) -> None:
    table = PAGES.tables(library_of(run), run)[1]
    failed = run.table("task_verdicts").filter(~pl.col("success")).select("dialogue", "domain", "rules").rows()
    reasons = run.table("reasons").select("dialogue", "domain", "rule", "reason").rows()
    assert {tuple(task) for *task, _ in reasons} == set(failed)
    for rules in RULES:
        groups = {
            (dialogue, domain, REASON_GROUPS[reason]) for dialogue, domain, rule, reason in reasons if rule == rules
        }
        assert sum(row[rules] for row in table.records()) == len(groups) > 0


def test_the_chart_of_domains_has_the_numbers_of_the_table_with_n_and_intervals(run: Run) -> None:
    library = library_of(run)
    chart = PAGES.charts(library, run)["by domain"]()
    table = {row["domain"]: row for row in PAGES.tables(library, run)[0].records()}
    rows = datasets(chart)
    assert {row["domain"] for row in rows} == set(table)
    for row in rows:
        shown = table[row["domain"]]
        assert row["value"] == pytest.approx(100 * shown[row["group"]])
        assert row["label"].endswith(f"n = {shown['dialogues']:,}")
        count = round(shown[row["group"]] * shown["dialogues"])
        low, high = share_interval(count, shown["dialogues"])
        assert (row["low"], row["high"]) == pytest.approx((100 * low, 100 * high))
    assert {tuple(scale["domain"]) for scale in scales(chart, "y")} == {(0, 100)}
    sized = heading(run_charts(library, run)["by domain"]())
    assert f"{run.name}: {run.coverage['dialogues'].scored} dialogues" in sized


def test_human_responses_stand_beside(run: Run) -> None:
    library = library_of(run)
    reached = PAGES.dialogue(library, run, library.dialogue(run, "sng0002")).overview.reached
    human = run.details["human"]
    assert [(name, value) for name, _, value in reached] == [
        ("Inform (mwzeval)", human["Inform"]),
        ("Success (mwzeval)", human["Success"]),
        ("Inform (grounded)", human["Inform(rules=grounded)"]),
        ("Success (grounded)", human["Success(rules=grounded)"]),
    ]


def test_links_and_elements_are_plain(run: Run) -> None:
    library = library_of(run)
    view = PAGES.dialogue(library, run, library.dialogue(run, "mul0001"))
    assert_harmless(shown_dialogue(view, links=PageLinks(), run=run))


@pytest.mark.soak
def test_pages_of_a_real_system_agree_with_its_scores(shared_data: Path, tmp_path: Path) -> None:
    evaluation = TaskEvaluation(shared_data / "multiwoz21" / "test.json.gz", options=TaskOptions(resamples=0))
    real = evaluation.score(read_predictions(shared_data / "dst_predictions" / "augpt.json.gz"))
    stored = Store(tmp_path / "runs").add(real)
    library = library_of(stored)
    scores = {(name, measure): num / den for name, measure, num, den in stored.table("dialogue_scores").rows() if den}
    names = {"Inform (mwzeval)": "Inform", "Success (mwzeval)": "Success",
             "Inform (grounded)": "Inform(rules=grounded)",
             "Success (grounded)": "Success(rules=grounded)"}  # fmt: skip
    for name in stored.table("dialogues")["dialogue"].to_list()[:200]:
        view = PAGES.dialogue(library, stored, library.dialogue(stored, name))
        for badge in view.badges:
            title, _, word = badge.text.rpartition(": ")
            assert scores[name, names[title]] == (word == "yes"), (name, badge)
    assert set(stored.table("reasons")["reason"]) <= REASON_GROUPS.keys()
    done = sum(value for (_, measure), value in scores.items() if measure == "Success")
    assert len(DialogueList(library, stored).order(DialogueQuery(facets={"success-mwzeval": "yes"}))) == done
