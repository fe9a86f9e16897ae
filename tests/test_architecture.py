"""The hard numbers and habits of the house, read from the source by `ast`.

What imports what is the business of import-linter (pyproject.toml). Here stands what it can't see: sizes,
late imports, doors, names, the mirror between `src` and `tests`, and what may stand in no tracked file.
"""

import ast
import re
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.corpus import ROOT

SRC: Final = ROOT / "src" / "callgate"
TESTS: Final = ROOT / "tests"

MODULE_LINES: Final = 500
ROOM_LINES: Final = 2500
FUNCTION_LINES: Final = 50
PARAMETERS: Final = 6
METHODS: Final = 12

# Files that are one table and may be longer than MODULE_LINES, each with its reason.
TABLES: Final[dict[str, str]] = {}

# What is imported later than at the top of a file: an optional library in the one file that owns it, or a
# room behind a door that opens late, so that `import callgate` stays light.
LATE_IMPORTS: Final[dict[str, frozenset[str]]] = {
    "__init__.py": frozenset({"callgate", "?"}),  # each name comes by __getattr__, from the room in the table
    "cli/_lint.py": frozenset({"?"}),  # the module that is to be looked at
    # Hosted models, which load the network; the embedded model, which needs an extra.
    "models/_connect.py": frozenset({"."}),
    "models/local/_llama_cpp.py": frozenset({"llama_cpp"}),  # optional, in the one file that owns it
}

# Files that may have functions of more than PARAMETERS parameters, each with its reason.
COMMANDS: Final[dict[str, str]] = {"cli/_run.py": "an option is a parameter: typer reads the signature"}

# Files of src without a test file of their own, each with its reason.
UNMIRRORED: Final[dict[str, str]] = {}

# Folders of tests that follow a subject and not a file of src.
BY_SUBJECT: Final = frozenset({"claims", "conformance", "crash", "docs", "typing"})

VAGUE_NAMES: Final = frozenset(
    f"{stem}{plural}"
    for stem in ("util", "common", "helper", "base", "manager", "misc")
    for plural in ("", "s")
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source(NamedTuple):
    """One file of the package: its path inside `src/callgate`, its text and its tree."""

    file: str
    text: str
    tree: ast.Module

    @classmethod
    def of(cls, file: str, text: str) -> "Source":
        return cls(file, text, ast.parse(text))

    @property
    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    @property
    def classes(self) -> Iterator[ast.ClassDef]:
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))


# ---------------------------------------------------------------- sizes


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_modules(source: Source) -> Iterator[str]:
    """A file that is one table may be longer."""
    lines = source.text.count("\n")
    if lines > MODULE_LINES and source.file not in TABLES:
        yield f"{source.file} has {lines} lines, at most {MODULE_LINES}: split it by subject"


def long_functions(source: Source) -> Iterator[str]:
    """A function with all that is nested in it, without its docstring."""
    for node in source.functions:
        lines = _lines(node) - (_lines(node.body[0]) if ast.get_docstring(node) is not None else 0)
        if lines > FUNCTION_LINES:
            yield f"{source.file}:{node.lineno} {node.name} has {lines} lines, at most {FUNCTION_LINES}"


def many_parameters(source: Source) -> Iterator[str]:
    """Parameters of every kind; `self` and `cls` are not counted."""
    for node in () if source.file in COMMANDS else source.functions:
        spec = node.args
        every = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))]
        count = len(every) - (bool(every) and every[0].arg in {"self", "cls"})
        if count > PARAMETERS:
            yield f"{source.file}:{node.lineno} {node.name} has {count} parameters, at most {PARAMETERS}"


def wide_classes(source: Source) -> Iterator[str]:
    """Methods by name, so that overloads count once; dunders are not counted."""
    for node in source.classes:
        names = {item.name for item in node.body if isinstance(item, Function)}
        count = sum(not re.fullmatch(r"__\w+__", name) for name in names)
        if count > METHODS:
            yield f"{source.file}:{node.lineno} {node.name} has {count} methods, at most {METHODS}"


# ---------------------------------------------------------------- imports


def _imported(node: ast.AST) -> list[str]:
    """First part of each name that a node imports: `.` for a sibling, `?` for a name computed at run time."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." if node.level else (node.module or "").partition(".")[0]]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
        match node.args:
            case [ast.Constant(value=str(name)), *_]:
                return [name.partition(".")[0] or "."]
        return ["?"]
    return []


def _only_for_type_checkers(tree: ast.Module) -> list[ast.AST]:
    guards = (n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test))
    return [child for guard in guards for child in ast.walk(guard)]


def late_imports(source: Source) -> Iterator[str]:
    """An import in a function, a condition or a `try`: what a file needs stands at its top."""
    allowed = LATE_IMPORTS.get(source.file, frozenset())
    early = {*source.tree.body, *_only_for_type_checkers(source.tree)}
    for node in ast.walk(source.tree):
        for name in _imported(node) if node not in early else ():
            if name not in allowed:
                yield f"{source.file}:{node.lineno} imports {name!r} late"  # type: ignore[attr-defined] # all have it


def hidden_imports(source: Source) -> Iterator[str]:
    """An import of our own rooms that only a type checker sees means that the floor is wrong."""
    for node in _only_for_type_checkers(source.tree):
        if {"callgate", "."}.intersection(_imported(node)):
            yield f"{source.file}: {ast.unparse(node)!r} stands under TYPE_CHECKING"


def imports_of_own_door(source: Source) -> Iterator[str]:
    """Inside a room a file imports its sibling, not the room."""
    own = ["callgate", *source.file.split("/")[:1]]
    # A folder inside a room names a file of the room in full: ruff allows no `from .._file`.
    is_inner = source.file.count("/") > 1
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        steps = (node.module or "").split(".")
        if steps[:2] == own and not (is_inner and len(steps) > 2):
            yield f"{source.file}:{node.lineno} imports its own room: write `from ._file import`"


# ---------------------------------------------------------------- doors, names, silenced findings


def doors_with_logic(source: Source) -> Iterator[str]:
    """A room's `__init__.py` imports and names, nothing else; the front door may open late."""
    if Path(source.file).name != "__init__.py":
        return
    if not re.search(r"^__all__\b", source.text, re.MULTILINE):
        yield f"{source.file} has no __all__"
    for node in source.tree.body:
        is_late = isinstance(node, Function) and source.file == "__init__.py" and node.name.startswith("__")
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (
            is_late or is_text or isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)
        ):
            yield f"{source.file}:{node.lineno} a door has no logic: move it to a file of the room"


def vague_names(source: Source) -> Iterator[str]:
    """Files and folders say what they hold."""
    for part in Path(source.file).with_suffix("").parts:
        if part.strip("_") in VAGUE_NAMES:
            yield f"{source.file}: {part!r} names nothing: say what is in it"


def silenced_without_reason(source: Source) -> Iterator[str]:
    """A finding of ruff is silenced by its code, with a reason."""
    for number, line in enumerate(source.text.splitlines(), 1):
        if re.search(r"#.*noqa", line) and not re.search(r"noqa: [A-Z]+\d+(, ?[A-Z]+\d+)* - \w", line):
            yield f"{source.file}:{number} write `# noqa: CODE - reason`"


Rule = Callable[[Source], Iterator[str]]

RULES: Final[tuple[Rule, ...]] = (
    long_modules,
    long_functions,
    many_parameters,
    wide_classes,
    late_imports,
    hidden_imports,
    imports_of_own_door,
    doors_with_logic,
    vague_names,
    silenced_without_reason,
)


@cache
def package() -> tuple[Source, ...]:
    """Read every file of the package, once."""
    files = sorted(SRC.rglob("*.py"))
    return tuple(
        Source.of(path.relative_to(SRC).as_posix(), path.read_text(encoding="utf-8")) for path in files
    )


def nothing(faults: Iterable[str]) -> None:
    """Fail with all faults, one a line."""
    found = list(faults)
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    nothing(fault for source in package() for fault in rule(source))


PLANTED: Final[tuple[tuple[Rule, str, str], ...]] = (
    (long_modules, "wire/_x.py", "\n" * 501),
    (long_functions, "wire/_x.py", "def f():\n    '''Doc.'''\n" + "    x = 1\n" * 50),
    (many_parameters, "wire/_x.py", "def f(a, b, /, c, *d, e, f, **g): ..."),
    (many_parameters, "wire/_x.py", "class C:\n    def f(self, a, b, c, d, e, f, g): ..."),
    (wide_classes, "wire/_x.py", "class C:\n" + "".join(f"    def m{i}(self): ...\n" for i in range(13))),
    (late_imports, "wire/_x.py", "def f():\n    import json"),
    (late_imports, "wire/_x.py", "try:\n    import numpy\nexcept ImportError:\n    pass"),
    (late_imports, "wire/_x.py", "def f(name):\n    importlib.import_module(name)"),
    (late_imports, "wire/__init__.py", "def f():\n    from callgate.calls import Turn"),
    (hidden_imports, "wire/_x.py", "if TYPE_CHECKING:\n    from callgate.calls import Turn"),
    (hidden_imports, "wire/_x.py", "if typing.TYPE_CHECKING:\n    from ._sse import Event"),
    (imports_of_own_door, "wire/_x.py", "from callgate.wire import Decoder"),
    (doors_with_logic, "wire/__init__.py", "__all__ = []\ndef f(): ..."),
    (doors_with_logic, "wire/__init__.py", "from ._sse import Event"),
    (vague_names, "wire/_utils.py", ""),
    (vague_names, "common/_x.py", ""),
    (silenced_without_reason, "wire/_x.py", "x = 1  # noqa"),
    (silenced_without_reason, "wire/_x.py", "x = 1  # noqa: E501"),
)


@pytest.mark.parametrize(("rule", "file", "text"), PLANTED)
def test_a_planted_fault_is_found(rule: Rule, file: str, text: str) -> None:
    assert list(rule(Source.of(file, text)))


BLAMELESS: Final[tuple[tuple[str, str], ...]] = (
    ("wire/_x.py", "def f():\n    '''" + "Doc.\n" * 60 + "'''\n" + "    x = 1\n" * 49),
    ("wire/_x.py", "class C:\n    def f(self, a, b, c, d, e, f): ..."),
    ("wire/_x.py", "class C:\n" + "    def m(self): ...\n" * 13),
    ("wire/_x.py", "if TYPE_CHECKING:\n    from numpy.typing import NDArray"),
    ("wire/_x.py", "from callgate.calls import Turn\nfrom ._sse import Event"),
    ("__init__.py", "__all__ = []\ndef __getattr__(name):\n    from callgate.agent import Agent"),
    ("wire/_x.py", "x = 1  # noqa: S101, E501 - a reason"),
)


@pytest.mark.parametrize(("file", "text"), BLAMELESS)
def test_nothing_is_found_where_no_fault_is(file: str, text: str) -> None:
    assert [fault for rule in RULES for fault in rule(Source.of(file, text))] == []


# ---------------------------------------------------------------- rules over all files


def test_a_room_has_at_most_2500_lines() -> None:
    """A folder inside a room has a door of its own (wire/dialects, models/local), and counts for itself."""
    lines: Counter[str] = Counter()
    for source in package():
        lines[source.file.rpartition("/")[0]] += source.text.count("\n")
    nothing(f"{room} has {count} lines" for room, count in lines.items() if count > ROOM_LINES)


def deep_classes(bases: dict[str, list[str]]) -> list[str]:
    """Name each class whose base among ours has a base among ours; a tree of exceptions may be deeper."""

    def is_exception(name: str) -> bool:
        return name.endswith("Exception") or any(map(is_exception, bases.get(name, ())))

    return [
        f"{name} < {base} < {above}"
        for name in bases
        if not is_exception(name)
        for base in bases[name]
        for above in bases.get(base, ())
        if above in bases
    ]


def test_classes_inherit_one_step_deep() -> None:
    bases = {
        node.name: [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
        for source in package()
        for node in source.classes
    }
    nothing(deep_classes(bases))


def test_inheritance_two_steps_deep_is_found_but_for_exceptions() -> None:
    assert deep_classes({"A": ["Protocol"], "B": ["A"], "C": ["B"]}) == ["C < B < A"]
    assert deep_classes({"A": ["Exception"], "B": ["A"], "C": ["B", "ValueError"]}) == []


def _mirror(file: str) -> str:
    path = Path(file)
    return (path.parent / f"test_{path.name.lstrip('_')}").as_posix()


def _doors(file: str) -> bool:
    return Path(file).name in {"__init__.py", "__main__.py"}


def test_every_file_has_its_test() -> None:
    files = [source.file for source in package() if not _doors(source.file) and source.file not in UNMIRRORED]
    nothing(f"{file} lacks tests/{_mirror(file)}" for file in files if not (TESTS / _mirror(file)).exists())


def test_every_test_has_its_file() -> None:
    known = {_mirror(source.file) for source in package()}
    tests = [path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")]
    # Tests of the house itself stand at the top of tests/.
    mirrored = [test.as_posix() for test in tests if len(test.parts) > 1 and test.parts[0] not in BY_SUBJECT]
    nothing(f"tests/{test} follows no file of src" for test in mirrored if test not in known)


def test_no_exception_to_a_rule_outlives_its_file() -> None:
    named = {*TABLES, *LATE_IMPORTS, *COMMANDS, *UNMIRRORED}
    nothing(f"{file} is gone" for file in sorted(named) if not (SRC / file).exists())


def test_every_rule_that_ruff_ignores_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    codes = re.findall(r'^ +"[A-Z]+\d*",.*$', text, re.MULTILINE)
    assert len(codes) > 10
    nothing(line for line in codes if not re.search(r"# \S", line))


def test_every_dependency_has_its_reason_and_its_pin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    reasons = (ROOT / "docs/explanation/dependencies.md").read_text(encoding="utf-8")
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    users = [
        *project["dependencies"],
        *(line for extra in extras.keys() - {"dev", "bench"} for line in extras[extra]),
    ]
    # llama-cpp-python is compiled where it is installed: no target of the Makefile installs it.
    pinned = {*users, *extras["dev"], *extras["bench"]} - set(extras["llama"])

    def name(requirement: str) -> str:
        return re.split(r"[\[<>=~! ]", requirement, maxsplit=1)[0]

    nothing(
        f"{name(line)} has no line in docs/explanation/dependencies.md"
        for line in users
        if name(line) not in reasons
    )
    nothing(
        f"{name(line)} has no pin"
        for line in pinned
        if not re.search(rf"^{name(line)}==", pins, re.MULTILINE)
    )


# Joined here, so that this file does not hold what it looks for.
FOREIGN_WORDS: Final = tuple(
    "".join(parts)
    for parts in (
        ("/wo", "rk/"),
        ("/tmp/", "brief"),
        ("/root/.", "pyenv"),
        ("/opt/", "pypi"),
        ("pypi.", "org"),
        ("python", "hosted"),
        ("npmjs", ".org"),
        ("npmjs", ".com"),
        ("debian", ".org"),
    )
)


def test_no_tracked_file_names_a_machine_or_a_registry() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        [git, "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    files = [ROOT / name for name in listed.decode().split("\0") if name]
    assert files
    nothing(
        f"{path.relative_to(ROOT)} holds {word!r}"
        for path in files
        if path.is_file()
        for word in FOREIGN_WORDS
        if word.encode() in path.read_bytes()
    )
