"""The metrics page: what it draws, how it is narrowed, and what it says without pictures."""

import asyncio
import re
from zoneinfo import ZoneInfo

from playwright.async_api import expect

from tests.ui.test_pages import serious
from tickwell.declared.internals import internals
from tickwell.domain.tally import HOURS, MINUTES, Tally
from tickwell.events import AttemptsFinished
from tickwell.services.insights.metrics import Percentiles
from tickwell.ui.svg.bars import ended_bars, failed_bars
from tickwell.ui.svg.lines import depth_line, percentile_lines
from tickwell.ui.svg.plot import ceiling

ROME = ZoneInfo("Europe/Rome")
MINUTE, HOUR = 60_000, 3_600_000
TEN = 1_781_517_600_000


def test_a_bar_has_a_part_for_each_way_to_end_and_retries_are_none_of_them():
    tally = Tally(succeeded=6, cancelled=1, dead=2, retried=50)
    drawn = ended_bars({TEN: tally, TEN + HOUR: Tally()}, HOURS, ROME)
    assert re.findall(r'class="fill-(\w+)"', drawn) == ["good", "quiet", "bad"]
    assert "<title>12:00: 6 succeeded, 1 cancelled, 2 failed</title>" in drawn
    assert 'aria-label="Executions per hour, at most 9"' in drawn
    failed = failed_bars({TEN: tally}, MINUTES, ROME)
    assert "<title>12:00: 2 failed, 50 retried</title>" in failed
    assert 'aria-label="Failures and retries per minute, at most 52"' in failed


def test_gridlines_stand_at_round_numbers():
    assert [ceiling(most) for most in (0, 1, 2, 3, 5, 11, 21, 41, 99_999)] == [
        *(2, 2, 2, 4, 10, 20, 40, 100, 100_000),
    ]


def test_percentiles_have_gaps_where_nothing_ran():
    ran = Percentiles(20.0, 400.0, 70_000.0)
    nothing = Percentiles(None, None, None)
    found = {TEN + n * MINUTE: each for n, each in enumerate([ran, ran, nothing, ran])}
    drawn = percentile_lines(found, MINUTES, ROME, "Duration")
    paths = re.findall(r'class="line-(\d)" d="([^"]+)"', drawn)
    assert [number for number, _ in paths] == ["1", "2", "3"]
    assert all(path.count("M") == 2 for _, path in paths)
    scale = re.findall(r'class="scale"[^>]+>([^<]+)<', drawn)
    assert scale == ["10 ms", "100 ms", "1 s", "10 s", "1 min", "10 min"]
    assert "12:02: no attempts" in drawn
    assert "12:00: p50 20 ms, p95 400 ms, p99 1 min 10 s" in drawn


def test_extremes_are_drawn():
    for value in (0.0, 0.4, 1.0, 90 * 24 * HOUR):
        each = Percentiles(value, value, value)
        drawn = percentile_lines({TEN: each}, HOURS, ROME, "Duration")
        assert drawn.count("<path") == 3
    assert "<path" not in percentile_lines({TEN: Percentiles(None, None, None)}, HOURS, ROME, "x")


def test_depth_says_where_there_is_no_sample():
    drawn = depth_line({TEN: 3, TEN + HOUR: None, TEN + 2 * HOUR: 0}, HOURS, ROME)
    assert "13:00: no sample" in drawn
    assert "12:00: 3 due" in drawn
    assert drawn.count("<path") == 2


def run_and_count(site, name):
    """Run a job; its end is in the records of the charts when this returns."""

    async def counted():
        heard = asyncio.Event()

        def hear(event):
            reports = event.reports if isinstance(event, AttemptsFinished) else ()
            if any(report.job == name for report in reports):
                heard.set()

        hear_no_more = site.scheduler.subscribe(hear)
        await site.scheduler.trigger(name)
        await heard.wait()
        hear_no_more()
        engine = internals(site.scheduler).engine
        assert engine is not None
        await engine.tallies.flush()

    site.call(counted())


async def test_charts_are_narrowed_by_queue_and_job_and_follow(window, site):
    site.add("charted", queue="default")
    run_and_count(site, "charted")
    page = await (await window(site)).open("/charts")
    for name in ("Executions", "Failures and retries", "Queue depth", "Duration", "Start lateness"):
        await expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    assert await serious(page, "light") == []
    chart = page.get_by_role("img", name=re.compile("^Executions per minute"))
    await expect(chart).to_be_visible()
    await page.get_by_text("All figures as a table").click()
    await expect(page.get_by_role("columnheader", name="Late p95")).to_be_visible()
    run_and_count(site, "charted")
    await expect(page.get_by_role("columnheader", name="Late p95")).to_be_visible()
    await page.get_by_role("link", name="24h").click()
    await page.get_by_role("link", name="charted", exact=True).click()
    await expect(page.get_by_text("job: charted")).to_be_visible()
    await expect(page.locator(".tile").first).to_have_text(re.compile(r"^2\s*executions"))
    await expect(page.get_by_text("highest per hour; now 0")).to_be_visible()
    await page.get_by_title("Remove this filter").click()
    await page.get_by_role("link", name="default", exact=True).first.click()
    await expect(page.get_by_text("queue: default")).to_be_visible()


async def test_an_empty_span_says_what_to_do(window, site):
    page = await (await window(site)).open("/charts?queue=nobody")
    await expect(page.get_by_text("No executions in this range")).to_be_visible()
