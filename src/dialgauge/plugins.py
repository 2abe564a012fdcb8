"""The one loader of plugins (formats, measures, profiles, rankers, agents, kinds of run): ours and those of packages.

Our own stand in tables of strings, ``{"name": "module:attribute"}``, so naming one imports that one and reads nothing
else. Other packages declare entry points in the groups below; they are looked up when a name is not ours or when all
are listed, which takes reading the metadata of every installed package.

Invariants
- A name in the table always means our own, whatever is installed. A plugin of the same name is refused, and listed so.
- A faulty plugin never stops anything but its own use: naming it is an error, listing it gives the reason.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from dialgauge.errors import DialgaugeError, missing_extra, nearest

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

T = TypeVar("T")
#: A class, or several of which one will do. (For mypy ``type[T]`` would refuse abstract ones.)
Kind: TypeAlias = Callable[..., T] | tuple[Callable[..., T], ...]
#: Name to ``module:attribute``.
BuiltIn: TypeAlias = Mapping[str, str]

FORMATS = "dialgauge.formats"
MEASURES = "dialgauge.measures"
PROFILES = "dialgauge.profiles"
RANKERS = "dialgauge.rankers"
AGENTS = "dialgauge.agents"
KINDS = "dialgauge.kinds"
DOMAINS = "dialgauge.domains"

#: What users call a thing of each group.
_NOUNS = {
    FORMATS: "format", MEASURES: "measure", PROFILES: "profile", RANKERS: "model", AGENTS: "agent",
    KINDS: "kind of run", DOMAINS: "domain",
}  # fmt: skip
_OURS = "dialgauge"
#: Which extra of dialgauge brings a package that some of our own need.
_EXTRAS = {"torch": "neural"}


class Plugin(NamedTuple, Generic[T]):
    """One entry of a listing: what was loaded, or the reason why it cannot be used."""

    name: str
    package: str
    #: ``module:attribute``.
    target: str
    content: T | None = None
    reason: str | None = None


def names(group: str, built_in: BuiltIn) -> list[str]:
    """All names of a group in alphabetical order, without importing any of them."""
    return sorted({*built_in, *(plugin.name for plugin in _installed(group) if plugin.reason is None)})


def load(group: str, name: str, kind: Kind[T], built_in: BuiltIn) -> T:
    """What bears the name: an instance of ``kind``, or an error that names the plugin, its package and the reason."""
    plugin = _named(group, name, built_in)
    content: T = _checked(plugin, _loaded(plugin, group), kind, group)
    return content


def load_part(group: str, name: str, target: str, kind: Kind[T], built_in: BuiltIn) -> T:
    """Something else that what bears the name refers to, as ``module:attribute``; errors are those of :func:`load`."""
    plugin = _named(group, name, built_in)._replace(target=target)
    content: T = _checked(plugin, _loaded(plugin, group), kind, group)
    return content


def load_class(group: str, name: str, kind: Kind[T], built_in: BuiltIn) -> type[T]:
    """The same where what is registered is a class: ``kind`` or a subclass of it."""
    plugin = _named(group, name, built_in)
    content: type[T] = _checked_class(plugin, _loaded(plugin, group), kind, group)
    return content


def listing(group: str, kind: Kind[T], built_in: BuiltIn) -> list[Plugin[T]]:
    """Everything of a group in alphabetical order, loaded; what cannot be used carries the reason."""
    return _listing(group, kind, built_in, _checked)


def class_listing(group: str, kind: Kind[T], built_in: BuiltIn) -> list[Plugin[type[T]]]:
    """The same where what is registered are classes."""
    return _listing(group, kind, built_in, _checked_class)


def _listing(group: str, kind: Kind[T], built_in: BuiltIn, check: Callable[..., Any]) -> list[Plugin[Any]]:
    ours = [Plugin[Any](name, _OURS, target) for name, target in built_in.items()]
    listed = []
    for plugin in sorted(
        [*ours, *_installed(group)], key=lambda known: (known.name, known.package != _OURS, known.package)
    ):
        try:
            if plugin.package != _OURS and plugin.reason is None:
                _named(group, plugin.name, {})
                _refuse_shadow(plugin, built_in, group)
            content = check(plugin, _loaded(plugin, group), kind, group)
            listed.append(plugin._replace(content=content))
        except DialgaugeError as error:
            listed.append(plugin._replace(reason=str(error)))
    return listed


def package_of(module: str) -> str | None:
    """``package-version`` of the installed package whose plugins lie in a top module; None where there is none."""
    versions = installed_versions()
    for _, plugin in _scan(tuple(sys.path)):
        if plugin.target.partition(":")[0].partition(".")[0].strip() == module:
            name = re.sub(r"[-.]", "_", plugin.package.lower())
            return f"{plugin.package}-{versions.get(name, 'unknown')}"
    return None


def installed_versions() -> dict[str, str]:
    """Version by package (small letters, underscores), from folder names such as ``numpy-2.4.1.dist-info``.

    ``importlib.metadata`` says the same, and takes 20 ms to import a parser of e-mail and to read the descriptions.
    """
    versions: dict[str, str] = {}
    for folder in sys.path:
        try:
            names = [entry.name for entry in os.scandir(folder or os.curdir)]
        except OSError:  # an archive, or nothing at all
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                package, _, version = name.rpartition(".")[0].partition("-")
                versions.setdefault(package.lower().replace(".", "_"), version.partition("-")[0])
    return versions


def _named(group: str, name: str, built_in: BuiltIn) -> Plugin[Any]:
    if name in built_in:
        return Plugin(name, _OURS, built_in[name])
    same = [plugin for plugin in _installed(group) if plugin.name == name]
    if not same:
        known = names(group, built_in)
        raise DialgaugeError(f"there is no {_noun(group)} named '{name}'.{nearest(name, known)}")
    if len(same) > 1:
        offers = " and ".join(f"{plugin.package} ({plugin.target})" for plugin in same)
        raise DialgaugeError(f"more than one {_noun(group)} is named '{name}': {offers}; uninstall one of the packages")
    return same[0]


def _refuse_shadow(plugin: Plugin[Any], built_in: BuiltIn, group: str) -> None:
    if plugin.name in built_in:
        raise DialgaugeError(
            f"{_who(plugin, group)} cannot be used: '{plugin.name}' is the name of dialgauge's own "
            f"({built_in[plugin.name]}); ask its authors for another name"
        )


def _loaded(plugin: Plugin[Any], group: str) -> Any:
    if plugin.reason is not None:
        raise DialgaugeError(plugin.reason)
    if plugin.package == _OURS:
        return _our_own(plugin, group)
    try:
        return _imported(plugin.target)
    except (Exception, SystemExit) as error:  # whatever a stranger's module does when it is imported
        raise DialgaugeError(
            f"{_who(plugin, group)} cannot be loaded: {type(error).__name__}: {error}; "
            f"update or uninstall {plugin.package}"
        ) from error


def _our_own(plugin: Plugin[Any], group: str) -> Any:
    try:
        return _imported(plugin.target)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in _EXTRAS:
            raise missing_extra(missing, _EXTRAS[missing], f"The {_noun(group)} {plugin.name}") from error
        raise


def _imported(target: str) -> Any:
    module, _, attribute = target.partition(":")
    content: Any = import_module(module.strip())
    for part in filter(None, attribute.partition("[")[0].strip().split(".")):
        content = getattr(content, part)
    return content


def _checked(plugin: Plugin[Any], content: Any, kind: Kind[T], group: str) -> Any:
    if not isinstance(content, kind):  # type: ignore[arg-type]
        raise _wrong(plugin, group, f"{_article(kind)} is expected, but it is of the type {type(content).__name__}")
    return content


def _checked_class(plugin: Plugin[Any], content: Any, kind: Kind[T], group: str) -> Any:
    if not isinstance(content, type):
        raise _wrong(plugin, group, f"a subclass of {_words(kind)} is expected, but it is not a class")
    if not issubclass(content, kind):  # type: ignore[arg-type]
        raise _wrong(plugin, group, f"a subclass of {_words(kind)} is expected, but {content.__name__} is not one")
    return content


def _wrong(plugin: Plugin[Any], group: str, reason: str) -> DialgaugeError:
    return DialgaugeError(f"{_who(plugin, group)} cannot be used: {reason}; update or uninstall {plugin.package}")


def _who(plugin: Plugin[Any], group: str) -> str:
    return f"the {_noun(group)} '{plugin.name}' of the package {plugin.package} ({plugin.target})"


def _noun(group: str) -> str:
    return _NOUNS.get(group, group)


def _words(kind: Kind[Any]) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(word.__name__ for word in kinds)


def _article(kind: Kind[Any]) -> str:
    words = _words(kind)
    return f"{'an' if words[0] in 'AEIOU' else 'a'} {words}"


def _installed(group: str) -> list[Plugin[Any]]:
    """What other packages declare in a group."""
    return [plugin for declared, plugin in _scan(tuple(sys.path)) if declared == group]


@cache
def _scan(path: tuple[str, ...]) -> list[tuple[str, Plugin[Any]]]:
    """Groups and plugins of all packages on the path; the first of two copies of a package counts, as for imports."""
    from importlib.metadata import distributions

    packages: dict[str, list[tuple[str, Plugin[Any]]]] = {_OURS: []}
    for distribution in distributions(path=list(path)):
        text = distribution.read_text("entry_points.txt") or ""
        if "dialgauge." in text:
            package = _package_name(distribution)
            packages.setdefault(package.lower().replace("_", "-"), _declared(distribution, package, text))
    return [entry for entries in packages.values() for entry in entries]


def _package_name(distribution: Distribution) -> str:
    try:
        return str(distribution.metadata["Name"] or "without a name")
    except Exception:  # metadata that nobody can read
        return "without a name"


def _declared(distribution: Distribution, package: str, text: str) -> list[tuple[str, Plugin[Any]]]:
    try:
        points: list[EntryPoint] = list(distribution.entry_points)
    except Exception as error:
        reason = f"the plugins of the package {package} cannot be read: its entry_points.txt is faulty ({error})"
        return [(group, Plugin[Any](package, package, "?", reason=reason)) for group in _NOUNS if group in text]
    return [(point.group, Plugin[Any](point.name, package, point.value)) for point in points if point.group in _NOUNS]
