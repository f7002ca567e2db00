"""Alerts: what is not well, what is watched for, what is silenced, and what was reported."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.alert import Condition
from tickwell.domain.alert.rule import OF_JOBS, REPEAT
from tickwell.domain.trigger.duration import parse_duration
from tickwell.services.access.actor import Permission
from tickwell.services.time import After
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

router = APIRouter(include_in_schema=False)
PATH = "/alerts"
#: Notices that the page shows.
_NOTICES = 50
#: What the form offers, with what each needs besides.
WORDS = {
    Condition.MISSING: "no success for a time (25h), or by a time of day (06:00)",
    Condition.LATE: "not started after a time (5m)",
    Condition.SLOW: "runs longer than a time (10m)",
    Condition.FAILING: "died a number of times in a row (3)",
    Condition.SKIPPED: "skipped a number of times in a row (3)",
}
_BY_COUNT = frozenset({Condition.FAILING, Condition.SKIPPED})


@router.get(PATH)
async def alerts(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """What fires first; then rules, silences and history."""
    found, actor = visitor.operations.alerts, visitor.actor
    active = await found.list(actor)
    rules = await found.rules(actor)
    silences = await found.silences(actor)
    jobs = [each.job for each in rules] + [each.job for each in silences]
    return page(
        request,
        visitor,
        "alerts.html",
        active=active,
        rules=rules,
        words={rule.id: rule.words for rule in rules},
        silences=silences,
        notices=await found.history(actor, _NOTICES),
        names=await visitor.operations.jobs.names(actor, [each for each in jobs if each]),
        conditions={each: WORDS[each] for each in Condition if each in OF_JOBS},
    )


@router.post(f"{PATH}/rules")
async def create_rule(
    request: Request,
    *,
    condition: Annotated[Condition, Form()],
    limit: Annotated[str, Form(max_length=64)],
    job: Annotated[str, Form(max_length=255)] = "",
    tz: Annotated[str, Form(max_length=255)] = "UTC",
    repeat: Annotated[str, Form(max_length=64)] = "",
    visitor: Visitor = visit(Permission.EDIT),
) -> Response:
    """Watch a job, or all jobs; the limit is a duration, a time of day or a count."""
    limit = limit.strip()
    is_count, is_daytime = condition in _BY_COUNT and limit.isdecimal(), ":" in limit
    made = await visitor.operations.alerts.create_rule(
        visitor.actor,
        condition,
        job=job.strip() or None,
        after=None if is_count or is_daytime else parse_duration(limit, field="limit"),
        times=int(limit) if is_count else None,
        by=limit if is_daytime else None,
        tz=tz.strip() or "UTC",
        repeat=parse_duration(repeat, field="repeat") if repeat.strip() else REPEAT,
    )
    return redirect_with_toast(request, f"Added: {made.words}", PATH)


@router.post(f"{PATH}/rules/{{id}}/delete")
async def delete_rule(
    request: Request, id: str, visitor: Visitor = visit(Permission.EDIT)
) -> Response:
    """Watch for it no more."""
    await visitor.operations.alerts.delete_rule(visitor.actor, id)
    return redirect_with_toast(request, "Alert rule deleted", PATH)


@router.post(f"{PATH}/silences")
async def create_silence(
    request: Request,
    *,
    length: Annotated[str, Form(max_length=64)],
    why: Annotated[str, Form(min_length=1, max_length=500)],
    rule: Annotated[str, Form(max_length=255)] = "",
    job: Annotated[str, Form(max_length=255)] = "",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Report nothing for a while."""
    await visitor.operations.alerts.silence(
        visitor.actor,
        After(parse_duration(length.strip(), field="length")),
        why=why,
        rule=rule or None,
        job=job.strip() or None,
    )
    return redirect_with_toast(request, "Silenced", PATH)


@router.post(f"{PATH}/silences/{{id}}/delete")
async def end_silence(
    request: Request, id: str, visitor: Visitor = visit(Permission.OPERATE)
) -> Response:
    """Report again."""
    await visitor.operations.alerts.end_silence(visitor.actor, id)
    return redirect_with_toast(request, "Silence ended", PATH)


@router.post(f"{PATH}/test")
async def send_test(request: Request, visitor: Visitor = visit(Permission.OPERATE)) -> Response:
    """Send a test message to every channel."""
    sent = await visitor.operations.alerts.test(visitor.actor)
    toast = f"Test messages sent: {len(sent)}" if sent else "No channels"
    return redirect_with_toast(request, toast, PATH)
