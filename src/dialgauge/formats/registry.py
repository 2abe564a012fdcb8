"""Which formats there are, and which one a file is in: by name, by a mapping beside it, or by its beginning.

Formats of other packages are asked when none of ours fits: a plugin adds files that dialgauge does not know, and cannot
claim those it does.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from dialgauge import plugins
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import AnyFormat, DialogueFormat, Peek, ResourceFormat
from dialgauge.formats.source import Part, is_document

_STATES = "predictions.trackers"
_PAPERS = "predictions.papers"
#: Our own formats: where the class of each is.
BUILT_IN = {
    name: f"dialgauge.formats.{target}"
    for name, target in {
        "babi": "babi:Babi",
        "babi-candidates": "babi:BabiCandidates",
        "babi-kb": "babi:BabiKnowledgeBase",
        "canonical-map": "gcdf1:CanonicalMapFile",
        "convlab3": "convlab3:ConvLab3",
        "convlab3-ontology": "convlab3:ConvLab3Ontology",
        "convlab3-predictions": "convlab3:ConvLab3Predictions",
        "document": "base:Document",
        "flags": f"{_PAPERS}:Flags",
        "gcdf1": "gcdf1:Gcdf1",
        "hi-dst": f"{_STATES}:HiDst",
        "human-eval": f"{_PAPERS}:HumanEval",
        "inspect": "logs.inspect_logs:InspectLog",
        "langfuse": "logs.langfuse:LangfuseExport",
        "llm-output": f"{_STATES}:LlmOutput",
        "messages": "documented:DocumentedLog",
        "multiwoz": "multiwoz:MultiWoz",
        "multiwoz-ontology": "multiwoz:MultiWozOntology",
        "mwzeval": f"{_PAPERS}:MwzEval",
        "native": "native:Native",
        "nested": f"{_STATES}:Nested",
        "otel": "logs.otel:OtelSpans",
        "parquet": "tables:ParquetDialogues",
        "predictions": "documented:DocumentedStates",
        "schema": "sgd:SchemaFormat",
        "sgd": "sgd:Sgd",
        "simpletod": f"{_STATES}:SimpleTod",
        "som-dst": f"{_STATES}:SomDst",
        "t5-dst": f"{_STATES}:T5Dst",
        "tau": "tau:Tau",
        "tau2": "tau:Tau2",
        "trade": f"{_STATES}:Trade",
        "trippy": f"{_PAPERS}:Trippy",
    }.items()
}
#: Formats of agents' logs.
LOGS = frozenset({"tau", "tau2", "messages", "inspect", "otel", "langfuse", "mapped-log"})
#: Asked when no other format recognises a file.
LAST_RESORT = "predictions"

#: First bytes of files that are held out by mistake, and what to do.
_STARTS = {
    b"version https://git-lfs": "it is a Git LFS pointer, not the file itself; run  git lfs pull",
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        "it is a Python pickle, which is never loaded here, for it may run anything; load it yourself and write JSON",
    ),
}
_KINDS = (DialogueFormat, ResourceFormat)


def format_named(name: str) -> AnyFormat:
    """The format of that name, or the one that a YAML file describes; an error with the nearest names."""
    if name.endswith((".yaml", ".yml")):
        from dialgauge.formats.mapping import load_mapping

        return load_mapping(name)
    return _own(name) if name in BUILT_IN else _made(name)


def format_listing() -> list[plugins.Plugin[AnyFormat]]:
    """All formats in alphabetical order, those of other packages too; what cannot be used carries the reason."""
    classes: list[plugins.Plugin[type[AnyFormat]]] = plugins.class_listing(plugins.FORMATS, _KINDS, BUILT_IN)
    listed: list[plugins.Plugin[AnyFormat]] = []
    for plugin in classes:
        content, reason = None, plugin.reason
        if plugin.content is not None:
            try:
                content = _own(plugin.name) if plugin.package == "dialgauge" else _made(plugin.name)
            except DialgaugeError as error:
                reason = str(error)
        listed.append(plugins.Plugin(plugin.name, plugin.package, plugin.target, content, reason))
    return listed


def formats() -> dict[str, AnyFormat]:
    """All formats that can be used, by name."""
    return {plugin.name: plugin.content for plugin in format_listing() if plugin.content is not None}


def writer_named(name: str) -> DialogueFormat:
    """The format of that name if it can write dialogues, or an error that lists those that can."""
    chosen = format_named(name)
    if isinstance(chosen, DialogueFormat) and chosen.writes:
        return chosen
    able = [n for n, f in formats().items() if isinstance(f, DialogueFormat) and f.writes]
    raise DialgaugeError(f"the format {name} can be read but not written; writable: {', '.join(able)}")


@cache
def _own(name: str) -> AnyFormat:
    return _made(name)


def _made(name: str) -> AnyFormat:
    """An instance of the class of that name, which in another package may fail."""
    kind: type[AnyFormat] = plugins.load_class(plugins.FORMATS, name, _KINDS, BUILT_IN)
    refused = f"the format '{name}' ({kind.__module__}:{kind.__qualname__}) cannot be used"
    try:
        made = kind()
    except Exception as error:  # whatever a stranger's code does
        raise DialgaugeError(f"{refused}: {type(error).__name__}: {error}") from error
    if getattr(made, "name", None) != name:
        raise DialgaugeError(f"{refused}: its class is named '{getattr(made, 'name', None)}'; both must be the same")
    return made


class UnknownFormat(DialgaugeError):
    """No format fits a file; ``as_log`` says why it is no log."""

    as_log = ""


def recognise(part: Part, *, mapping_beside: bool = True) -> AnyFormat:
    """The one format the part is in; none or several is an error that tells how to name it.

    Files that accompany data (README, checksums, ...) are told by their name before any content is looked at.
    """
    if is_document(part.stem):
        return _own("document")
    if mapping_beside and part.path is not None and (written := Path(f"{part.path}.map.yaml")).is_file():
        return format_named(str(written))
    peek = Peek(part)
    if not peek.head.strip():
        raise DialgaugeError("the file is empty", file=part.name)
    matching = [format_ for format_ in map(_own, BUILT_IN) if format_.recognise(peek)]
    if not matching:
        others = [plugin for plugin in format_listing() if plugin.package != "dialgauge"]
        matching = [plugin.content for plugin in others if plugin.content is not None and _fits(plugin, peek, part)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(format_.name for format_ in matching)
        raise DialgaugeError(
            f"it could be any of these formats: {names}; name one of them (--help says how), as in --format "
            f"{matching[0].name}",
            file=part.name,
        )
    from dialgauge.formats.documented import DocumentedTable, log_misfit

    if not (reason := _misfit(part)):
        return DocumentedTable() if peek.table else _own(LAST_RESORT)
    reason = next((what for start, what in _STARTS.items() if peek.head.startswith(start)), "") or reason
    kind = " (it is a binary file)" if b"\x00" in peek.head[:4096] and not peek.table else ""
    advice = ""
    if part.path is not None:
        advice = f"; 'dialgauge data map {part.name}' proposes a mapping, docs/formats.md lists the formats"
    unknown = UnknownFormat(f"no known layout fits{kind}: {reason}{advice}", file=part.name)
    unknown.as_log = f"{log_misfit(part)}{advice}"
    raise unknown


def _fits(plugin: plugins.Plugin[AnyFormat], peek: Peek, part: Part) -> bool:
    """Whether a format of another package recognises the file; where it fails, it is named."""
    try:
        return plugin.content is not None and plugin.content.recognise(peek)
    except Exception as error:  # whatever a stranger's code does
        message = f"the format '{plugin.name}' of the package {plugin.package} fails ({type(error).__name__}: {error})"
        raise DialgaugeError(message, file=part.name) from error


def _misfit(part: Part) -> str:
    """Why a file has no documented names of states, or is no sound JSON; empty where it has such names."""
    from dialgauge.formats.documented import documented_states
    from dialgauge.formats.predictions.states import Misfit
    from dialgauge.formats.row_paths import beginning, content_of

    try:
        try:
            documented_states(beginning(part))
        except Misfit as error:
            content_of(part)  # what is wrong with JSON is said first
            return str(error)
    except Misfit as error:
        return str(error)
    except DialgaugeError as error:
        return f"line {error.line}: {error.message}" if error.line else error.message
    return ""
