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
from tests.executors.http.test_auth import Vault
from tickwell.domain.http import Http, OAuth
from tickwell.executors.http.hiding import Hider

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
    hidden = Hider([SECRET])(f"you sent {text}, which is wrong")
    assert hidden.replace('"', "") == "you sent ***, which is wrong"


async def test_what_a_token_server_repeats_of_the_credentials_is_hidden(make_executor, receive):
    async def echo(exchange):
        await answers(401, exchange.headers["authorization"].encode())(exchange)

    login, receiver = await receive(echo), await receive()
    auth = OAuth(login.url("/token"), "id", "{{secret.key}}")
    executor = make_executor(secrets=Vault(key=SECRET))
    outcome = await executor.run(a_claim(Http(receiver.url(), auth=auth)))
    assert outcome.error == "the token server answers HTTP 401: Basic ***"


def test_a_text_that_ends_in_the_beginning_of_a_secret_is_cut_before_it():
    for secret in ("abcabcabd", "aaaaaab", "abcde"):
        for length in range(4, len(secret)):
            for before in ("", "x", "abc", "aaaa", "abcabc"):
                text = before + secret[:length]
                longest = next(n for n in range(len(text)) if secret.startswith(text[n:]))
                assert Hider([secret])(text) in {text[:longest] + "***", "***"}, text
        assert Hider([secret])("x" + secret[:3]) == "x" + secret[:3]
