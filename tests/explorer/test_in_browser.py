"""The explorer in a real browser: every page, keyboard, filters, links, back button, charts, hostile content."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dialgauge import Store, score
from dialgauge.explorer import Guard, create_app, local_hosts
from dialgauge.runs import Run
from support.explorer_store import large_run, tracked, tracking_store
from support.soak import soak

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from starlette.types import ASGIApp

    from support.browser import AppFactory, Watch

Serve = Callable[["AppFactory"], str]
HOSTILE = "<img src=/x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"


def over(store: Store) -> AppFactory:
    """The explorer of a store as it is served."""

    def make(port: int) -> ASGIApp:
        return Guard(create_app(store), hosts=local_hosts(port))

    return make


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[Run]]:
    return tracking_store(tmp_path_factory.mktemp("browser") / "runs", count=120, systems=("alpha", "beta", "gamma"))


@pytest.fixture
def site(serve: Serve, stored: tuple[Store, list[Run]]) -> str:
    return serve(over(stored[0]))


def test_from_the_runs_to_the_turn_where_two_part(page: Page, site: str) -> None:
    """The way that people take: choose two runs, see which is better, open a dialogue, go to the next."""
    page.goto(site)
    page.get_by_label("Choose alpha").check()
    page.get_by_label("Choose gamma").check()
    page.get_by_role("button", name="Compare (2)").click()
    assert page.get_by_role("heading", level=1).inner_text().split() == ["A", "alpha", "against", "B", "gamma"]
    page.locator("a.open").first.click()
    page.wait_for_url(re.compile("/side\\?"))
    parting = page.locator("[data-scroll]")
    assert parting.count() == 1
    box, height = parting.bounding_box(), page.viewport_size
    assert box is not None and height is not None and 0 <= box["y"] < height["height"]
    first = page.get_by_role("heading", level=1).inner_text()
    page.keyboard.press("n")
    page.wait_for_function("was => document.querySelector('h1').innerText !== was", arg=first)
    page.keyboard.press("p")
    page.wait_for_function("was => document.querySelector('h1').innerText === was", arg=first)
    page.keyboard.press("u")
    page.wait_for_url(re.compile("/compare\\?"))


def test_filters_keep_their_address_and_the_back_button_works(
    page: Page, site: str, stored: tuple[Store, list[Run]]
) -> None:
    page.goto(f"{site}/runs/{stored[1][0].id}/dialogues")
    assert page.get_by_role("status").inner_text().startswith("120 of 120")
    page.get_by_label("kind of error").select_option("missed")  # which applies at once
    page.wait_for_url(re.compile("error=missed"))
    page.get_by_label("Text").fill("cheap")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url(re.compile("q=cheap"))
    found = page.get_by_role("status").inner_text()
    assert not found.startswith("120 ")
    page.get_by_role("link", name="AGA", exact=True).click()
    page.wait_for_url(re.compile("sort=AGA"))
    shared = page.url
    rows = page.locator("tr.row a.open").all_inner_texts()
    page.locator("a.open").nth(1).click()
    page.wait_for_url(re.compile("/dialogue\\?"))
    assert page.get_by_role("heading", level=1).inner_text() == rows[1]
    page.get_by_role("link", name="next →").click()
    page.wait_for_function("name => document.querySelector('h1').innerText === name", arg=rows[2])
    page.go_back()
    page.go_back()
    page.wait_for_url(shared)
    assert page.get_by_role("status").inner_text() == found
    page.goto(shared)  # the address alone shows the same
    assert page.locator("tr.row a.open").all_inner_texts() == rows
    page.go_back()


def test_keyboard_alone(page: Page, site: str, stored: tuple[Store, list[Run]]) -> None:
    run = stored[1][2]
    page.goto(f"{site}/runs/{run.id}/dialogues?sort=JGA")
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("tr.row").nth(1)
    assert "here" in (second.get_attribute("class") or "")
    name = second.locator("a.open").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/dialogue\\?"))
    assert page.get_by_role("heading", level=1).inner_text() == name
    page.keyboard.press("e")
    here = page.locator(".turn.here")
    assert "marked" in (here.get_attribute("class") or "")
    page.keyboard.press("l")
    page.keyboard.type("checked by key")
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#label')?.value === 'checked by key'")
    assert stored[0].annotations(run.id).dialogues[name].labels == ("checked by key",)
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.wait_for_url(re.compile("/dialogues"))
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"


def test_x_selects_dialogues_and_c_shows_them_side_by_side(
    page: Page, site: str, stored: tuple[Store, list[Run]]
) -> None:
    page.goto(f"{site}/runs/{stored[1][0].id}/dialogues")
    bar, button = page.locator("[data-selection]"), page.locator("#compare")
    assert not bar.is_visible()
    names = page.locator("tr.row a.open").all_inner_texts()
    page.keyboard.press("j")
    page.keyboard.press("x")
    assert button.inner_text() == "Compare (1)" and button.is_disabled()
    for _ in range(4):
        page.keyboard.press("j")
        page.keyboard.press("x")
    assert button.inner_text() == "Compare (5)" and button.is_disabled()
    for _ in range(3):
        page.keyboard.press("x")
        page.keyboard.press("k")
    assert bar.locator("[data-chosen]").inner_text() == ", ".join(names[:2])
    page.keyboard.press("c")
    page.wait_for_url(re.compile("/side\\?"))
    assert page.get_by_role("heading", level=1).inner_text() == ", ".join(names[:2])
    assert [text.split(":")[0] for text in page.locator(".sides-head a").all_inner_texts()] == names[:2]


def test_a_deep_link_opens_at_its_turn(page: Page, site: str, stored: tuple[Store, list[Run]]) -> None:
    long = max(stored[1][0].dialogues(), key=lambda dialogue: len(dialogue.turns))
    last = len(long.turns) - 1
    page.set_viewport_size({"width": 700, "height": 320})
    page.goto(f"{site}/runs/{stored[1][0].id}/dialogue?id={long.id}#turn-{last}")
    box = page.locator(f"#turn-{last}").bounding_box()
    assert box is not None and -5 <= box["y"] < 320


@pytest.mark.soak
def test_charts_are_drawn_without_code_from_specifications(
    page: Page, site: str, stored: tuple[Store, list[Run]]
) -> None:
    """The content policy allows no evaluation of text as code; a chart that needed it would be an error here."""
    page.goto(f"{site}/runs/{stored[1][0].id}")
    page.locator("summary", has_text="Charts").click()
    for chart in page.locator("figure.chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg").first.wait_for()
    assert page.locator("figure.chart[data-drawn]").count() == page.locator("figure.chart").count() >= 2
    page.goto(f"{site}/compare?run={stored[1][0].id}&run={stored[1][1].id}")
    page.locator("summary", has_text="Charts").click()
    page.locator("figure.chart").first.scroll_into_view_if_needed()
    page.locator("figure.chart svg").first.wait_for()


def test_a_chart_says_what_is_under_the_pointer(page: Page, site: str, stored: tuple[Store, list[Run]]) -> None:
    page.goto(f"{site}/runs/{stored[1][0].id}")
    page.locator("summary", has_text="Charts").click()
    chart = page.locator("figure.chart").first
    chart.scroll_into_view_if_needed()
    chart.locator("svg .role-mark path").first.hover(force=True)
    told = page.locator(".vg-tooltip.visible")
    told.wait_for()
    assert told.locator("td.value").first.inner_text()


@pytest.mark.parametrize(
    ("width", "theme"), [soak(1280, "light"), (390, "dark"), soak(1280, "dark"), soak(768, "light"), soak(390, "light")]
)
def test_both_themes_and_a_phone(
    page: Page, site: str, stored: tuple[Store, list[Run]], theme: str, width: int
) -> None:
    """Nothing but a table in its own frame is wider than the screen, and text stands out from its ground."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 800})
    one, two = stored[1][0].id, stored[1][1].id
    for path in (
        "/", f"/runs/{one}", f"/runs/{one}/dialogues", f"/runs/{one}/dialogue?id=D0003",
        f"/compare?run={one}&run={two}", f"/side?run={one}&run={two}&id=D0003",
    ):  # fmt: skip
        page.goto(f"{site}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate(CONTRAST) >= 4.5, path


#: The smallest contrast of a text with what is behind it, by the formula of the accessibility guidelines (1.4.3); where
#: it is a sign without a letter, such as the square of a key, they ask for 3 instead of 4.5 (1.4.11).
CONTRAST = """() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
  const ground = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  let least = 99;
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.checkVisibility() || node.closest("svg, noscript, dialog")) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(ground(node))];
    const wanted = /[\\p{L}\\p{N}]/u.test(node.textContent) ? 1 : 4.5 / 3;
    least = Math.min(least, wanted * (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  return least;
}"""


@pytest.mark.soak
def test_the_theme_is_remembered(page: Page, site: str) -> None:
    page.goto(site)
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    page.goto(f"{site}/compare")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after


def test_hostile_content_does_not_run(page: Page, serve: Serve, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")

    def say(text: str) -> str:
        return f"{text} {HOSTILE}"

    predicted = {say("one"): tracked(6, 1, say=say), say("two"): tracked(6, 2, say=say)}
    runs = [store.add(run) for run in score(tracked(6, 0, say=say), predicted, profile="verbatim").runs]
    store.annotate(runs[0].id, tags=["<b>tag</b>"], note=HOSTILE)
    site = serve(over(store))
    page.goto(site)
    page.locator("a.open").first.click()
    page.locator("summary", has_text="Charts").click()
    page.locator("figure.chart").first.scroll_into_view_if_needed()
    page.locator("figure.chart svg").first.wait_for()
    page.get_by_role("link", name="6 dialogues", exact=True).click()
    page.locator("a.open").first.click()
    page.locator(".turn").first.wait_for()
    page.goto(f"{site}/compare?run={runs[0].id}&run={runs[1].id}")
    page.locator("summary", has_text="Charts").click()
    page.locator("figure.chart").first.scroll_into_view_if_needed()
    page.locator("figure.chart svg").first.wait_for()
    assert "hacked" not in page.title() and page.locator("img[src='/x']").count() == 0


@pytest.mark.soak
def test_100_000_dialogues(page: Page, serve: Serve, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    run = store.add(large_run(100_000))
    page.goto(f"{serve(over(store))}/runs/{run.id}/dialogues?sort=JGA")
    assert "100,000 of 100,000 dialogues, page 1 of 2,000" in page.get_by_role("status").inner_text()
    for number in (2, 3):
        page.keyboard.press("n")
        page.wait_for_url(re.compile(f"page={number}"))
    page.get_by_label("Text").fill("number 54321 ")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('[role=status]').innerText.startsWith('1 of 100,000')")
    page.locator("a.open").click()
    assert page.get_by_role("heading", level=1).inner_text() == "D054321"


@pytest.mark.soak
def test_an_empty_store(page: Page, serve: Serve, tmp_path: Path) -> None:
    page.goto(serve(over(Store(tmp_path / "runs"))))
    assert page.get_by_text("This store is empty").is_visible()


def test_a_run_that_is_removed_while_its_page_is_open(page: Page, serve: Serve, watch: Watch, tmp_path: Path) -> None:
    store, (run, other) = tracking_store(tmp_path / "runs", count=10)
    site = serve(over(store))
    page.goto(f"{site}/runs/{run.id}/dialogues")
    store.remove(run.id)
    page.locator("a.open").first.click()
    assert page.get_by_role("heading", level=1).inner_text() == "Not found"
    watch.expect("404")
    page.get_by_role("link", name="All runs").click()
    assert page.get_by_role("link", name=other.name).is_visible()


@pytest.mark.soak
def test_screen_readers_find_headings_and_names(page: Page, site: str, stored: tuple[Store, list[Run]]) -> None:
    """Every page has one heading of the first rank, every control a name, and no heading of a table is empty."""
    one, two = stored[1][0].id, stored[1][1].id
    for path in ("/", f"/runs/{one}", f"/runs/{one}/dialogues", f"/runs/{one}/dialogue?id=D0003",
                 f"/compare?run={one}&run={two}", f"/side?run={one}&run={two}&id=D0003"):  # fmt: skip
        page.goto(f"{site}{path}")
        assert page.locator("h1").count() == 1
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a[href]")]
            .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim()))
            .map((one) => one.outerHTML)"""
        )
        assert unnamed == [], path
        assert page.evaluate("document.documentElement.lang") == "en"
        empty = page.evaluate("[...document.querySelectorAll('th')].filter((one) => !one.textContent.trim()).length")
        assert empty == 0, path


@pytest.mark.soak
def test_long_names_and_signatures_are_short_until_asked_for(page: Page, serve: Serve, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    names = [f"llm-system(endpoint=http://localhost:8080/v1,model=a-long-one-{place})-agenda" for place in "ab"]
    runs = [
        store.add(run)
        for run in score(tracked(20, 0), {name: tracked(20, place) for place, name in enumerate(names)}).runs
    ]
    site = serve(over(store))
    page.goto(f"{site}/runs/{runs[0].id}")
    heading = page.get_by_role("heading", level=1)
    assert len(heading.inner_text()) <= 70 and " … " in heading.inner_text()
    assert heading.locator("span").get_attribute("title") == names[0]
    page.goto(f"{site}/compare?run={runs[0].id}&run={runs[1].id}")
    assert len(page.get_by_role("heading", level=1).inner_text()) <= 70 * 2 + len("A  against B ")
    for summary in page.locator("details.fold > summary").all():
        summary.click()
    folded = page.locator("details.signature").first
    whole = folded.locator("code")
    assert folded.locator("summary").inner_text().startswith("Signature: ") and not whole.is_visible()
    assert len(folded.locator("summary").inner_text()) <= 80 + len("Signature: ")
    folded.locator("summary").click()
    assert whole.is_visible() and "|gold:" in whole.inner_text()
