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
    from dialgauge.formats.babi import (
        NO_RESULT as NO_RESULT,
        SILENCE as SILENCE,
        BabiCandidates as BabiCandidates,
        BabiKnowledgeBase as BabiKnowledgeBase,
        is_silence as is_silence,
        load_candidates as load_candidates,
        load_kb as load_kb,
        write_candidates as write_candidates,
        write_kb as write_kb,
    )
    from dialgauge.formats.base import (
        ALL_FIELDS as ALL_FIELDS,
        AnyFormat as AnyFormat,
        DialogueFormat as DialogueFormat,
        Peek as Peek,
        Resource as Resource,
        ResourceFormat as ResourceFormat,
    )
    from dialgauge.formats.corpus import (
        STANDARD_OUTPUT as STANDARD_OUTPUT,
        Corpus as Corpus,
        dialogues_of as dialogues_of,
        in_memory as in_memory,
        read as read,
        read_ontology as read_ontology,
        stream as stream,
        write as write,
    )
    from dialgauge.formats.documented import dialogue_named as dialogue_named
    from dialgauge.formats.gcdf1 import SPECIAL as SPECIAL, CanonicalMapFile as CanonicalMapFile
    from dialgauge.formats.held import (
        SpooledDialogues as SpooledDialogues,
        carries as carries,
        hold as hold,
        user_turns as user_turns,
    )
    from dialgauge.formats.jsonfile import (
        Keyed as Keyed,
        Listed as Listed,
        are_lines as are_lines,
        begins as begins,
        decode as decode,
        elements_of as elements_of,
        lines_of as lines_of,
        members_of as members_of,
    )
    from dialgauge.formats.logs.messages import (
        OUT_OF_SCOPE as OUT_OF_SCOPE,
        as_text as as_text,
        checksum as checksum,
        end_of as end_of,
        expected_calls as expected_calls,
    )
    from dialgauge.formats.mapping import (
        Field as Field,
        Mapping as Mapping,
        Reading as Reading,
    )
    from dialgauge.formats.multiwoz import (
        MULTIWOZ as MULTIWOZ,
        DomainMetadata as DomainMetadata,
        MultiWozDialogue as MultiWozDialogue,
        read_goal as read_goal,
    )
    from dialgauge.formats.naming import (
        file_name as file_name,
        list_shards as list_shards,
        named_files as named_files,
        named_sources as named_sources,
        system_name as system_name,
        system_names as system_names,
    )
    from dialgauge.formats.notes import (
        NEXT_TRIAL as NEXT_TRIAL,
        Notes as Notes,
    )
    from dialgauge.formats.packed import DEFAULT_LIMIT as DEFAULT_LIMIT
    from dialgauge.formats.predictions.states import Misfit as Misfit, require_single_keys as require_single_keys
    from dialgauge.formats.propose import (
        propose_mapping as propose_mapping,
        proposed_mapping as proposed_mapping,
    )
    from dialgauge.formats.registry import (
        BUILT_IN as BUILT_IN,
        LAST_RESORT as LAST_RESORT,
        LOGS as LOGS,
        UnknownFormat as UnknownFormat,
        format_listing as format_listing,
        format_named as format_named,
        formats as formats,
        recognise as recognise,
        writer_named as writer_named,
    )
    from dialgauge.formats.source import (
        Part as Part,
        expand as expand,
        is_document as is_document,
        is_empty_json as is_empty_json,
        parts_of as parts_of,
        resolve as resolve,
    )
    from dialgauge.formats.tables import AnyFrame as AnyFrame, is_frame as is_frame
    from dialgauge.formats.tau import contradicts_parts as contradicts_parts


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
