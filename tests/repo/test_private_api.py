"""Security controls on internals of aiohttp, uvicorn and ssl: which ones, and what shows they bite.

These libraries may change such names in any minor release, so their versions have upper bounds.
To raise a bound, run these tests and those that they name with the new version.
"""

import ast
import inspect
import re
import ssl
import textwrap
import tomllib
from importlib.metadata import version
from pathlib import Path

import aiohttp
import pytest
import uvicorn
from aiohttp.client_proto import ResponseHandler
from packaging.requirements import Requirement
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tickwell.api.http.connection import Connection
from tickwell.executors.http.client.connections import Connector, Counted
from tickwell.executors.http.tls.handshake import EllipticOnly

ROOT = Path(__file__).parents[2]
CONNECTIONS = "executors/http/client/test_connections.py"
HANDSHAKE = "executors/http/tls/test_handshake.py"
LISTENER = "api/test_connection.py"
#: Our class, the library's, and each internal name with the test that fails without it.
USED = [
    (
        Counted,
        ResponseHandler,
        {
            "_payload": (CONNECTIONS, "test_a_flood_after_the_head_was_read_ends_as_well"),
            "data_received": (CONNECTIONS, "test_what_is_around_an_answer_has_a_limit_too"),
            "feed_data": (CONNECTIONS, "test_a_body_where_none_belongs_answers_no_other_webhook"),
            "force_close": (CONNECTIONS, "test_a_body_where_none_belongs_answers_no_other_webhook"),
            "set_exception": (CONNECTIONS, "test_what_is_around_an_answer_has_a_limit_too"),
            "set_response_params": (
                CONNECTIONS,
                "test_each_answer_on_a_connection_is_counted_by_itself",
            ),
            "transport": (CONNECTIONS, "test_what_is_around_an_answer_has_a_limit_too"),
        },
    ),
    (
        Connector,
        aiohttp.TCPConnector,
        {
            "_conns": (CONNECTIONS, "test_the_connection_used_last_is_used_first"),
            "_factory": (CONNECTIONS, "test_what_is_around_an_answer_has_a_limit_too"),
            "_happy_eyeballs_delay": (HANDSHAKE, "test_handshakes_are_counted_by_project"),
            "_interleave": (HANDSHAKE, "test_handshakes_are_counted_by_project"),
            "_loop": (HANDSHAKE, "test_handshakes_are_counted_by_project"),
            "_release": (CONNECTIONS, "test_what_comes_unasked_is_no_answer_to_the_next"),
            "_socket_factory": (HANDSHAKE, "test_a_good_certificate_is_taken"),
            "_wrap_create_connection": (HANDSHAKE, "test_handshakes_are_counted_by_project"),
        },
    ),
    (
        EllipticOnly,
        ssl.SSLObject,
        {
            "_create": (HANDSHAKE, "test_a_receiver_that_asks_for_a_slow_group_is_hung_up_on"),
            "do_handshake": (
                HANDSHAKE,
                "test_a_receiver_with_a_flood_of_certificates_is_hung_up_on",
            ),
        },
    ),
    (
        Connection,
        HttpToolsProtocol,
        {
            "connection_lost": (LISTENER, "test_a_client_that_asks_again_is_answered_again"),
            "connection_made": (LISTENER, "test_a_request_has_to_arrive_in_time"),
            "connections": (LISTENER, "test_many_that_only_wait_keep_nobody_out"),
            "cycle": (LISTENER, "test_our_own_time_is_not_the_client_s"),
            "data_received": (LISTENER, "test_a_head_without_end_is_refused"),
            "headers": (LISTENER, "test_heads_within_bounds_only"),
            "limit_concurrency": (LISTENER, "test_many_that_only_wait_keep_nobody_out"),
            "loop": (LISTENER, "test_a_request_has_to_arrive_in_time"),
            "on_body": (LISTENER, "test_a_large_body_in_small_and_large_parts"),
            "on_header": (LISTENER, "test_a_header_behind_the_body_is_none"),
            "on_headers_complete": (LISTENER, "test_heads_within_bounds_only"),
            "on_message_begin": (LISTENER, "test_what_follows_a_body_has_an_end_too"),
            "on_message_complete": (LISTENER, "test_our_own_time_is_not_the_client_s"),
            "parser": (LISTENER, "test_one_host_is_named"),
            "send_400_response": (
                LISTENER,
                "test_what_cannot_be_read_is_a_problem_as_any_other",
            ),
            "tasks": (
                LISTENER,
                "test_where_all_are_being_answered_one_more_is_told_to_come_back",
            ),
            "transport": (LISTENER, "test_a_head_without_end_is_refused"),
        },
    ),
]
#: Internal names that are used on an object of the library.
ON_OBJECTS = [
    (
        aiohttp.ClientSession,
        "_retry_connection",
        (CONNECTIONS, "test_a_webhook_on_a_broken_connection_is_not_sent_again"),
    ),
    (
        uvicorn.Server,
        "server_state",
        ("api/test_connection.py", "test_a_cancelled_server_ends_its_connections"),
    ),
    (
        uvicorn.Server,
        "on_tick",
        ("api/test_connection.py", "test_who_is_being_answered_when_we_leave_gets_an_answer"),
    ),
]


def names_in(library: type) -> set[str]:
    """Everything that a class of the library, or what it derives from, has or sets on itself."""
    found = set(dir(library))
    for base in library.__mro__:
        if base.__module__ not in {"builtins", "abc", "typing"}:
            found |= set(re.findall(r"\bself\.(\w+)", inspect.getsource(base)))
    return {name for name in found if not name.startswith("__")}


def names_used(own: type) -> set[str]:
    """What a class of ours overrides, and what it reads and calls on itself."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(own))).body
    found = set(vars(own))
    for node in ast.walk(body):
        if isinstance(node, ast.Attribute):
            of = node.value
            is_self = isinstance(of, ast.Name) and of.id in {"self", "made"}
            is_super = isinstance(of, ast.Call) and getattr(of.func, "id", "") == "super"
            if is_self or is_super:
                found.add(node.attr)
    return {name for name in found if not name.startswith("__")}


@pytest.mark.parametrize(("own", "library", "used"), USED, ids=lambda each: str(each)[:60])
def test_a_class_uses_these_internals_of_its_base_and_no_other(own, library, used):
    assert issubclass(own, library)
    assert names_used(own) & names_in(library) == set(used)


@pytest.mark.parametrize(("library", "name", "_shown_by"), ON_OBJECTS)
def test_an_internal_name_that_is_used_exists(library, name, _shown_by):
    assert name in names_in(library)


def test_a_test_shows_that_each_control_bites():
    shown_by = {shown for _, _, used in USED for shown in used.values()}
    shown_by |= {shown for _, _, shown in ON_OBJECTS}
    missing = [
        (file, name)
        for file, name in sorted(shown_by)
        if f"def {name}(" not in (ROOT / "tests" / file).read_text()
    ]
    assert missing == []


def test_the_versions_have_an_upper_bound_that_admits_the_installed_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["server"]]
    wanted = {each.name: each.specifier for each in map(Requirement, texts)}
    for name in ("aiohttp", "uvicorn"):
        installed = version(name)
        major, minor = map(int, installed.split(".")[:2])
        assert wanted[name].contains(installed)
        assert not wanted[name].contains(f"{major}.{minor + 1}.0")
