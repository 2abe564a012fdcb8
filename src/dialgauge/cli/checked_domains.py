"""What ``dialgauge data check`` says of tool domains and of agents' logs.

Of a folder with tools: what there is and what is wrong, without running its code. Of a log: whether its conversations
belong to the tasks that they are filed under.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge.cli.screen import out

if TYPE_CHECKING:
    from dialgauge.data import Report
    from dialgauge.worlds.tools import DomainReport, Integrity


def domain_reports(sources: Sequence[str]) -> tuple[list[DomainReport], list[str]]:
    """Reports on those sources that are folders of tool domains, and the other sources."""
    reports, others = [], []
    for source in sources:
        folder = Path(source)
        if (folder / "domain.yaml").is_file():
            from dialgauge.data import data_folder
            from dialgauge.worlds.tools import check_tool_domain, is_tool_domain

            if is_tool_domain(folder):
                _check_services(folder)
                reports.append(check_tool_domain(folder, data_folder().root))
                continue
        others.append(source)
    return reports, others


def _check_services(folder: Path) -> None:
    """An error where a folder with tools has services too, and something is wrong with these."""
    from dialgauge.worlds.domain import load_domain
    from dialgauge.yaml_file import read_yaml

    content = read_yaml(folder / "domain.yaml", as_text=True).content
    if isinstance(content, dict) and content.get("services"):
        load_domain(folder)


def show_domain(report: DomainReport) -> None:
    """The report on the screen."""
    from dialgauge.report import Table

    if report.domain:
        out.print(report.summary)
    if report.problems:
        table = Table("Findings", ["file", "line", "kind", "what"])
        for problem in report.problems:
            table.add(Path(problem.file).name, problem.line, problem.severity, problem.message)
        out.print(table.render("terminal"))
    if report.code:
        out.print(report.code)
    out.print(f"{report.folder}: {'sound' if report.sound else 'not sound'}.")


def log_integrity(report: Report) -> dict[str, Integrity]:
    """The check of each log of agents among the files that were read."""
    checked = {}
    for group in report.groups:
        for file in group.files if group.format in ("tau", "tau2") else ():
            from dialgauge.data import data_folder
            from dialgauge.worlds.tools import check_log

            integrity = check_log(file.file, data_folder().root)
            if integrity is not None:
                checked[file.file] = integrity
    return checked


def show_integrity(checked: Mapping[str, Integrity]) -> None:
    """Whether logs are what they say, on the screen."""
    from dialgauge.worlds.tools import integrity_sentences

    for file, integrity in checked.items():
        for sentence in integrity_sentences(Path(file).name, integrity):
            out.print(sentence)
    if checked:
        out.print()
