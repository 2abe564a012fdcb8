"""Where the folder of a domain lies: a path, which has a separator, or the name of an installed domain; never both."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.plugins import DOMAINS, load, names

DOMAIN_FILE = "domain.yaml"
PACKS = Path(__file__).with_name("packs")
#: Domains that come with dialgauge; other packages declare theirs as entry points of the group ``dialgauge.domains``.
TOWN = "town"
OUR_TOOL_DOMAINS = ("airline", "depot", "retail")
_OURS = (TOWN, *OUR_TOOL_DOMAINS)


def domain_folder(domain: str | os.PathLike[str]) -> Path:
    """The folder of a domain, given by path or by name."""
    if not isinstance(domain, str) or "/" in domain or os.sep in domain or domain in (".", ".."):
        folder = Path(domain)
        if not folder.is_dir():
            raise DialgaugeError("there is no such folder", file=str(folder))
        if not (folder / DOMAIN_FILE).is_file():
            raise DialgaugeError(f"there is no {DOMAIN_FILE} in this folder", file=str(folder))
        return folder
    if domain in _OURS:
        return PACKS / domain
    if domain not in names(DOMAINS, {}):
        hint = (
            f"; for the folder write ./{domain}"
            if Path(domain).is_dir()
            else f".{nearest(domain, installed_domains())}"
        )
        raise DialgaugeError(f"there is no installed domain named '{domain}'{hint}")
    # What is registered is the package of the folder, or the path of the folder itself.
    registered: Any = load(DOMAINS, domain, object, {})
    package = getattr(registered, "__file__", None)
    return domain_folder(Path(package).parent if package else Path(str(registered)))


def installed_domains() -> list[str]:
    """The names of all domains: ours and those of other packages."""
    return sorted({*_OURS, *names(DOMAINS, {})})


def require_file(folder: Path, name: str, line: int | None = None) -> Path:
    """A file that a line of ``domain.yaml`` names; an error for one that is not there, or not in the folder."""
    path, problem = folder / name, ""
    if not path.resolve().is_relative_to(folder.resolve()):
        problem = f"'{name}' lies outside the folder of the domain"
    elif not path.is_file():
        there = [str(other.relative_to(folder)) for other in sorted(path.parent.glob("*")) if other.is_file()]
        problem = f"there is no file '{name}'.{nearest(name, there, listed=False)}"
    if problem:
        raise DialgaugeError(problem, file=str(folder / DOMAIN_FILE), line=line)
    return path
