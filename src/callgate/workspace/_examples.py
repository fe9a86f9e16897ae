"""Requests in plain words and the calls that answer them, for each tool.

A small model copies what it is shown: every value stands in its request, and a parameter that the request
does not speak of is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

EXAMPLES: Final[Mapping[str, list[tuple[str, Mapping[str, Any]]]]] = {
    "read_file": [
        ("Show lines 3 to 7 of report.txt", {"path": "report.txt", "start_line": 3, "end_line": 7}),
        ("What does src/main.py say?", {"path": "src/main.py"}),
        ("Open letter.txt at line 30", {"path": "letter.txt", "start_line": 30}),
        ("Let me see data/prices.csv", {"path": "data/prices.csv"}),
        (
            "Read the first 5 lines of docs/guide.md",
            {"path": "docs/guide.md", "start_line": 1, "end_line": 5},
        ),
        ("Show me the first 20 lines of names.txt", {"path": "names.txt", "start_line": 1, "end_line": 20}),
    ],
    "list_files": [
        ("List the files in photos", {"path": "photos"}),
        ("What files are there?", {}),
        ("Which files are in the folder docs/images?", {"path": "docs/images"}),
        ("Show everything in the directory reports", {"path": "reports"}),
        ("Which files do we have?", {}),
    ],
    "search_text": [
        ("Search for error in logs", {"query": "error", "path": "logs"}),
        ("Where is the word parse_date used?", {"query": "parse_date"}),
        ("Look for Anna in the docs folder", {"query": "Anna", "path": "docs"}),
        ("Search for NOTE in the project", {"query": "NOTE"}),
        ("Find HTTP in tests", {"query": "HTTP", "path": "tests"}),
        ("Find all places where open is called", {"query": "open"}),
    ],
    "write_file": [
        ("Create report.txt with the text all is well", {"path": "report.txt", "content": "all is well"}),
        ("Write print(1) to src/main.py", {"path": "src/main.py", "content": "print(1)"}),
        (
            "Make a new file docs/guide.md that says Read me first",
            {"path": "docs/guide.md", "content": "Read me first"},
        ),
        ("Save the words call Anna in names.txt", {"path": "names.txt", "content": "call Anna"}),
        ("Create list.txt containing bread and butter", {"path": "list.txt", "content": "bread and butter"}),
    ],
    "replace_in_file": [
        ("In report.txt replace red with blue", {"path": "report.txt", "old": "red", "new": "blue"}),
        ("Change x=1 to x=2 in src/main.py", {"path": "src/main.py", "old": "x=1", "new": "x=2"}),
        (
            "Replace the word Hello by Goodbye in docs/guide.md",
            {"path": "docs/guide.md", "old": "Hello", "new": "Goodbye"},
        ),
        ("Correct teh to the in letter.txt", {"path": "letter.txt", "old": "teh", "new": "the"}),
        (
            "In server.conf replace port=21 with port=22",
            {"path": "server.conf", "old": "port=21", "new": "port=22"},
        ),
    ],
    "delete_file": [
        ("Delete report.txt", {"path": "report.txt"}),
        ("Remove the file src/main.py", {"path": "src/main.py"}),
        ("I no longer need docs/guide.md", {"path": "docs/guide.md"}),
        ("Get rid of names.zip, please", {"path": "names.zip"}),
        ("Delete data.csv", {"path": "data.csv"}),
        ("Delete the file build/app.log", {"path": "build/app.log"}),
    ],
}
