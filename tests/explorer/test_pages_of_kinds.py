"""What the pages of every kind of run keep to: a new kind is held to all of it once a run of it is on the workbench.

All pages answer, show the scores and lead only to pages; filters find what they promise; a report has everything in it
and fetches nothing; text from a run never acts; and a run whose tables are poor, empty or gone still has its pages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from dialgauge import Store
from dialgauge.errors import DialgaugeError
from dialgauge.explorer import DialogueList, DialogueQuery, Library, report_html, report_markdown, run_sentences
from dialgauge.kinds import BUILT_IN, kind_named, run_kinds
from dialgauge.runs import Run, new_run
from support import pages
from support.explorer_client import Client
from support.family_pages import dialogue_html, emptied, holds_texts, hostile, nulled, run_html, without
from support.soak import MANY
from support.workbench import Workbench

KINDS = [kind for kind in run_kinds() if kind in BUILT_IN]


@pytest.fixture(scope="module")
def client(bench: Workbench) -> Client:
    return Client(bench.store)


@pytest.fixture(params=KINDS)
def runs(request: pytest.FixtureRequest, bench: Workbench) -> list[Run]:
    """The stored runs of a kind: two that can be compared where its commands make several."""
    return bench.runs_of(request.param)


def ids_of(run: Run) -> list[str]:
    """The first dialogues of a run, of which some have none."""
    return [dialogue.id for dialogue, _ in zip(run.dialogues(), range(2), strict=False)] if has_dialogues(run) else []


def has_dialogues(run: Run) -> bool:
    return "dialogues" in run.tables


def test_every_kind_is_on_the_workbench(bench: Workbench) -> None:
    lacking = [kind for kind in KINDS if not bench.runs_of(kind)]
    assert lacking == [], "show on a page how to store such a run, or do it in support/workbench.py"


def addresses(runs: list[Run]) -> Iterator[str]:
    run = runs[0]
    yield from ("/", f"/?kind={run.kind}", f"/runs/{run.id}", f"/runs/{run.id}/dialogues")
    for name in ids_of(run):
        yield f"/runs/{run.id}/dialogue?{urlencode({'id': name})}"
    if len(runs) > 1 and run.kind != "interaction":  # whose two are of different users
        both = f"run={runs[0].id}&run={runs[1].id}"
        yield f"/compare?{both}"
        yield from (f"/side?{both}&{urlencode({'id': name})}" for name in ids_of(run)[:1])


def test_every_page_answers_and_leads_to_pages(runs: list[Run], client: Client, without_pictures: None) -> None:
    seen: dict[str, str] = {}
    for address in addresses(runs):
        answer = client.get(address)
        assert (answer.status_code, address) == (200, address)
        assert "<h1" in answer.text and "</html>" in answer.text and "Traceback" not in answer.text
        seen[address] = answer.text
    links = {
        link.replace("&amp;", "&").partition("#")[0]
        for text in seen.values()
        for link in re.findall(r'href="(/[^"#]*)', text)
    }
    own = {link for link in links - seen.keys() if runs[0].id in link}
    for link in sorted(own)[: 12 if MANY else 3]:
        assert (client.get(link).status_code, link) == (200, link)


def test_the_page_of_a_run_has_every_score_and_its_charts(runs: list[Run], client: Client) -> None:
    run = runs[0]
    text = html.unescape(client.get(f"/runs/{run.id}").text)
    assert run.id in text and run.name in text
    for name, one in run.scores.items():
        assert name in text and one.signature in text
        if one.unit == "share" and one.value is not None:
            assert f"{100 * one.value:.2f}%" in text
    for name in re.findall(r"chart\?name=([^\"&#]*)", text):
        specification = client.get(f"/runs/{run.id}/chart?name={name}").json()
        assert "vega-lite" in specification["$schema"]
        assert not list(addresses_in(specification)), "a chart loads nothing"


def test_every_bar_leads_to_as_many_dialogues_as_it_counts(runs: list[Run], client: Client) -> None:
    text = client.get(f"/runs/{runs[0].id}").text
    bars = re.findall(r'<a href="([^"]*)"[^>]*>\s*<span class="bar-name">[^<]*<span class="unseen">: ([\d,]+)', text)
    assert bool(bars) == ("each bar opens them" in text)
    for address, count in bars[:8]:
        assert f'role="status">{count} of ' in client.get(html.unescape(address)).text, address


def addresses_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (value[key] for key in ("url", "href") if key in value)
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from addresses_in(one)


def test_every_filter_finds_as_many_as_it_promises(runs: list[Run]) -> None:
    run = runs[0]
    if not has_dialogues(run):
        pytest.skip("runs of this kind have no dialogues")
    listed = DialogueList(Library(runs=[run]), run)
    for choice in listed.choices(DialogueQuery()):
        for value, count in choice.values:
            assert len(listed.order(DialogueQuery(facets={choice.name: value}))) == count, (choice.name, value)


def test_a_report_is_one_file_with_everything_in_it(runs: list[Run], without_pictures: None) -> None:
    text, plain = report_html(runs[:2], dialogues=1), report_markdown(runs[:2])
    outside = re.findall(r'(?:src|href)\s*=\s*"(?!#|data:image/svg\+xml;base64,)([^"]*)"', text)
    assert outside == [] and "@import" not in text and "url(" not in text
    assert text.count("<script") == 1 and "default-src 'none'" in text
    for run in runs[:2]:
        assert html.escape(run.name) in text and run.name in plain.replace("\\", "")


@pytest.mark.soak
def test_a_report_draws_the_charts_of_every_kind(runs: list[Run], client: Client) -> None:
    """Each kind of chart is drawn in tests/report, and some reports in test_report_file."""
    charted = "/chart?name=" in client.get(f"/runs/{runs[0].id}").text
    assert ("data:image/svg+xml;base64," in report_html(runs[:1], dialogues=0)) == charted


def test_a_report_begins_with_the_verdict(runs: list[Run], without_pictures: None) -> None:
    for chosen in (runs[:1], runs[:2]):
        first = re.search(r"</h1>\s*<p[^>]*>(.*?)</p>", report_html(chosen, dialogues=0), re.DOTALL)
        assert first, "something else comes first"
        said = html.unescape(re.sub(r"<[^>]+>", "", first[1]))
        if len(chosen) == 1:
            assert said == run_sentences(runs[0], notes=False)[0]
            assert (
                report_markdown(chosen).replace("\\", "").startswith(f"- **{runs[0].name}** ({runs[0].kind}): {said}")
            )
        else:
            assert re.search(r" is ahead of | cannot be told apart|^No verdict: |^Not compared: ", said), said
            assert report_markdown(chosen).replace("\\", "").removeprefix("- ").startswith(said[:60])


# Whatever a run holds


def shown(run: Run, store: Store) -> str:
    """All pages of a run that somebody else made: each answers, with the run or with what is wrong with it."""
    client, kept = Client(store), store.add(run)
    asked = [f"/runs/{kept.id}", f"/runs/{kept.id}/dialogues"]
    asked += [f"/runs/{kept.id}/dialogue?{urlencode({'id': name})}" for name in ids_of(kept)]
    answers = [client.get(address) for address in asked]
    for answer in answers:
        assert answer.status_code == 200 or (answer.status_code == 400 and 'class="warning"' in answer.text)
        assert "Traceback" not in answer.text and "</html>" in answer.text
    return "".join(answer.text for answer in answers)


def test_hostile_text_is_shown_and_never_acts(runs: list[Run], tmp_path: Path) -> None:
    bad = hostile(runs[0])
    assert "<script>alert" not in shown(bad, Store(tmp_path / "runs"))
    try:
        text = run_html(bad) + "".join(dialogue_html(bad, name) for name in ids_of(bad))
    except DialgaugeError:  # which a page shows
        return
    pages.assert_harmless(text)
    assert not holds_texts(bad) or "&lt;script&gt;" in text


def test_a_hostile_dialogue_has_its_page(runs: list[Run]) -> None:
    run = runs[0]
    strange = new_run(kind=run.kind, name=pages.HOSTILE, corpus=[pages.hostile_dialogue()])
    text = dialogue_html(strange, pages.HOSTILE)
    pages.assert_harmless(text)
    assert "&lt;script&gt;" in text


def test_poor_empty_and_missing_tables_have_pages(runs: list[Run], tmp_path: Path) -> None:
    run, store = runs[0], Store(tmp_path / "runs")
    shown(emptied(run), store)
    for place, table in enumerate(sorted(run.tables.keys() - {"dialogues", "turns", "dialogue_scores"})):
        for damage in (without, nulled) if MANY else (without, nulled)[place % 2 :][:1]:
            shown(damage(run, table), store)


def test_a_bare_run_has_its_pages(runs: list[Run], tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    bare = store.add(new_run(kind=runs[0].kind, name="bare"))
    client = Client(store)
    assert "no scores" in client.get(f"/runs/{bare.id}").text
    assert client.get(f"/runs/{bare.id}/dialogues").status_code == 200
    assert kind_named(bare.kind).name == bare.kind
