"""The page about speech: its examples run, and its example of templates is a good one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dialgauge.agents.speech import PhraseBook, TemplateNlg
from dialgauge.draws import Draws
from dialgauge.worlds.town import act

PAGE = (Path(__file__).parents[3] / "docs" / "lab.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}[^\n]*\n(.*?)```", PAGE, re.DOTALL)


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def test_the_generator_says_what_the_page_says() -> None:
    code = next(block for block in blocks("python") if "nlg.generate" in block)
    said = run(code)["said"]
    assert repr(said.text) in code
    assert [said.text[span.start : span.end] for span in said.spans] == ["thai", "west"]


def test_the_parser_understands_what_the_page_says() -> None:
    code = next(block for block in blocks("python") if "default_nlu" in block)
    parse = run(code)["parse"]
    assert parse.acts == (act("Hotel-Request", "postcode", "?"),)
    assert repr(parse.acts) in code


def test_the_templates_of_the_page_work(tmp_path: Path) -> None:
    (content,) = blocks("yaml")
    file = tmp_path / "mine.yaml"
    file.write_text(content, encoding="utf-8")
    nlg = TemplateNlg("plain", phrases={"user": file})

    def said(*acts: tuple[str, str, str]) -> str:
        return nlg.generate([act(*one) for one in acts], "user", Draws(0)).text

    cheap, west = ("Hotel-Inform", "pricerange", "cheap"), ("Hotel-Inform", "area", "west")
    assert said(cheap, west) == "Something cheap in the west, please."
    assert said(("Hotel-Inform", "type", "hotel")) == "I'd like a hotel."
    assert said(("Hotel-Inform", "people", "1")) == "We are 1 person."
    assert said(("Restaurant-Inform", "", "")) == "Help me find a restaurant."
    assert said(("Restaurant-Request", "phone", "?")) == "What is the phone number?"
    assert PhraseBook(file, "user").label("Restaurant-Request", "phone") == "phone number"
