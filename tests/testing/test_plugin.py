"""The plugin in projects of others: with pytest alone, and beside other plugins."""

import re
import subprocess
import sys
import textwrap

import pytest

TESTS = """
    import pytest
    from tickwell import Every

    async def test_alone(tickwell):
        @tickwell.job(Every("1h"))
        def tick() -> None: ...

        await tickwell.travel("3h")
        await tickwell.assert_ran("tick", times=3)

    @pytest.fixture
    def hours():
        return 2

    @pytest.mark.parametrize("extra", [0, 1])
    async def test_with_other_fixtures(hours, tickwell, extra):
        @tickwell.job(Every("1h"))
        async def tick() -> None: ...

        await tickwell.travel(f"{hours + extra}h")
        await tickwell.assert_ran("tick", times=hours + extra)

    async def test_that_fails(tickwell):
        @tickwell.job(Every("1h"))
        async def tick() -> None: ...

        await tickwell.travel("1h")
        await tickwell.assert_ran("tick", times=2)

    def test_without_time(tickwell):
        assert tickwell.now.year == 2026
"""


def run(tmp_path, text, *options):
    (tmp_path / "test_it.py").write_text(textwrap.dedent(text))
    plugins = ["-p", "tickwell.testing.plugin", "-p", "no:cacheprovider", "-p", "no:schemathesis"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *options, tmp_path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("-p", "no:asyncio", "-p", "no:anyio"),
        ("-o", "asyncio_mode=auto"),
        ("-o", "asyncio_mode=strict"),
    ],
)
def test_async_tests_run_whatever_else_is_installed(tmp_path, options):
    stdout, stderr = run(tmp_path, TESTS, *options)
    assert re.search("1 failed, 4 passed", stdout), stdout + stderr
    assert "AssertionError: 'tick' ran once, not 2 times" in stdout


def test_tests_marked_for_another_plugin_run_there(tmp_path):
    tests = """
        import pytest
        from tickwell import Every

        @pytest.mark.anyio
        @pytest.mark.parametrize("anyio_backend", ["asyncio"])
        async def test_anyio(anyio_backend, tickwell):
            @tickwell.job(Every("1h"))
            async def tick() -> None: ...

            await tickwell.travel("2h")
            await tickwell.assert_ran("tick", times=2)
    """
    stdout, stderr = run(tmp_path, tests, "-p", "no:asyncio")
    assert "1 passed" in stdout, stdout + stderr
