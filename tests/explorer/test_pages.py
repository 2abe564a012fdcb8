"""The pages over a store, for every kind of run: they answer, lead only to pages, and keep what people note."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from dialgauge import DialgaugeError, Store
from dialgauge.comparison import compare_runs
from dialgauge.explorer import report_html, report_markdown
from dialgauge.kinds import BUILT_IN
from dialgauge.report import content_policy, worst_dialogues
from dialgauge.runs import Run
from support.explorer_client import Client
from support.explorer_store import tracking_store
from support.workbench import Workbench

KINDS = [name for name, kind in BUILT_IN.items() if kind.view]
#: Links of a page that are followed.
_FOLLOWED = 25


@pytest.fixture(scope="module")
def client(bench: Workbench) -> Client:
    return Client(bench.store)


@pytest.fixture(params=KINDS)
def runs(request: pytest.FixtureRequest, bench: Workbench) -> list[Run]:
    return bench.runs_of(request.param)


def links(text: str) -> list[str]:
    return sorted({unescape(href) for href in re.findall('href="(/[^"]*)"', text)})


def test_every_page_answers_and_leads_to_pages(runs: list[Run], client: Client) -> None:
    run = runs[0]
    addresses = ["/", f"/runs/{run.id}", f"/runs/{run.id}/dialogues"]
    addresses += [f"/runs/{run.id}/dialogue?{urlencode({'id': name})}" for name in worst_dialogues(run, 1)]
    found: dict[str, str] = {}
    for address in addresses:
        answer = client.get(address)
        assert (answer.status_code, address) == (200, address)
        found |= dict.fromkeys(links(answer.text), address)
    for address in sorted(found)[:: max(1, len(found) // _FOLLOWED)]:
        page = client.get(address)
        assert page.status_code == 200 or "cannot be compared" in page.text, (address, found[address])
        _, _, anchor = address.partition("#")
        assert not anchor or f'id="{anchor}"' in page.text, address


def test_what_is_not_there_is_said(client: Client, bench: Workbench) -> None:
    run = bench.store.list()[0]
    for address, status in (("/nowhere", 404), ("/runs/none", 404), (f"/runs/{run.id}/dialogue?id=none", 400),
                            (f"/runs/{run.id}/dialogues?colour=red", 400), (f"/runs/{run.id}/table?name=none", 400),
                            (f"/compare?run={run.id}", 400), ("/runs/..%2F..", 404)):  # fmt: skip
        assert (client.get(address).status_code, address) == (status, address)


def test_labels_and_notes_are_kept_and_filter(tmp_path: Path) -> None:
    store, stored = tracking_store(tmp_path / "runs", count=12, systems=("alpha", "beta"))
    client, run = Client(store), stored[0]
    name = worst_dialogues(run, 1)[0]
    page = f"/runs/{run.id}/dialogue?{urlencode({'id': name})}"
    assert client.post(page, labels="odd, <b>area</b>", note="look <i>here</i>").status_code == 303
    assert store.annotations(run.id).dialogues[name].labels == ("odd", "<b>area</b>")
    shown = client.get(page).text
    assert "look &lt;i&gt;here&lt;/i&gt;" in shown and "<b>area" not in shown
    listed = client.get(f"/runs/{run.id}/dialogues?label=odd").text
    assert "1 of 12 dialogues" in listed
    assert client.post(f"/runs/{run.id}", labels="baseline", note="").status_code == 303
    assert store.annotations(run.id).tags == ("baseline",)
    assert "baseline" in client.get("/?tag=baseline").text


def test_a_list_goes_on_and_its_dialogues_have_neighbours(tmp_path: Path) -> None:
    store, stored = tracking_store(tmp_path / "runs", count=60, systems=("alpha",))
    client, run = Client(store), stored[0]
    first, second = (client.get(f"/runs/{run.id}/dialogues?page={number}").text for number in (1, 2))
    names = [set(re.findall(r"dialogue\?id=([^&\"#]+)", text)) for text in (first, second)]
    assert (len(names[0]), len(names[1])) == (50, 10) and not names[0] & names[1]
    ranked = worst_dialogues(run, 3)
    page = client.get(f"/runs/{run.id}/dialogue?{urlencode({'id': ranked[1]})}").text
    assert f"id={ranked[0]}" in page and f"id={ranked[2]}" in page
    exported = client.get(f"/runs/{run.id}/dialogues.csv")
    assert exported.text.count("\n") == 61


def test_runs_of_other_dialogues_share_a_list(tmp_path: Path) -> None:
    store, _ = tracking_store(tmp_path / "runs", count=12, systems=("alpha", "beta"))
    assert Client(store).get("/").text.count('aria-label="choose') == 2
    for count in (13, 14):
        store.add(tracking_store(tmp_path / str(count), count=count, systems=("gamma",))[1][0])
    text = Client(store).get("/").text
    assert text.count('aria-label="choose') == 4
    assert text.count("These runs are about different dialogues") == 1 and text.count("<table") == 2


def test_wins_lead_to_the_dialogues_they_count(tmp_path: Path) -> None:
    store, stored = tracking_store(tmp_path / "runs", count=40, systems=("alpha", "beta"))
    ids = [run.id for run in stored]
    client = Client(store)
    page = client.get(f"/compare?run={ids[0]}&run={ids[1]}").text
    difference = next(each for each in compare_runs(stored, resamples=200).differences() if each.measure == "JGA")
    address = next(href for href in links(page) if "measure=JGA" in href and f"better={difference.first}" in href)
    assert f"{difference.wins} dialogue" in client.get(address).text


def test_a_browser_may_run_our_script_and_nothing_else(client: Client, bench: Workbench) -> None:
    policy = content_policy()
    assert "default-src 'none'" in policy and "unsafe" not in policy and policy.count("sha256-") == 2
    text = client.get(f"/runs/{bench.store.list()[0].id}").text
    assert text.count("<script>") == 1 and " style=" not in text and " onclick" not in text


def test_a_report_holds_its_runs_and_loads_nothing(tmp_path: Path) -> None:
    store, stored = tracking_store(tmp_path / "runs", count=30, systems=("alpha", "beta", "gamma"))
    text = report_html(stored, dialogues=5)
    assert not re.search(r"""(src|href)=["'](?!#)""", text)
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids)) and set(re.findall('href="#([^"]+)"', text)) <= set(ids)
    assert str(tmp_path) not in text
    assert str(compare_runs(stored).verdict) in unescape(text)
    chosen = worst_dialogues(stored[0], 1)[0]
    assert f">{chosen}<" in report_html(stored[:1], only=[chosen])
    with pytest.raises(DialgaugeError):
        report_html(stored[:1], only=["none"])
    assert str(compare_runs(stored).verdict)[:20] in report_markdown(stored).replace("\\", "")
    assert Store(store.folder).list()
