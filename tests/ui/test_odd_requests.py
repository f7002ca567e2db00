"""Requests that no browser makes: refused or answered, never with our mistake."""

import socket
import threading

import pytest
from python_multipart.multipart import QuerystringParser

from tests.ui.test_trial import typed
from tickwell.api.http.edge import MOST_FIELDS
from tickwell.domain.execution import OutcomeKind
from tickwell.ui.anonymous_limits import MOST as MOST_OF_STRANGER

BOUNDARY = "xyz"


def multipart(charset, **fields):
    """Headers and content of a form in some encoding."""
    parts = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    kind = f"multipart/form-data; boundary={BOUNDARY}; charset={charset}"
    return {"content-type": kind}, ("".join(parts) + f"--{BOUNDARY}--\r\n").encode()


@pytest.mark.parametrize("path", ["/login", "/api/v1/session"])
@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "null", ""])
async def test_an_origin_that_is_none_is_not_ours(house, path, origin):
    answer = await house.browser().http.post(path, headers={"origin": origin})
    assert answer.status_code == 401


async def test_a_page_to_go_back_to_that_is_none(house):
    browser = await house.login()
    await browser.see("/jobs")
    answer = await browser.post("/preferences/theme", theme="dark", headers={"referer": "http://["})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize("charset", ["unicode_escape", "utf-7", "rot13", "utf-8; x=\xe9"])
async def test_a_form_in_an_encoding_of_its_own_is_refused(house, charset):
    browser = await house.login()
    await browser.see("/jobs")
    job = await house.add("report")
    headers, content = multipart(charset, csrf="\\ud800", why="\\ud800", name="\\ud800")
    for token in ({}, {"x-csrf-token": browser.token}):
        for path in (f"/jobs/{job}/pause", "/login"):
            sent = headers | token | {"origin": browser.origin}
            encoded = {name: value.encode("latin-1") for name, value in sent.items()}
            answer = await browser.http.post(path, headers=encoded, content=content)
            assert answer.status_code in {401, 422}, (path, token)
    assert (await house.store.get_jobs("default", [job]))[0].cursor.pause is None


async def test_a_stranger_s_form_of_empty_fields_is_not_read(house, monkeypatch):
    read = []

    def note(_, data):
        read.append(data)
        return len(data)

    monkeypatch.setattr(QuerystringParser, "write", note)
    browser, kind = house.browser(), "Application/X-WWW-Form-Urlencoded"
    for path in ("/login", "/preferences/theme"):
        form = {"headers": {"content-type": kind}, "content": b"&" * (MOST_FIELDS + 1)}
        assert (await browser.http.post(path, **form)).status_code in {400, 413}, path
    assert not read
    # Elsewhere it is a sign as any other.
    json = {"headers": {"content-type": "application/json"}, "content": b'"%s"' % (b"&" * 5000)}
    assert (await browser.http.post("/api/v1/session", **json)).status_code == 422


async def test_a_stranger_s_form_is_short(house):
    visitor, stranger = await house.login(), house.browser()
    await visitor.see("/jobs")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    content = b"theme=" + b"%41" * (MOST_OF_STRANGER // 3)
    (name, _), *_ = visitor.http.cookies.items()
    for cookies in ({}, {name: "made-up"}):
        for path in ("/login", "/preferences/theme"):
            cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
            sent = headers | {"cookie": cookie}
            answer = await stranger.http.post(path, headers=sent, content=content)
            assert answer.status_code == 400, (path, cookies)
    headers |= {"x-csrf-token": visitor.token, "origin": visitor.origin}
    answer = await visitor.http.post("/preferences/theme", headers=headers, content=content)
    assert answer.status_code != 400


async def test_what_holds_half_a_character_already_is_still_shown(house):
    """Rows of before: nothing that is added today has one."""
    job = await house.add("report")
    execution = await house.run(job, OutcomeKind.SUCCEEDED, result={"said": "half \ud800"})
    await house.run(job, OutcomeKind.FAILED, error="half \udfff")
    browser = await house.login()
    for path in (f"/executions/{execution}", "/executions", f"/jobs/{job}"):
        assert (await browser.get(path)).status_code == 200, path
    headers = {"authorization": f"Bearer {house.first.key}"}
    for path in (f"/executions/{execution}", "/executions"):
        answer = await browser.http.get(f"/api/v1{path}", headers=headers)
        assert answer.status_code == 200
        assert "half ?" in answer.text


def answering(head):
    """A receiver that says these bytes once; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with listener, listener.accept()[0] as connection:
            connection.recv(65536)
            connection.sendall(head)

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nX-Odd: \xff\xfe\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: /\xff\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_a_receiver_that_answers_with_bytes_is_shown(house, head):
    browser = await house.login()
    await browser.see("/jobs/new")
    answer = await browser.post("/jobs/try", **typed(f"http://127.0.0.1:{answering(head)}/"))
    assert answer.status_code == 200
    assert f"<dd>{head[9:12].decode()}</dd>" in answer.text
