"""`tickwell --help` against an empty Typer application of 30 commands."""

import resource
import subprocess
import sys

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
ROUNDS = 5
BAR = 3.0


def measure(options: Options) -> list[Figure]:
    """CPU of the whole process: what else the machine does must not count."""
    pairs = [
        (_cpu(["-m", "tickwell", "--help"]), _cpu(["-c", STUB, "--help"]))
        for _ in range(ROUNDS * options.repeat)
    ]
    ours, theirs = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    return [
        Figure(
            name="start: tickwell --help",
            ours=f"{ours * 1000:.0f} ms",
            against=f"30 empty commands {theirs * 1000:.0f} ms",
            ratios=[ours / theirs for ours, theirs in pairs],
            bar=BAR,
            smaller_is_better=True,
        )
    ]


def _cpu(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
