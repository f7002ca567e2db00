"""The timeline as a picture: load on top, a lane for each job, a line for now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from tickwell.domain.execution import Execution, State
from tickwell.services.insights.timeline import Lane, Timeline
from tickwell.ui.formatting import span, when
from tickwell.ui.svg.axis import Axis, Frame

WIDTH, NAMES, ROW, LOAD, TICKS = 1100, 190, 24, 34, 20
#: Room above all for the word at the line.
ABOVE = 13
#: How wide a ring is, with a little room, and how wide a mark at least.
RING, MARK = 8.5, 4
#: Characters of a name that are written; it fades where the lanes begin.
LONGEST = 60
_TONES = {
    State.SUCCEEDED: "good",
    State.DEAD: "bad",
    State.RUNNING: "info",
    State.QUEUED: "info",
    State.WAITING: "warn",
    State.BLOCKED: "warn",
    State.PARKED: "warn",
}
#: What did not run stands lower.
_LOW = frozenset({State.SKIPPED, State.CANCELLED})


def lanes_chart(found: Timeline, zone: ZoneInfo) -> Markup:
    """The timeline as one drawing."""
    axis = Axis(since=found.since, until=found.until, left=NAMES, right=WIDTH - 4, zone=zone)
    top = LOAD + TICKS
    height = top + ROW * len(found.lanes) + 6
    names, parts = [], [_grid(axis, height), _load(found, axis)]
    for number, lane in enumerate(found.lanes):
        names.append(_name(lane, top + number * ROW))
        parts.append(_lane(lane, top + number * ROW, axis))
    parts += [_now(found, axis, height), _times(axis)]  # the line crosses out no time
    frame = Frame(kind="lanes", left=NAMES, width=WIDTH, top=-ABOVE, height=height + ABOVE)
    label = f'role="group" aria-label="{len(found.lanes)} jobs"'
    return frame.around("".join(names), "".join(parts), label)


def _now(found: Timeline, axis: Axis, height: int) -> str:
    if not found.since <= found.now < found.until:
        return ""
    x = axis.x(found.now)
    return (
        f'<line class="now" x1="{x:.1f}" x2="{x:.1f}" y1="{-ABOVE}" y2="{height}" data-now/>'
        f'<text class="now-text" x="{x + 4:.1f}" y="-3">now</text>'
    )


def _grid(axis: Axis, height: int) -> str:
    return "".join(
        f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{LOAD}" y2="{height}"/>'
        for x, _ in axis.ticks()
    )


def _times(axis: Axis) -> str:
    return "".join(
        f'<text class="tick" x="{x + 3:.1f}" y="{LOAD + 14}">{escape(text)}</text>'
        for x, text in axis.ticks()
        if x < axis.right - 30
    )


def _load(found: Timeline, axis: Axis) -> str:
    """How much starts when; where much does, it says how much."""
    most = max(found.load, default=0)
    wide = (axis.right - axis.left) / len(found.load)
    busy = sorted(filter(None, found.load)) or [0]
    usual = busy[len(busy) // 2]
    parts, free = [], 0.0
    for number, count in enumerate(found.load):
        if not count:
            continue
        x, tall = axis.left + number * wide, max(count / most * (LOAD - 14), 1)
        piled = count >= 5 and count > 2 * usual
        at = found.since + (found.until - found.since) * number // len(found.load)
        words = escape(f"{count:,} start from {when(at, axis.zone)}")
        tone = "warn" if piled else "line"
        told = piled and x >= free
        free = x + 30 if told else free
        parts.append(
            f'<g><title>{words}</title><rect class="fill-{tone}" x="{x:.1f}" '
            f'y="{LOAD - tall:.1f}" width="{max(wide - 1, 1):.1f}" height="{tall:.1f}"/>'
            + (f'<text x="{x:.1f}" y="{LOAD - tall - 2:.1f}">{count:,}</text>' if told else "")
            + "</g>"
        )
    return "".join(parts)


def _name(lane: Lane, y: int) -> str:
    return (
        f'<line class="axis" x1="0" x2="{NAMES}" y1="{y}" y2="{y}"/>'
        f'<a href="/jobs/{escape(lane.job_id)}"><title>{escape(lane.name)}</title>'
        f'<text class="lane-name" x="2" y="{y + 16}">{escape(lane.name[:LONGEST])}</text></a>'
    )


def _lane(lane: Lane, y: int, axis: Axis) -> str:
    head = f'<line class="axis" x1="{NAMES}" x2="{WIDTH}" y1="{y}" y2="{y}"/>'
    ran = "".join(_ran(each, y, axis) for each in _touching(lane.executions, axis))
    if lane.dense_before is not None:
        ran = (
            _band(
                "ran too frequently to draw individually", axis.left, axis.x(lane.dense_before), y
            )
            + ran
        )
    skipped = "".join(_skipped(fire, y, axis) for fire in lane.skipped)
    return head + ran + _coming(lane, y, axis) + skipped


def _skipped(fire: int, y: int, axis: Axis) -> str:
    """A fire to come that a person skipped: as low as what did not run."""
    return (
        f"<g><title>skipped by a person, {when(fire, axis.zone)}</title>"
        f'<rect class="fill-quiet" x="{axis.x(fire) - MARK:.1f}" y="{y + 10}" '
        f'width="{2 * MARK}" height="4" rx="1.5"/></g>'
    )


def _coming(lane: Lane, y: int, axis: Axis) -> str:
    """A ring for each fire; those that would touch are one band."""
    if lane.dense and lane.fires:
        words = "fires too frequently to draw individually"
        return _band(words, axis.x(lane.fires[0]), axis.right, y)
    parts = []
    for fires in _near(lane.fires, axis):
        x, begins = axis.x(fires[0]), when(fires[0], axis.zone)
        if len(fires) > 1:
            words = f"{len(fires)} fires from {begins} to {when(fires[-1], axis.zone)}"
            parts.append(_band(words, x - 3, axis.x(fires[-1]) + 3, y))
        else:
            parts.append(
                f"<g><title>{begins}</title>"
                f'<circle class="coming" cx="{x:.1f}" cy="{y + 12}" r="3.5"/></g>'
            )
    return "".join(parts)


def _near(fires: Sequence[int], axis: Axis) -> list[list[int]]:
    """Fires that are nearer to each other than a ring is wide go together."""
    groups: list[list[int]] = []
    near, last = axis.length(RING), -math.inf
    for fire in fires:
        if fire - last < near:
            groups[-1].append(fire)
        else:
            groups.append([fire])
        last = fire
    return groups


def _band(words: str, begin: float, end: float, y: int) -> str:
    return (
        f'<g><title>{words}</title><rect class="band" x="{begin:.1f}" y="{y + 9}" '
        f'width="{max(end - begin, 2):.1f}" height="6" rx="3"/></g>'
    )


def _touching(executions: Sequence[Execution], axis: Axis) -> list[list[Execution]]:
    """Oldest first. Those of one state that could not be told apart go together."""
    groups: list[list[Execution]] = []
    wide, state, reached = axis.length(MARK), None, -math.inf
    for each in reversed(executions):
        begin = _begin(each)
        if each.state is state and begin < reached:
            groups[-1].append(each)
        else:
            groups.append([each])
        state, reached = each.state, begin + wide
    return groups


def _ran(group: Sequence[Execution], y: int, axis: Axis) -> str:
    """A mark that leads to its execution, or to all like those that it stands for."""
    first, last = group[0], group[-1]
    begin, end = _begin(first), max([each.ended_at or _begin(each) for each in group])
    x = axis.x(max(begin, axis.since))
    wide = max(axis.x(min(end, axis.until)) - axis.x(begin), axis.x(_begin(last)) - x + MARK)
    state, since = first.state.value, when(first.fire_time, axis.zone)
    if first is last:
        href, words = f"/executions/{escape(first.id)}", f"{state}, {since}, {span(end - begin)}"
    else:
        href = f"/executions?job={escape(first.job_id)}&amp;state={state}"
        words = f"{len(group)} {state} from {since} to {when(last.fire_time, axis.zone)}"
    low = first.state in _LOW
    tall, top = (4, y + 10) if low else (12, y + 6)
    return (
        f'<a href="{href}" aria-label="{words}"><title>{words}</title>'
        f'<rect class="fill-{_TONES.get(first.state, "quiet")}" x="{x:.1f}" y="{top}" '
        f'width="{wide:.1f}" height="{tall}" rx="1.5"/></a>'
    )


def _begin(each: Execution) -> int:
    return each.started_at or each.run_at
