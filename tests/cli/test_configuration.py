"""Settings by option, environment, .env and tickwell.toml."""

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from tickwell.cli.config.configuration import configure
from tickwell.errors import InvalidSetting
from tickwell.settings import Settings


def test_the_first_one_wins(tmp_path):
    (tmp_path / "tickwell.toml").write_text(
        'store = "sqlite:///toml.db"\ncapacity = 5\nhorizon = "3s"\n'
        'allow_http = true\nqueues = ["a"]\n'
    )
    (tmp_path / ".env").write_text(
        "# words\n\nexport TICKWELL_CAPACITY='6'\nTICKWELL_THREADS=3\nOTHER=1\n"
        'TICKWELL_BATCH = "9"\n'
    )
    environ = {"TICKWELL_CAPACITY": "7", "TICKWELL_ALLOW_PORTS": "443, 8000-8999", "HOME": "/"}
    found = configure(None, environ, tmp_path)
    settings = found.settings
    assert (settings.store, settings.horizon, settings.allow_http) == (
        "sqlite:///toml.db",
        3.0,
        True,
    )
    assert (settings.capacity, settings.threads, settings.batch) == (7, 3, 9)
    assert (settings.queues, settings.allow_ports) == (("a",), ("443", "8000-8999"))
    assert found.origins["capacity"] == "TICKWELL_CAPACITY in the environment"
    assert found.origins["threads"] == "TICKWELL_THREADS in .env"
    assert found.origins["horizon"] == "horizon in tickwell.toml"
    assert "port" not in found.origins
    by_option = configure("memory://", environ, tmp_path)
    assert (by_option.settings.store, by_option.origins["store"]) == ("memory://", "--store")


@pytest.mark.parametrize(
    ("toml", "environ", "message"),
    [
        ("stroe = 'x'", {}, "tickwell.toml: 'stroe' is not a setting. Is it store?"),
        ("nonsense = 1", {}, "'nonsense' is not a setting. tickwell config show lists them all"),
        (
            "",
            {"TICKWELL_CAPACTY": "3"},
            "TICKWELL_CAPACTY in the environment: not a setting. Is it TICKWELL_CAPACITY?",
        ),
        ("capacity = ", {}, "tickwell.toml: cannot be read"),
        ("capacity = '5'", {}, "capacity in tickwell.toml: '5' is not a whole number"),
        ("allow_http = 1", {}, "allow_http in tickwell.toml: 1 is not true or false"),
        ("queues = 'a'", {}, "queues in tickwell.toml: 'a' is not a list of texts"),
        (
            "",
            {"TICKWELL_CAPACITY": "many"},
            "TICKWELL_CAPACITY in the environment: 'many' is not a whole number",
        ),
        ("", {"TICKWELL_ALLOW_HTTP": "maybe"}, "'maybe' is not true or false"),
        (
            "",
            {"TICKWELL_CAPACITY": "0"},
            "TICKWELL_CAPACITY in the environment: must be 1 or more",
        ),
        (
            "",
            {"SCHEDULER_BATCH_SIZE": "0"},
            "SCHEDULER_BATCH_SIZE in the environment: must be 1 or more",
        ),
        (
            "beat = '20s'",
            {},
            "lease by default, beat in tickwell.toml: 30s is less than three times the beat, 20s",
        ),
        (
            "beat = '20s'",
            {"TICKWELL_LEASE": "40s"},
            "TICKWELL_LEASE in the environment, beat in tickwell.toml: 40s is less",
        ),
        ("lead = '9s'", {}, "lead in tickwell.toml: 9s is not between 0 and the horizon, 2s"),
        (
            "beat = 20",
            {},
            'beat in tickwell.toml: must have a unit; got 20. Write "20s" for seconds or "20ms"',
        ),
        ("beat = 0.5", {}, 'beat in tickwell.toml: must have a unit; got 0.5. Write "0.5s" for'),
        (
            "",
            {"TICKWELL_POLL": "9"},
            'TICKWELL_POLL in the environment: must have a unit; got 9. Write "9s" for seconds',
        ),
        ("", {"SCHEDULER_TICK_INTERVAL": "soon"}, "'soon' is not a duration"),
        (
            "port = 65536",
            {},
            "port in tickwell.toml: must be between 0 and 65535. 0 means any free port",
        ),
    ],
)
def test_what_cannot_be_is_named(tmp_path, toml, environ, message):
    (tmp_path / "tickwell.toml").write_text(toml)
    with pytest.raises(InvalidSetting) as refused:
        configure(None, environ, tmp_path)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("variable", "value", "poll"),
    [
        ("SCHEDULER_POLL_INTERVAL", "500", 0.5),
        ("SCHEDULER_POLL_INTERVAL", "2s", 2.0),
        ("SCHEDULER_TICK_INTERVAL", "2", 2.0),
    ],
)
def test_a_bare_number_is_what_its_variable_counts(tmp_path, variable, value, poll):
    assert configure(None, {variable: value}, tmp_path).settings.poll == poll


def test_customary_names_are_known_and_ours_win(tmp_path):
    environ = {
        "DATABASE_URL": "mysql+pymysql://user:password@localhost:3306/scheduler",
        "REDIS_URL": "redis://localhost:6379/0",
        "SCHEDULER_TICK_INTERVAL": "2",
        "MAX_CONCURRENT_JOBS": "20",
        "TICKWELL_CAPACITY": "30",
    }
    (tmp_path / ".env").write_text(
        "SCHEDULER_BATCH_SIZE=100   # Max jobs per tick\nTICKWELL_POLL=9s\nTICKWELL_STORE=memory://\n"
    )
    found = configure(None, environ, tmp_path)
    settings = found.settings
    assert settings.store == "mysql://user:password@localhost:3306/scheduler"
    assert (settings.notify, settings.poll, settings.batch, settings.capacity) == (
        "redis://localhost:6379/0",
        2.0,
        100,
        30,
    )
    assert found.origins["store"] == "DATABASE_URL in the environment"
    assert found.origins["batch"] == "SCHEDULER_BATCH_SIZE in .env"
    assert found.origins["capacity"] == "TICKWELL_CAPACITY in the environment"


def test_a_server_wins_over_a_store_unless_the_store_is_an_option(tmp_path):
    environ = {"TICKWELL_SERVER": "http://h", "TICKWELL_STORE": "memory://", "TICKWELL_KEY": "k"}
    found = configure("memory://", environ, tmp_path, server="http://h", key="k")
    assert (found.server, found.key) == ("http://h", "k")
    assert found.origins["server"] == "TICKWELL_SERVER in the environment"
    assert configure("sqlite:///x.db", environ, tmp_path, server="http://h").server == ""
    by_option = configure("memory://", environ, tmp_path, server="http://other")
    assert (by_option.server, by_option.origins["server"]) == ("http://other", "--server")
    with pytest.raises(InvalidSetting, match="--store and --server are mutually exclusive"):
        configure("sqlite:///x.db", environ, tmp_path, server="http://other")


def test_show_says_where_each_came_from_and_no_password(tickwell, folder, monkeypatch):
    (folder / "tickwell.toml").write_text("capacity = 5\n")
    monkeypatch.setenv("TICKWELL_STORE", "postgresql://ada:secret@db/x")
    rows = {row[0]: row[1:] for row in tickwell("config", "show").rows}
    assert rows["capacity"] == ["5", "capacity in tickwell.toml"]
    assert rows["port"] == ["8080", "default"]
    assert rows["store"] == ['"postgresql://ada:…@db/x"', "TICKWELL_STORE in the environment"]
    monkeypatch.setenv("TICKWELL_KEY", "tw_secret")
    monkeypatch.setenv("TICKWELL_STORE", "postgresql://ada:s/ecret@db/x?sslpassword=secret")
    monkeypatch.setenv("REDIS_URL", "redis://:secret@cache/0")
    shown = tickwell("config", "show")
    assert "secret" not in shown.out.replace("secret_key_file", "")
    assert shown.rows[-1] == ["key", '"…"', "TICKWELL_KEY in the environment"]
    items = tickwell("config", "show", "--store", "sqlite:///x.db", "--json").json["items"]
    assert items[0] == {"name": "store", "value": "sqlite:///x.db", "from": "--store"}


def test_a_command_takes_its_store_and_its_guard_from_there(tickwell, folder):
    hook = ("jobs", "add", "x", "--every", "5m", "--url", "http://127.0.0.1:9000/")
    assert tickwell(*hook).code == 2
    (folder / "tickwell.toml").write_text(
        'store = "sqlite:///other.db"\nallow_http = true\n'
        'allow_private = ["127.0.0.0/8"]\nallow_ports = ["1-65535"]\n'
    )
    assert tickwell(*hook).code == 0
    assert (folder / "other.db").exists()
    assert not (folder / "tickwell.db").exists()


def test_a_url_that_is_refused_keeps_its_password(tickwell, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "oracle+cx://ada:secret@db/x")
    ended = tickwell("jobs", "list")
    assert ended.code == 2
    assert "'oracle://…' names no store that Tickwell knows" in ended.err
    assert "secret" not in ended.err


def test_what_is_somebody_elses_may_begin_like_ours(tmp_path):
    environ = {
        "TICKWELL_TEST_REDIS": "x",
        "TICKWELL_SECRET_KEY": "x",
        "TICKWELL_TEAM": "x",
        "TICKWELL_LOST": "x",
    }
    assert configure(None, environ, tmp_path).origins == {}


def test_an_application_has_what_its_code_leaves_out_from_here(tmp_path, monkeypatch):
    serve = importlib.import_module("tickwell.cli.serving.serve")
    monkeypatch.chdir(tmp_path)
    Path("tickwell.toml").write_text('store = "memory://"\nport = 8184\ncapacity = 7\n')
    code = Settings(store="sqlite:///code.db", capacity=3)
    assert serve._completed(code) == replace(code, port=8184)


def test_a_url_that_is_refused_is_named_by_its_place(tickwell, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "oracle://u:secret@h/x")
    ended = tickwell("jobs", "list")
    assert ended.code == 2
    assert ended.err.startswith("tickwell: DATABASE_URL in the environment: 'oracle://…' names no")


def test_a_url_that_is_empty_is_none(tmp_path):
    (tmp_path / ".env").write_text("TICKWELL_STORE=sqlite:///here.db\n")
    empty = {"DATABASE_URL": "", "TICKWELL_STORE": "", "REDIS_URL": ""}
    found = configure(None, empty, tmp_path)
    assert (found.settings.store, found.settings.notify) == ("sqlite:///here.db", None)


def test_quotes_and_words_after_them_in_a_file_of_variables(tmp_path):
    lines = ['export TICKWELL_CAPACITY="7" # few', "TICKWELL_HOST='a #b'", "TICKWELL_PORT=9 # nine"]
    (tmp_path / ".env").write_text("\n".join(lines))
    found = configure(None, {}, tmp_path).settings
    assert (found.capacity, found.host, found.port) == (7, "a #b", 9)


@pytest.mark.parametrize("key", ["exported", "option"])
def test_a_file_in_the_folder_does_not_decide_where_a_key_goes(tmp_path, key):
    (tmp_path / ".env").write_text("TICKWELL_SERVER=https://evil.example\n")
    environ = {"TICKWELL_KEY": "tw_mine"} if key == "exported" else {}
    option = "tw_mine" if key == "option" else None
    found = configure(None, environ, tmp_path, key=option)
    with pytest.raises(InvalidSetting, match=r"TICKWELL_SERVER in \.env.*--server"):
        found.require_own_server()
    for good in (
        configure(None, environ, tmp_path, key=option, server="https://mine.example"),
        configure(None, environ | {"TICKWELL_SERVER": "https://mine.example"}, tmp_path),
        configure(None, {}, tmp_path),
    ):
        good.require_own_server()
    (tmp_path / ".env").write_text("TICKWELL_SERVER=https://its.example\nTICKWELL_KEY=its\n")
    configure(None, {}, tmp_path).require_own_server()


def test_a_command_sends_no_exported_key_to_the_server_of_a_file(tickwell, folder, monkeypatch):
    (folder / ".env").write_text("TICKWELL_SERVER=http://127.0.0.1:9\n")
    monkeypatch.setenv("TICKWELL_KEY", "tw_mine")
    refused = tickwell("jobs", "list")
    assert refused.code == 2
    assert "TICKWELL_SERVER in .env" in refused.err


@pytest.mark.parametrize(
    "url",
    ["example.com", "ftp://example.com", "https://a/?x", "https://a/#b", "https://u@a", "//a"],
)
def test_what_is_no_public_url_is_refused(url):
    with pytest.raises(InvalidSetting, match="public_url"):
        Settings(public_url=url)
    for good in ("https://jobs.example.com", "http://localhost:8080/scheduler/", "https://[::1]:8"):
        assert Settings(public_url=good).public_url == good


@pytest.mark.parametrize(
    "url",
    ["mail.example.com", "http://mail.example.com", "smtp://", "smtp://u:p@host:x", "smtp://["],
)
def test_what_is_no_smtp_server_is_refused_without_its_password(url):
    with pytest.raises(InvalidSetting, match=r"^smtp: ") as caught:
        Settings(smtp=url, smtp_from="tickwell@example.com")
    assert "u:p" not in str(caught.value)


def test_mail_has_a_sender_and_its_password_is_not_shown():
    with pytest.raises(InvalidSetting, match="smtp_from"):
        Settings(smtp="smtp://user:hush@mail.example.com")
    good = Settings(smtp="smtp://user:hush@mail.example.com", smtp_from="tickwell@example.com")
    assert "hush" not in repr(good)
