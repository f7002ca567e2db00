"""Reports that cannot be stored, told apart from those that can."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished

Finish = Callable[[Sequence[Report]], Awaitable[Finished]]


async def finish_bisecting(
    reports: Sequence[Report], finish: Finish, is_bad_data: Callable[[Exception], bool]
) -> Finished:
    """Finish a batch; one that cannot be stored must not hold up the others.

    It is found by halving, and stored without what cannot be.
    """
    try:
        return await finish(reports)
    except Exception as error:
        if not is_bad_data(error):
            raise
        if len(reports) == 1:
            return await _stripped(reports[0], finish, error)
    finished, problem = Finished(), None
    middle = len(reports) // 2
    for part in (reports[:middle], reports[middle:]):
        try:
            done = await finish_bisecting(part, finish, is_bad_data)
        except Exception as error:  # noqa: BLE001 - raised once its neighbours are written
            problem = error
        else:
            finished.refused += done.refused
            finished.failures |= done.failures
    if problem is not None:
        raise problem
    return finished


async def _stripped(report: Report, finish: Finish, error: Exception) -> Finished:
    bare = replace(report, result=None, error=f"its error cannot be stored: {error}")
    if report.result is not None:
        bare.error = report.error or f"its result cannot be stored: {error}"
    finished = await finish([bare])
    return Finished(refused=finished.refused and [report], failures=finished.failures)
