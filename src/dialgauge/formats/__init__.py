"""Every file format of the field, read into the one data model and, where it makes sense, written from it.

>>> import dialgauge
>>> corpus = dialgauge.read("predictions.json")         # doctest: +SKIP
>>> corpus                                              # doctest: +SKIP
Corpus('predictions.json', som-dst, 999 dialogues)
>>> corpus["MUL0001"].turns[0].predicted                # doctest: +SKIP
{'hotel': {'area': ('east',)}}
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.formats.agent_log import (
        AgentLog,
        LoggedCall,
        LoggedConversation,
        LoggedText,
        LogPlan,
        contradicts_parts,
        read_agent_log,
    )
    from dialgauge.formats.babi import (
        SILENCE,
        BabiCandidates,
        BabiKnowledgeBase,
        is_silence,
        load_candidates,
        load_kb,
        write_candidates,
        write_kb,
    )
    from dialgauge.formats.base import (
        ALL_FIELDS,
        INVALID,
        PARTLY,
        AnyFormat,
        DialogueFormat,
        Notes,
        Peek,
        Resource,
        ResourceFormat,
        decode,
        first_object,
    )
    from dialgauge.formats.convlab3 import ORIGINAL_ID_DROPPED
    from dialgauge.formats.corpus import STANDARD_OUTPUT, Corpus, bulk_load, read, read_ontology, stream, write
    from dialgauge.formats.document import is_document
    from dialgauge.formats.frames import AnyFrame, is_frame
    from dialgauge.formats.held import SpooledByKey, SpooledDialogues, carries, hold, hold_by_key, user_turns
    from dialgauge.formats.large_json import LargeArray, LargeObject
    from dialgauge.formats.located import Keyed, Listed, raw_dialogues
    from dialgauge.formats.logs.advice import log_advice, may_be_log
    from dialgauge.formats.logs.facts import KNOWS
    from dialgauge.formats.packed import DEFAULT_LIMIT
    from dialgauge.formats.predictions.advice import states_example
    from dialgauge.formats.registry import (
        BUILT_IN,
        LAST_RESORT,
        BuiltIn,
        UnknownFormat,
        format_example,
        format_listing,
        format_named,
        formats,
        recognise,
        writer_named,
    )
    from dialgauge.formats.remote import is_url, open_url
    from dialgauge.formats.resource_files import SPECIAL, CanonicalMapFile
    from dialgauge.formats.shards import Shard, list_shards, on_this_machine
    from dialgauge.formats.source import (
        Part,
        expand,
        file_name,
        is_empty_json,
        named_files,
        parts_of,
        resolve,
        system_name,
        system_names,
    )
    from dialgauge.formats.tau import planned_results

__all__ = [
    "ALL_FIELDS",
    "BUILT_IN",
    "DEFAULT_LIMIT",
    "INVALID",
    "KNOWS",
    "LAST_RESORT",
    "ORIGINAL_ID_DROPPED",
    "PARTLY",
    "SILENCE",
    "SPECIAL",
    "STANDARD_OUTPUT",
    "AgentLog",
    "AnyFormat",
    "AnyFrame",
    "BabiCandidates",
    "BabiKnowledgeBase",
    "BuiltIn",
    "CanonicalMapFile",
    "Corpus",
    "DialogueFormat",
    "Keyed",
    "LargeArray",
    "LargeObject",
    "Listed",
    "LogPlan",
    "LoggedCall",
    "LoggedConversation",
    "LoggedText",
    "Notes",
    "Part",
    "Peek",
    "Resource",
    "ResourceFormat",
    "Shard",
    "SpooledByKey",
    "SpooledDialogues",
    "UnknownFormat",
    "bulk_load",
    "carries",
    "contradicts_parts",
    "decode",
    "expand",
    "file_name",
    "first_object",
    "format_example",
    "format_listing",
    "format_named",
    "formats",
    "hold",
    "hold_by_key",
    "is_document",
    "is_empty_json",
    "is_frame",
    "is_silence",
    "is_url",
    "list_shards",
    "load_candidates",
    "load_kb",
    "log_advice",
    "may_be_log",
    "named_files",
    "on_this_machine",
    "open_url",
    "parts_of",
    "planned_results",
    "raw_dialogues",
    "read",
    "read_agent_log",
    "read_ontology",
    "recognise",
    "resolve",
    "states_example",
    "stream",
    "system_name",
    "system_names",
    "user_turns",
    "write",
    "write_candidates",
    "write_kb",
    "writer_named",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
