"""Where tools run: standing workers, jobs, and the only code that touches a tool's function."""

from ._executor import Executor
from ._job import Job, Outcome
from ._workers import Work, Workers

__all__ = ["Executor", "Job", "Outcome", "Work", "Workers"]
