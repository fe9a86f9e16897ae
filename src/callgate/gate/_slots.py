"""How many calls run at once, over all runs; and whose turn it is when there are more."""

from __future__ import annotations

from collections import deque
from collections.abc import Sized
from typing import Protocol


class Hungry(Protocol):
    """Who starts calls: a session. ``is_nested``: its caller holds a slot already and waits for it."""

    is_nested: bool

    def kick(self) -> None:
        """There may be room."""
        ...


class Slots:
    """A bound on the calls that run, shared fairly: who waited for room longest is asked first."""

    def __init__(self, limit: int, running: Sized) -> None:
        self._limit = limit
        self._running = running
        self._reserved = 0
        self._waiting: deque[Hungry] = deque()
        self._favoured: Hungry | None = None

    def reserve(self, who: Hungry, wanted: int) -> int:
        """How many calls may start now; who wanted more is kicked when its turn comes."""
        taken = len(self._running) + self._reserved
        if who.is_nested:
            granted = wanted
        elif self._waiting and who is not self._favoured and taken:
            granted = 0
        else:
            granted = max(0, min(wanted, self._limit - taken))
        if granted < wanted and who not in self._waiting:
            self._waiting.append(who)
        self._reserved += granted
        return granted

    def unreserve(self, count: int) -> None:
        """The reserved calls run by now, or never will."""
        self._reserved -= count

    def feed(self) -> None:
        """A call ended: the one that has wanted to start one for longest may."""
        if self._waiting:
            self._favoured = self._waiting.popleft()
            self._favoured.kick()
