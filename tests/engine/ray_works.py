"""Work that goes wrong on some nodes only; and the command line that does it, for drivers that are killed."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import time
from pathlib import Path

from dialgauge.engine import Unit, WorkPlace, run
from dialgauge.errors import DialgaugeError
from engine.works import Folder, Orders, units_of, wait_until_begun


class NodeOrders(Orders):
    """Orders that look at the node they are done on (its name is in NODE, its disk in DISK)."""

    def do(self, state: str, unit: Unit[str]) -> bytes:
        content = super().do(state, unit)
        order, _, value = unit.payload.partition(" ")
        if order in ("slow", "write", "report"):  # not before both nodes are at work
            wait_until_begun(self.folder, 2)
        if order == "slow" and os.environ.get("NODE") == "poor":
            time.sleep(float(value))
        elif order == "write":
            _write(Path(os.environ["DISK"]), unit.key, int(value))
        elif order == "report":
            try:
                _write(Path(os.environ["DISK"]), unit.key, int(value))
            except OSError as error:
                raise DialgaugeError("the part cannot be written") from error
        elif order == "segfault":
            ctypes.string_at(0)
        elif order == "hog":
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))
            content += bytes(64 << 30)
        return content


def _write(disk: Path, name: str, size: int) -> None:
    if disk.is_char_device():
        disk.write_bytes(bytes(size))
        return
    scratch = disk / name
    try:
        scratch.write_bytes(bytes(size))
    finally:
        scratch.unlink(missing_ok=True)


def main(address: str, out: str, *payloads: str) -> None:
    """Do the units on a cluster, ``here`` on one of its own, or ``alone``; each is stored, and all are in ``out``."""
    place = {"here": WorkPlace("ray", 2), "alone": WorkPlace("local")}.get(address, WorkPlace("ray", 2, address))
    done = list(run(NodeOrders(Path.cwd()), units_of(*payloads), workers=place, done=Folder(Path("stored"))))
    if any(one.failure for one in done):
        sys.exit("; ".join(one.failure or "" for one in done))
    Path(out).write_bytes(b"\n".join(one.content or b"" for one in done))


if __name__ == "__main__":
    from engine.ray_works import main as command  # workers find the work under this name, not in __main__

    try:
        command(*sys.argv[1:])
    except DialgaugeError as error:  # as the command line does; Ray itself ends a process with 1
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
