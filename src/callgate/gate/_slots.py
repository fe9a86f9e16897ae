"""How many calls run at once, over all runs; and whose turn it is when there are more."""

from __future__ import annotations

from collections.abc import Sized
from typing import Protocol


class Hungry(Protocol):
    """Who starts calls: a session. ``is_nested``: its caller holds a slot already and waits for it."""

    is_nested: bool

    def kick(self) -> None:
        """There may be room."""
        ...


class Slots:
    """A bound on the calls that run, shared fairly: who waited for room longest is asked first.

    Whoever was asked passes on what it leaves, so that room and who wants it never wait for each other.
    """

    def __init__(self, limit: int, running: Sized) -> None:
        self._limit = limit
        self._running = running
        self._reserved = 0
        self._waiting: dict[Hungry, None] = {}
        self._asked: set[Hungry] = set()

    def reserve(self, who: Hungry, wanted: int) -> int:
        """How many calls may start now; who wanted more is kicked when its turn comes."""
        if who.is_nested:
            granted = wanted
        elif self._waiting and who not in self._asked:
            granted = 0
        else:
            granted = max(0, min(wanted, self._room()))
        self._asked.discard(who)
        if granted < wanted:
            self._waiting[who] = None
        self._reserved += granted
        return granted

    def unreserve(self, count: int) -> None:
        """The reserved calls run by now, or never will."""
        self._reserved -= count

    def leave(self, who: Hungry) -> None:
        """It can start nothing any more."""
        self._waiting.pop(who, None)

    def passed(self, who: Hungry) -> None:
        """It has started what it could."""
        self._asked.discard(who)
        self.feed()

    def feed(self) -> None:
        """There may be room: the one that has wanted to start a call for longest may."""
        if self._waiting and self._room() > 0:
            who = next(iter(self._waiting))
            del self._waiting[who]
            self._asked.add(who)
            who.kick()

    def _room(self) -> int:
        return self._limit - len(self._running) - self._reserved
