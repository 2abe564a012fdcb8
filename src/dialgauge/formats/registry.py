"""Which formats there are, and which one a file is in: by name, by a mapping beside it, or by its beginning.

Naming a format imports that one. To recognise a file, the table below says of each of our own what its files must
begin with, so that only those that can fit are imported and asked. Formats of other packages are asked when none of
ours fits: a plugin adds files that dialgauge does not know, and cannot claim those it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dialgauge import plugins
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import AnyFormat, DialogueFormat, ResourceFormat
from dialgauge.formats.document import is_document
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part


class BuiltIn(NamedTuple):
    """One of our own formats: where its class is, and what holds of the beginning of every file that it recognises.

    ``shape`` is what :attr:`Peek.shape` begins with, or one of several joined by ``|``. All ``words`` occur in the
    text; of words joined by ``|``, one does. ``numbered``: some keys are numbers. For JSON lines the words are keys of
    the object on the first line.
    """

    target: str
    shape: str
    words: tuple[str, ...] = ()
    numbered: bool = False

    def may_fit(self, peek: Peek) -> bool:
        """Can the format recognise the file? False only if it does not."""
        if self.shape == _LINES:
            return peek.first_line is not None and peek.first_line.keys() >= set(self.words)
        if not peek.shape.startswith(tuple(self.shape.split("|"))):
            return False
        if peek.has_escaped_letters:
            return True
        if self.numbered and not peek.has_numbered_keys:
            return False
        return all(any(name.encode() in peek.head for name in word.split("|")) for word in self.words)


_LINES = "JSON lines"
#: Bytes by which most files tell their format; the others are looked at further.
_FIRST_LOOK = 1 << 15

BUILT_IN = {
    "babi": BuiltIn("dialgauge.formats.babi:Babi", "text"),
    "babi-candidates": BuiltIn("dialgauge.formats.babi:BabiCandidates", "text"),
    "babi-kb": BuiltIn("dialgauge.formats.babi:BabiKnowledgeBase", "text"),
    "canonical-map": BuiltIn("dialgauge.formats.resource_files:CanonicalMapFile", "{{", ('"special_keys"',)),
    "chat-log": BuiltIn("dialgauge.formats.chat_log:ChatLog", _LINES, ("speaker", "text")),
    "convlab3": BuiltIn(
        "dialgauge.formats.convlab3:ConvLab3", "[{", ('"dialogue_id"', '"turns"', '"utt_idx"|"dialogue_acts"')
    ),
    "convlab3-ontology": BuiltIn("dialgauge.formats.resource_files:ConvLab3Ontology", "{", ('"domains"', '"slots"')),
    "convlab3-predictions": BuiltIn(
        "dialgauge.formats.convlab3:ConvLab3Predictions", "[{", ('"dialogue_id"', '"utt_idx"', '"predictions"')
    ),
    "document": BuiltIn("dialgauge.formats.document:Document", "recognised by its name"),
    "flags": BuiltIn("dialgauge.formats.predictions.flags:Flags", "{{", numbered=True),
    "gcdf1": BuiltIn("dialgauge.formats.gcdf1:Gcdf1", "{{|[{", ('"turns"', '"goal"|"metrics"')),
    "hi-dst": BuiltIn("dialgauge.formats.predictions.state_files:HiDst", "{{", ('"pr_turn"',), numbered=True),
    "human-eval": BuiltIn("dialgauge.formats.predictions.human_eval:HumanEval", "text", ("\nSys", "\nUsr", "\nGT")),
    "inspect": BuiltIn("dialgauge.formats.logs.inspect_logs:InspectLog", "{|text", ('"eval"|start.json',)),
    "langfuse": BuiltIn(
        "dialgauge.formats.logs.langfuse:LangfuseExport", "{|[|lines", ('"observations"|"traces"|"traceId"|"trace_id"',)
    ),
    "llm-output": BuiltIn(
        "dialgauge.formats.predictions.state_files:LlmOutput", _LINES, ("dialogue", "turn", "output")
    ),
    "messages": BuiltIn(
        "dialgauge.formats.logs.chat:ChatMessages",
        "{|[|lines|text",
        ('"messages"|"task_id"|task_id',),
    ),
    "multiwoz": BuiltIn("dialgauge.formats.multiwoz:MultiWoz", "{{", ('"log"', '"text"')),
    "multiwoz-ontology": BuiltIn("dialgauge.formats.resource_files:MultiWozOntology", "{["),
    "mwzeval": BuiltIn("dialgauge.formats.predictions.mwzeval:MwzEval", "{[", ('"response"',)),
    "native": BuiltIn("dialgauge.formats.native:Native", _LINES, ("id", "turns")),
    "nested": BuiltIn("dialgauge.formats.predictions.state_files:Nested", "{{", ('"gt"|"pr"',), numbered=True),
    "otel": BuiltIn("dialgauge.formats.logs.otel:OtelSpans", "{|lines", ('"resourceSpans"',)),
    "parquet": BuiltIn("dialgauge.formats.parquet:ParquetDialogues", "text", ("PAR1",)),
    "predictions": BuiltIn("dialgauge.formats.common_layouts:CommonPredictions", "anything else"),
    "schema": BuiltIn("dialgauge.formats.resource_files:SchemaFormat", "[{", ('"service_name"',)),
    "sgd": BuiltIn("dialgauge.formats.sgd:Sgd", "[{", ('"dialogue_id"', '"turns"', '"frames"')),
    "simpletod": BuiltIn("dialgauge.formats.predictions.state_files:SimpleTod", "{{", ('"generated_turn_belief"',)),
    "som-dst": BuiltIn("dialgauge.formats.predictions.state_files:SomDst", "{["),
    "t5-dst": BuiltIn(
        "dialgauge.formats.predictions.state_files:T5Dst", "{{", ('"turns"', '"pred_belief"'), numbered=True
    ),
    "tau": BuiltIn("dialgauge.formats.tau:Tau", "[{", ('"task_id"', '"traj"')),
    "tau2": BuiltIn(
        "dialgauge.formats.tau2:Tau2",
        "{|[{|lines",
        ('"agent_info"|"termination_reason"', '"user_info"|"task_id"|"user_scenario"'),
    ),
    "trade": BuiltIn("dialgauge.formats.predictions.state_files:Trade", "{{", ('"pred_bs_ptr"',), numbered=True),
    "trippy": BuiltIn("dialgauge.formats.predictions.trippy:Trippy", "[{", ('"guid"', '"class_prediction_')),
}
#: Formats of agents' logs.
LOGS = frozenset({"tau", "tau2", "messages", "inspect", "otel", "langfuse", "mapped-log"})
#: Asked when no other format recognises a file.
LAST_RESORT = "predictions"
_TARGETS = {name: built_in.target for name, built_in in BUILT_IN.items()}

#: First bytes of files that people hold out by mistake, and what to tell them.
_STARTS = {
    b"\xff\xfe": "it is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 text; save it as UTF-8",
    b"\x28\xb5\x2f\xfd": "it is compressed with zstandard; unpack it first (gzip, bzip2, xz, zip need no unpacking)",
    b"7z\xbc\xaf": "it is a 7-Zip archive; unpack it first (gzip, bzip2, xz, zip need no unpacking)",
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        "it is a Python pickle, which is never loaded here, for it may run anything; load it yourself and write JSON: "
        "json.dump({str(key): value for key, value in predictions.items()}, open('predictions.json', 'w')), or of a "
        "list json.dump(predictions, open('predictions.json', 'w'))",
    ),
    b"\x93NUMPY": "it is an array of NumPy; write JSON: json.dump(array.tolist(), open('predictions.json', 'w')), or "
    "of several: json.dump({name: array.tolist() for name, array in numpy.load('FILE.npz').items()}, ...)",
    b"\xff\xff\xff\xff": "it is an Arrow stream, as datasets writes; write Parquet: "
    "datasets.load_from_disk('FOLDER').to_parquet('predictions.parquet')",
    b"ARROW1": "it is an Arrow (Feather) file; write Parquet: "
    "polars.read_ipc('FILE').write_parquet('predictions.parquet')",
    b"SQLite format 3": "it is a database of SQLite; export the table as CSV",
    b"version https://git-lfs": "it is a Git LFS pointer, not the file itself; run  git lfs pull",
}
_KINDS = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number", bool: "true or false"}


def format_named(name: str) -> AnyFormat:
    """The format of that name, or the one that a YAML file describes; an error with the nearest names."""
    if name.endswith((".yaml", ".yml")):
        from dialgauge.formats.mapping import load_mapping

        return load_mapping(name)
    if name in BUILT_IN:
        return _own(name)
    return _made(name, _class(name))


def format_example(name: str) -> bytes | None:
    """A small file in one of our own formats; None where there is none to show, as for Parquet."""
    from importlib.resources import files

    folder = files("dialgauge.formats").joinpath("examples")
    named = [item for item in folder.iterdir() if item.name.partition(".")[0] == name]
    return named[0].read_bytes() if named else None


def format_listing() -> list[plugins.Plugin[AnyFormat]]:
    """All formats in alphabetical order, those of other packages too; what cannot be used carries the reason."""
    kinds = (DialogueFormat, ResourceFormat)
    classes: list[plugins.Plugin[type[AnyFormat]]] = plugins.class_listing(plugins.FORMATS, kinds, _TARGETS)
    listed: list[plugins.Plugin[AnyFormat]] = []
    for plugin in classes:
        content, reason = None, plugin.reason
        if plugin.content is not None:
            try:
                content = _own(plugin.name) if plugin.package == "dialgauge" else _made(plugin.name, plugin.content)
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
    return _class(name)()


def _class(name: str) -> type[AnyFormat]:
    kind: type[AnyFormat] = plugins.load_class(plugins.FORMATS, name, (DialogueFormat, ResourceFormat), _TARGETS)
    return kind


def _made(name: str, kind: type[AnyFormat]) -> AnyFormat:
    """An instance of another package's class, which may lack something or fail."""
    refused = f"the format '{name}' ({kind.__module__}:{kind.__qualname__}) cannot be used"
    try:
        made = kind()
        lacking = [attribute for attribute in _attributes(made) if not hasattr(made, attribute)]
    except Exception as error:  # whatever a stranger's code does
        raise DialgaugeError(f"{refused}: {type(error).__name__}: {error}") from error
    if lacking:
        raise DialgaugeError(f"{refused}: its class has no {' and no '.join(lacking)}")
    if made.name != name:
        raise DialgaugeError(f"{refused}: its class is named '{made.name}'; both names must be the same")
    return made


def _attributes(made: AnyFormat) -> tuple[str, ...]:
    return ("name", "summary", "kind", "fields") if isinstance(made, DialogueFormat) else ("name", "summary", "kind")


class UnknownFormat(DialgaugeError):
    """No format fits a file; ``damage`` is what is wrong with the whole."""

    def __init__(self, damage: str, message: str, *, file: str) -> None:
        self.damage = damage
        super().__init__(message, file=file)


def recognise(part: Part) -> AnyFormat:
    """The one format the part is in; none or several is an error that tells how to name it.

    Files that accompany data (README, checksums, ...) are told by their name before any content is looked at.
    """
    if is_document(part.stem):
        return _own("document")
    if part.path is not None and (written := Path(f"{part.path}.map.yaml")).is_file():
        return format_named(str(written))
    peek = Peek(part, _FIRST_LOOK)
    if len(peek.head) > _FIRST_LOOK // 2:  # there is more of it
        sentence = _matching_own(peek)
        if len(sentence) == 1:
            return sentence[0]
        peek = Peek(part)
    if not peek.head.strip():
        raise DialgaugeError("the file is empty", file=part.name)
    untried: list[str] = []
    matching = _matching_own(peek) or list(_matching_plugins(peek, untried))
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(format_.name for format_ in matching)
        raise DialgaugeError(
            f"it could be any of these formats: {names}; name one of them (--help says how), as in --format "
            f"{matching[0].name}, or, in a command without such an option, give what 'dialgauge data convert "
            f"{part.name} named.jsonl --to native --format {matching[0].name}' writes",
            file=part.name,
        )
    if not (reason := _misfit(peek, part)):
        return _own(LAST_RESORT)
    damage = _json_problem(peek, part)
    raise UnknownFormat(
        damage or _mistaken(peek),
        f"no known layout fits{_why(peek)}{damage or f': {reason}'}; 'dialgauge data map {part.name}' proposes a "
        "mapping, docs/formats.md lists the formats" + "".join(f"; not tried: {reason}" for reason in untried),
        file=part.name,
    )


def _misfit(peek: Peek, part: Part) -> str:
    """Why the beginning of a file is in no common layout of predictions; empty where it is in one."""
    from dialgauge.formats.common_layouts import common_mapping
    from dialgauge.formats.predictions.states import Misfit
    from dialgauge.formats.row_paths import beginning

    try:
        common_mapping(beginning(peek, part))
    except Misfit as error:
        return str(error)
    except DialgaugeError as error:
        return error.message
    return ""


def _json_problem(peek: Peek, part: Part) -> str:
    """What is wrong with JSON, and where; empty where nothing is, or the look at it is too short."""
    from dialgauge.formats.row_paths import content_of

    if peek.head.lstrip()[:1] not in (b"{", b"[") or _mistaken(peek):
        return ""
    try:
        content_of(part)
    except DialgaugeError as error:
        return f"; line {error.line}: {error.message}" if error.line else f"; {error.message}"
    return ""


def _matching_own(peek: Peek) -> list[AnyFormat]:
    """Our formats that recognise the file: of those that may fit, and if it is none of them, of all."""
    likely = [name for name, hint in BUILT_IN.items() if hint.may_fit(peek)]
    others = [name for name in BUILT_IN if name not in likely and name != LAST_RESORT]
    for names in (likely, others):
        matching = [format_ for format_ in map(_own, names) if format_.recognise(peek)]
        if matching:
            return matching
    return []


def _matching_plugins(peek: Peek, untried: list[str]) -> Iterator[AnyFormat]:
    """Formats of other packages that recognise the file; one that cannot be asked is told and stops nothing."""
    for plugin in format_listing():
        if plugin.package == "dialgauge":
            continue
        if plugin.content is None:
            untried.append(plugin.reason or plugin.name)
            continue
        try:
            fits = plugin.content.recognise(peek)
        except Exception as error:  # whatever a stranger's code does
            untried.append(
                f"the format '{plugin.name}' of the package {plugin.package} ({type(error).__name__}: {error})"
            )
        else:
            if fits:
                yield plugin.content


def _mistaken(peek: Peek) -> str:
    return next((f" ({what})" for start, what in _STARTS.items() if peek.head.startswith(start)), "")


def _why(peek: Peek) -> str:
    if mistaken := _mistaken(peek):
        return mistaken
    if peek.first_line is not None and peek.json is None:
        return " (it is JSON lines)"
    if peek.head.lstrip()[:1] in (b"{", b"[") and peek.json is None:
        return " (its JSON is nested too deeply)" if peek.too_deep else " (it begins like JSON but is not valid JSON)"
    if peek.json is not None:
        return f" ({_words(peek)})"
    if b"\x00" in peek.head[:4096]:
        return " (it is a binary file)"
    return ""


def _words(peek: Peek) -> str:
    """What JSON it is, in a few words, for people to see whether they took the right file."""
    kind = "an object" if isinstance(peek.json, dict) else "a list"
    if peek.first is None:
        return f"it is JSON: {kind} with nothing in it"
    key, value = peek.first
    inside = _KINDS.get(type(value), "something")
    return f"it is JSON: {kind} whose first entry is {inside}" + (f" under the key {key[:40]!r}" if key else "")
