"""Deterministic simulation: whole schedulers in virtual time, with faults chosen by a seed."""

from __future__ import annotations

from tickwell.testing.simulation.loop import Deadlock
from tickwell.testing.simulation.run import Verdict, simulate
from tickwell.testing.simulation.scenario import Fault, Scenario, scenario_of
from tickwell.testing.simulation.world import Violation

__all__ = ["Deadlock", "Fault", "Scenario", "Verdict", "Violation", "scenario_of", "simulate"]
