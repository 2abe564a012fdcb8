"""The engine of a Ray cluster: one actor per worker, one batch at a time, everything else as in a pool.

Invariants
- A worker may die at any moment, alone or with its node. What it had not answered is done by another worker; a unit
  that many died of fails. Nothing is counted twice: the first answer to a unit counts, later ones are dropped.
- A worker whose machine has no disk or memory left is sick: it is let go, and its node gets no other one while there
  are healthy nodes.
- A batch that takes far longer than the others is also given to a worker that has nothing to do: a slow node delays
  the result by no more than that.
- Workers run the very source of this process, or the work is refused: other code would give other bytes.
"""

from __future__ import annotations

import errno
import os
import pickle
import socket
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from dialgauge.engine.units import Batch, Done, Engine, Place, Results, Unit, Work, cores, perform
from dialgauge.engine.worker import ONE_THREAD
from dialgauge.errors import DialgaugeError
from dialgauge.source import own_source

#: A unit of which so many workers died has failed; nodes die for reasons of their own, so this is more than in a pool.
_DEATHS = 4
#: So many workers in a row that died before they were ready will not be followed by a better one.
_STILLBORN = 8
#: Seconds in which a cluster must take a connection.
_PATIENCE = 5.0
#: Seconds without any worker until the cluster is given up.
_NOBODY = 300.0
#: A batch may take this long, and so many times the longest before it, until it is given to a second worker.
_SLOW, _SLOWER = 10.0, 3.0
#: What travels through the object store is small: per-dialogue sums, not turns.
_STORE_BYTES = 256 << 20
_SICK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM})


class RayTraceback(Exception):
    """Where in a worker an error happened; the cause of that error as it is raised here."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Opened(NamedTuple):
    node: str
    source: str


class _Crashed(NamedTuple):
    """An error that is no failure of a unit, pickled if it can be, with the worker's traceback as text."""

    error: bytes
    traceback: str


class _Unwell(NamedTuple):
    """What the machine of a worker lacks."""

    why: str


class RayWorker:
    """The far end: opens the work, does batches. Every answer is a value; an exception would lose its traceback."""

    def __init__(self) -> None:
        self._work: Any = None
        self._state: Any = None

    def open(self, work: bytes, path: list[str]) -> _Opened | _Crashed:
        """Open the work; ``path`` is where the driver finds its modules."""
        import ray

        try:
            os.environ.update({name: os.environ.get(name, value) for name, value in ONE_THREAD.items()})
            sys.path += [place for place in path if place not in sys.path]
            self._work = pickle.loads(work)  # noqa: S301 - from our own driver
            self._state = self._work.open()
        except BaseException as error:
            return _crashed(error)
        return _Opened(ray.get_runtime_context().get_node_id(), own_source())

    def do(self, batch: bytes) -> Results | _Crashed | _Unwell:
        """The results of a batch."""
        try:
            units: Batch = pickle.loads(batch)  # noqa: S301 - from our own driver
            return [(position, perform(self._work, self._state, unit)) for position, unit in units]
        except MemoryError:
            return _Unwell("it ran out of memory")
        except OSError as error:
            return _Unwell(str(error.strerror or error)) if error.errno in _SICK else _crashed(error)
        except BaseException as error:
            return _crashed(error)


def _crashed(error: BaseException) -> _Crashed:
    text = "".join(traceback.format_exception(error)).rstrip()
    try:
        packed = pickle.dumps(error)
        pickle.loads(packed)  # noqa: S301 - some errors cannot be made again from their pickle
    except Exception:
        packed = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return _Crashed(packed, text)


class _Hand:
    """A worker as it is seen from here: its actor, what it is to answer next, and the units that hang on it."""

    def __init__(self, actor: Any, work: Any) -> None:
        self.actor = actor
        self.node = ""
        self.ready = False
        self.answer = actor.open.remote(work, sys.path)
        self.batch: Batch = []
        self.since = 0.0
        #: Whether a second worker has been given the same batch.
        self.doubled = False

    def give(self, batch: Batch, *, doubled: bool = False) -> None:
        self.batch, self.since, self.doubled = batch, time.monotonic(), doubled
        self.answer = self.actor.do.remote(pickle.dumps(batch))


class RayEngine(Engine):
    """Works on a Ray cluster: the one at the address, or one of this machine that ends with the work."""

    def __init__(self, work: Work[Any, Any], place: Place) -> None:
        self._packed = pickle.dumps(work)
        self._place = place
        self.workers = place.workers or cores()
        self._ours = False
        self._work: Any = None
        self._hands: list[_Hand] = []
        self._waiting: deque[Batch] = deque()
        self._open: dict[int, Unit[Any]] = {}
        self._deaths: Counter[int] = Counter()
        self._sick: dict[str, str] = {}
        self._stillborn = 0
        self._longest = 0.0
        self._alone_since: float | None = None

    def __enter__(self) -> RayEngine:
        ray = _ray()
        if not ray.is_initialized():
            self._ours = True
            _connect(ray, self._place.address, self.workers)
        if self._place.address and not self._place.workers:
            self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._work = ray.put(self._packed)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        ray = _ray()
        if not ray.is_initialized():
            return
        for hand in self._hands:
            ray.kill(hand.actor)
        self._hands = []
        self._work = None
        if self._ours:
            ray.shutdown()

    def wants_work(self) -> bool:
        return self._busy() + len(self._waiting) < self.workers

    def give(self, batch: Batch) -> None:
        self._open.update(batch)
        self._waiting.append(batch)
        self._hand_out()

    def take(self, *, wait: bool) -> Results:
        finished: Results = []
        while self._open:
            for hand in self._answered(1.0 if wait else 0.0):
                finished += self._hear(hand)
            self._hand_out()
            self._help_the_slow()
            if finished or not wait:
                break
            self._require_somebody()
        return finished

    def _busy(self) -> int:
        return sum(1 for hand in self._hands if hand.batch)

    def _free(self) -> Iterable[_Hand]:
        return (hand for hand in self._hands if hand.ready and not hand.batch)

    def _answered(self, timeout: float) -> list[_Hand]:
        """Those that have answered or died."""
        asked = {hand.answer: hand for hand in self._hands if hand.batch or not hand.ready}
        if not asked:
            time.sleep(timeout)
            return []
        ray = _ray()
        some, _ = ray.wait(list(asked), num_returns=1, timeout=timeout)
        if not some:
            return []
        ready, _ = ray.wait(list(asked), num_returns=len(asked), timeout=0)
        return [asked[answer] for answer in {*some, *ready}]

    def _hear(self, hand: _Hand) -> Results:
        ray = _ray()
        try:
            answer = ray.get(hand.answer)
        except ray.exceptions.RayTaskError as error:  # even its answer could not be sent
            raise RuntimeError(f"a worker failed in an unforeseen way: {error}") from error
        except ray.exceptions.RayError as error:
            return self._bury(hand, _how_it_ended(error))
        if isinstance(answer, _Crashed):
            raise pickle.loads(answer.error) from RayTraceback(answer.traceback)  # noqa: S301 - from our own worker
        if isinstance(answer, _Unwell):
            self._sick[hand.node] = answer.why
            return self._bury(hand, f"because its machine is not well ({answer.why})")
        if isinstance(answer, _Opened):
            hand.ready, hand.node, self._stillborn = True, answer.node, 0
            _require_same_source(answer)
            return []
        self._longest = max(self._longest, time.monotonic() - hand.since)
        hand.batch = []
        return [(position, done) for position, done in answer if self._open.pop(position, None) is not None]

    def _bury(self, hand: _Hand, how: str) -> Results:
        """A worker is gone. Its units go to others, each alone if there were several: one of them may be the cause."""
        self._hands.remove(hand)
        _ray().kill(hand.actor)
        if not hand.ready:
            self._stillborn += 1
            if self._stillborn == _STILLBORN:
                raise DialgaugeError(f"{_STILLBORN} workers in a row ended before they could begin, the last {how}")
        failed: Results = []
        held = {position for other in self._hands for position, _ in other.batch}
        for position, unit in reversed(hand.batch):
            if position not in self._open or position in held:
                continue
            self._deaths[position] += len(hand.batch) == 1
            if self._deaths[position] < _DEATHS:
                self._waiting.appendleft([(position, unit)])
                continue
            del self._open[position]
            failure = f"{_DEATHS} workers died while they worked on it, the last {how}; does it need more memory?"
            failed.append((position, Done(unit.key, None, failure)))
        return failed

    def _hand_out(self) -> None:
        """Give waiting batches to free workers, and start as many workers as batches are left over."""
        for hand in self._free():
            if self._waiting:
                hand.give(self._waiting.popleft())
        while len(self._hands) < min(self.workers, self._busy() + len(self._waiting)):
            self._hands.append(_Hand(self._new_actor(), self._work))

    def _new_actor(self) -> Any:
        ray = _ray()
        options: dict[str, Any] = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0}
        healthy = {node["NodeID"] for node in ray.nodes() if node["Alive"]} - self._sick.keys()
        if self._sick and healthy:
            from ray.util.scheduling_strategies import NodeLabelSchedulingStrategy, NotIn

            options["scheduling_strategy"] = NodeLabelSchedulingStrategy(hard={"ray.io/node-id": NotIn(*self._sick)})
        return ray.remote(RayWorker).options(**options).remote()

    def _help_the_slow(self) -> None:
        if self._waiting:
            return
        patience = max(_SLOW, _SLOWER * self._longest)
        slow = [hand for hand in self._hands if hand.batch and not hand.doubled]
        late = [hand for hand in slow if hand.ready and time.monotonic() - hand.since > patience]
        for hand, free in zip(late, list(self._free()), strict=False):
            hand.doubled = True
            free.give([one for one in hand.batch if one[0] in self._open], doubled=True)

    def _require_somebody(self) -> None:
        if any(hand.ready for hand in self._hands):
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        if now - self._alone_since > _NOBODY:
            raise DialgaugeError(
                f"the cluster gave no worker for {_NOBODY:.0f} seconds; look with 'ray status' whether it has a free "
                "core and whether its nodes live. What is finished is kept: run the same command again"
            )


def _ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise DialgaugeError("--engine ray needs the extra 'ray': pip install 'dialgauge[ray]'") from error
    return ray


def _connect(ray: Any, address: str | None, workers: int) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no network unless asked for
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if address is None:
        ray.init("local", num_cpus=workers, include_dashboard=False, object_store_memory=_STORE_BYTES, **quiet)
        return
    _knock(address)
    try:
        ray.init(address=address, **quiet)
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DialgaugeError(f"the Ray cluster at {address} cannot be used ({reason})") from error


def _knock(address: str) -> None:
    """Whether anybody listens: Ray itself would try for minutes."""
    if address == "auto":
        return
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        raise DialgaugeError(f"'{address}' is no address of a Ray cluster; write HOST:PORT, ray://HOST:PORT or auto")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE):
            pass
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise DialgaugeError(
            f"there is no Ray cluster at {address} ({why}); start one with 'ray start --head', or leave --address out"
        ) from error


def _require_same_source(opened: _Opened) -> None:
    if opened.source != own_source():
        raise DialgaugeError(
            f"the node {opened.node[:12]} of the cluster has another dialgauge than this process, which could give "
            "other numbers; install the same version on all nodes"
        )


def _how_it_ended(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"with {type(error).__name__} ({lines[0][:200]})" if lines else f"with {type(error).__name__}"
