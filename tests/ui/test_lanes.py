"""The picture of the timeline: rings, bands, and what piles up."""

from zoneinfo import ZoneInfo

from tickwell.domain.execution import Execution, Kind, State
from tickwell.services.insights import timeline as reading
from tickwell.services.insights.timeline import Lane, Timeline
from tickwell.ui.svg.lanes import lanes_chart

HOUR, MINUTE = 3_600_000, 60_000
NOON = 1_781_524_800_000


def chart(*lanes, load=(0,) * 120):
    found = Timeline(
        since=NOON,
        until=NOON + 6 * HOUR,
        now=NOON,
        lanes=list(lanes),
        load=list(load),
        partial=False,
    )
    return lanes_chart(found, ZoneInfo("UTC"))


def lane(*minutes, **fields):
    fires = [NOON + minute * MINUTE for minute in minutes]
    return Lane(job_id="j", name="<j>", fires=fires, **fields)


def test_fires_apart_are_rings_and_those_that_would_touch_are_one_band():
    drawn = chart(lane(10, 60, 200, 201, 202, 203))
    assert drawn.count('<circle class="coming"') == 2
    assert drawn.count('<rect class="band"') == 1
    assert "<title>4 fires from 2026-06-15 15:20:00 to 2026-06-15 15:23:00</title>" in drawn
    assert "&lt;j&gt;" in drawn


def execution(minute, state=State.SUCCEEDED):
    at = NOON + minute * MINUTE
    return Execution(
        id=f"e{minute}",
        project="default",
        job_id="j",
        job_version=1,
        kind=Kind.FIRE,
        state=state,
        fire_time=at,
        run_at=at,
        queue="default",
        ability="http",
        created_at=at,
        started_at=at,
        ended_at=at + 1000,
    )


def test_what_ran_is_one_mark_where_it_could_not_be_told_apart():
    ran = [execution(1), execution(2), execution(3, State.DEAD), execution(60)]
    drawn = chart(Lane(job_id="j", name="j", executions=ran[::-1]))
    assert drawn.count('<a href="/executions') == 3
    assert 'href="/executions?job=j&amp;state=succeeded"' in drawn
    assert "2 succeeded from 2026-06-15 12:01:00 to 2026-06-15 12:02:00" in drawn
    assert 'href="/executions/e3" aria-label="dead, 2026-06-15 12:03:00, 1.00 s"' in drawn
    assert 'href="/executions/e60"' in drawn


def test_the_names_are_a_picture_beside_that_of_the_lanes():
    names, lanes, _ = chart(lane(10)).split("</svg></div>")
    assert "&lt;j&gt;" in names
    assert "data-now" in lanes


def test_what_fires_more_often_than_is_counted_is_a_band_to_the_end():
    drawn = chart(lane(1, 2, 3, dense=True))
    assert drawn.count('<rect class="band"') == 1
    assert "fires too frequently to draw individually" in drawn


def test_a_pile_up_is_marked_with_its_number_however_much_of_the_axis_is_empty():
    load = [0] * 120
    load[10], load[50], load[90], load[100] = 4, 4, 12, 4
    drawn = chart(lane(1), load=load)
    assert drawn.count("fill-warn") == 1
    assert ">12</text>" in drawn
    load[10] = load[50] = load[100] = 9
    assert "fill-warn" not in chart(lane(1), load=load)


async def test_only_a_span_with_a_shorter_one_below_it_advises_that(house, monkeypatch):
    monkeypatch.setattr(reading, "LANES", 1)
    for name in ("one", "two"):
        await house.run(await house.add(name))
    browser = await house.login()
    assert (
        "choose a shorter range to see everything" in (await browser.see("/timeline?span=6h")).text
    )
    shortest = (await browser.see("/timeline?span=1h")).text
    assert "shorter" not in shortest
    assert "a job's page shows all its executions" in shortest
