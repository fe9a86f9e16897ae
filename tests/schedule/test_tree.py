"""The tree of resources: who waits for whom, and that the edges stay few."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import Access, CallKey, Mode
from callgate.schedule import conflicts
from callgate.schedule._tree import DEPTH, Tree, Vertex
from tests.schedule.model import clash

READ, WRITE = Mode.READ, Mode.WRITE
RESOURCES = [
    "*",
    "file:/",
    "file:/a",
    "file:/a/",
    "file:/ab",
    "file:/a/x",
    "file:/a/x/y",
    "net:host",
    "net:h",
]

accesses = st.builds(Access, st.sampled_from(RESOURCES), st.sampled_from(Mode))


def entered(calls: Sequence[tuple[Access, ...]]) -> list[Vertex]:
    tree = Tree()
    vertices = []
    for order, touched in enumerate(calls, 1):
        is_write = any(access.mode is WRITE for access in touched)
        vertex = Vertex(order, CallKey("r", 0, 0, order), touched, is_write)
        tree.enter(vertex)
        vertices.append(vertex)
    return vertices


def edges(vertices: Sequence[Vertex]) -> int:
    """Count the edges, those to and from junctions too."""
    seen: set[int] = set()
    count, left = 0, list(vertices)
    while left:
        vertex = left.pop()
        if id(vertex) not in seen:
            seen.add(id(vertex))
            count += len(vertex.after)
            left.extend(vertex.after)
    return count


def followers(vertex: Vertex) -> list[Vertex]:
    """The calls that wait for a vertex, seen through junctions."""
    return [call for after in vertex.after for call in (followers(after) if after.is_junction else [after])]


def ordered_rightly(calls: Sequence[tuple[Access, ...]]) -> None:
    """Each edge joins two calls that conflict, and each pair that conflicts is joined by edges."""
    vertices = entered(calls)
    reached: dict[int, set[int]] = {}
    for vertex in reversed(vertices):
        direct = followers(vertex)
        assert all(clash(vertex.accesses, after.accesses) for after in direct)
        reached[vertex.order] = {after.order for after in direct}.union(
            *(reached[after.order] for after in direct)
        )
    for one in vertices:
        for other in vertices[one.order :]:
            if clash(one.accesses, other.accesses):
                assert other.order in reached[one.order]


@given(st.lists(st.lists(accesses, max_size=3).map(tuple), max_size=14))
def test_calls_that_conflict_are_ordered_and_no_others(calls: list[tuple[Access, ...]]) -> None:
    ordered_rightly(calls)


def test_every_row_of_four_accesses_to_a_folder_and_its_files_is_ordered_rightly() -> None:
    every = [(Access(name, mode),) for name in ("*", "file:/a", "file:/a/x", "file:/a/y") for mode in Mode]
    for calls in product(every, repeat=4):
        ordered_rightly(calls)


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        ([(WRITE, "f:/a/x"), (WRITE, "f:/a"), (READ, "*")], 2),
        ([(WRITE, "f:/a/x"), (READ, "f:/a/x"), (WRITE, "*")], 2),
        ([(WRITE, "*"), (READ, "f:/a"), (WRITE, "f:/a")], 2),
        ([(READ, "*"), (WRITE, "f:/a/x"), (WRITE, "f:/a"), (WRITE, "f:/a/x")], 3),
        ([(WRITE, "f:/a"), (READ, "f:/a/x"), (READ, "f:/a/y"), (READ, "*")], 3),
    ],
)
def test_what_others_imply_needs_no_edge(calls: list[tuple[Mode, str]], count: int) -> None:
    assert edges(entered([(Access(resource, mode),) for mode, resource in calls])) == count


@given(st.lists(st.lists(accesses, max_size=3).map(tuple), max_size=40))
def test_edges_are_linear_in_the_accesses(calls: list[tuple[Access, ...]]) -> None:
    depth = 4
    assert edges(entered(calls)) <= 3 * (depth + 1) * sum(map(len, calls))


@pytest.mark.parametrize("size", [50, 200])
@pytest.mark.parametrize(
    ("first", "second"),
    [((READ, "*"), (WRITE, "file:/a/{}")), ((WRITE, "file:/a/{}"), (READ, "file:/a"))],
    ids=["reads of all, then writes", "writes, then reads of the folder"],
)
def test_two_crowds_that_all_conflict_need_no_edge_for_each_pair(
    size: int, first: tuple[Mode, str], second: tuple[Mode, str]
) -> None:
    crowd = [(Access(name.format(at), mode),) for mode, name in (first, second) for at in range(size)]
    vertices = entered(crowd)
    assert edges(vertices) <= 3 * size
    assert len(followers(vertices[0])) == size


@pytest.mark.parametrize("mode", [READ, WRITE])
def test_a_chain_of_writes_needs_one_edge_a_link(mode: Mode) -> None:
    vertices = entered([(Access("file:/a/x", WRITE),)] * 40 + [(Access("file:/a", mode),)])
    assert edges(vertices) == 40


def test_calls_that_share_nothing_have_no_edges() -> None:
    assert edges(entered([(Access(f"file:/a/{at}", WRITE),) for at in range(50)])) == 0
    assert edges(entered([(Access.everything(READ),)] * 50)) == 0


@given(st.lists(accesses, max_size=3).map(tuple), st.lists(accesses, max_size=3).map(tuple))
def test_conflict_is_what_the_texts_of_the_resources_say(
    one: tuple[Access, ...], other: tuple[Access, ...]
) -> None:
    assert conflicts(one, other) == conflicts(other, one) == clash(one, other)


def test_a_resource_too_deep_to_tell_apart_counts_as_the_folder_above() -> None:
    deep = "file:" + "/a" * 3000
    vertices = entered([(Access(deep + "/x", WRITE),), (Access(deep + "/y", WRITE),), (Access("*", READ),)])
    assert edges(vertices) == 2
    shallow = "file:" + "/a" * (DEPTH - 2)
    assert not conflicts((Access(shallow + "/x", WRITE),), (Access(shallow + "/y", WRITE),))
