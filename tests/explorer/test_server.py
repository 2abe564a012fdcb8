"""The pages as a browser gets them, without one: addresses, errors, hostile content, annotations."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from urllib.parse import urlencode

import polars as pl
import pytest
from msgspec.structs import replace

from dialgauge import Dialogue, Store, Turn, score, score_results
from dialgauge.errors import DialgaugeError
from dialgauge.explorer import write_report
from dialgauge.runs import Run, Survey
from support.agent_results import tau_file, tau_result
from support.explorer_client import Client
from support.explorer_store import tracked, tracking_store
from support.forgery import forge_table
from support.soak import MANY

HOSTILE = "<script>hacked()</script>\"><img src=x onerror=hacked()>'{{7*7}}</textarea></title>\x1b[31m\u202e"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[Run]]:
    return tracking_store(tmp_path_factory.mktemp("pages") / "runs", systems=("alpha", "beta", "gamma"))


@pytest.fixture(scope="module")
def client(stored: tuple[Store, list[Run]]) -> Client:
    return Client(stored[0])


def pages(runs: list[Run], dialogue: str) -> list[str]:
    """Every page there is about some runs."""
    one, two = runs[0].id, runs[1].id
    named = urlencode({"id": dialogue})
    return [
        "/", "/?q=alpha&kind=tracking&sort=score", f"/runs/{one}", f"/runs/{one}/dialogues",
        f"/runs/{one}/dialogues?sort=JGA&error=missed", f"/runs/{one}/dialogue?{named}", "/compare",
        f"/compare?run={one}&run={two}", f"/side?run={one}&run={two}&{named}",
    ]  # fmt: skip


def test_links_of_a_page_lead_to_pages(client: Client, stored: tuple[Store, list[Run]]) -> None:
    """Whatever a page links to is there: followed over all pages from the first one."""
    seen: set[str] = set()
    waiting = ["/"]
    while waiting and len(seen) < (120 if MANY else 40):
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        answer = client.get(address)
        assert (answer.status_code, address) == (200, address)
        waiting += [
            link.replace("&amp;", "&").partition("#")[0] for link in re.findall(r'href="(/[^"#]*)', answer.text)
        ]
    assert any("/side?" in address for address in seen) and any("dialogue?" in address for address in seen)


def test_a_list_begins_with_the_worst(client: Client, stored: tuple[Store, list[Run]]) -> None:
    run = stored[1][0].id
    usual, sorted_by = (client.get(f"/runs/{run}/dialogues{query}").text for query in ("", "?sort=FGA%400.5"))
    assert 'aria-sort="ascending"' in usual
    assert "Worst first, by FGA@0.5, then by wrong slots, then by the other measures." in usual
    assert re.findall('data-row="([^"]*)"', usual) == re.findall('data-row="([^"]*)"', sorted_by)
    assert "remove this order" not in usual
    assert "remove this order" in client.get(f"/runs/{run}/dialogues?sort=dialogue").text
    assert "turns, both sides" in usual and "declared domain <select" in usual


def test_counts_of_wins_lead_to_those_dialogues(client: Client, stored: tuple[Store, list[Run]]) -> None:
    one, two = (run.id for run in stored[1][:2])
    page = client.get(f"/compare?run={one}&run={two}").text

    for side in ("first", "second"):
        address, count = re.findall(
            rf'href="([^"]*better={side}[^"]*)"[^>]*\s*>.*?better on <b>(\d+)</b>', page, re.DOTALL
        )[0]
        listed = client.get(html.unescape(address).partition("#")[0]).text
        rows = re.findall(r'<tr class="row">\s*<td class="n">\s*([\d.]+)\s*</td><td class="n">\s*([\d.]+)', listed)
        assert len(rows) == int(count) > 0
        assert all((float(a) > float(b)) == (side == "first") for a, b in rows)
    assert client.get(f"/compare?run={one}&run={two}&better=both").status_code == 400


def test_side_by_side_starts_where_the_runs_part(client: Client, stored: tuple[Store, list[Run]]) -> None:
    from dialgauge import compare

    one, two = stored[1][:2]
    comparison = compare([one, two])
    parted = [name for name in comparison.dialogues if comparison.divergence("alpha", "beta", name)]
    assert parted
    for name in parted[:5]:
        divergence = comparison.divergence("alpha", "beta", name)
        assert divergence is not None
        text = client.get(f"/side?run={one.id}&run={two.id}&id={name}").text
        assert f'id="turn-{divergence.turn}" tabindex="-1" data-scroll' in text
        assert f'part at <a href="#turn-{divergence.turn}">' in text


@pytest.mark.parametrize(
    "address",
    [
        "/runs/none", "/runs/%2e%2e", "/runs/%2e%2e%2f%2e%2e%2fetc", "/runs/corpora", "/runs/.work",
        "/nowhere", "/static/../server.py", "/static/server.py", "/runs/{run}/chart?name=none",
        "/side?run=a&run=b&id=x", "/runs/none/dialogue?id=1", "/runs/none/side?id=1&id=2", "/runs/{run}/side?id=1",
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_page_that_says_so(
    client: Client, stored: tuple[Store, list[Run]], address: str
) -> None:
    answer = client.get(address.replace("{run}", stored[1][0].id))
    assert answer.status_code in (400, 404)
    assert "Traceback" not in answer.text and 'class="warning"' in answer.text


@pytest.mark.parametrize(
    "query",
    ["least=x", "page=x", "sort=XYZ", "measure=XYZ&least=1", "slot=none&error=none", "q=%00", "q=" + "x" * 9000],
)
def test_odd_filters_are_answered(client: Client, stored: tuple[Store, list[Run]], query: str) -> None:
    answer = client.get(f"/runs/{stored[1][0].id}/dialogues?{query}")
    assert answer.status_code in (200, 400) and "Traceback" not in answer.text


def test_hostile_content_is_shown_and_never_acts(tmp_path: Path) -> None:
    """Markup in ids, texts, domains, slots, values, names of runs, labels and notes."""
    store = Store(tmp_path / "runs")

    def say(text: str) -> str:
        return f"{text}{HOSTILE}"

    scored = score(
        tracked(8, 0, say=say),
        {say("one"): tracked(8, 1, say=say), say("two"): tracked(8, 2, say=say)},
        profile="verbatim",
    )
    runs = [store.add(run) for run in scored.runs]
    first = next(iter(runs[0].dialogues())).id
    store.annotate(runs[0].id, tags=[HOSTILE.replace("\x1b", "").replace("\u202e", "")[:50]], note=HOSTILE)
    client = Client(store)
    for address in [*pages(runs, first), f"/runs/{runs[0].id}/dialogues?{urlencode({'q': HOSTILE, 'slot': HOSTILE})}"]:
        text = client.get(address).text
        assert "hacked" in text or address.startswith(("/compare", "/?q"))
        for markup in ("<script>hacked", "<img src=x", "</textarea></title>", "\x1b", "\u202e"):
            assert markup not in text, (address, markup)
        assert "49</textarea>" not in text


def test_labels_and_notes_are_kept_in_the_store(tmp_path: Path) -> None:
    store, (run, _) = tracking_store(tmp_path / "runs", count=8)
    client = Client(store)
    back = f"/runs/{run.id}/dialogue?id=D0002&sort=JGA"
    answer = client.post(f"/runs/{run.id}/annotate", dialogue="D0002", labels="odd, ask, odd", note="who?", back=back)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{back}&saved=1")
    assert "Saved." in client.get(answer.headers["location"]).text
    assert store.annotations(run.id).dialogues["D0002"].labels == ("odd", "ask")
    assert 'value="odd, ask"' in client.get(back).text and "who?" in client.get(back).text
    client.post(f"/runs/{run.id}/annotate", labels="baseline", note="the first try")
    assert store.annotations(run.id).tags == ("baseline",)
    assert "the first try" in client.get("/?q=baseline").text
    client.post(f"/runs/{run.id}/annotate", dialogue="D0002", labels="", note="")
    assert store.annotations(run.id).dialogues == {}


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example/", "/\\evil", "javascript:x", ""])
def test_a_form_never_sends_people_elsewhere(tmp_path: Path, back: str) -> None:
    store, (run, _) = tracking_store(tmp_path / "runs", count=4)
    answer = Client(store).post(f"/runs/{run.id}/annotate", dialogue="D0001", labels="x", note="", back=back)
    assert answer.headers["location"].startswith(f"/runs/{run.id}/dialogue?id=D0001")


@pytest.mark.parametrize(
    ("form", "told"),
    [({"dialogue": "none", "labels": "x"}, "none"), ({"labels": "x" * 61}, "60"), ({"note": "x" * 10_001}, "10,000")],
)
def test_annotations_that_cannot_be_kept_are_refused(tmp_path: Path, form: dict[str, str], told: str) -> None:
    store, (run, _) = tracking_store(tmp_path / "runs", count=4)
    answer = Client(store).post(f"/runs/{run.id}/annotate", **form)
    assert answer.status_code == 400 and told in answer.text


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    client = Client(Store(tmp_path / "none"))
    assert "This store is empty" in client.get("/").text
    assert client.get("/compare").status_code == 200
    assert not (tmp_path / "none").exists()


def test_a_run_that_was_removed_while_its_page_stood_open(tmp_path: Path) -> None:
    store, (run, other) = tracking_store(tmp_path / "runs", count=6)
    client = Client(store)
    addresses = [address for address in pages([run, other], "D0001") if run.id in address]
    for address in addresses:
        client.get(address)
    store.remove(run.id)
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 404 and "removed" in answer.text
    assert client.get("/").status_code == 200


def test_damage_is_told_and_hides_nothing_else(tmp_path: Path) -> None:
    store, (run, other) = tracking_store(tmp_path / "runs", count=6)
    (run.path / "annotations.json").write_bytes(b"{")
    client = Client(store)
    assert run.name in client.get("/").text and client.get(f"/runs/{run.id}").status_code == 200
    (run.path / "slot_errors.parquet").write_bytes(b"PAR1")
    assert "Damaged" in client.get("/").text and other.name in client.get("/").text
    fresh = Client(store)  # which has not read the table before
    assert fresh.get(f"/runs/{run.id}/dialogues?error=missed").status_code == 400
    assert fresh.get(f"/runs/{run.id}").status_code == 200


def test_a_form_sends_back_what_it_is_about(tmp_path: Path) -> None:
    """HTML changes some characters of an id; a label must not land on the dialogue that the changed id names."""
    store = Store(tmp_path / "runs")
    ids = ["a\tb", "a b", "", "%41", "x\u202ey", "line\nbreak", "caf\u00e9 \U0001f600"]
    dialogues = [replace(dialogue, id=name) for dialogue, name in zip(tracked(len(ids), 0), ids, strict=True)]
    run = store.add(score(None, {"odd": dialogues}, profile="verbatim").runs[0])
    client = Client(store)
    for number, name in enumerate(ids):
        text = client.get(f"/runs/{run.id}/dialogue?{urlencode({'id': name})}").text
        value = html.unescape(re.findall(r'name="dialogue" value="([^"]*)"', text)[0])
        client.post(f"/runs/{run.id}/annotate", dialogue=value, labels=f"label {number}", note="")
    kept = store.annotations(run.id).dialogues
    assert {name: note.labels for name, note in kept.items()} == {name: (f"label {n}",) for n, name in enumerate(ids)}


def test_every_filter_finds_as_many_as_it_promises(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")

    def say(text: str) -> str:
        return f"{text}\x1b\t\u202e%\n{text}"

    scored = score(tracked(9, 0, say=say), {"odd": tracked(9, 1, say=say)}, profile="verbatim")
    run = store.add(scored.runs[0])
    client = Client(store)
    address = f"/runs/{run.id}/dialogues"
    selects = re.findall(r'<select name="(domain|slot|error|type)">(.*?)</select>', client.get(address).text, re.S)
    assert len(selects) == 4
    for name, options in selects:
        for value, count in re.findall(r'<option value="([^"]+)"[^>]*>[^<]*\((\d+)\)</option>', options):
            found = client.get(f"{address}?{urlencode({name: html.unescape(value)})}").text
            assert f"{count} of 9 dialogues" in found, (name, value)


def test_a_form_without_a_field_changes_nothing_of_it(tmp_path: Path) -> None:
    store, (run, _) = tracking_store(tmp_path / "runs", count=4)
    store.annotate(run.id, tags=["keep"], note="precious")
    Client(store).post(f"/runs/{run.id}/annotate")
    kept = store.annotations(run.id)
    assert (kept.tags, kept.note) == (("keep",), "precious")


def test_a_damaged_note_hides_no_dialogue(tmp_path: Path) -> None:
    store, (run, _) = tracking_store(tmp_path / "runs", count=4)
    (run.path / "annotations.json").write_text("[1, 2]")
    client = Client(store)
    for address in (f"/runs/{run.id}", f"/runs/{run.id}/dialogues", f"/runs/{run.id}/dialogue?id=D0001"):
        assert client.get(address).status_code == 200


def test_a_run_that_vanishes_during_the_survey_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, (run, other) = tracking_store(tmp_path / "runs", count=4)
    survey = Store.survey

    def late(self: Store) -> Survey:
        found = survey(self)
        if run.path.exists():
            shutil.rmtree(run.path)
        return found

    monkeypatch.setattr(Store, "survey", late)
    answer = Client(store).get("/")
    assert answer.status_code == 200 and other.name in answer.text


def test_tables_that_were_forged_are_a_sentence_and_no_traceback(tmp_path: Path) -> None:
    store, (run, other) = tracking_store(tmp_path / "runs", count=6)
    forge_table(run, "slot_errors", run.table("slot_errors").with_columns(pl.lit(1).alias("dialogue")))
    forge_table(run, "turn_scores", run.table("turn_scores").drop("exact"))
    forge_table(run, "predictions", run.table("predictions").with_columns(pl.lit("[]").alias("state")))
    client = Client(store)
    for address in pages([run, other], "D0001"):
        answer = client.get(address)
        assert answer.status_code in (200, 400), address
        assert "Traceback" not in answer.text
    with pytest.raises(DialgaugeError):
        write_report(tmp_path / "r.html", [store.open(run.id)])


def test_an_empty_id_can_be_compared(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    systems = {
        name: [replace(dialogue, id="" if not at else dialogue.id) for at, dialogue in enumerate(tracked(6, seed))]
        for seed, name in enumerate(("one", "two"))
    }
    runs = [store.add(run) for run in score(None, systems).runs]
    client = Client(store)
    assert client.get(f"/compare?run={runs[0].id}&run={runs[1].id}").status_code == 200
    assert client.get(f"/side?run={runs[0].id}&run={runs[1].id}&id=").status_code == 200


def test_links_to_compare_lead_to_runs_that_can_be(tmp_path: Path) -> None:
    store, (run, other) = tracking_store(tmp_path / "runs", count=4)
    apart = score(None, {"apart": [replace(one, id=f"X{one.id}") for one in tracked(4, 3)]}).runs[0]
    store.add(apart)
    text = Client(store).get(f"/runs/{run.id}").text
    assert f"/compare?run={run.id}&amp;run={other.id}" in text and "apart" not in text


def test_a_text_without_end_is_cut(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    turns = (Turn(speaker="user", text="A" * 100_000, state={}, predicted={}),)
    run = store.add(score(None, {"long": [Dialogue(id="long", turns=turns)]}, profile="verbatim").runs[0])
    text = Client(store).get(f"/runs/{run.id}/dialogue?id=long").text
    assert "80,000 more characters" in text and "A" * 20_001 not in text


def test_side_by_side_keeps_the_words_of_turns_that_conversations_share(tmp_path: Path) -> None:
    """They were dropped wherever the conversations are not the same word for word."""
    store, runs = Store(tmp_path / "runs"), []
    for name, last in (("one", "Goodbye from the first."), ("two", "Goodbye from the second.")):
        result = tau_result("t", 0, 1.0)
        result["traj"] = [
            {"role": "user", "content": "Here is the shared wish."},
            {"role": "assistant", "content": "Here is the shared answer."},
            {"role": "user", "content": "Thank you kindly."},
            {"role": "assistant", "content": last},
        ]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps([result]))
        runs.append(store.add(score_results(path)[0]))
    dialogue = runs[0].table("dialogues")["dialogue"][0]
    text = Client(store).get(f"/side?run={runs[0].id}&run={runs[1].id}&{urlencode({'id': dialogue})}").text
    for words in ("Here is the shared wish.", "Here is the shared answer.", "Thank you kindly."):
        assert text.count(words) == 1, words
    assert "Goodbye from the first." in text and "Goodbye from the second." in text


def test_where_runs_of_trials_differ_the_link_leads_to_a_trial_that_does(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    verdicts = {"one": {"a": "++-+", "b": "----", "c": "+--+"}, "two": {"a": "++++", "b": "---+", "c": "+--+"}}
    runs = [store.add(score_results(tau_file(tmp_path / f"{name}.json", marks))[0]) for name, marks in verdicts.items()]
    text = Client(store).get(f"/compare?run={runs[0].id}&run={runs[1].id}").text
    linked = set(re.findall(r"/side\?[^\"]*id=([a-c]%23\d)", text))
    assert linked == {"a%232", "b%233"}


def test_of_two_notes_the_last_one_wins(tmp_path: Path) -> None:
    store, runs = tracking_store(tmp_path / "runs")
    client, address = Client(store), f"/runs/{runs[0].id}/annotate"
    for note in ("from the first tab", "from the second tab"):
        assert client.post(address, dialogue="D0002", labels="", note=note).status_code == 303
    assert store.annotations(runs[0].id).dialogues["D0002"].note == "from the second tab"


def test_runs_that_a_comparison_refuses_are_not_suggested(tmp_path: Path) -> None:
    """Tasks of the same ids with other instructions."""
    store, runs = Store(tmp_path / "runs"), []
    for name, wish in (("one", "You want a flight."), ("two", "You want a refund."), ("three", "You want a flight.")):
        results = [tau_result(task, 0, 1.0) for task in "abc"]
        for result in results:
            result["info"]["task"]["instruction"] = wish
        (tmp_path / f"{name}.json").write_text(json.dumps(results))
        runs.append(store.add(score_results(tmp_path / f"{name}.json")[0]))
    client = Client(store)
    text = client.get(f"/runs/{runs[0].id}").text
    assert f"run={runs[2].id}" in text.partition("Compare with")[2] and runs[1].id not in text
    groups = [
        set(re.findall(r'name="run" value="([^"]+)"', group)) for group in client.get("/").text.split("<tbody")[1:]
    ]
    assert sorted(map(len, groups)) == [1, 2] and {runs[0].id, runs[2].id} in groups
    assert client.get(f"/compare?run={runs[0].id}&run={runs[1].id}").status_code == 400


def test_markdown_of_agents_is_rendered_and_nothing_in_it_acts(tmp_path: Path) -> None:
    result = tau_result("t", 0, 0.0)
    said = (
        "Here:\n- **<b>bold</b>** and `<i>code</i>`\n  1. [link](javascript:alert(1))\n# <u>Title</u>\n" + "**" * 9000
    )
    result["traj"] = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": said}]
    (tmp_path / "r.json").write_text(json.dumps([result]))
    store = Store(tmp_path / "runs")
    run = store.add(score_results(tmp_path / "r.json")[0])
    text = Client(store).get(f"/runs/{run.id}/dialogue?id=t%230&q=title").text
    assert "<b>&lt;b&gt;bold&lt;/b&gt;</b> and <code>&lt;i&gt;code&lt;/i&gt;</code>" in text
    assert '&lt;u&gt;<mark class="">Title</mark>&lt;/u&gt;' in text
    assert "[link](javascript:alert(1))" in text and 'href="javascript' not in text


def test_words_are_looked_for_one_by_one_and_phrases_in_quotation_marks(
    client: Client, stored: tuple[Store, list[Run]]
) -> None:
    address = f"/runs/{stored[1][0].id}/dialogues"

    def found(text: str) -> int:
        told = re.search(r'role="status">(\d+) of 60', client.get(f"{address}?{urlencode({'q': text})}").text)
        assert told is not None
        return int(told[1])

    assert 0 < found('"want area"') <= found("area want") and found('"area want"') == 0


def test_a_list_can_be_exported(client: Client, stored: tuple[Store, list[Run]]) -> None:
    answer = client.get(f"/runs/{stored[1][0].id}/dialogues.csv?sort=JGA&error=missed")
    page = client.get(f"/runs/{stored[1][0].id}/dialogues?sort=JGA&error=missed").text
    names = re.findall(r'class="open"[^>]*>([^<]+)<', page)
    assert "attachment" in answer.headers["content-disposition"]
    assert [line.partition(",")[0] for line in answer.text.splitlines()[1:]][: len(names)] == names
