"""Channels that alerts are sent to: added, tried, previewed and deleted."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.alert import ChannelKind
from tickwell.domain.alert.channel import Severity
from tickwell.services.access.actor import Permission
from tickwell.services.alerts.channels import NewChannel
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

PATH = "/settings/channels"
#: What each kind is, in words.
KINDS = {
    ChannelKind.WEBHOOK: "webhook: signed JSON to a URL",
    ChannelKind.SLACK: "slack: incoming webhook of Slack, Mattermost, Rocket.Chat or Discord",
    ChannelKind.TEAMS: "teams: workflow URL of a Microsoft Teams channel",
    ChannelKind.PAGERDUTY: "pagerduty: integration key for Events API v2",
    ChannelKind.EMAIL: "email: addresses, separated by commas",
}
#: Separated by commas or blanks.
Names = Annotated[str, Form(max_length=10_000)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def channels(
    request: Request, preview: str = "", visitor: Visitor = visit(Permission.READ)
) -> HTMLResponse:
    """Where alerts are sent; with `preview` what that channel would be sent."""
    return await _page(request, visitor, preview=preview)


@router.post(PATH)
async def create(
    request: Request,
    *,
    name: Annotated[str, Form(max_length=255)],
    kind: Annotated[ChannelKind, Form()],
    address: Annotated[str, Form(max_length=2048)],
    severity: Annotated[str, Form(max_length=16)] = "",
    job: Annotated[str, Form(max_length=255)] = "",
    tags: Names = "",
    queues: Names = "",
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> HTMLResponse:
    """Send alerts to a URL, by a key to PagerDuty, or by e-mail."""
    address = address.strip()
    is_url = kind not in {ChannelKind.PAGERDUTY, ChannelKind.EMAIL}
    severities: dict[str, Severity] = {"critical": "critical", "warning": "warning"}
    made = await visitor.admin.channels.create(
        visitor.actor,
        name.strip(),
        kind,
        url=address if is_url else None,
        key=address if kind is ChannelKind.PAGERDUTY else None,
        to=_several(address) if kind is ChannelKind.EMAIL else (),
        severity=severities.get(severity),
        job=job.strip() or None,
        tags=_several(tags),
        queues=_several(queues),
    )
    return await _page(request, visitor, made)


@router.post(f"{PATH}/{{name}}/test")
async def send_test(
    request: Request, name: str, visitor: Visitor = visit(Permission.OPERATE)
) -> Response:
    """Send it a test message."""
    sent = await visitor.operations.alerts.test(visitor.actor, name)
    toast = "Test message sent" if sent else "The job of this channel is deleted; add it again"
    return redirect_with_toast(request, toast, PATH)


@router.post(f"{PATH}/{{name}}/delete")
async def delete(
    request: Request, name: str, visitor: Visitor = visit(Permission.ADMINISTER)
) -> Response:
    """Send it nothing more."""
    await visitor.admin.channels.delete(visitor.actor, name)
    return redirect_with_toast(request, "Channel deleted", PATH)


def _several(text: str) -> list[str]:
    return text.replace(",", " ").split()


async def _page(
    request: Request, visitor: Visitor, made: NewChannel | None = None, *, preview: str = ""
) -> HTMLResponse:
    alerts, actor = visitor.operations.alerts, visitor.actor
    found = await alerts.channels(actor)
    jobs = [each.job for each in found if each.job is not None]
    shown = await alerts.preview(actor, preview) if preview else None
    return page(
        request,
        visitor,
        "settings/channels.html",
        channels=found,
        names=await visitor.operations.jobs.names(actor, jobs),
        kinds=KINDS,
        made=made,
        shown=shown[0] if shown else None,
        message=json.dumps(shown[1], indent=2, ensure_ascii=False) if shown else "",
    )
