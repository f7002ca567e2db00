"""Faults of processes and their server, one after the other and together."""

import signal
import time
from collections.abc import Callable

from tests.prove.crew import Crew


class Nemesis:
    """Freezes processes past their leases, kills some, and takes the server away in between."""

    def __init__(self, crew: Crew, crash: Callable[[], None]) -> None:
        self.crew = crew
        self.crash = crash
        #: When each process that stands still goes on, and each that was killed comes back.
        self.frozen: dict[int, float] = {}
        self.gone: dict[int, float] = {}

    def strike(self) -> None:
        """One of it, or a few at once."""
        chance = self.crew.random
        up = [number for number in range(len(self.crew.members)) if self._is_up(number)]
        match chance.choice(("freeze", "freeze", "crash", "both", "kill", "stop")):
            case "freeze" if len(up) > 1:
                self._freeze(chance.choice(up))
            case "both" if len(up) > 1:
                for number in chance.sample(up, chance.randint(1, len(up) - 1)):
                    self._freeze(number)
                time.sleep(chance.uniform(0, 1))
                self._crash()
            case "kill" if up:
                number = chance.choice(up)
                self.crew.kill(number)
                self.gone[number] = time.monotonic() + chance.uniform(0, 2)
            case "stop" if up:
                number = chance.choice(up)
                self.crew.stop(number)
                self.gone[number] = time.monotonic()
            case _:
                self._crash()

    def _is_up(self, number: int) -> bool:
        """Whether it works; one that began while the server was away has ended."""
        return number not in self.frozen | self.gone and bool(
            self.crew.members[number].heard("Started")
        )

    def heal(self, *, at_once: bool = False) -> None:
        """Whatever is due to go on goes on."""
        now = float("inf") if at_once else time.monotonic()
        for number, member in enumerate(self.crew.members):
            if number not in self.gone and member.process.poll() is not None:
                self.gone[number] = time.monotonic()
        for number in [number for number, at in self.frozen.items() if at <= now]:
            del self.frozen[number]
            self.crew.members[number].send(signal.SIGCONT)
        for number in [number for number, at in self.gone.items() if at <= now]:
            del self.gone[number]
            self.crew.replace(number)

    def _freeze(self, number: int) -> None:
        seconds = self.crew.random.uniform(0.5, 5)
        self.crew.faults += 1
        self.crew.log("freeze", pid=self.crew.members[number].pid, seconds=seconds)
        self.crew.members[number].send(signal.SIGSTOP)
        self.frozen[number] = time.monotonic() + seconds

    def _crash(self) -> None:
        self.crew.faults += 1
        self.crew.log("crash")
        self.crash()
