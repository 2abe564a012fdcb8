"""The engine of a Ray cluster: one actor per worker, one batch at a time, everything else as in a pool.

Invariants
- A worker may die at any moment, alone or with its node. What it had not answered is done by another worker; a unit
  that many died of fails.
- Workers run the very source of this process, or the work is refused: other code would give other bytes.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dialgauge.engine.ray_cluster import RayConnection, ray_module
from dialgauge.engine.ray_worker import Opened, RayWorker, Spent
from dialgauge.engine.units import Batch, Done, Engine, Results, Unit, Work, WorkPlace, cores
from dialgauge.engine.worker import Crash
from dialgauge.errors import DialgaugeError
from dialgauge.source import own_source

#: A unit of which so many workers died has failed; nodes die for reasons of their own, so this is more than in a pool.
_DEATHS = 4
#: So many workers in a row that died before they were ready will not be followed by a better one.
_STILLBORN = 8
#: Seconds without any worker until the cluster is given up.
_NOBODY = 300.0
#: Seconds between two looks at the cluster, and without its head until it is given up (Ray ends this process at 60).
_PULSE, _HEADLESS = 2.0, 20.0
_KEPT = "What is finished is kept: run the same command again"


class _Hand:
    """A worker as it is seen from here: its actor, what it is to answer next, and the units that hang on it."""

    def __init__(self, actor: Any, work: Any) -> None:
        self.actor = actor
        self.ready = False
        self.alive = actor.node.remote()
        self.answer = actor.open.remote(work, sys.path, str(Path.cwd()))
        self.batch: Batch = []

    def give(self, batch: Batch) -> None:
        self.batch = batch
        self.answer = self.actor.do.remote(pickle.dumps(batch))


class RayEngine(Engine):
    """Works on a Ray cluster: the one at the address, or one of this machine that ends with the work."""

    def __init__(self, work: Work[Any, Any], place: WorkPlace) -> None:
        self._packed = pickle.dumps(work)
        self._place = place
        self.workers = place.workers or cores()
        self._connection = RayConnection(place.address)
        self._work: Any = None
        self._actor_class: Any = None
        self._hands: list[_Hand] = []
        self._waiting: deque[Batch] = deque()
        self._open: dict[int, Unit[Any]] = {}
        self._deaths: Counter[int] = Counter()
        self._stillborn = 0
        self._looked = self._heard = self._head_seen = 0.0

    def __enter__(self) -> RayEngine:
        self._connection.open(self.workers)
        try:
            ray = ray_module()
            self._count_workers()
            self._work = ray.put(self._packed)
            self._actor_class = ray.remote(RayWorker)
        except BaseException:
            self._connection.close()
            raise
        self._looked = self._heard = self._head_seen = time.monotonic()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            ray = ray_module()
            with suppress(ray.exceptions.RayError):  # without its raylet there is nobody to tell
                for hand in self._hands if ray.is_initialized() else ():
                    ray.kill(hand.actor)
        finally:
            self._hands, self._work = [], None
            self._connection.close()

    def wants_work(self) -> bool:
        return self._busy() + len(self._waiting) < self.workers

    def give(self, batch: Batch) -> None:
        self._open.update(batch)
        self._waiting.append(batch)
        with self._breakdowns():
            self._hand_out()

    def take(self, *, wait: bool) -> Results:
        with self._breakdowns():
            return self._taken(wait)

    @contextmanager
    def _breakdowns(self) -> Iterator[None]:
        """Turn what Ray reports of its own failed parts into one sentence."""
        try:
            yield
        except ray_module().exceptions.RayError as error:
            raise DialgaugeError(f"{self._connection.name} broke down ({_first_line(error)}). {_KEPT}") from error

    def _taken(self, wait: bool) -> Results:
        finished: Results = []
        while self._open:
            for hand in self._answered(1.0 if wait else 0.0):
                finished += self._hear(hand)
            self._hand_out()
            self._look_after_the_cluster()
            if finished or not wait:
                break
        return finished

    # -- the workers -------------------------------------------------------------------------------------------------

    def _busy(self) -> int:
        return sum(1 for hand in self._hands if hand.batch)

    def _free(self) -> list[_Hand]:
        return [hand for hand in self._hands if hand.ready and not hand.batch]

    def _answered(self, timeout: float) -> list[_Hand]:
        """The workers that have answered or died."""
        asked = {hand.answer: hand for hand in self._hands if hand.batch or not hand.ready}
        if not asked:
            time.sleep(timeout)
            return []
        ray = ray_module()
        some, _ = ray.wait(list(asked), num_returns=1, timeout=timeout)
        if not some:
            return []
        ready, _ = ray.wait(list(asked), num_returns=len(asked), timeout=0)
        return [asked[answer] for answer in {*some, *ready}]

    def _hear(self, hand: _Hand) -> Results:
        ray = ray_module()
        try:
            answer = ray.get(hand.answer)
        except ray.exceptions.RayTaskError as error:  # even its answer could not be sent
            raise RuntimeError(f"a worker failed unexpectedly: {error}") from error
        except ray.exceptions.RayError as error:
            return self._bury(hand, _how_it_ended(error))
        self._heard = time.monotonic()
        if isinstance(answer, Crash):
            answer.reraise()
        if isinstance(answer, Spent):
            return self._bury(hand, answer.why)
        if isinstance(answer, Opened):
            _require_same_source(answer)
            hand.ready, self._stillborn = True, 0
            return []
        for position, _ in answer:
            del self._open[position]
        hand.batch = []
        return list(answer)

    def _bury(self, hand: _Hand, how: str) -> Results:
        """A worker is gone. Its units go to others, each alone if there were several: one of them may be the cause."""
        if not hand.ready:
            self._stillborn += 1
            if self._stillborn == _STILLBORN:
                hint = "; if the cluster has no token, unset RAY_AUTH_MODE" if _token_is_set() else ""
                raise DialgaugeError(
                    f"{_STILLBORN} workers in a row ended before they could begin, the last {how}{hint}"
                )
        self._hands.remove(hand)
        ray_module().kill(hand.actor)
        failed: Results = []
        for position, unit in reversed(hand.batch):
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
            self._hire()

    def _hire(self) -> None:
        actor = self._actor_class.options(num_cpus=1, max_restarts=0, max_task_retries=0).remote()
        self._hands.append(_Hand(actor, self._work))

    # -- the cluster -------------------------------------------------------------------------------------------------

    def _count_workers(self) -> None:
        """Where no number was asked for, every core of the cluster is a worker, also those that come later."""
        if self._place.address and not self._place.workers:
            there = int(ray_module().cluster_resources().get("CPU", 1))
            self.workers = max(1, there, len(self._hands))

    def _look_after_the_cluster(self) -> None:
        now = time.monotonic()
        if now - self._looked < _PULSE:
            return
        self._looked = now
        if not self._connection.node_answers():
            raise DialgaugeError(f"Ray's process on this machine, the raylet, has ended. {_KEPT}")
        if self._connection.head_answers():
            self._head_seen = now
            self._count_workers()
        elif now - self._head_seen > _HEADLESS:
            raise DialgaugeError(f"the head of {self._connection.name} is gone. {_KEPT}")
        if self._somebody_lives():
            self._heard = now
        elif now - self._heard > _NOBODY:
            raise DialgaugeError(
                f"{self._connection.name} provided no worker for {_NOBODY:.0f} seconds; check with 'ray "
                f"status' that it has a free core and that its nodes are alive. {_KEPT}"
            )

    def _somebody_lives(self) -> bool:
        """Whether a worker is ready, or at least at work on opening."""
        if any(hand.ready for hand in self._hands):
            return True
        alive = [hand.alive for hand in self._hands]
        return bool(alive and ray_module().wait(alive, num_returns=1, timeout=0)[0])


def _require_same_source(opened: Opened) -> None:
    if opened.source != own_source():
        raise DialgaugeError(
            f"the node {opened.node[:12]} of the cluster has a different dialgauge from this process, which could "
            "give different numbers; install the same version on all nodes"
        )


def _how_it_ended(error: Exception) -> str:
    line = _first_line(error)
    return f"with {type(error).__name__} ({line})" if line else f"with {type(error).__name__}"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].strip()[:200]


def _token_is_set() -> bool:
    return os.environ.get("RAY_AUTH_MODE", "").lower() == "token"
