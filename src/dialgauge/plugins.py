"""The one loader of plugins (formats, measures, profiles, rankers, agents, kinds of run): ours and those of packages.

Our own stand in tables of strings, ``{"name": "module:attribute"}``, so naming one imports that one and reads nothing
else. Other packages declare entry points in the groups below. A name in the table always means our own, whatever is
installed; a faulty plugin never stops anything but its own use: naming it is an error, listing it gives the reason.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, version
from pkgutil import resolve_name
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from dialgauge.errors import DialgaugeError, missing_extra, nearest

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
    return sorted({*built_in, *(plugin.name for plugin in _installed(group))})


def load(group: str, name: str, kind: Kind[T], built_in: BuiltIn) -> T:
    """What bears the name: an instance of ``kind``, or an error that names the plugin, its package and the reason."""
    content: T = _loaded(_named(group, name, built_in), group, kind)
    return content


def load_part(group: str, name: str, target: str, kind: Kind[T], built_in: BuiltIn) -> T:
    """Something else that what bears the name refers to, as ``module:attribute``; errors are those of :func:`load`."""
    content: T = _loaded(_named(group, name, built_in)._replace(target=target), group, kind)
    return content


def load_class(group: str, name: str, kind: Kind[T], built_in: BuiltIn) -> type[T]:
    """The same where what is registered is a class: ``kind`` or a subclass of it."""
    content: type[T] = _loaded(_named(group, name, built_in), group, kind, subclass=True)
    return content


def listing(group: str, kind: Kind[T], built_in: BuiltIn) -> list[Plugin[T]]:
    """Everything of a group in alphabetical order, loaded; what cannot be used carries the reason."""
    return _listing(group, kind, built_in, subclass=False)


def class_listing(group: str, kind: Kind[T], built_in: BuiltIn) -> list[Plugin[type[T]]]:
    """The same where what is registered are classes."""
    return _listing(group, kind, built_in, subclass=True)


def package_of(module: str) -> str | None:
    """``package-version`` of the installed package whose plugins lie in a top module; None where there is none."""
    for plugin in (plugin for group in _NOUNS for plugin in _installed(group)):
        if plugin.target.partition(":")[0].partition(".")[0] == module:
            return f"{plugin.package}-{version_of(plugin.package) or 'unknown'}"
    return None


def version_of(package: str) -> str | None:
    """The version of an installed package; None where it is not."""
    try:
        return version(package)
    except (PackageNotFoundError, ValueError):
        return None


def _listing(group: str, kind: Kind[T], built_in: BuiltIn, *, subclass: bool) -> list[Plugin[Any]]:
    ours = [Plugin[Any](name, _OURS, target) for name, target in built_in.items()]
    listed = []
    for plugin in sorted(
        [*ours, *_installed(group)], key=lambda each: (each.name, each.package != _OURS, each.package)
    ):
        try:
            if plugin.package != _OURS:
                _named(group, plugin.name, {})
                if plugin.name in built_in:
                    taken = f"'{plugin.name}' is the name of dialgauge's own ({built_in[plugin.name]})"
                    raise _unusable(plugin, group, taken)
            listed.append(plugin._replace(content=_loaded(plugin, group, kind, subclass=subclass)))
        except DialgaugeError as error:
            listed.append(plugin._replace(reason=str(error)))
    return listed


def _named(group: str, name: str, built_in: BuiltIn) -> Plugin[Any]:
    if name in built_in:
        return Plugin(name, _OURS, built_in[name])
    same = [plugin for plugin in _installed(group) if plugin.name == name]
    if not same:
        raise DialgaugeError(f"there is no {_NOUNS[group]} named '{name}'.{nearest(name, names(group, built_in))}")
    if len(same) > 1:
        offers = " and ".join(f"{plugin.package} ({plugin.target})" for plugin in same)
        noun = _NOUNS[group]
        raise DialgaugeError(f"more than one {noun} is named '{name}': {offers}; uninstall one of the packages")
    return same[0]


def _loaded(plugin: Plugin[Any], group: str, kind: Kind[Any], *, subclass: bool = False) -> Any:
    try:
        content = resolve_name(plugin.target)
    except (Exception, SystemExit) as error:  # whatever a stranger's module does when it is imported
        missing = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if plugin.package != _OURS:
            raise _unusable(plugin, group, f"{type(error).__name__}: {error}", "loaded") from error
        if missing in _EXTRAS:
            raise missing_extra(missing, _EXTRAS[missing], f"The {_NOUNS[group]} {plugin.name}") from error
        raise
    wanted = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
    if subclass:
        if not (isinstance(content, type) and issubclass(content, kind)):  # type: ignore[arg-type]
            raise _unusable(plugin, group, f"a subclass of {wanted} is expected, but it is {content!r}")
    elif not isinstance(content, kind):  # type: ignore[arg-type]
        got = type(content).__name__
        raise _unusable(plugin, group, f"a {wanted} is expected, but it is of the type {got}")
    return content


def _unusable(plugin: Plugin[Any], group: str, reason: str, what: str = "used") -> DialgaugeError:
    who = f"the {_NOUNS[group]} '{plugin.name}' of the package {plugin.package} ({plugin.target})"
    return DialgaugeError(f"{who} cannot be {what}: {reason}; update or uninstall {plugin.package}")


def _installed(group: str) -> list[Plugin[Any]]:
    """What other packages declare in a group."""
    return [plugin for declared, plugin in _scan(tuple(sys.path)) if declared == group]


@cache
def _scan(path: tuple[str, ...]) -> list[tuple[str, Plugin[Any]]]:
    """Groups and plugins of all packages on the path; the first of two copies counts, as for imports."""
    found: dict[str, list[tuple[str, Plugin[Any]]]] = {_OURS: []}
    for distribution in distributions(path=list(path)):
        try:
            package = distribution.name or "without a name"
            points = [point for point in distribution.entry_points if point.group in _NOUNS]
        except Exception:  # noqa: S112 - metadata that nobody can read
            continue
        declared = [(point.group, Plugin[Any](point.name, package, point.value)) for point in points]
        found.setdefault(package.lower().replace("_", "-"), declared)
    return [entry for entries in found.values() for entry in entries]
