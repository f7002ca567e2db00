"""Targets: what is refused when they are made, and their documents."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickwell.domain.document.target import TARGET
from tickwell.domain.document.values import Unfit
from tickwell.domain.http import Basic, Bearer, Http, Json, OAuth
from tickwell.domain.target import Call
from tickwell.errors import InvalidJob

URL = "https://example.com/hook"
SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()


def test_a_webhook_is_what_a_worker_can_do():
    assert Http(URL).ability_in("default") == "http"
    assert (Http(URL).method, Http(URL).timeout, Http(URL).keep) == ("POST", 30_000, 1000)


def test_a_webhook_can_be_hashed_and_compared():
    one = Http(URL, headers={"A": "1", "B": "2"}, body={"a": [1], "b": None}, query={"q": 1})
    same = Http(URL, headers={"B": "2", "A": "1"}, body={"b": None, "a": [1]}, query={"q": "1"})
    assert one == same
    assert hash(one) == hash(same)
    assert one != Http(URL, body={"a": [2]})


def test_a_webhook_does_not_change_with_what_it_was_made_of():
    headers, body = {"A": "1"}, {"a": [1]}
    target = Http(URL, headers=headers, body=body)
    headers["A"] = "2"
    body["a"].append(2)
    target.body.value["a"].append(3)
    assert (dict(target.headers), target.body.value) == ({"A": "1"}, {"a": [1]})


@pytest.mark.parametrize(
    ("fields", "where", "says"),
    [
        ({"url": 7}, "url", "not a text"),
        ({"url": "example.com"}, "url", "not a URL"),
        ({"url": URL + "a" * 2048}, "url", "more than 2048"),
        ({"url": "https://{{payload.host}}/"}, "url", "host or port"),
        ({"url": URL + "/{{nobody}}"}, "url", "{{nobody}} is not a known name"),
        ({"url": URL + "/{{attempt"}, "url", "not followed"),
        ({"method": "BREW"}, "method", "not one of GET"),
        ({"method": "GET", "body": "x"}, "body", "no body"),
        ({"headers": {"X": 7}}, "headers.X", "not a text"),
        ({"headers": {"X": "{{nobody}}"}}, "headers.X", "not a known name"),
        ({"query": {"q": []}}, "query", "list is not a text"),
        ({"query": {"q": "x" * 3000}}, "query", "longer than 2048"),
        ({"query": {"q": "{{nobody}}"}}, "query.q", "not a known name"),
        ({"body": "x" * 300_000}, "body", "more than 262144"),
        ({"body": {"x": "y" * 300_000}}, "body", "more than 262144"),
        ({"body": {"x": float("nan")}}, "body", "not JSON"),
        ({"body": {"x": object()}}, "body", "not JSON"),
        ({"body": {"x": "\ud800"}}, "body", "not JSON"),
        ({"body": "\ud800"}, "body", "unpaired surrogate"),
        ({"body": {"x": "{{payload}} {{os.system}}"}}, "body", "{{os.system}}"),
        ({"body": "{{ payload.__class__ }}{{ 7*7 }}"}, "body", "7*7"),
        ({"body": "{{firetime}}"}, "body", "Did you mean {{fire_time}}"),
        ({"body": "{{secret.a.b}}"}, "body", "not a known name"),
        ({"timeout": -1}, "timeout", "between 0"),
        ({"timeout": "-5s"}, "timeout", "not a duration"),
        ({"timeout": "0s"}, "timeout", "between 1 ms and a day"),
        ({"timeout": "2d"}, "timeout", "between 1 ms and a day"),
        ({"timeout": True}, "timeout", "not a duration"),
        ({"retry_on": [200]}, "retry_on", "200 is not a status"),
        ({"retry_on": [410]}, "retry_on", "410 is not a status"),
        ({"retry_on": ["409"]}, "retry_on", "not a status"),
        ({"keep": -1}, "keep", "between 0 and 65536"),
        ({"keep": 65_537}, "keep", "between 0 and 65536"),
        ({"auth": "Bearer x"}, "auth", "must be Basic"),
        ({"sign_with": [SECRET] * 5}, "sign_with", "more than 4"),
        ({"sign_with": [7]}, "sign_with", "a key is a text"),
        ({"certificate": "{{nobody}}"}, "certificate", "not a known name"),
    ],
)
def test_what_cannot_work_is_refused_with_one_sentence(fields, where, says):
    with pytest.raises(InvalidJob) as refused:
        Http(**{"url": URL} | fields)
    assert refused.value.field == f"target.http.{where}"
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_body_is_not_nested_without_end():
    deep: list = []
    for _ in range(40):
        deep = [deep]
    with pytest.raises(InvalidJob, match="nested more than 32"):
        Http(URL, body=deep)
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidJob):
        Http(URL, body=deep)
    while deep:  # taken apart by hand: freeing it at once would recurse as deep
        deep = deep[0]


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda: Basic("a:b", "c"), "basic.user"),
        (lambda: Basic("", "c"), "basic.user"),
        (lambda: Basic("a", "{{nobody}}"), "basic.password"),
        (lambda: Bearer(""), "bearer.token"),
        (lambda: Bearer("x" * 5000), "bearer.token"),
        (lambda: OAuth("ftp://x", "a", "b"), "oauth.token_url"),
        (lambda: OAuth(URL + "/{{project}}", "a", "b"), "oauth.token_url"),
        (lambda: OAuth(URL, "", "b"), "oauth.client_id"),
    ],
)
def test_who_sends_it_is_checked(make, where):
    with pytest.raises(InvalidJob) as refused:
        make()
    assert refused.value.field == f"target.http.auth.{where}"


@pytest.mark.parametrize(
    "target",
    [
        Call("send"),
        Http(URL),
        Http(URL, "GET", query={"a": "b"}, headers={"X": "{{attempt}}"}),
        Http(URL, body={"a": None}, auth=Bearer("t"), sign_with=SECRET, timeout="5s"),
        Http(URL, body="text", auth=Basic("u", "p"), retry_on=[409], keep=0),
        Http(URL, body=Json("text"), auth=OAuth(URL, "i", "s", "scope"), certificate="pem"),
        Http(URL, "PUT", body=Json(None)),
    ],
)
def test_documents_read_back(target):
    assert TARGET.read(TARGET.write(target)) == target


def test_the_document_says_what_kind_the_body_is():
    assert TARGET.write(Http(URL, body={"a": 1})) == {"http": {"url": URL, "json": {"a": 1}}}
    assert TARGET.write(Http(URL, body="a")) == {"http": {"url": URL, "text": "a"}}
    assert TARGET.read({"http": {"url": URL, "body": {"a": 1}}}).body == Json({"a": 1})
    assert TARGET.read({"http": {"url": URL, "json": None}}).body == Json(None)
    assert TARGET.read({"http": {"url": URL, "text": None}}).body is None


@pytest.mark.parametrize(
    ("inner", "where"),
    [
        ({}, "target.http.url"),
        ({"url": 7}, "target.http.url"),
        ({"url": URL, "ulr": 1}, "target.http.ulr"),
        ({"url": URL, "json": 1, "text": "a"}, "target.http"),
        ({"url": URL, "text": 1}, "target.http.text"),
        ({"url": URL, "headers": []}, "target.http.headers"),
        ({"url": URL, "headers": {"X": None}}, "target.http.headers.X"),
        ({"url": URL, "timeout": "soon"}, "target.http.timeout"),
        ({"url": URL, "timeout": -5}, "target.http.timeout"),
        ({"url": URL, "retry_on": 500}, "target.http.retry_on"),
        ({"url": URL, "auth": {}}, "target.http.auth"),
        ({"url": URL, "auth": {"bearer": {}}}, "target.http.auth.bearer.token"),
        ({"url": URL, "sign_with": "x"}, "target.http.sign_with"),
    ],
)
def test_a_document_that_is_wrong_names_the_place(inner, where):
    with pytest.raises(InvalidJob) as refused:
        TARGET.read({"http": inner})
    assert refused.value.field == where


@pytest.mark.parametrize("document", [{"http": "x"}, {"http": None}, {"fax": {}}, {}, "http", None])
def test_what_is_no_target_is_unfit(document):
    with pytest.raises(Unfit):
        TARGET.read(document)


def field_refused(make):
    try:
        make()
    except InvalidJob as refused:
        return refused.field
    return None


ODD = st.text(st.sampled_from("ah:/@#?[]{}.\\%0x1\uff19①。 \r\n\x00-_ü日ß"), max_size=40)


@given(ODD)
def test_no_url_breaks_the_parser(text):
    for url in (text, f"http://{text}", f"https://{text}/", f"http://a.test/{text}"):
        assert field_refused(lambda url=url: Http(url)) in {None, "target.http.url"}


@given(st.text(st.sampled_from("{} abpyloadtem._-\n"), max_size=60))
def test_no_text_breaks_the_templates(text):
    assert field_refused(lambda: Http(URL, body=text)) in {None, "target.http.body"}
