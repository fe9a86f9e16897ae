"""A world in memory: files by name, links by name, versions by resource."""

import io
from dataclasses import dataclass, field
from typing import BinaryIO

from callgate.calls import Finding, Mode
from callgate.tools import Located


@dataclass
class Shelf:
    """Implements what a tool's paths are located and opened by."""

    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, Mode]] = field(default_factory=list)

    def locate(self, text: str, mode: Mode) -> Located | Finding:
        self.asked.append((text, mode))
        relative = self.links.get(text, text).removeprefix("./")
        if relative.startswith(".."):
            return Finding("OUTSIDE_WORKSPACE")
        there = relative in self.files
        return Located(text, relative, f"file:/{relative}", there, self.version(relative) if there else None)

    def open_read(self, relative: str) -> BinaryIO:
        return io.BytesIO(self.files[relative])

    def write_bytes(self, relative: str, data: bytes, expected_version: str | None = None) -> str:
        self.files[relative] = data
        return str(len(data))

    def delete(self, relative: str, expected_version: str | None = None) -> None:
        del self.files[relative]

    def names(self, relative: str) -> list[str]:
        return sorted(self.files)

    def kind(self, relative: str) -> str:
        return "file" if relative in self.files else ""

    def version(self, relative: str) -> str | None:
        if relative in self.versions:
            return self.versions[relative]
        return str(len(self.files[relative])) if relative in self.files else None
