"""Statements keep to what MySQL 8 and MariaDB have in common.

They are tried on MariaDB; this is what keeps them good for MySQL as well.
"""

import re

import pytest

from tickwell.domain.execution import ENDED, LIVE, Kind, State
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.mysql import listing
from tickwell.stores.mysql.dialect import statements, with_prefix
from tickwell.stores.mysql.migrate import STEPS
from tickwell.stores.mysql.server import Flavour
from tickwell.stores.mysql.url import parse

COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)
SQL = statements("tickwell_")
ID = "00000000-0000-7000-8000-000000000000"


def lists():
    """Queries that are put together for each list: every term in each place that it may stand."""
    picks = {"app": "a", "project": "p", "queue": "q", "tag": "t", "search": "s"}
    for cursor, edge in ((None, None), (f"p\0n\0{ID}", f"p\0z\0{ID}")):
        for fields in ({}, picks, {"auto_remove": True}, {"auto_remove": False}):
            yield listing.jobs_query(SQL, JobFilter(**fields), cursor, 9, edge)
            yield listing.jobs_edge(SQL, JobFilter(**fields), cursor, 9)
    yield listing.jobs_query(SQL, JobFilter(fires_before=9), f"5\0{ID}", 9)
    rest = {"queue": "q", "since": 1, "until": 2, "due_before": 3, "kind": Kind.FIRE}
    running, dead = frozenset({State.RUNNING}), frozenset({State.DEAD})
    for states in (None, LIVE, running, ENDED, dead, frozenset(State)):
        for more in ({}, {"project": "p"}, {"job_id": ID}, rest):
            where = ExecutionFilter(states=states, **more)
            yield listing.executions_query(SQL, where, ID, 9, ID)
            yield listing.executions_edge(SQL, where, ID, 9)


TEXTS = dict(SQL) | {step.name: COMMENT.sub("", step.read_text("utf-8")) for step in STEPS}
TEXTS |= {f"list {number}": text for number, (text, _) in enumerate(lists())}
TEXTS["one"] = listing.one_query(SQL)
#: What only one of them has, or has otherwise.
APART = {
    "RETURNING": r"\bRETURNING\b",
    "sequences": r"\bSEQUENCE\b|\bNEXT VALUE\b",
    "FOR UPDATE OF": r"\bFOR (UPDATE|SHARE) OF\b",
    "FOR SHARE, which MariaDB has not": r"\bFOR SHARE\b",
    "LATERAL": r"\bLATERAL\b",
    "VALUES() of a duplicate, which MySQL gives up": r"\bVALUES\s*\(\s*\w+\s*\)",
    "a row alias, which MariaDB has not": r"\bVALUES\b[^;]*\)\s*AS\s+\w+\s+ON DUPLICATE",
    "errors that are swallowed": r"\bINSERT\s+IGNORE\b|\bREPLACE\s+INTO\b",
    "LIMIT inside of IN": r"\bIN\s*\(\s*SELECT\b[^()]*\bLIMIT\b",
    "set operations of late versions": r"\bEXCEPT\b|\bINTERSECT\b",
    "types of MariaDB": r"\b(UUID|INET6|INET4)\s*(,|NOT|PRIMARY)",
    "a column of the type JSON": r"\w\s+JSON\s*(,|NOT|DEFAULT)",
    "an alias in DELETE of one table": r"\bDELETE\s+FROM\s+\w+\s+AS\b",
    "an index hint in DELETE of one table": r"\bDELETE\s+FROM\s+\w+\s+FORCE\b",
    "|| which is OR": r"\|\|",
    "quoted names that are texts": r'"',
    "a collation of one of them": r"utf8mb4_\w+",
    "IF EXISTS where MySQL has none": r"\b(COLUMN|INDEX|KEY)\s+IF\s+(NOT\s+)?EXISTS\b",
    "a cast that MySQL has not": r"\bAS\s+(INT|INTEGER|BIGINT|VARCHAR|TEXT)\s*[()]",
    "a default of a long text": r"TEXT\b[^,]*\bDEFAULT\b",
    "CREATE OR REPLACE": r"\bOR\s+REPLACE\b",
    "SET STATEMENT": r"\bSET\s+STATEMENT\b",
    "FETCH FIRST": r"\bFETCH\s+(FIRST|NEXT)\b",
    "locks that MySQL cannot skip or wait for": r"\bSHARE MODE SKIP\b|\bFOR UPDATE WAIT\b",
    "a list of rows as a table": r"(\(|\bFROM\s+\(?|^)\s*VALUES\s*\(",
    "a function of one of them": r"\b(BIN_TO_UUID|UUID_TO_BIN|JSON_ARRAYAGG|NVL|ANY_VALUE)\s*\(",
}
#: Reserved by MySQL 8 and not by MariaDB.
RESERVED = (
    *("cube", "cume_dist", "dense_rank", "empty", "first_value", "function", "generated"),
    *("get", "groups", "lag", "last_value", "lead", "nth_value", "ntile", "of"),
    *("optimizer_costs", "parallel", "percent_rank", "qualify", "rank", "row", "row_number"),
    *("rows", "stored", "system", "tablesample", "virtual", "window", "library", "manual"),
)
#: All functions that are called: both have them, with the same meaning.
FUNCTIONS = {
    *("CAST", "COALESCE", "CONCAT", "CONNECTION_ID", "COUNT", "GREATEST", "IF", "JSON_TABLE"),
    *("LEAST", "MIN", "MOD", "NULLIF", "ROW_COUNT", "SUM", "SYSDATE", "UNIX_TIMESTAMP"),
    *("JSON_CONTAINS", "LENGTH", "LOCATE"),
}
CALL = re.compile(r"\b([A-Z][A-Z_]+)\(")
#: Words that are followed by a bracket and are no functions.
WORDS = {"CHAR", "VARCHAR"}


@pytest.mark.parametrize("what", APART)
def test_nothing_is_used_that_only_one_of_them_has(what):
    assert [name for name, text in TEXTS.items() if re.search(APART[what], text)] == []


def test_no_name_is_a_word_that_mysql_reserves():
    bare = re.compile(rf"(?<![.`\w])({'|'.join(RESERVED)})(?![`\w])", re.IGNORECASE)
    found = {name: bare.findall(text) for name, text in TEXTS.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_only_functions_that_both_have_are_called():
    called = {word for text in TEXTS.values() for word in CALL.findall(text)}
    assert called - WORDS <= FUNCTIONS


WRITE = re.compile(r"(?:UPDATE|DELETE\s+FROM|DELETE)\s+(\w+)(.*)", re.DOTALL)
READ = r"\b(?:FROM|JOIN)\s+{}\b"
SEVERAL = re.compile(
    r"\bUPDATE\b(?:(?!\bSET\b).)*(?:\bJOIN\b|,)(?:(?!\bSET\b).)*\bSET\b", re.DOTALL
)


def parts():
    """One by one: a name may stand for several."""
    return [(name, part.strip()) for name, text in TEXTS.items() for part in text.split(";")]


def test_no_write_reads_its_own_table_in_a_query_of_its_own():
    """MariaDB does it, MySQL refuses (1093)."""
    written = [(name, found) for name, part in parts() if (found := WRITE.match(part))]
    assert len(written) > 50
    assert [name for name, one in written if re.search(READ.format(one[1]), one[2])] == []


def test_no_write_to_several_tables_has_an_order_or_a_limit():
    """MariaDB does it, MySQL refuses (1221)."""
    several = [(name, part) for name, part in parts() if SEVERAL.match(part)]
    assert several
    assert [name for name, part in several if re.search(r"\b(ORDER BY|LIMIT)\b", part)] == []


def test_every_table_that_a_function_makes_has_a_name():
    made = re.compile(r"JSON_TABLE\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
    found = [
        (name, text[each.end() :]) for name, text in TEXTS.items() for each in made.finditer(text)
    ]
    assert len(found) > 10
    assert [name for name, rest in found if not re.match(r"\s+AS\s+\w", rest)] == []


def test_texts_of_lists_have_a_character_set_of_their_own():
    """Else MariaDB would take that of the database."""
    bare = re.compile(r"(CHAR\(\d+\)|LONGTEXT) PATH")
    assert [name for name, text in TEXTS.items() if bare.search(text)] == []


def test_every_table_says_its_engine_and_its_collation():
    for step in STEPS:
        text = step.read_text("utf-8")
        made = text.count("CREATE TABLE")
        assert text.count("ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE {collation};") == made


def test_names_begin_with_the_prefix_that_is_asked_for():
    for text in TEXTS.values():
        assert "tickwell_" not in with_prefix(text, "mine_")


@pytest.mark.parametrize(
    ("version", "too_old"),
    [
        ("8.0.16", True),
        ("8.0.17", False),
        ("8.4.3", False),
        ("5.7.44-log", True),
        ("10.5.29-MariaDB", True),
        ("10.6.0-MariaDB-log", False),
        ("5.5.5-10.11.19-MariaDB", False),
        ("11.4.2-MariaDB-ubu2404", False),
        ("who knows", True),
    ],
)
def test_versions_are_told_apart(version, too_old):
    assert Flavour(version).is_too_old is too_old


def test_each_is_told_what_it_understands():
    location = parse("mysql://h/d?statement_timeout=2.5&lock_timeout=0.2")
    mysql, mariadb = (Flavour(v).settings(location) for v in ("8.4.3", "10.11.19-MariaDB"))
    assert "COLLATE utf8mb4_0900_bin" in mysql
    assert mysql.endswith("SET max_execution_time = 2500; SET wait_timeout = 2")
    assert "COLLATE utf8mb4_nopad_bin" in mariadb
    assert "SET max_statement_time = 2.5; SET in_predicate" in mariadb
    assert mariadb.endswith(", idle_transaction_timeout = 2")
    for text in (mysql, mariadb):
        assert "time_zone = '+00:00', innodb_lock_wait_timeout = 1" in text
        assert "ISOLATION LEVEL READ COMMITTED" in text
