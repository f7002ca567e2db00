"""`tickwell --help` against 30 empty Typer commands, other commands against a single one."""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.figure import Figure
from bench.options import Options

STUB = """
import typer

app = typer.Typer()


def do(name: str, count: int = typer.Option(3, help="How many."), json: bool = False) -> None:
    "Do it."


for number in range(5):
    group = typer.Typer(name=f"group{number}", help="Commands.")
    for each in range(6):
        group.command(f"command{each}")(do)
    app.add_typer(group)
app()
"""
EMPTY = """
import typer

app = typer.Typer()


@app.command()
def do(): ...


app()
"""
ROUNDS = 5
BAR = 3.0
#: Of a command against an empty one.
COMMAND_BAR = 1.5


def measure(options: Options) -> list[Figure]:
    """CPU of the whole process: what else the machine does must not count."""
    with tempfile.TemporaryDirectory(prefix="tickwell-start-") as folder:
        store = f"sqlite:///{Path(folder) / 'x.db'}"
        _cpu(["-m", "tickwell", "store", "migrate", "--store", store])
        return [
            _figure(options, "--help", ["--help"], "30 empty commands", [STUB, "--help"], BAR),
            _figure(options, "--version", ["--version"], "an empty one", [EMPTY], COMMAND_BAR),
            _figure(
                options,
                "jobs list",
                ["jobs", "list", "--store", store],
                "an empty one",
                [EMPTY],
                COMMAND_BAR,
            ),
        ]


def _figure(  # noqa: PLR0917 - one row of the table, as it is read
    options: Options,
    name: str,
    command: list[str],
    against: str,
    stub: list[str],
    bar: float,
) -> Figure:
    pairs = [
        (_cpu(["-m", "tickwell", *command]), _cpu(["-c", *stub]))
        for _ in range(ROUNDS * options.repeat)
    ]
    ours, theirs = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    return Figure(
        name=f"start: tickwell {name}",
        ours=f"{ours * 1000:.0f} ms",
        against=f"{against} {theirs * 1000:.0f} ms",
        ratios=[ours / theirs for ours, theirs in pairs],
        bar=bar,
        smaller_is_better=True,
    )


def _cpu(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
