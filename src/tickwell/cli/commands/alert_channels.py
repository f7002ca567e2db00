"""`tickwell alerts channels`: where alerts are sent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.config.allowing import AllowLocal, naming_the_option
from tickwell.cli.options.times import Yes

if TYPE_CHECKING:
    from tickwell.client.results import AlertsTested

app = group("channels", "Manage where alerts are sent: webhooks, Slack, Teams, PagerDuty, e-mail.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name, as in `alerts channels list`.")]


@command(app, "list")
async def list_channels(session: Session) -> None:
    """List channels, without their secrets."""
    page = await session.client.list_channels()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (
            each["name"],
            each["kind"],
            each["to"],
            each["severity"] or "all",
            each["job_id"] or "all",
            ", ".join(each["tags"]) or "all",
            ", ".join(each["queues"]) or "all",
        )
        for each in page["items"]
    ]
    headings = ("NAME", "KIND", "TO", "SEVERITY", "JOB", "TAGS", "QUEUES")
    session.screen.table(headings, rows, soft=("TO", "TAGS", "QUEUES"))
    if not rows:
        session.screen.say("No channels. Add one: tickwell alerts channels add ops --kind slack")


@command(app, "add")
async def add(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name, e.g. ops or on-call.")],
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="webhook, slack, teams, pagerduty or email.")
    ] = "webhook",
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="URL that receives alerts; asked for if left out."),
    ] = None,
    to: Annotated[
        list[str] | None, typer.Option(metavar="ADDRESS", help="E-mail address; may be repeated.")
    ] = None,
    severity: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Only this severity: critical or warning.")
    ] = None,
    job: Annotated[
        str | None, typer.Option(metavar="NAME", help="This job only; its name or id.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only jobs with this tag; may be repeated.")
    ] = None,
    queue: Annotated[
        list[str] | None, typer.Option(help="Only jobs in this queue; may be repeated.")
    ] = None,
    allow_local: AllowLocal = False,
) -> None:
    """Add a channel; keys and secret URLs are read from standard input."""
    if allow_local:
        session.connection.allow_local()
    key = None
    if kind == "pagerduty":
        key = _asked("Integration key")
    elif url is None and kind != "email":
        url = _asked("URL")
    with naming_the_option():
        made = await session.client.create_channel(
            name, kind, url=url, key=key, to=to, severity=severity, job=job, tags=tag, queues=queue
        )
    if session.as_json:
        session.screen.json(made)
        return
    added = f"Added {made['name']}: {made['kind']}, {made['to']}."
    if made["signing_key"] is None:
        session.screen.say(f"{added} Try it: tickwell alerts channels test {made['name']}")
    else:
        session.screen.say(f"{added} The key that signs it is shown only once:")
        session.screen.data(made["signing_key"])


@command(app, "test")
async def test(session: Session, *, name: Name) -> None:
    """Send a test message to one channel."""
    say_sent(session, await session.client.send_channel_test(name))


@command(app, "preview")
async def preview(session: Session, *, name: Name) -> None:
    """Print the message that a channel would get for an example alert."""
    shown = await session.client.preview_channel(name)
    session.screen.json(shown if session.as_json else shown["message"])


@command(app, "rm")
async def remove(session: Session, *, name: Name, yes: Yes = False) -> None:
    """Delete a channel; its pending messages are dropped."""
    session.confirm(f"Delete channel {name}? Its pending messages are dropped.", yes=yes)
    await session.client.delete_channel(name)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Deleted {name}.")


def say_sent(session: Session, done: AlertsTested) -> None:
    """Which executions send the test messages."""
    if session.as_json:
        session.screen.json(done)
    elif done["executions"]:
        session.screen.say("Sent. See whether it arrived: tickwell executions show ID")
        for id in done["executions"]:
            session.screen.data(id)
    else:
        session.screen.say("No channels. Add one: tickwell alerts channels add ops --kind slack")


def _asked(what: str) -> str:
    """Not an option: others would see it in the list of processes."""
    if sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=True, err=True))
    return sys.stdin.read().strip()
