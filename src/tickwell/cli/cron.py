"""`tickwell cron explain`: what an expression means, before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from tickwell.cli.command import Json, group
from tickwell.cli.screen import Screen
from tickwell.cli.times import read_time

if TYPE_CHECKING:
    from tickwell.domain.cron.dialect import Dialect

app = group("cron", "Understand cron expressions.")


@app.callback()
def cron() -> None:
    """Understand cron expressions."""


@app.command()
def explain(
    *,
    expression: Annotated[str, typer.Argument(metavar="EXPR", help="In quotes.")],
    tz: Annotated[str, typer.Option(metavar="ZONE", help="As Europe/Rome.")] = "UTC",
    dialect: Annotated[
        str, typer.Option(metavar="NAME", help="Of EXPR: cron, quartz, aws or celery.")
    ] = "cron",
    count: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="How many fire times.")
    ] = 5,
    since: Annotated[str, typer.Option(metavar="TIME", help="Fire times after this.")] = "now",
    as_json: Json = False,
) -> None:
    """Say an expression in words, with its next fire times and its traps."""
    from itertools import islice

    from tickwell import Cron
    from tickwell.cli.fires import show_fires
    from tickwell.clock import NEVER, wall_millis
    from tickwell.services.documents import instant_text

    screen, now = Screen(), wall_millis()
    trigger = Cron(expression, tz, dialect=cast("Dialect", dialect))
    after = read_time(since, "since", now, tz=tz)
    fires = [instant_text(fire) for fire in islice(trigger.between(after, NEVER), count)]
    words, warnings = trigger.explain(), trigger.warnings(after)
    if as_json:
        document = {"cron": trigger.expr, "tz": tz, "words": words, "warnings": warnings}
        if dialect != "cron":
            document["dialect"] = dialect
        screen.json({**document, "next": fires})
        return
    screen.data(f"{words[:1].upper()}{words[1:]}.")
    if screen.is_terminal:
        screen.data("")
    show_fires(screen, fires, tz, now)
    for warning in warnings:
        screen.say(f"Note: {warning}.")
