"""The ladder shows each boundary once, in order, and a character that is cut belongs to no earlier event."""

from callgate.cli._recorded import recorded
from tests.cli.talking import callgate


def test_every_boundary_is_shown_in_order() -> None:
    said = callgate("decode", "-", "--ladder", given=recorded("look", at="北京"))
    boundaries = [line.split()[0] for line in said.out.splitlines()[2:-2]]
    assert said.code == 0
    steps = ["event", "call", "event", "delta", "event", "delta", "event", "call", "turn", "event", "turn"]
    assert boundaries == ["bytes", "characters", *steps]
    assert "2 of more than one byte" in said.out
    assert said.out.count("opened: look") == said.out.count("closed: look") == 1


def test_bytes_after_the_last_event_are_shown_too() -> None:
    body = recorded("look", at="x")
    said = callgate("decode", "-", "--dialect", "openai-chat", "--ladder", given=body[:-20])
    assert "the body ends here" in said.out


def test_a_dialect_without_framing_is_one_event() -> None:
    said = callgate(
        "decode", "-", "--dialect", "json-mode", "--ladder", given=b'{"tool": "look", "arguments": {}}\n'
    )
    assert said.code == 0
    assert "opened: look" in said.out
