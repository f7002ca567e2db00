"""`tickwell alerts`: what is not well, what is watched for, and what is silenced."""

from __future__ import annotations

from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.commands.alert_channels import app as channels
from tickwell.cli.commands.alert_channels import say_sent
from tickwell.cli.options.times import Limit, Yes, read_time, say_time

app = group("alerts", "Manage alerts, their rules, silences and channels.")
app.add_typer(channels)
JobOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="This job only; its name or id.")
]
RuleId = Annotated[str, typer.Argument(metavar="ID", help="Id, as in `alerts rules`.")]


@command(app, "list")
async def list_alerts(session: Session) -> None:
    """List alerts: firing ones first, then silenced and pending ones."""
    page = await session.client.list_alerts()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (each["status"], each["name"], each["text"], say_time(each["since"]), each["rule"])
        for each in page["items"]
    ]
    headings = ("STATUS", "NAME", "WHAT", "SINCE", "RULE")
    session.screen.table(headings, rows, soft=("NAME", "WHAT"))
    if not rows:
        session.screen.say("No alerts. List the rules: tickwell alerts rules")


@command(app, "history")
async def history(session: Session, *, limit: Limit = 20) -> None:
    """List the notices of the last 30 days, newest first."""
    page = await session.client.list_alert_notices(limit=limit)
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (
            say_time(each["at"]),
            f"{each['type']}, repeated" if each["repeated"] else each["type"],
            each["words"],
            ", ".join(alert["name"] for alert in each["alerts"][:3]),
            str(len(each["alerts"]) + each["more"]),
        )
        for each in page["items"]
    ]
    headings = ("AT", "TYPE", "CONDITION", "NAMES", "ALERTS")
    session.screen.table(headings, rows, soft=("CONDITION", "NAMES"))
    if not rows:
        session.screen.say("No alert was reported in the last 30 days.")


@command(app, "rules")
async def rules(session: Session) -> None:
    """List alert rules: the built-in ones and those of the project."""
    page = await session.client.list_alert_rules()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (
            each["id"],
            each["words"],
            "project" if each["built_in"] else each["job_id"] or "all jobs",
            each["severity"],
            each["repeat"],
        )
        for each in page["items"]
    ]
    headings = ("ID", "CONDITION", "OF", "SEVERITY", "REPEATED")
    session.screen.table(headings, rows, soft=("CONDITION",))


@command(app, "add")
async def add(
    session: Session,
    *,
    condition: Annotated[
        str,
        typer.Argument(metavar="CONDITION", help="missing, late, slow, failing or skipped."),
    ],
    job: JobOption = None,
    after: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Time for missing, late and slow: 25h, 5m."),
    ] = None,
    times: Annotated[
        int | None, typer.Option(metavar="N", help="Runs in a row for failing and skipped.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="HH:MM", help="Daily deadline for missing, e.g. 06:00."),
    ] = None,
    tz: Annotated[str, typer.Option(metavar="ZONE", help="Time zone of --by.")] = "UTC",
    repeat: Annotated[
        str, typer.Option(metavar="DURATION", help="Interval between reminders.")
    ] = "4h",
) -> None:
    """Add a rule for one job or all of the project: `alerts add missing --after 25h`."""
    made = await session.client.create_alert_rule(
        condition,
        job=job,
        after=after,
        times=times,
        by=by,
        tz=tz,
        repeat=repeat,
    )
    if session.as_json:
        session.screen.json(made)
    else:
        of = "all jobs" if job is None else job
        session.screen.say(f"Added {made['id']}: {made['words']}, of {of}.")


@command(app, "rm")
async def remove(session: Session, *, id: RuleId, yes: Yes = False) -> None:
    """Delete an alert rule, and resolve its alerts."""
    session.confirm(f"Delete alert rule {id}?", yes=yes)
    await session.client.delete_alert_rule(id)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Deleted {id}.")


@command(app, "silence")
async def silence(
    session: Session,
    *,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown with the silence.")],
    until: Annotated[
        str, typer.Option("--for", metavar="TIME", help="Duration, or its end: 2h, or a time.")
    ],
    rule: Annotated[
        str | None, typer.Option(metavar="ID", help="This rule only, as in `alerts rules`.")
    ] = None,
    job: JobOption = None,
) -> None:
    """Silence the alerts of a rule, a job or the project for a while."""
    from tickwell.services.documents import instant_text

    end = read_time(until, "for", await session.now(), ahead=True)
    made = await session.client.create_silence(instant_text(end), why, rule=rule, job=job)
    if session.as_json:
        session.screen.json(made)
    else:
        session.screen.say(
            f"Silenced until {say_time(made['until'])}."
            f" End it: tickwell alerts unsilence {made['id']}"
        )


@command(app, "silences")
async def silences(session: Session) -> None:
    """List the silences that have not ended."""
    page = await session.client.list_silences()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (
            each["id"],
            each["rule"] or "all",
            each["job_id"] or "all",
            say_time(each["until"]),
            each["by"],
            each["why"],
        )
        for each in page["items"]
    ]
    session.screen.table(("ID", "RULE", "JOB", "UNTIL", "BY", "WHY"), rows, soft=("WHY",))
    if not rows:
        session.screen.say("Nothing is silenced.")


@command(app, "unsilence")
async def unsilence(
    session: Session,
    *,
    id: Annotated[str, typer.Argument(metavar="ID", help="Id, as in `alerts silences`.")],
) -> None:
    """End a silence; alerts that still fire are sent."""
    await session.client.delete_silence(id)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Ended {id}.")


@command(app, "test")
async def test(session: Session) -> None:
    """Send a test message to every channel."""
    say_sent(session, await session.client.send_test_alert())
