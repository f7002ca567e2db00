"""Blocking calls with a deadline, for libraries that have no timeout in common."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
#: Calls that may hang at once; no further one starts before one of them returns.
MOST_HANGING = 4


class DeadlineCall:
    """Runs each call in a daemon thread: one that hangs keeps neither the caller nor the process.

    The function must not share state between two calls: one that was given up may still run.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self._name = name
        self._seconds = seconds
        self._free = threading.Semaphore(MOST_HANGING)

    def __call__(self, function: Callable[[], T]) -> T:
        """The function's result; `TimeoutError` if it does not return in time."""
        if not self._free.acquire(timeout=self._seconds):
            raise self._late()
        result: Future[T] = Future()

        def run() -> None:
            try:
                result.set_result(function())
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                result.set_exception(error)
            finally:
                self._free.release()

        threading.Thread(target=run, name=self._name, daemon=True).start()
        try:
            return result.result(self._seconds)
        except TimeoutError:
            if result.done():
                raise  # the function's own
            raise self._late() from None

    def _late(self) -> TimeoutError:
        return TimeoutError(f"no answer within {self._seconds:g} s")
