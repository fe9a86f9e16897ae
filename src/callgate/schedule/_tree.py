"""Which earlier calls a new one must wait for, found in a tree of the resources they touch.

In: calls with their accesses, in call order. Out: edges. Promise: two calls are ordered, directly or through
others, exactly when one writes a resource that equals, contains or lies in a resource of the other; there are
never more edges than a constant for each access.

A resource is its path of names: ``file:/src/a.py`` lies in ``file:/src``, ``file:/`` and ``*``. Only the
newest access on a path is linked to, since it already waits for the older ones. Where n reads of a folder
meet m writes inside it, pairs would be n × m edges; a *junction*, a vertex that is no call, stands between
them and makes it n + m.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from callgate.calls import Access, CallKey, Mode

EVERYTHING: Final = "*"
WRITE: Final = Mode.WRITE
DEPTH: Final = 64
"""Names that are told apart in one resource. A deeper one counts as all that lies in its 64th folder."""

_NOBODY: Final = CallKey()


class Vertex(msgspec.Struct, gc=False, eq=False):
    """A call, or a junction.

    ``waits`` counts what must end before it may start; ``after`` is what waits for it. Edges lead from older
    to newer vertices only, so there is no cycle and nothing for the garbage collector to find.
    """

    order: int
    key: CallKey = _NOBODY
    accesses: tuple[Access, ...] = ()
    is_write: bool = False
    is_serial: bool = False
    is_held: bool = False
    waits: int = 0
    is_over: bool = False
    is_junction: bool = False
    after: list[Vertex] = []


class Place(msgspec.Struct, gc=False, eq=False):
    """A resource: its newest write, the reads since, the places inside, and which of those were written.

    ``written`` are the places inside that were written after what ``writes`` stands for, a junction.
    """

    write: Vertex | None = None
    reads: list[Vertex] = []
    inside: dict[str, Place] = {}
    written: list[Place] = []
    writes: Vertex | None = None


class Tree:
    """The accesses of all calls that are not over. While nothing was written, reads are only listed."""

    __slots__ = ("_has_write", "_reads", "_root")

    def __init__(self) -> None:
        self._root = Place()
        self._reads: list[Vertex] = []
        self._has_write = False

    def clear(self) -> None:
        """Forget all of them."""
        self._reads.clear()
        if self._has_write:
            self._root, self._has_write = Place(), False

    def enter(self, vertex: Vertex) -> None:
        """Make a new call wait for what it conflicts with, and let those to come find it."""
        if not vertex.is_write and not self._has_write:
            self._reads.append(vertex)
            return
        self._begin()
        ways = [(self._way(access.resource), access.mode is WRITE) for access in vertex.accesses]
        found: list[Vertex] = []
        for places, is_write in ways:
            found.extend(_writers_of(places) if is_write else _readers_of(places))
        for before in dict.fromkeys(found) if len(found) > 1 else found:
            link(before, vertex)
        # After all are looked up: a call does not wait for itself.
        for places, is_write in ways:
            _record(places, vertex, is_write=is_write)

    def put(self, vertex: Vertex) -> None:
        """Let those to come find a call whose edges are known already."""
        self._begin()
        for access in vertex.accesses:
            _record(self._way(access.resource), vertex, is_write=access.mode is WRITE)

    def _begin(self) -> None:
        if not self._has_write:
            self._has_write = True
            for reader in self._reads:
                if not reader.is_over:
                    self.put(reader)
            self._reads.clear()

    def _way(self, resource: str) -> list[Place]:
        """The places from everything down to a resource, made where they are not there yet."""
        place = self._root
        places = [place]
        for name in _names(resource):
            inner = place.inside.get(name)
            if inner is None:
                inner = place.inside[name] = Place()
            places.append(inner)
            place = inner
        return places


def conflicts(one: Iterable[Access], other: Iterable[Access]) -> bool:
    """Whether two calls must not run together.

    They conflict when one writes what equals, contains or lies in what the other touches.
    """
    theirs = [(_names(access.resource), access.mode is WRITE) for access in other]
    for access in one:
        mine, is_write = _names(access.resource), access.mode is WRITE
        for their_names, their_write in theirs:
            shared = min(len(mine), len(their_names))
            if (is_write or their_write) and mine[:shared] == their_names[:shared]:
                return True
    return False


def link(before: Vertex, vertex: Vertex) -> None:
    """Make one wait for the other."""
    before.after.append(vertex)
    vertex.waits += 1


def _names(resource: str) -> list[str]:
    return [] if resource == EVERYTHING else resource.rstrip("/").split("/", DEPTH)[:DEPTH]


def _readers_of(places: list[Place]) -> list[Vertex]:
    """What a read at the end of a way waits for: the writes inside, else the newest write around."""
    place = places[-1]
    if place.written or place.writes is not None:
        found = _writes_inside(place)
        if found:
            return found
    newest = _newest_write(places)
    return [] if newest is None else [newest]


def _writers_of(places: list[Place]) -> list[Vertex]:
    """What a write at the end of a way waits for: all inside, reads around, else the newest write around."""
    place = places[-1]
    found, since = _all_inside(place)
    newest = _newest_write(places)
    if newest is not None and newest.order > since:
        since = newest.order
    for outer in places[:-1]:
        if outer.reads:
            outer.reads = _joined(outer.reads)
            # The newest write inside or around waits for the older ones.
            found.extend(reads for reads in outer.reads if reads.order > since)
    if not found and newest is not None:
        found.append(newest)
    return found


def _is_live(vertex: Vertex | None) -> bool:
    return vertex is not None and not vertex.is_over


def _newest_write(places: list[Place]) -> Vertex | None:
    # A write further down is newer than one above it, which would have cleared it away.
    for place in reversed(places):
        write = place.write
        if write is not None and not write.is_over:
            return write
    return None


def _record(places: list[Place], vertex: Vertex, *, is_write: bool) -> None:
    """Put an access where later ones find it.

    A write takes the place of all that it covers, since it waits for all of that.
    """
    place = places[-1]
    if not is_write:
        place.reads.append(vertex)
        return
    for inner in place.inside.values():
        _clear(inner)
    place.write = vertex
    place.reads, place.inside, place.written, place.writes = [], {}, [], None
    for outer in places[:-1]:
        outer.written.append(place)


def _clear(place: Place) -> None:
    # Places around it still list it as written; there it must no longer be found.
    place.write = None
    for inner in place.inside.values():
        _clear(inner)


def _all_inside(place: Place) -> tuple[list[Vertex], int]:
    """What was added at and inside a place and nothing newer there waits for, but for the place's own write.

    Beside it the order of the newest write inside.
    """
    found: list[Vertex] = []
    newest = 0
    for inner in place.inside.values():
        within, written = _all_inside(inner)
        write = inner.write
        if write is not None and not write.is_over:
            written = max(written, write.order)
            if not within:
                within.append(write)
        found += within
        newest = max(newest, written)
    found += [reads for reads in place.reads if reads.order > newest and not reads.is_over]
    return found, newest


def _writes_inside(place: Place) -> list[Vertex]:
    """The writes inside a place, as at most one vertex; a junction is remembered for the next read."""
    written = [inner for inner in dict.fromkeys(place.written) if _is_live(inner.write)]
    newer = [inner.write for inner in written if inner.write is not None]
    one = _joined(list(dict.fromkeys([*newer, place.writes] if place.writes is not None else newer)))
    # A lone call is looked for anew by the next read, since a later write in its place would stand for it.
    is_call = bool(newer) and one == newer
    place.written = written if is_call else []
    place.writes = None if is_call or not one else one[0]
    return one


def _joined(vertices: list[Vertex]) -> list[Vertex]:
    """Those that are not over, as at most one vertex."""
    live = [vertex for vertex in vertices if not vertex.is_over]
    if len(live) < 2:
        return live
    junction = Vertex(max(vertex.order for vertex in live), is_junction=True)
    for vertex in live:
        link(vertex, junction)
    return [junction]
