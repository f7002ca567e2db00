"""Code in the documentation runs."""

import doctest
import os
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from tests.docs import pages
from tests.docs.page import runs

#: Seconds; every example ends by itself long before.
DEADLINE = 110
WITH_SESSIONS = [page for page in pages.PAGES if pages.blocks(page.read_text("utf-8"), "pycon")]
WITH_PYTHON = [page for page in pages.PAGES if pages.blocks(page.read_text("utf-8"), "python")]


def run_script(path, folder):
    """Its output, once it has ended by itself."""
    done = subprocess.run(
        [sys.executable, "-W", "error", path],
        cwd=folder,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=pages.name)
def test_sessions_answer_what_the_page_says(page):
    session = "\n".join(pages.blocks(page.read_text("utf-8"), "pycon"))
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("page", WITH_PYTHON, ids=pages.name)
def test_python_on_pages_runs(page, tmp_path):
    text = page.read_text("utf-8")
    printed = []
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.docs.page", page],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(pages.ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        guard = threading.Timer(DEADLINE, process.kill)
        guard.start()
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            if line == "Started\n" and runs(text):
                process.send_signal(signal.SIGTERM)
        guard.cancel()
    assert process.returncode == 0, "".join(printed)
    assert ("Stopped\n" in printed) == runs(text)


@pytest.mark.parametrize("example", pages.EXAMPLES, ids=pages.name)
def test_examples_run(example, tmp_path):
    expected = example.read_text("utf-8").partition('"""\n')[0].rpartition("It prints:\n")[2]
    printed = run_script(example, tmp_path)
    for line in filter(None, (line.strip() for line in expected.splitlines())):
        assert line in printed


def test_an_example_that_keeps_its_store_runs_again(tmp_path):
    (example,) = (each for each in pages.EXAMPLES if each.name == "web_app.py")
    run_script(example, tmp_path)
    assert "the run succeeded" in run_script(example, tmp_path)


async def test_the_lifespan_of_ones_own_that_the_page_shows_starts_and_drains():
    (block,) = (
        each for each in pages.blocks(pages.text_of("library"), "python") if "def lifespan(" in each
    )
    names: dict[str, Any] = {"__name__": "shop"}
    exec(block, names)
    app, scheduler, pool_at_stop = names["app"], names["scheduler"], []

    @scheduler.job()
    async def work() -> str:
        return "worked"

    async with app.router.lifespan_context(app) as state:
        scheduler.on("stop")(lambda: pool_at_stop.extend(state["pool"]))
        done = await scheduler.wait(await work.trigger())
        assert (done.result, state["pool"]) == ("worked", ["a connection"])
    assert (pool_at_stop, state["pool"]) == (["a connection"], [])
