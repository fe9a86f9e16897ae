"""When each call of a run may start.

In: calls with what they touch, in call order; and that a call ended, was approved or was given up. Out: which
calls may start now, and which never will and why. Promise: no two conflicting calls run together; conflicting
calls run in call order; nothing waits for what is over; the same words in the same order give the same
answers, so that recovery repeats them.

No clock, no tasks, no randomness: the gate runs the calls and tells.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

import msgspec

from callgate.calls import Access, CallKey
from callgate.errors import ConfigurationError, LocalProtocolError

from ._tree import WRITE, Tree, Vertex

PREDECESSOR_FAILED: Final = "PREDECESSOR_FAILED"
EARLIER_STOPPED: Final = "EARLIER_STOPPED"


class Skipped(msgspec.Struct, frozen=True, gc=False, order=True):
    """A call that will not run, ``because`` another failed. ``held``: it still waited for a person."""

    key: CallKey
    code: str
    because: CallKey
    held: bool = False


class Released(msgspec.Struct, frozen=True, gc=False):
    """What the end of a call brought about; both in call order."""

    ready: list[CallKey]
    skipped: list[Skipped]


class Schedule:
    """The calls of one run that are not over.

    A call that fails, whose outcome is unknown, or that is given up before it starts takes with it all that
    wait for it, since they conflict with it. A serial call waits for every earlier serial call; when one that
    started does not succeed, the later ones of its turn are skipped too. ``writes="serial"`` puts every write
    into that one row, in call order.
    """

    __slots__ = ("_count", "_is_stale", "_open", "_row", "_rows_writes", "_tree")

    def __init__(self, writes: str = "by-resource") -> None:
        if writes not in {"by-resource", "serial"}:
            message = "writes are scheduled by-resource or serial"
            raise ConfigurationError(message, writes=writes)
        self._rows_writes = writes == "serial"
        self._open: dict[CallKey, Vertex] = {}
        self._row: deque[Vertex] = deque()
        self._tree = Tree()
        self._count = 0
        self._is_stale = False

    def __len__(self) -> int:
        """How many calls are not over: running, waiting or held."""
        return len(self._open)

    def __contains__(self, key: object) -> bool:
        """Whether the call is not over."""
        return key in self._open

    def add(
        self,
        key: CallKey,
        accesses: tuple[Access, ...],
        *,
        serial: bool = False,
        held: bool = False,
    ) -> list[CallKey]:
        """Add a call after all earlier ones; itself when it may start now.

        A turn is added whole before one of its calls ends.

        Raises:
            LocalProtocolError: The key is scheduled already.
        """
        vertex = self._add(key, accesses, serial, held)
        return [] if vertex.waits else [key]

    def add_all(self, calls: Iterable[tuple[CallKey, tuple[Access, ...], bool, bool]]) -> list[CallKey]:
        """Add calls in call order; those that may start now. Raises as ``add`` does."""
        add = self._add
        return [key for key, accesses, serial, held in calls if not add(key, accesses, serial, held).waits]

    def release(self, key: CallKey) -> list[CallKey]:
        """A held call was approved: itself when it may start now.

        Raises:
            LocalProtocolError: The call is not held.
        """
        vertex = self._open.get(key)
        if vertex is None or not vertex.is_held:
            message = "the call is not held"
            raise LocalProtocolError(message, key=str(key))
        vertex.is_held = False
        vertex.waits -= 1
        return [] if vertex.waits else [key]

    def done(self, key: CallKey, ok: bool, stop: bool = False) -> Released:  # noqa: FBT001, FBT002 - reads as it is said
        """A call that had started is over. ``ok``: it succeeded.

        ``stop``: skip the later serial calls of its turn too, as a serial call that fails does by itself.

        Raises:
            LocalProtocolError: The call is not there, or could not have started.
        """
        vertex = self._open.get(key)
        if vertex is None or vertex.waits:
            message = "the call is not scheduled" if vertex is None else "the call could not have started"
            raise LocalProtocolError(message, key=str(key))
        del self._open[key]
        vertex.is_over = True
        if not vertex.after and not self._row:
            return Released([], [])
        ready: list[Vertex] = []
        skipped: list[tuple[int, Skipped]] = []
        if stop or (vertex.is_serial and not ok):
            self._stop(vertex, skipped)
        if ok:
            _free(vertex, ready)
        else:
            self._skip_after(vertex, key, skipped)
        return self._told(ready, skipped)

    def withdraw(self, key: CallKey) -> Released:
        """A call that has not started never will: it was denied, refused or cancelled.

        What waits for it is skipped.

        Raises:
            LocalProtocolError: The call is not there.
        """
        vertex = self._open.pop(key, None)
        if vertex is None:
            message = "the call is not scheduled"
            raise LocalProtocolError(message, key=str(key))
        vertex.is_over = True
        self._is_stale = True
        skipped: list[tuple[int, Skipped]] = []
        self._skip_after(vertex, key, skipped)
        return self._told([], skipped)

    def _add(self, key: CallKey, accesses: tuple[Access, ...], serial: bool, held: bool) -> Vertex:  # noqa: FBT001 - private
        scheduled = self._open
        if key in scheduled:
            message = "the call is scheduled already"
            raise LocalProtocolError(message, key=str(key))
        if not scheduled:
            self._tree.clear()
        elif self._is_stale:
            self._refresh()
        is_write = False
        for access in accesses:
            if access.mode is WRITE:
                is_write = True
                break
        self._count += 1
        vertex = scheduled[key] = Vertex(self._count, key, accesses, is_write, serial, held, int(held))
        self._tree.enter(vertex)
        if serial or (is_write and self._rows_writes):
            vertex.waits += bool(self._row)
            self._row.append(vertex)
        return vertex

    def _refresh(self) -> None:
        """A call given up while it waited no longer stands between those before it and those to come."""
        self._is_stale = False
        self._tree.clear()
        for vertex in self._open.values():
            self._tree.put(vertex)

    def _stop(self, vertex: Vertex, skipped: list[tuple[int, Skipped]]) -> None:
        cause, turn = vertex.key, vertex.key[:3]
        later = [
            other
            for other in self._row
            if other.is_serial and not other.is_over and other.order > vertex.order and other.key[:3] == turn
        ]
        for other in later:
            self._give_up(other, EARLIER_STOPPED, cause, skipped)
        for other in later:
            self._skip_after(other, cause, skipped)

    def _give_up(self, vertex: Vertex, code: str, cause: CallKey, skipped: list[tuple[int, Skipped]]) -> None:
        del self._open[vertex.key]
        vertex.is_over = True
        self._is_stale = True
        skipped.append((vertex.order, Skipped(vertex.key, code, cause, vertex.is_held)))

    def _skip_after(self, vertex: Vertex, cause: CallKey, skipped: list[tuple[int, Skipped]]) -> None:
        """Give up what waits for a call that will not succeed, and what waits for that."""
        spreading = [vertex]
        while spreading:
            lost = spreading.pop()
            after, lost.after = lost.after, []
            for other in after:
                other.waits -= 1
                if other.is_junction:
                    # It still stands for its other calls; what comes to it later has not seen this one.
                    other.is_over = not other.waits
                elif other.is_over:
                    continue
                else:
                    self._give_up(other, PREDECESSOR_FAILED, cause, skipped)
                spreading.append(other)

    def _told(self, ready: list[Vertex], skipped: list[tuple[int, Skipped]]) -> Released:
        row = self._row
        if row and row[0].is_over:
            while row and row[0].is_over:
                row.popleft()
            if row:
                row[0].waits -= 1
                if not row[0].waits:
                    ready.append(row[0])
        return Released(
            [vertex.key for vertex in sorted(ready, key=_order)],
            [one for _, one in sorted(skipped)],
        )


def _free(vertex: Vertex, ready: list[Vertex]) -> None:
    """Tell what waits for a vertex that it is over; a junction that nothing holds up any more is over too."""
    freeing = [vertex]
    while freeing:
        for other in freeing.pop().after:
            other.waits -= 1
            if other.waits or other.is_over:
                continue
            if other.is_junction:
                other.is_over = True
                freeing.append(other)
            else:
                ready.append(other)


def _order(vertex: Vertex) -> int:
    return vertex.order
