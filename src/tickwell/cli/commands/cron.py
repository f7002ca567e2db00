"""`tickwell cron explain`: what an expression means, before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tickwell.cli.command import Json, group
from tickwell.cli.options.times import read_time
from tickwell.cli.output.screen import Screen

if TYPE_CHECKING:
    from tickwell import Trigger
    from tickwell.domain.cron.dialect import Dialect

#: How a phrase begins, and no cron expression.
_PHRASES = ("every ", "on ", "daily", "weekly", "monthly", "yearly")
app = group("cron", "Explain cron expressions.")


@app.callback()
def cron() -> None:
    """Explain cron expressions."""


@app.command()
def explain(
    *,
    expression: Annotated[
        str,
        typer.Argument(metavar="EXPR", help="Quoted expression, or 'every weekday at 9 in Rome'."),
    ],
    tz: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="Time zone, e.g. Europe/Rome.", show_default="UTC"),
    ] = None,
    dialect: Annotated[
        str, typer.Option(metavar="NAME", help="Dialect of EXPR: cron, quartz, aws or celery.")
    ] = "cron",
    count: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="Number of fire times.")
    ] = 5,
    since: Annotated[str, typer.Option(metavar="TIME", help="Fire times after this.")] = "now",
    as_json: Json = False,
) -> None:
    """Explain an expression in words, with its next fire times and pitfalls."""
    from itertools import islice

    from tickwell import Cron, when
    from tickwell.cli.output.views import show_fires
    from tickwell.clock import NEVER, wall_millis
    from tickwell.domain.trigger import trigger_to_document
    from tickwell.services.documents import instant_text

    screen, now = Screen(), wall_millis()
    document: dict[str, Any] = {}
    trigger: Trigger
    if expression.lower().lstrip().startswith(_PHRASES):
        trigger = when(expression, tz=tz)
        document |= {"when": expression, "trigger": trigger_to_document(trigger)}
    else:
        trigger = cron = Cron(expression, tz or "UTC", dialect=cast("Dialect", dialect))
        document |= {"cron": cron.expr, "tz": cron.tz}
    zone = next((each.tz for each in trigger.single() if isinstance(each, Cron)), "UTC")
    after = read_time(since, "since", now, tz=zone)
    fires = [instant_text(fire) for fire in islice(trigger.between(after, NEVER), count)]
    words = trigger.explain()
    warnings = [each for one in trigger.single() for each in one.warnings(after)]
    if as_json:
        document |= {"words": words, "warnings": warnings}
        if dialect != "cron":
            document["dialect"] = dialect
        screen.json({**document, "next": fires})
        return
    screen.data(f"{words[:1].upper()}{words[1:]}.")
    if screen.is_terminal:
        screen.data("")
    show_fires(screen, fires, zone, now)
    for warning in warnings:
        screen.say(f"Note: {warning}.")
