"""Words that speak of a path, a command or an address."""

import time

import pytest

from callgate.tools._followed import Risk, by_words, is_narrow


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("path", "path"),
        ("filePath", "path"),
        ("file_name", "path"),
        ("output_dir", "path"),
        ("paths", "path"),
        ("include_globs", "free_text"),
        ("file_globs", "path"),
        ("sort_dir", "free_text"),
        ("file_content", "free_text"),
        ("file_id", "free_text"),
        ("profile", "free_text"),
        ("command", "command"),
        ("initScript", "command"),
        ("sql", "command"),
        ("script_id", "free_text"),
        ("url", "url"),
        ("baseURL", "url"),
        ("image_urls", "url"),
        ("link_type", "free_text"),
        ("city", "free_text"),
        ("args", "free_text"),
    ],
)
def test_a_name_says_its_class(name: str, kind: Risk) -> None:
    assert by_words(name, "") == kind


@pytest.mark.parametrize(
    ("name", "description", "kind"),
    [
        ("output", "The file path to save the recording to.", "path"),
        ("target", "Absolute path of the folder", "path"),
        ("saveTo", "Path to write the logs to", "path"),
        ("code", "JavaScript code to execute in the page", "command"),
        ("input", "Shell command run in the container", "command"),
        ("server", "Filter clusters by server URL.", "url"),
        ("target", "'https://…' or 'mailto:…'", "url"),
        ("page_id", "Page ID, or the full page URL", "free_text"),
        ("project_id", "ID or URL-encoded path of the project", "free_text"),
        ("folder", "The ID of the folder", "free_text"),
        ("path", "JSON path of the field", "free_text"),
        ("paths", "Regex patterns to select URLs", "free_text"),
        ("icon", "See [icons](https://example.com/icons) for what is allowed", "free_text"),
        ("city", "Name of the city", "free_text"),
    ],
)
def test_a_description_is_heard_where_the_name_is_silent(name: str, description: str, kind: Risk) -> None:
    assert by_words(name, description) == kind


def test_a_description_takes_no_longer_to_hear_than_its_beginning() -> None:
    for text in ("[", "`", "[a](", "["):
        start = time.process_time()
        assert by_words("note", text * 200_000) == "free_text"
        assert time.process_time() - start < 1


def test_only_the_beginning_of_a_description_is_heard() -> None:
    assert by_words("note", "Any words. " * 30 + "The file path to save to.") == "free_text"
    assert by_words("note", "Any words.\nThe file path to save to.") == "free_text"


@pytest.mark.parametrize(
    ("pattern", "kind", "narrow"),
    [
        ("^[0-9]{4}$", "path", True),
        ("^[a-z/.]+$", "path", False),
        ("^[A-Z]{2}-[0-9]+$", "url", True),
        ("^https://", "url", False),
        ("^[0-9a-f]{40}$", "command", True),
        ("(?<name>x)", "path", False),
    ],
)
def test_a_pattern_may_let_nothing_of_the_kind_through(pattern: str, kind: Risk, narrow: bool) -> None:
    assert is_narrow(pattern, kind) is narrow
