"""Which earlier calls a new one must wait for, found in a tree of the resources they touch.

In: calls with their accesses, in call order. Out: edges. Promise: two calls are ordered, directly or through
others, exactly when a write of one is on a resource that equals, contains or lies in a resource of the other;
the number of edges is linear in the number of accesses.

A resource is its path of names: ``file:/src/a.py`` lies in ``file:/src``, ``file:/`` and ``*``. Only the
newest access on each path is linked to, since it already waits for the older ones. Where n reads of a folder
meet m writes inside it, pairs would be n × m edges; a *junction*, a vertex that is no call, stands between
them and makes it n + m.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callgate.calls import Access, CallKey, Mode

EVERYTHING = "*"


class Vertex(msgspec.Struct, gc=False, eq=False):
    """A call, or a junction (``key`` is None).

    ``waits`` counts what must end before it may start; ``after`` is what waits for it.
    Edges lead from older to newer vertices only, so there is no cycle and nothing for the garbage collector
    to find.
    """

    order: int
    key: CallKey | None = None
    accesses: tuple[Access, ...] = ()
    is_serial: bool = False
    is_held: bool = False
    waits: int = 0
    is_over: bool = False
    after: list[Vertex] = []


class Place(msgspec.Struct, gc=False, eq=False):
    """A resource: its newest write, the reads since, the places inside, and which of those were written.

    ``written`` holds the places inside that were written since ``writes``, the junction over the older of
    those writes.
    """

    write: Vertex | None = None
    reads: list[Vertex] = []
    inside: dict[str, Place] = {}
    written: list[Place] = []
    writes: Vertex | None = None


def path(resource: str) -> tuple[str, ...]:
    """The names that lead to a resource; none for everything."""
    return () if resource == EVERYTHING else tuple(resource.rstrip("/").split("/"))


def conflicts(one: Iterable[Access], other: Iterable[Access]) -> bool:
    """Whether two calls must not run together.

    They conflict when one writes what equals, contains or lies in what the other touches.
    """
    theirs = [(path(access.resource), access.mode is Mode.WRITE) for access in other]
    for access in one:
        mine, is_write = path(access.resource), access.mode is Mode.WRITE
        for their_path, their_write in theirs:
            shared = min(len(mine), len(their_path))
            if (is_write or their_write) and mine[:shared] == their_path[:shared]:
                return True
    return False


def predecessors(root: Place, access: Access) -> list[Vertex]:
    """What a new access must wait for: vertices that are not over, none implied by another on its path."""
    is_write = access.mode is Mode.WRITE
    place, newest, above = root, _live(root.write), []
    for name in path(access.resource):
        if is_write and place.reads:
            above.append(place)
        below = place.inside.get(name)
        if below is None:
            found: list[Vertex] = []
            break
        place = below
        # A write below is newer than one above, which would have cleared it away.
        newest = _live(place.write) or newest
    else:
        found = _inside(place) if is_write else _writes_inside(place)
    since = newest.order if newest is not None else -1
    for outer in above:
        found.extend(reads for reads in _joined(outer.reads) if reads.order > since)
    if not found and newest is not None:
        found.append(newest)
    return found


def record(root: Place, vertex: Vertex, access: Access) -> None:
    """Put an access where later ones find it.

    A write takes the place of all it covers, since it waits for all of that.
    """
    names = path(access.resource)
    place = root
    if access.mode is Mode.READ:
        for name in names:
            place = place.inside.get(name) or place.inside.setdefault(name, Place())
        place.reads.append(vertex)
        return
    outer = []
    for name in names:
        outer.append(place)
        place = place.inside.get(name) or place.inside.setdefault(name, Place())
    for inner in place.inside.values():
        _clear(inner)
    place.write, place.reads, place.inside, place.written, place.writes = vertex, [], {}, [], None
    for folder in outer:
        folder.written.append(place)


def link(before: Vertex, vertex: Vertex) -> None:
    """Make one wait for the other."""
    before.after.append(vertex)
    vertex.waits += 1


def _live(vertex: Vertex | None) -> Vertex | None:
    return None if vertex is None or vertex.is_over else vertex


def _clear(place: Place) -> None:
    # Places outside still list it as written; there it must no longer be found.
    place.write = None
    for inner in place.inside.values():
        _clear(inner)


def _inside(place: Place) -> list[Vertex]:
    """Everything at a place and inside it that no newer access there already waits for."""
    found = [vertex for inner in place.inside.values() for vertex in _inside(inner)]
    found.extend(vertex for vertex in place.reads if not vertex.is_over)
    if not found and (write := _live(place.write)) is not None:
        found.append(write)
    return found


def _writes_inside(place: Place) -> list[Vertex]:
    """The writes inside a place, as at most one vertex; a junction is remembered for the next read."""
    written = [inner for inner in dict.fromkeys(place.written) if _live(inner.write) is not None]
    found = [inner.write for inner in written if inner.write is not None]
    if (older := _live(place.writes)) is not None:
        found.append(older)
    joined = _joined(list(dict.fromkeys(found)))
    is_one_call = len(written) == len(found) == 1
    place.written = written if is_one_call else []
    place.writes = None if is_one_call or not joined else joined[0]
    return joined


def _joined(vertices: list[Vertex]) -> list[Vertex]:
    """Those that are not over, as at most one vertex: the list itself is changed to that."""
    vertices[:] = [vertex for vertex in vertices if not vertex.is_over]
    if len(vertices) > 1:
        junction = Vertex(max(vertex.order for vertex in vertices))
        for vertex in vertices:
            link(vertex, junction)
        vertices[:] = [junction]
    return list(vertices)
