"""Abilities: whose handler an execution needs, in one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickwell.domain.ability import (
    as_shared,
    call_ability,
    handler_of,
    is_able,
    is_usable_by,
    shared_ability,
)
from tickwell.domain.http import Http
from tickwell.domain.target import Call

NAMES = st.text(st.sampled_from("ab/*%~ü2F"), min_size=1, max_size=12)
PROJECTS = NAMES | st.sampled_from(["default", "shop", "x" * 255, "x" * 254 + "y"])


def test_the_default_project_is_left_out():
    assert Call("report").ability_in("default") == "call:report"
    assert Call("report").ability_in("shop") == "call:shop/report"
    assert Http("https://example.com/").ability_in("shop") == "http"


@given(PROJECTS, NAMES, PROJECTS, NAMES)
def test_two_projects_never_have_the_same_ability(project, handler, other, others):
    same = (project, handler) == (other, others)
    assert (call_ability(project, handler) == call_ability(other, others)) is same


@given(PROJECTS, NAMES)
def test_a_shared_handler_will_do_for_every_project(project, handler):
    ability = call_ability(project, handler)
    assert as_shared(ability) == shared_ability(handler)
    assert handler_of(ability) == handler_of(shared_ability(handler)) == handler
    assert is_able(ability, {shared_ability(handler)})
    assert not is_able(ability, {shared_ability(handler + "x")})


@given(PROJECTS, PROJECTS, NAMES)
def test_a_project_uses_its_own_and_what_is_shared(project, other, handler):
    assert is_usable_by(project, shared_ability(handler))
    assert is_usable_by(project, "http")
    assert is_usable_by(project, call_ability(other, handler)) is (project == other)


@pytest.mark.parametrize("project", ["p" * 255, "/" * 255, "ü" * 255])
def test_an_ability_fits_into_every_store(project):
    assert len(call_ability(project, "h" * 255)) <= 300
