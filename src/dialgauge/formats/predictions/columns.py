"""What people call things: which name of a record holds the dialogue, the turn, the state, a slot, its value.

Names are compared without case, spaces, hyphens and underscores. Exact names come first, then names that contain a
telling word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.state_texts import DOMAINS, is_domain, names_domain, split_name
from dialgauge.formats.predictions.written_states import StateReader
from dialgauge.text import CAMEL_CASE


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_DIALOGUE = _names(
    "dialogueid dialogid dialid dialogue dialog dial dialogueidx dialogidx dialidx dialoguename dialogname "
    "conversationid conversation convid conv sessionid session callid chatid fileid filename file sampleid exampleid "
    "customid requestid instanceid itemid questionid qid guid uid id key"
)
_TURN = _names(
    "turn turnid turnidx turnindex turnnumber turnnum turnno turncount userturn userturnid uttidx utteranceidx "
    "utteranceid uttid step round t"
)
_PREDICTED = _names(
    "predictedstate predstate predictedbeliefstate predbeliefstate predictedbelief predbelief predictedslots predslots "
    "prediction predictions predicted preds pred predict pr hypothesis hyp parsedstate modelstate systemstate "
    "generatedbelief generatedstate generatedbeliefstate bspngen bspangen filteredresps resps"
)
_NEUTRAL = _names(
    "state beliefstate dialoguestate dialogstate belief beliefs bspan bspn bs dst states slotvalues slots frames "
    "newstate currentstate updatedstate"
)
_RAW = _names(
    "output outputs out modeloutput rawoutput llmoutput generated generatedtext generation completion decoded answer "
    "result response modelresponse rawresponse llmresponse candidates generations"
)
_CALLS = _names("toolcalls functioncalls functioncall")
_GOLD = _names(
    "goldstate gold golden gt groundtruth truth truestate label labels reference references target targets annotation "
    "goldvalue truevalue groundtruthstate targetstate targetvalue tgt labelids"
)
_SLOT = _names("slot slotname slottext slotid slotkey attribute domainslot variable key")
_PREDICTED_VALUE = _names("predictedvalue predvalue predictedslotvalue predslotvalue")
_VALUE = (*_names("value slotvalue val"), *_PREDICTED_VALUE)
_DOMAIN = _names("domain service domainname")
_SPEAKER = _names("speaker role from author")
_SAID = _names("userutterance user usr utterance usertext userinput userinputs userturntext text history context")
_LISTS = _names("turns states dialogue dialog log utterances messages beliefstates predictions predictedstates")
#: Names beside predictions that are no slots, though they may look like one.
_BESIDE = re.compile(
    r"(user|usr|system|sys|agent|assistant|model|raw|dialogue|dialog|turn|text|utterance|response|history|context|"
    r"prompt|input|output|token|time|latency|cost|score|jga|loss|prob|confidence|domain|split|dataset|index|unnamed|"
    r"run|seed|version|date|id|active|intent|slot|state|gold|pred|num|n|is|has|error)"
)
_SCORED = re.compile(r"[-_. ](?:conf|confidence|prob|probs|probability|score|logits?)$")
_TELLING = {
    "predicted": re.compile(r"pred|hyp(?!er)|bspn?gen"),
    "gold": re.compile(r"gold|groundtruth|(^|[^a-z])gt|truth|annotat|reference|expected|oracle"),
    "neutral": re.compile(r"belief|dialogu?estate|bspan|dststate|^dst"),
    "dialogue": re.compile(r"(dial|conv|session).*(id|name|idx|key|no|num|file)$"),
    "changes": re.compile(r"delta|(?<!ex)changes?($|d?(state|values?)$)|updates?$"),
    "turn": re.compile(r"turn.*(id|idx|index|no|num|number)$|^(id|idx|index|no|num|number).*turn"),
}
#: Names of the slots that a turn empties, and of those that it fills, where these stand apart.
_EMPTIED = re.compile(
    r"(?:slots?)?(?:to)?(?:unset|delet(?:e|es|ed|ions?)|remov(?:e|es|ed|als?)|clear(?:s|ed)?|drop(?:s|ped)?)"
    r"(?:slots?|values?|keys?)?"
)
_FILLED = re.compile(
    r"(?:add(?:s|ed|itions?)?|set|upd(?:ate[ds]?)?|upserts?|upserted|inserts?|inserted|new|changed?|changes|modif(?:y|ied)|"
    r"replaced?)(?:slots?|values?)?"
)
_SIDES = re.compile(r"(pred|prediction|predicted|gold|gt|true|label)\s?[-_.: /]\s?(?=.)", re.IGNORECASE)
_SIDES_AT_END = re.compile(r"(?<=.)[-_.: /][([]?(pred|prediction|predicted|hat|gold|gt|true)[)\]]?$", re.IGNORECASE)
#: What pandas puts before a slot when it flattens objects: ``output.state.hotel.area``.
_AROUND_SLOTS = re.compile(
    r"^(?:(?:state|belief_?state|dialogue_?state|slots|slot_values|output|result|response)\.){1,3}(?=\w{1,40}[-._])",
    re.I,
)
_STATE_OF_DOMAIN = re.compile(r"_(?:state|belief|slots|slot_values)$", re.IGNORECASE)
_GOLD_SIDES = frozenset(("gold", "gt", "true", "label"))
#: Names of what may look like a state beside one, and is none that anybody would score. The words begin there: neither
#: ``generated_belief`` is of a db, nor ``target_slots`` of args.
_NO_STATE = re.compile(
    r"(?:(?<![a-z])|(?<=dialog)|(?<=dialogue)|(?<=belief)|(?<=state)|(?<=slot)|(?<=user)|(?<=system)|(?<=sys))"
    r"(?:prev|last|old|delta|updat|diff|chang|turn|goal|histor|init|db|database|kb|user|usr|context|prompt|input|meta|"
    r"active|request|act(?!ual)|intent|span|score|metric|prob|conf|count|info|arg|option|ontolog|schema|token|usage|"
    r"param|extra(?!ct)|delet|remov|unset|drop|clear|utter|sentence|transcript)"
)
#: The beginning of a text that is a state and no sentence, and its first word.
_WRITTEN_STATE = re.compile(r"\s{0,9}(?:[\[{(<]|```|\w{1,40}[-.:/ ]\w[\w ]{0,40}[=:]|\w{1,40}\s?=)")
_NAME_END = re.compile(r"[=:;,|]")
_FIRST_WORD = re.compile(r"[^A-Za-z]{0,10}([A-Za-z]+)")

#: Names around all predictions of a file, and around the turns of a dialogue.
WRAPPERS = frozenset(
    _names(
        "predictions data dialogues dialogs results outputs records rows items conversations sessions test dev val "
        "validation"
    )
)
TURN_LISTS = frozenset(_LISTS)
_SYSTEMS = frozenset(("system", "sys", "assistant", "agent", "bot", "wizard", "operator"))
_TURN_WORDS = frozenset((*_TURN, *_PREDICTED, *_NEUTRAL, *_RAW, *_CALLS, *_GOLD)) - {"slots", "t", "label", "labels"}


@lru_cache(maxsize=1 << 14)
def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def plain_name(name: object) -> str:
    """A name without case, spaces, hyphens and underscores; empty where it is no text."""
    return _plain(name) if isinstance(name, str) and len(name) < 100 else ""


def is_record(item: Mapping[Any, Any]) -> bool:
    """Does an object name its parts, and is not itself a state?"""
    return any(plain_name(key) in _TURN_WORDS or plain_name(key) in _DIALOGUE[:-2] for key in item)


def dialogue_named(row: Mapping[Any, Any]) -> str:
    """The dialogue that a record says it is of; empty where it is a state."""
    named = (held for key, held in row.items() if plain_name(key) in _DIALOGUE[:-2])
    return next((str(held) for held in named if isinstance(held, str | int)), "")


def is_emptied(name: object) -> bool:
    """Is it a name of the slots that a turn empties?"""
    return _EMPTIED.fullmatch(plain_name(name)) is not None


def is_filled(name: object) -> bool:
    """Is it a name of the slots that a turn fills, beside those that it empties?"""
    return _FILLED.fullmatch(plain_name(name)) is not None


def is_system(speaker: object) -> bool:
    """Is it the name of the side that is no user?"""
    return isinstance(speaker, str) and speaker.strip().lower() in _SYSTEMS


class Columns(Struct, frozen=True):
    """Which name holds what; empty where there is none."""

    names: tuple[str, ...]
    dialogue: str = ""
    turn: str = ""
    state: str = ""
    gold: str = ""
    slot: str = ""
    value: str = ""
    domain: str = ""
    speaker: str = ""
    #: The list of a dialogue's turns.
    turns: str = ""
    #: What the user says, or all that was said.
    said: str = ""
    #: Columns of one slot each.
    wide: dict[str, str] = {}
    wide_gold: dict[str, str] = {}
    #: The same beside a column of states that does not say whether they are predicted.
    beside: dict[str, str] = {}
    says_predicted: bool = False
    #: Does a name say that what a turn has is what it changes?
    changes: bool = False

    @classmethod
    def of(cls, rows: Iterable[Mapping[Any, Any]]) -> Columns:
        """Those of rows, of which some may lack some."""
        rows, sample = list(rows), dict[str, Any]()
        for row in rows:
            if not row.keys() <= sample.keys():
                sample.update({key: value for key, value in row.items() if sample.get(key) is None})
        for key in [key for key, value in sample.items() if value in (None, "") and _domain_of(key)]:
            sample[key] = next((row[key] for row in rows if row.get(key) not in (None, "")), None)
        named = {plain_name(key): key for key in reversed(list(sample)) if plain_name(key)}

        def first(names: tuple[str, ...], telling: str = "", apart: tuple[str, ...] = ()) -> str:
            exact = next((named[name] for name in names if name in named and named[name] not in apart), "")
            if exact or not telling:
                return exact
            others = (key for name, key in named.items() if key not in apart and _TELLING[telling].search(name))
            return next((key for key in others if not _names_slot(key)), "")

        dialogue = first(_DIALOGUE, "dialogue", tuple(key for key in sample if isinstance(sample[key], Mapping | list)))
        turn = first(_TURN, "turn", (dialogue,))
        turns = next((named[name] for name in _LISTS if _is_list(sample, named.get(name), dialogue)), "")
        if turn and turns:
            turns = ""
        taken = (dialogue, turn)
        slot = first(_SLOT, apart=taken) if turn or not turns else ""
        gold = first(_GOLD, "gold", taken)
        changing = [key for name, key in named.items() if _TELLING["changes"].search(name) and key not in taken]
        predicted = first(_PREDICTED, "predicted", (*taken, gold, *changing))
        neutral = first(_NEUTRAL, "neutral", (*taken, gold, predicted, *changing))
        state = predicted or neutral or first((*_RAW, *_CALLS), apart=(*taken, gold))
        if not state and changing and not (slot and first(_VALUE)):
            state = changing[-1]
        if not state and not slot and any(map(is_emptied, sample)):
            filling = [key for key in sample if is_filled(key) and isinstance(sample[key], Mapping | list)]
            changing += filling
            state = filling[0] if len(filling) == 1 else ""
        if not state and is_message(sample.get(named.get("message", ""))):
            state = named["message"]
        if not state and not slot and "value" in named and isinstance(sample[named["value"]], Mapping | list):
            state = named["value"]
        if predicted and neutral and not gold and not slot:
            gold = neutral
        if plain_name(state) in _CALLS and (first(_SPEAKER) or "content" in named):
            state = ""  # the call of a message
        value = (first(("prediction", *_VALUE), apart=(*taken, slot, gold)) or state) if slot else ""
        if (slot and not value) or slot == state or isinstance(sample.get(slot), Mapping | list):
            slot = value = ""
        if turns in (state, predicted) and not isinstance(sample.get(turns), Mapping | list):
            turns = ""
        columns = _wide(sample, {*taken, state, slot, value, gold}) if not (predicted or slot or turns) else ({}, {})
        wide, wide_gold = ({}, {}) if state else columns
        return cls(
            tuple(map(str, sample)), dialogue, turn, state, gold, slot, value, first(_DOMAIN), first(_SPEAKER),
            turns, first(_SAID, apart=(*taken, state, value)), wide, wide_gold,
            beside=columns[0] if state else {}, says_predicted=bool(predicted),
            changes=(value or state) in changing,
        )  # fmt: skip

    @property
    def has_states(self) -> bool:
        """Is there a state, or what makes one?"""
        return bool(self.state or self.slot or self.wide)

    def state_of(self, row: Mapping[Any, Any]) -> Any:
        """The predicted state of a row."""
        if self.wide:
            return _wide_state(row, self.wide)
        written = row.get(self.state) if self.state else None
        domain = row.get(self.domain) if self.domain else None
        if isinstance(domain, str) and domain and _lacks_domains(written):
            return [{"domain": domain, "state": written}]
        return written

    def said_in(self, row: Mapping[Any, Any]) -> str:
        """What the user says in the turn of a row; empty where it does not say."""
        said = row.get(self.said) if self.said else None
        last = said[-1] if isinstance(said, list) and said else said
        return last if isinstance(last, str) else ""

    def gold_of(self, row: Mapping[Any, Any]) -> Any:
        """The gold state of a row; None where it has none."""
        if self.wide_gold:
            return _wide_state(row, self.wide_gold)
        return row.get(self.gold) if self.gold else None

    @property
    def other_predictions(self) -> list[str]:
        """Further names that say as much as the one that was taken: ``pred_gpt4`` beside ``pred_llama``.

        A name that is known as it stands, such as ``prediction``, comes before them. In a table with a row a slot they
        are of values: ``pred`` beside ``value``.
        """
        chosen = plain_name(self.value if self.slot else self.state)
        if chosen in (*_PREDICTED, *_PREDICTED_VALUE) or not (self.says_predicted or self.slot):
            return []
        taken = {self.dialogue, self.turn, self.state, self.gold, self.turns, self.slot, self.value, self.domain}
        if self.slot:
            taken.discard("" if self.state == self.value else self.state)
        names = (name for name in self.names if name not in taken and not _names_slot(name))
        return [name for name in names if _says_prediction(name) or (self.slot and plain_name(name) in _VALUE)]

    @property
    def others(self) -> list[str]:
        """Names that may hold the predicted states as well as the one that was taken, which says not that it does."""
        return [] if self.says_predicted or self.slot or self.wide or not self.state else self._unread

    @property
    def _unread(self) -> list[str]:
        """Names that are not read, and may hold states."""
        taken = {self.dialogue, self.turn, self.state, self.gold, self.domain, self.speaker, self.turns}
        names = (name for name in self.names if name not in taken)
        return [name for name in names if not is_no_state(name) or _AFTER.search(name)]

    def predicts_in(self, rows: Sequence[Mapping[Any, Any]]) -> bool:
        """Do these rows hold states where a name says that they are predicted, or a column a slot?"""
        given = [held for row in rows if (held := row.get(self.state))] if self.says_predicted else []
        return len(self.wide) > 1 or (2 * sum(looks_like_state(held, frozenset()) for held in given) > len(given))

    def unread_states(self, rows: Sequence[Mapping[Any, Any]]) -> list[str]:
        """Names beside one that says it is the prediction that hold states, too."""
        if not self.says_predicted or self.slot or self.wide or not self.state:
            return []
        return [
            name
            for name in self._unread
            if (given := [held for row in rows[:_LOOKED_AT] if (held := row.get(name))])
            and all(looks_like_state(held, frozenset()) for held in given)
        ]

    def keys(self) -> tuple[str, ...]:
        """The names that are used, for the line that says what was understood."""
        states = (self.slot, self.value) if self.slot else ("a column a slot",) if self.wide else (self.state,)
        used = (self.dialogue, self.turns or self.turn, *(states if not self.turns else ()), self.gold)
        return tuple(name for name in used if name)


def _says_prediction(name: str) -> bool:
    """Does it say that it holds predictions, other than what a model wrote before they were read from it?"""
    plain = plain_name(name)
    return bool(_TELLING["predicted"].search(plain)) and not (is_no_state(name) or "raw" in plain)


def is_message(held: object) -> bool:
    """Is it one message of a model, and no text that somebody said?"""
    return isinstance(held, Mapping) and held.get("role") == "assistant" and "content" in held


#: What says that a state is the one after this turn, and not what changed.
_AFTER = re.compile(r"updated", re.IGNORECASE)
#: Rows that are looked at for states that are not read.
_LOOKED_AT = 50


def is_no_state(name: str) -> bool:
    """Does a name say that what it holds is no state that anybody would score?"""
    return len(name) < 100 and bool(_NO_STATE.search(CAMEL_CASE.sub(" ", name).lower()))


def _lacks_domains(written: Any) -> bool:
    """Is it a state whose slots do not name their domain?"""
    if isinstance(written, str):
        text = written.strip()
        try:
            return _lacks_domains(json.loads(text)) if text[:1] == "{" else not names_domain(_NAME_END.split(text)[0])
        except ValueError:
            return False
    return isinstance(written, Mapping) and not any(
        isinstance(value, Mapping) or names_domain(str(name)) for name, value in written.items()
    )


def _is_list(sample: Mapping[str, Any], name: str | None, dialogue: str) -> bool:
    return name is not None and name != dialogue and isinstance(sample[name], list | tuple | Mapping)


def _side(name: str) -> tuple[str, str]:
    """The side that a slot's column is of, in small letters and empty where it does not say, and the slot's name."""
    if side := _SIDES.match(name):
        return side[1].lower(), _AROUND_SLOTS.sub("", name[side.end() :])
    name = _AROUND_SLOTS.sub("", name)
    if (side := _SIDES_AT_END.search(name)) and split_name(name[: side.start()]):
        return side[1].lower(), name[: side.start()]
    return "", name


def _domain_of(name: object) -> str:
    """The domain that a column has the slots of, by its name: ``hotel``, ``pred_hotel_state``; else empty."""
    domain = _STATE_OF_DOMAIN.sub("", _side(name)[1]) if isinstance(name, str) else ""
    return domain if is_domain(domain) else ""


def _may_be_slots(held: object) -> bool:
    """Are these the slots of one domain, and no value?"""
    return isinstance(held, Mapping | None) or (isinstance(held, str) and _WRITTEN_STATE.match(held) is not None)


def _wide_state(row: Mapping[Any, Any], columns: Mapping[str, str]) -> Any:
    """The state in the columns of one slot, or one domain, each."""
    state = {slot: row[name] for name, slot in columns.items() if row.get(name) is not None}
    texts = {slot for slot, held in state.items() if isinstance(held, str) and is_domain(slot)}
    if not texts:
        return state
    slots = {slot: held for slot, held in state.items() if slot not in texts}
    filled = [
        {"domain": domain, "state": state[domain]} for domain in state if domain in texts and state[domain].strip()
    ]
    return [*filled, slots] if slots else filled


def _names_slot(name: str) -> bool:
    """Is it the column of a slot, predicted or gold, such as ``pred:hotel-area`` or ``hotel-area_true``?"""
    side, slot = _side(name)
    pair = split_name(slot) if side or slot != name else None
    return pair is not None and (any(sign in slot for sign in "-.:/") or pair[0].lower() in DOMAINS)


def _wide(sample: Mapping[Any, Any], taken: set[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The columns of one slot each, predicted and gold, with the slot's name."""
    sides = {name: _side(name) for name in sample if isinstance(name, str) and name not in taken}
    domains = [pair[0].lower() for _, slot in sides.values() if (pair := split_name(slot))]
    columns: dict[str, str] = {}
    for name, (_, slot) in sides.items():
        if (domain := _domain_of(name)) and _may_be_slots(sample[name]):
            columns[name] = domain
            continue
        pair = split_name(slot)
        beside = pair and (_BESIDE.fullmatch(pair[0].lower()) or _SCORED.search(pair[1].lower()))
        if pair is None or isinstance(sample[name], Mapping) or beside:
            continue
        sure = any(sign in slot for sign in "-.:/")
        if sure or pair[0].lower() in DOMAINS or domains.count(pair[0].lower()) > 1:
            columns[name] = slot
    says_predicted = {slot for name, slot in columns.items() if sides[name][0] not in {"", *_GOLD_SIDES}}
    gold = {
        name: slot
        for name, slot in columns.items()
        if sides[name][0] in _GOLD_SIDES or (not sides[name][0] and slot in says_predicted)
    }
    return {name: slot for name, slot in columns.items() if name not in gold}, gold


def refuse_two_states(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> None:
    """An error where another column has states, too, which are not the same: one may be gold, which is no prediction.

    A second column is no matter where it always holds the same states, as the raw output that the first was read from.
    """
    _refuse_two_predictions(rows, columns)
    others = {name: [row.get(name) for row in rows] for name in columns.others if name not in columns.beside}
    if len(columns.beside) > 1:
        others[next(iter(columns.beside))] = [_wide_state(row, columns.beside) for row in rows]
    if not others:
        return
    reader = StateReader(Notes())
    for row in rows:
        reader.learn(row.get(columns.state))
    ours = [reader.attempt(columns.state_of(row)) for row in rows]
    known = {pair for state in ours for pair in _slots_of(state)}
    domains = frozenset(domain for domain, _ in known)
    for name, held in others.items():
        filled = [(mine, given) for mine, given in zip(ours, held, strict=True) if _is_filled(given)]
        likely = [(mine, given) for mine, given in filled if looks_like_state(given, domains)]
        for _, given in likely:
            reader.learn(given)
        theirs = [(mine, reader.attempt(given), given) for mine, given in likely]
        states = [
            (mine, state)
            for mine, state, given in theirs
            if state and not ((isinstance(given, str) or name in columns.beside) and known.isdisjoint(_slots_of(state)))
        ]
        if 2 * len(states) > len(filled) and any(mine != state for mine, state in states):
            raise DialgaugeError(
                f"the columns '{columns.state[:60]}' and '{name[:60]}' both hold states, and nothing says which is the "
                "prediction; keep that one only, or call it 'prediction' and the other 'gold'"
            )


def _refuse_two_predictions(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> None:
    """An error where columns of several models hold states, in whatever order; a model may find nothing at all."""
    several, differ = [columns.value or columns.state], False
    for name in columns.other_predictions:
        if columns.slot:
            pairs = [(row.get(columns.value), given) for row in rows if (given := row.get(name)) not in (None, "")]
            shared = {str(mine) for mine, _ in pairs} & {str(given) for _, given in pairs} - {"none"}
            several += [name] if shared else []
            differ |= bool(shared) and any(mine != given for mine, given in pairs)
            continue
        reader = StateReader(Notes())
        for row in rows:
            reader.learn(row.get(columns.state))
        ours = [reader.attempt(columns.state_of(row)) for row in rows]
        domains = frozenset(domain for state in ours for domain in state)
        filled = [
            (mine, given) for mine, row in zip(ours, rows, strict=True) if (given := row.get(name)) or given == {}
        ]
        likely = [(mine, given) for mine, given in filled if given == {} or looks_like_state(given, domains)]
        for _, given in likely:
            reader.learn(given)
        if 2 * len(likely) > len(filled):
            several.append(name)
            differ |= any(mine != reader.attempt(given) for mine, given in likely)
    if differ:
        named = ", ".join(f"'{name[:60]}'" for name in columns.names if name in several)
        raise DialgaugeError(
            f"the columns {named} all hold predictions; keep one of them, in a file for each model, or call the one to "
            "score 'prediction'"
        )


def _slots_of(state: State) -> Iterator[tuple[str, str]]:
    return ((domain, slot) for domain, slots in state.items() for slot in slots)


def _is_filled(given: object) -> bool:
    return isinstance(given, Mapping | list | tuple | str) and bool(given) and given not in ("{}", "[]")


def looks_like_state(given: Any, domains: frozenset[str]) -> bool:
    """Are these slots with values, and no sentence? ``domains`` are those of states that are known."""
    if isinstance(given, str):
        word = _FIRST_WORD.match(given)
        return _WRITTEN_STATE.match(given) is not None or bool(word and word[1].lower() in domains)
    if isinstance(given, Mapping):
        inside = [(key, value) for key, value in given.items() if isinstance(key, str)]
        return any(isinstance(value, Mapping) or (split_name(key) and isinstance(value, str)) for key, value in inside)
    return isinstance(given, list | tuple) and any(
        looks_like_state(item, domains) or (isinstance(item, Mapping) and "slot" in item) for item in given
    )
