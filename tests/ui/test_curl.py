"""A request as a curl command: it is the one that an attempt sends, and it holds no secret."""

import html
import json
import os
import re
import shlex
import subprocess
from urllib.parse import unquote

import pytest

from tickwell.domain.execution import OutcomeKind
from tickwell.testing.receiver import Receiver

SECRET = "canary-of-a-secret"


@pytest.fixture
def receiver():
    with Receiver() as found:
        yield found


async def shown(house, http, **fields):
    """The command on the page of an execution, and the execution's id."""
    job = await house.add("hook", target={"http": http}, retry={"max_attempts": 1}, **fields)
    id = await house.run(job, OutcomeKind.FAILED, error="HTTP 500")
    page = await (await house.login()).see(f"/executions/{id}")
    (found,) = re.findall(r'"curl command".*?<code>(.*?)</code>', page.source, re.DOTALL)
    assert SECRET not in found
    return id, html.unescape(found)


async def tried(house, receiver, http, payload):
    """The same request, as the executor sends it."""
    browser = await house.login()
    await browser.see("/jobs/new")
    job = {"name": "hook", "trigger": {"every": "1h"}, "target": {"http": http}}
    document = json.dumps(job | {"payload": payload})
    await browser.post("/jobs/try", side="document", document=document)
    return receiver.requests[-1]


async def command(house, http, **fields):
    """That command taken apart: the id, options before the method, and the request."""
    id, text = await shown(house, http, **fields)
    program, *words = shlex.split(text)
    assert program == "curl"
    at = words.index("-X")
    method, url, *rest = words[at + 1 :]
    headers = [rest[n + 1] for n, word in enumerate(rest) if word == "-H"]
    body = rest[rest.index("--data-raw") + 1] if "--data-raw" in rest else ""
    assert len(rest) == 2 * len(headers) + (2 if body else 0)
    pairs = (header.split(": ", 1) for header in headers)
    return id, words[:at], (method, url, {name.lower(): text for name, text in pairs}, body)


async def test_it_is_what_the_executor_sends(house, receiver):
    http = {
        "url": receiver.url("/in/{{job_name}}?a=1"),
        "query": {"team": "{{payload.team}} & co", "n": 7},
        "headers": {"x-team": "{{payload.team}}", "Authorization": f"Bearer {SECRET}"},
    }
    payload = {"team": "büro/2", "n": [1]}
    _, options, (method, url, headers, body) = await command(house, http, payload=payload)
    request = await tried(house, receiver, http, payload)
    assert options == []
    assert (method, url) == (request.method, receiver.url(request.path))
    assert json.loads(body) == json.loads(request.body)
    assert headers.pop("authorization") == "***"
    assert headers.pop("x-team") == "büro/2"
    assert headers == {"content-type": request.headers["content-type"]}


def paste(text, home):
    """Into a shell, by somebody whose settings change nothing."""
    environment = {"PATH": os.defpath, "HOME": str(home), "NO_PROXY": "*"}
    subprocess.run(["sh", "-c", text], env=environment, check=True, capture_output=True)


@pytest.mark.parametrize("body", [None, "@/etc/hostname 'quoted' $HOME\n", {"n": "{{payload.n}}"}])
async def test_curl_sends_what_the_executor_sends(house, receiver, tmp_path, body):
    http = {
        "url": receiver.url("/in/{{job_name}}?a=[1]"),
        "method": "PUT",
        "query": {"team": "{{payload.team}} & co"},
        "headers": {"x-team": "it's {{payload.team}}", "x-empty": ""},
    } | ({} if body is None else {"body": body})
    payload = {"team": "b $(c) `d`", "n": [1]}
    paste((await shown(house, http, payload=payload))[1], tmp_path)
    (pasted,) = receiver.requests
    sent = await tried(house, receiver, http, payload)
    # Brackets mean the same encoded and as they are.
    assert (pasted.method, unquote(pasted.path)) == (sent.method, unquote(sent.path))
    names = ("content-type", "x-team", "x-empty")
    assert [pasted.headers.get(name) for name in names] == [sent.headers[name] for name in names]
    read = bytes if isinstance(body, str) else json.loads
    assert read(pasted.body) == read(sent.body)


async def test_a_get_has_no_body_whatever_the_payload(house):
    auth = {"bearer": {"token": SECRET}}
    http = {"url": "http://127.0.0.1:9/", "method": "GET", "auth": auth}
    _, _, (method, _, headers, body) = await command(house, http, payload={"a": 1})
    assert (method, headers, body) == ("GET", {"authorization": "***"}, "")


async def test_a_body_of_its_own_is_sent_and_no_file_of_whoever_pastes_it(house):
    """With -d curl would read the file that a body names after an @."""
    body = "@/etc/hostname {{execution_id}} {{secret.token}}"
    id, _, (*_, headers, sent) = await command(house, {"url": "http://127.0.0.1:9/", "body": body})
    assert sent == f"@/etc/hostname {id} {{{{secret.token}}}}"
    assert headers == {"content-type": "text/plain; charset=utf-8"}


async def test_places_of_secrets_and_of_what_is_not_there_stay(house):
    url = "http://127.0.0.1:9/{{secret.token}}/{{payload.0.who}}/{{payload.none}}"
    http = {"url": url, "body": {"all": "{{payload}}", "n": "{{attempt}}"}}
    payload = [{"who": "a/b"}]
    _, options, (_, sent, _, body) = await command(house, http, payload=payload)
    assert options == ["-g"]  # braces are a pattern to curl
    assert sent == "http://127.0.0.1:9/{{secret.token}}/a%2Fb/{{payload.none}}"
    assert json.loads(body) == {"all": payload, "n": 1}
