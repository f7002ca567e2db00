"""Secrets in what a receiver sends back: hidden in whatever form it writes texts."""

import html
import json
import re
from functools import reduce
from urllib.parse import quote, quote_plus

import markupsafe
import pytest

from tests.executors.http.conftest import a_claim
from tests.executors.http.receiver import answers
from tests.executors.http.request.test_auth import Vault
from tickwell.domain.http import Http, OAuth
from tickwell.executors.http.response.answer import MOST_READ
from tickwell.executors.http.response.redaction import Redactor

SECRET = "ca/na+ry <7731> & 'ö' \"so\""
FORMS = {
    "as it is": SECRET,
    "in a path": quote(SECRET, safe=""),
    "in a path, slashes kept": quote(SECRET),
    "in a form": quote_plus(SECRET),
    "in a form, in small letters": re.sub("%..", lambda code: code[0].lower(), quote_plus(SECRET)),
    "in HTML": html.escape(SECRET),
    "in HTML of Jinja": str(markupsafe.escape(SECRET)),
    "in HTML, between tags": html.escape(SECRET, quote=False),
    "in JSON": json.dumps(SECRET),
    "in JSON, not ASCII": json.dumps(SECRET, ensure_ascii=False),
    "in JSON of PHP": json.dumps(SECRET).replace("/", "\\/"),
    "in JSON of Go": reduce(
        lambda text, sign: text.replace(sign, f"\\u{ord(sign):04x}"),
        "&<>",
        json.dumps(SECRET, ensure_ascii=False),
    ),
    "in a body of JSON as a text": json.dumps(json.dumps(SECRET, ensure_ascii=False)[1:-1]),
    "in a body of JSON as a text of PHP": json.dumps(json.dumps(SECRET)[1:-1]).replace("/", "\\/"),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_secret_is_hidden_in_every_form(text):
    hidden = Redactor([SECRET])(f"you sent {text}, which is wrong")
    assert hidden.replace('"', "") == "you sent ***, which is wrong"


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("s3cr3t!pass/word-77", "s3cr3t!pass%2Fword-77"),  # by encodeURIComponent
        ("Zm9v+YmFyc2VjcmV0==", r"Zm9v\u002BYmFyc2VjcmV0=="),  # by .NET
        ('p"ä<word-9f8e7d', r"p\u0022\u00E4\u003Cword-9f8e7d"),
        ("pass'word-9f8e7d", "pass&apos;word-9f8e7d"),
        ("-----BEGIN\nMIIabc\n-----END", "-----BEGIN\r\nMIIabc\r\n-----END"),
        ("-----BEGIN\r\nMIIabc\r\n-----END", "-----BEGIN\nMIIabc\n-----END"),
    ],
)
def test_a_secret_is_hidden_as_others_write_it(secret, text):
    assert Redactor([secret])(f"you sent {text}, which is wrong") == "you sent ***, which is wrong"


async def test_what_a_token_server_repeats_of_the_credentials_is_hidden(make_executor, receive):
    async def echo(exchange):
        await answers(401, exchange.headers["authorization"].encode())(exchange)

    login, receiver = await receive(echo), await receive()
    auth = OAuth(login.url("/token"), "id", "{{secret.key}}")
    executor = make_executor(secrets=Vault(key=SECRET))
    outcome = await executor.run(a_claim(Http(receiver.url(), auth=auth)))
    assert outcome.error == "the token server answers HTTP 401: Basic ***"


async def test_a_token_with_a_blank_in_it_is_hidden_as_a_whole(make_executor, receive):
    async def echo(exchange):
        await answers(400, exchange.headers["authorization"].encode())(exchange)

    login = await receive(answers(body=b'{"access_token": "token-1 canary"}'))
    receiver = await receive(echo)
    auth = OAuth(login.url("/token"), "id", "secret")
    outcome = await make_executor().run(a_claim(Http(receiver.url(), auth=auth)))
    assert outcome.result["body"] == "Bearer ***"


def test_a_text_that_ends_in_the_beginning_of_a_secret_is_cut_before_it():
    for secret in ("abcabcabd", "aaaaaab", "abcde"):
        for length in range(4, len(secret)):
            for before in ("", "x", "abc", "aaaa", "abcabc"):
                text = before + secret[:length]
                longest = next(n for n in range(len(text)) if secret.startswith(text[n:]))
                assert Redactor([secret])(text) in {text[:longest] + "***", "***"}, text
        assert Redactor([secret])("x" + secret[:3]) == "x" + secret[:3]


def in_ascii(text):
    return json.dumps(text).encode()


@pytest.mark.parametrize(
    ("secret", "write"),
    [
        ("canary-trailing-9f8e7d ", in_ascii),
        ("\tcanary-leading-77aa", in_ascii),
        ("canary-pässwört-9f8e7d", in_ascii),
        ("canary-pässwört-9f8e7d", lambda text: text.encode("latin-1")),
        ("canary-pässwört-9f8e7d", str.encode),
        ("canary-pässwört-9f8eà", str.encode),
        ("canary-pässwört-9f8eà", lambda text: text.replace("\xa0", "").encode()),
    ],
)
async def test_a_secret_that_a_header_changed_is_hidden(make_executor, receive, secret, write):
    async def echo(exchange):
        came = exchange.headers["x-key"].strip(" \t")  # read as Latin-1, as most receivers do
        await answers(400, write(f"you sent {came}!"))(exchange)

    executor, receiver = make_executor(secrets=Vault(key=secret)), await receive(echo)
    target = Http(receiver.url(), headers={"X-Key": "{{secret.key}}"})
    outcome = await executor.run(a_claim(target))
    assert re.sub('["\xa0]', "", outcome.result["body"]) == "you sent ***!"
    assert "canary" not in repr(outcome)


@pytest.mark.parametrize("charset", ["utf-8", "us-ascii", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize(
    "secret",
    ["canary-bell\x07-9f8e7d6c5b", "canary-newline-9f8e7d\r\n", "\x00canary-pässwört\x85\x1b"],
)
async def test_a_secret_that_is_not_kept_as_it_is_is_hidden(
    make_executor, receive, secret, charset
):
    async def echo(exchange):
        said = b"you sent " + exchange.body.strip(b" \r\n\0") + b"!"
        await answers(400, said, [f"Content-Type: text/plain; charset={charset}"])(exchange)

    executor, receiver = make_executor(secrets=Vault(key=secret)), await receive(echo)
    outcome = await executor.run(a_claim(Http(receiver.url(), body="{{secret.key}}")))
    assert outcome.result["body"].startswith("you sent ***")
    assert not [part for part in ("canary", "9f8e", "ssw") if part in repr(outcome)]


@pytest.mark.parametrize("secret", ["a \n ", "ab\x07\x07\x07", "äö\x07ü", "    ", "\x07" * 9])
def test_what_is_left_of_a_secret_hides_no_more_than_a_short_one_would(secret):
    text = "a, ab, abc: aaaa \ufffd\ufffd\ufffd\ufffd"
    assert Redactor([secret])(text) == text
    assert Redactor([secret])(f"<{secret}>") == "<***>"


async def test_a_secret_that_was_cut_within_a_character_is_hidden(make_executor, receive):
    said = "canary-pä".encode()
    receiver = await receive(answers(200, b"a" * (MOST_READ - len(said) + 1) + said + b"sswort"))
    executor = make_executor(secrets=Vault(key="canary-pässwort"))
    target = Http(receiver.url(), body="{{secret.key}}", keep=MOST_READ)
    outcome = await executor.run(a_claim(target))
    assert outcome.result["body"].lstrip("a") == "***"
