"""The name that this command line was called by, for the commands that it suggests.

In Django it is `manage.py tickwell`.
"""

from contextvars import ContextVar

PROGRAM_NAME: ContextVar[str] = ContextVar("program_name", default="tickwell")
