"""The recorded turn is a real stream, cut as a hosted model cuts."""

import callgate as cg
from callgate.cli._recorded import DIALECT, recorded


def test_it_decodes_to_the_call_it_was_made_of() -> None:
    decoder = cg.Decoder(DIALECT)
    body = recorded("write_file", path="a.txt", content="né\n")
    for place in range(0, len(body), 5):
        decoder.feed(body[place : place + 5])
    turn = decoder.close()
    assert turn.executable
    assert turn.calls[0].arguments == {"path": "a.txt", "content": "né\n"}
