"""What can be wrong with a task, told without a model and without any log: its expected calls run in its own world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, Literal, TypeAlias

from msgspec import Struct, structs

from dialgauge.trials.calls import leaves
from dialgauge.worlds.tools import GoldCall, ToolDomain, ToolTask, World, same_changes

#: More writes than these are not tried in every order.
MOST_ORDERED = 6
#: A shorter output occurs by chance.
SHORTEST_OUTPUT = 3
#: Arguments whose values are chosen from a few, not given by anybody.
_CHOSEN = frozenset({"cabin", "flight_type", "insurance", "reason", "date", "state", "country"})


class FailingGold(Struct, frozen=True):
    """An expected call that fails on the world left by those before it."""

    index: int
    kind: str


class Unsupported(Struct, frozen=True):
    """A text in an expected write that nobody was given: neither the user nor any record has it."""

    action: int
    tool: str
    argument: str
    value: str


class TaskFacts(Struct, frozen=True, kw_only=True):
    """The facts of one task; what needs a world is None where there is none."""

    id: str
    null_pass: bool | None = None
    gold_writes: int | None = None
    gold_writes_done: int | None = None
    failing_gold: tuple[FailingGold, ...] | None = None
    order_matters: bool | None = None
    pair_order_matters: bool | None = None
    identified: bool | None = None
    unsupported: tuple[Unsupported, ...] | None = None
    short_outputs: tuple[str, ...] = ()
    outside_basis: tuple[str, ...] = ()
    basis_without_content: tuple[str, ...] = ()


FactCode: TypeAlias = Literal[
    "null_pass", "writes_needed", "failing_write", "failing_read", "order_matters", "orders_untried",
    "pair_order_matters", "unsupported", "unidentified", "short_output", "outside_basis", "basis_without_content",
]  # fmt: skip


def fact_codes(facts: TaskFacts) -> Iterator[tuple[FactCode, tuple[str, ...]]]:
    """The facts that hold of a task as codes, each with what it is about: positions of calls, values, parts."""
    failing = facts.failing_gold or ()
    writes, reads = (
        [str(each.index) for each in failing if (each.kind == "write") == is_write] for is_write in (True, False)
    )
    held: dict[FactCode, tuple[object, Sequence[str]]] = {
        "null_pass": (facts.null_pass, ()),
        "writes_needed": (facts.null_pass is False, ()),
        "failing_write": (writes, writes),
        "failing_read": (reads, reads),
        "order_matters": (facts.order_matters, ()),
        "orders_untried": (facts.gold_writes is not None and facts.order_matters is None, ()),
        "pair_order_matters": (facts.pair_order_matters, ()),
        "unsupported": (facts.unsupported, [each.value for each in facts.unsupported or ()]),
        "unidentified": (facts.identified is False, ()),
        "short_output": (facts.short_outputs, facts.short_outputs),
        "outside_basis": (facts.outside_basis, facts.outside_basis),
        "basis_without_content": (facts.basis_without_content, facts.basis_without_content),
    }
    yield from ((code, tuple(about)) for code, (holds, about) in held.items() if holds)


def task_facts(tasks: Iterable[ToolTask], domain: ToolDomain | None) -> list[TaskFacts]:
    """Everything about each task; without its world only what its text says."""
    if domain is None:
        return [_told_facts(task) for task in tasks]
    records = _Records(domain)
    return [_in_its_world(_told_facts(task), task, domain, records) for task in tasks]


def _told_facts(task: ToolTask) -> TaskFacts:
    """What the text of a task says: outputs that occur by chance, and what the reward looks at."""
    facts = TaskFacts(id=task.id, short_outputs=tuple(each for each in task.outputs if len(each) < SHORTEST_OUTPUT))
    if task.rules == "own":
        return facts
    content: dict[str, object] = {
        "COMMUNICATE": task.outputs, "ENV_ASSERTION": task.env_assertions, "NL_ASSERTION": task.nl_assertions,
        "ACTION": task.expected and "DB" not in task.parts,
    }  # fmt: skip
    judged: dict[str, object] = {**content, "DB": task.expected is not None, "ACTION": task.expected}
    return structs.replace(
        facts,
        outside_basis=tuple(part for part, given in content.items() if given and part not in task.parts),
        basis_without_content=tuple(part for part in task.parts if not judged.get(part, True)),
    )


def _in_its_world(facts: TaskFacts, task: ToolTask, domain: ToolDomain, records: _Records) -> TaskFacts:
    world, start = domain.world(task), domain.world(task).changes()
    given = _Given(task, domain, records)
    writes: list[GoldCall] = []
    done = 0
    failing: list[FailingGold] = []
    unsupported: list[Unsupported] = []
    for index, call in enumerate(task.expected or ()):
        tool = domain.tools.get(call.name)
        if tool is not None and tool.ends:
            continue
        is_write = tool is not None and tool.writes
        if is_write:
            unsupported += [
                Unsupported(index, call.name, path, text)
                for path, text in _texts(call.arguments)
                if path.rpartition(".")[2] not in _CHOSEN and not given.has(text, world)
            ]
            writes.append(call)
        ok = world.call(call.name, call.arguments).ok
        done += is_write and ok
        if not ok:
            failing.append(FailingGold(index, "unknown" if tool is None else tool.kind))
    target = world.changes()
    compared = task.rules != "own" or task.expected is not None
    return structs.replace(
        facts,
        null_pass=same_changes(target, start, domain.compare) if compared else None,
        gold_writes=len(writes),
        gold_writes_done=done,
        failing_gold=tuple(failing),
        order_matters=_order_matters(task, domain, writes, target),
        pair_order_matters=_pair_order_matters(task, domain, writes, target),
        identified=given.identified,
        unsupported=tuple(unsupported),
    )


def _order_matters(
    task: ToolTask, domain: ToolDomain, writes: Sequence[GoldCall], target: Mapping[str, Any]
) -> bool | None:
    """Whether some order of the writes, in which none fails, ends elsewhere; None for too many to try."""
    if len(writes) > MOST_ORDERED:
        return None
    return any(_ends_elsewhere(task, domain, order, target) for order in permutations(writes))


def _pair_order_matters(
    task: ToolTask, domain: ToolDomain, writes: Sequence[GoldCall], target: Mapping[str, Any]
) -> bool | None:
    """The same for the pairs of lists within one call (old items and new items), everything else as it is."""
    for index, call in enumerate(writes):
        paired = _paired_lists(call)
        if not paired:
            continue
        length = len(call.arguments[paired[0]])
        if length > MOST_ORDERED:
            return None
        for order in permutations(range(length)):
            lists = {name: [call.arguments[name][each] for each in order] for name in paired}
            other = structs.replace(call, arguments={**call.arguments, **lists})
            if _ends_elsewhere(task, domain, [*writes[:index], other, *writes[index + 1 :]], target):
                return True
    return False


def _paired_lists(call: GoldCall) -> list[str]:
    """The arguments that are lists of texts, where there are several of the same length."""
    lists = {
        name: len(value)
        for name, value in (call.arguments if isinstance(call.arguments, dict) else {}).items()
        if isinstance(value, list) and all(isinstance(each, str) for each in value)
    }
    return list(lists) if len(lists) > 1 and len(set(lists.values())) == 1 and max(lists.values()) > 1 else []


def _ends_elsewhere(task: ToolTask, domain: ToolDomain, writes: Iterable[GoldCall], target: Mapping[str, Any]) -> bool:
    world = domain.world(task)
    done = all(world.call(call.name, call.arguments).ok for call in writes)
    return done and not same_changes(world.changes(), dict(target), domain.compare)


class _Given:
    """Where the values of a task may come from: its instruction, its user's records, what belongs to nobody."""

    def __init__(self, task: ToolTask, domain: ToolDomain, records: _Records) -> None:
        self._instruction = task.instruction.lower() + "\n" + "\n".join(map(str, task.knows.values())).lower()
        users = records.users if task.user is None else {task.user: records.users.get(task.user, ())}
        #: Users whose id or email the instruction has, or whose full name and zip.
        named = {
            user
            for user, ways in users.items()
            if any(all(text in self._instruction for text in texts) for texts in ways)
        }
        self.identified = bool(named) if records.users else None
        self._whose = {task.user} if task.user is not None else named | set(_owners(task, domain))
        self._records = records

    def has(self, text: str, world: World) -> bool:
        """Whether a text was told to the user, or stands in a record that is theirs or nobody's."""
        if text.lower() in self._instruction or text in self._records.shared:
            return True
        return any(text in self._records.owned.get(user, ()) for user in self._whose) or text in self._new(world)

    def _new(self, world: World) -> set[str]:
        """The texts of the user's records that earlier calls made or changed."""
        texts: set[str] = set()
        for name, record in world.changes().items():
            table, _, key = name.partition("/")
            if _whose(table, key, record) in self._whose:
                texts |= {key, *_all_texts(record)}
        return texts


class _Records:
    """The texts in a domain's records: by user, and those in tables that belong to nobody."""

    def __init__(self, domain: ToolDomain) -> None:
        self.users = {name: _ways_to_name(name, user) for name, user in (domain.records.get("users") or {}).items()}
        self.owned: dict[str, set[str]] = {}
        self.shared: set[str] = set()
        for name, table in domain.records.items():
            rows = table if isinstance(table, Mapping) else {}
            owners = {key: _whose(name, key, record) for key, record in rows.items()}
            if not any(owners.values()):
                self.shared |= {name, *_all_texts(table)}
            for key, owner in owners.items():
                if owner is not None:
                    self.owned.setdefault(owner, set()).update((key, *_all_texts(rows[key])))


def _ways_to_name(user: str, record: Mapping[str, Any]) -> Sequence[Sequence[str]]:
    """Sets of lower-case texts, each of which identifies a user."""
    full, address = (record[key] if isinstance(record.get(key), Mapping) else {} for key in ("name", "address"))
    name = " ".join(str(full.get(key) or "") for key in ("first_name", "last_name")).strip()
    email, code = str(record.get("email") or ""), str(address.get("zip") or "")
    ways = ([user], [email], [name, code])
    return [[text.lower() for text in way] for way in ways if all(way)]


def _whose(table: str, key: str, record: Any) -> str | None:
    """The user to whom a record belongs; None where it is nobody's."""
    if table == "users":
        return key
    owner = record.get("user_id") if isinstance(record, Mapping) else None
    return owner if isinstance(owner, str) else None


def _owners(task: ToolTask, domain: ToolDomain) -> Iterator[str]:
    """The users that the expected calls are about, by their own ids and by those of their records."""
    texts = {text for call in task.expected or () for _, text in _texts(call.arguments)}
    for name, table in domain.records.items():
        for text in texts if isinstance(table, Mapping) else ():
            if text in table:
                yield from filter(None, [_whose(name, text, table[text])])


def _all_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield from _all_texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _all_texts(each)


def _texts(arguments: Any) -> Iterator[tuple[str, str]]:
    """The texts in arguments, each with its dotted path."""
    return ((path, text) for path, text in leaves(arguments) if isinstance(text, str))
