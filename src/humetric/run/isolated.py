"""Methods that are not built in, each in a process of its own, with limits on time and memory.

Whatever such a method does (raise, hang, exit, take all memory, print without end, change the model
or the random state), it does to its own process. What comes back is a map or an error.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

import cloudpickle
import torch
from torch import nn

from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.methods.explanation import Explanation, from_plain
from humetric.results.store import Store
from humetric.run.work import Item
from humetric.tasks.setting import PlacedSetting, Setting

START = 120.0
"""Seconds that a process may take until it is ready: it imports torch first."""
POLL = 0.02


@dataclass(frozen=True)
class Limits:
    """What a method that is not built in may take."""

    seconds: float = 60.0
    """Per case."""
    gigabytes: float = 4.0
    """Of memory, beyond what its process takes before it explains anything."""


class IsolatedError(HumetricError):
    """A method's process came to an end that it did not choose, or chose and should not have."""


@dataclass
class Workers:
    """A process for each method and set of cases, started when first needed, ended with the run."""

    limits: Limits | None
    seed: int = 0
    store: Store | None = None
    calls: int = 0
    last_calls: int = 0
    last_asked: int = 0
    _running: dict[tuple[str, str, tuple[str, ...]], Worker] = field(default_factory=dict)
    _given_up: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._running.values():
            worker.kill()

    def take(self, method: Method) -> bool:
        """Whether a method should explain in its own process."""
        return self.limits is not None and bool(method.card.source)

    def explain(
        self,
        method: Method,
        placed: PlacedSetting,
        item: Item,
        batch: int,
        other: Setting | None = None,
    ) -> Explanation | Exception:
        """A method's maps of an item's cases; an error if it fails or goes beyond its limits.

        ``other`` are cases in the place of the setting's, changed ones say; it goes to the process
        that explains the setting's own.
        """
        assert self.limits is not None
        name, self.last_calls, self.last_asked = method.card.id, 0, 0
        if name in self._given_up:
            return IsolatedError(f"Not tried again after this: {self._given_up[name]}")
        key = (name, item.setting, placed.setting.ids)  # reference cases may be others
        try:
            if key not in self._running:
                self._running[key] = Worker(method, placed, self.seed, self.store, self.limits)
            found = self._running[key].explain(item, batch, other)
            outcome, self.last_calls, self.last_asked = found
        except IsolatedError as error:
            self._running.pop(key).kill() if key in self._running else None
            self._given_up[name] = str(error)
            return error
        self.calls += self.last_calls
        return outcome


class Worker:
    """A process that explains cases of one setting by one method."""

    def __init__(
        self,
        method: Method,
        placed: PlacedSetting,
        seed: int,
        store: Store | None,
        limits: Limits,
    ) -> None:
        self.name, self.limits, self.tail = method.card.id, limits, b""
        placement = placed.placement
        self.device = placement.device
        job = {
            "method": method,
            "setting": placed.setting,
            "device": str(placement.device),
            "precision": placement.precision,
            "seed": seed,
            "folder": None if store is None else str(store.folder),
        }
        ours, theirs = socket.socketpair()
        with _pickled(job, self.name) as path, theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "humetric.run.worker", str(theirs.fileno()), str(path)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that what it starts ends with it
            )
            theirs.close()
            assert self.process.stdout is not None
            threading.Thread(target=self._drain, args=(self.process.stdout,), daemon=True).start()
            self.link = Connection(ours.detach())
            try:
                ready = self._wait(START, START, 1)
            except IsolatedError:
                self.kill()
                raise
        if isinstance(ready, str):
            self.kill()
            raise IsolatedError(f"{self.name} could not be loaded in its own process: {ready}")
        self.memory = _resident(self.process.pid)

    def explain(
        self, item: Item, batch: int, other: Setting | None = None
    ) -> tuple[Explanation | Exception, int, int]:
        """Maps of an item's cases, the model calls they took, and the questions asked."""
        cases = item.stop - item.start
        # Pickled here: a connection would send tensors as files that only kindred processes open.
        sent = None if other is None else pickle.dumps(bare(other))
        self.link.send((item.start, item.stop, batch, sent))
        outcome, calls, asked = self._wait(self.limits.seconds * cases, self.limits.seconds, cases)
        if isinstance(outcome, str):
            return HumetricError(outcome), calls, asked
        attribution, more = outcome
        return from_plain(torch.from_numpy(attribution).to(self.device), more), calls, asked

    def kill(self) -> None:
        """End the process and everything it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _wait(self, seconds: float, per_case: float, cases: int) -> Any:
        """What the process sends, if it does so within its limits."""
        deadline = time.monotonic() + seconds
        while not self.link.poll(POLL):
            if time.monotonic() > deadline:
                raise IsolatedError(
                    f"Expected maps of {cases} cases from {self.name} within {per_case:g} s per "
                    f"case but none came: make it faster, or allow more with --case-seconds."
                )
            grown = _resident(self.process.pid) - getattr(self, "memory", 1 << 62)
            if grown > self.limits.gigabytes * 2**30:
                raise IsolatedError(
                    f"Expected {self.name} to take at most {self.limits.gigabytes:g} GiB of memory "
                    f"but it took {grown / 2**30:.1f}: work on fewer inputs at once, or allow more "
                    f"with --memory."
                )
            if self.process.poll() is not None and not self.link.poll():
                raise self._ended()
        try:
            return self.link.recv()
        except (EOFError, OSError):
            self.process.wait()
            raise self._ended() from None

    def _ended(self) -> IsolatedError:
        code = self.process.returncode
        how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        time.sleep(POLL)  # for the last output
        lines = self.tail.decode(errors="replace").strip().splitlines()
        last = f" Its last output: {lines[-1][:200]!r}." if lines else ""
        return IsolatedError(
            f"Expected maps from {self.name} but its process ended with {how}: return a map or "
            f"raise an exception, and do not exit.{last}"
        )

    def _drain(self, output: IO[bytes]) -> None:
        """Read what the process prints, so that it is never held up, and keep the end of it."""
        while block := output.read1(1 << 16):  # type: ignore[attr-defined]
            self.tail = (self.tail + block)[-4096:]


def bare(setting: Setting) -> Setting:
    """Cases without what a process has of their setting already, so that little is sent."""
    return replace(
        setting,
        model=replace(setting.model, module=nn.Identity()),
        panel=None,
        reference=None,
        rivals={},
        unlabelled=None,
        neighbours=None,
        prototypes=None,
        encoder=None,
    )


def clothed(other: Setting, own: Setting) -> Setting:
    """Cases that were sent, with the rest from their setting."""
    return replace(
        other,
        model=own.model,
        unlabelled=own.unlabelled,
        neighbours=own.neighbours,
        prototypes=own.prototypes,
        encoder=own.encoder,
    )


@contextlib.contextmanager
def _pickled(job: dict[str, Any], name: str) -> Iterator[Path]:
    """A job in a temporary file. Functions of a notebook or script are pickled by value."""
    with tempfile.TemporaryDirectory(prefix="humetric-") as folder:
        path = Path(folder) / "job"
        try:
            module = sys.modules.get(job["method"].explain.__module__)
            if module is not None and getattr(module, "__humetric_file__", False):
                cloudpickle.register_pickle_by_value(module)
            path.write_bytes(cloudpickle.dumps(job))
        except Exception as error:
            raise IsolatedError(
                f"{name} cannot be handed to its own process ({type(error).__name__}: {error}): "
                f"keep open files, locks and generators out of what it refers to."
            ) from None
        yield path


def _resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
