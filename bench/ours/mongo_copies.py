"""Copies of the jobs in a database, made by the server."""

from typing import Any

from pymongo import MongoClient

from bench.ours.process import open_store

#: Job n is a copy of job n modulo the number of templates, with an id and a name of its own.
DIGITS = "0123456789abcdef"
QUOTED: list[Any] = [{"$concat": ['"', each, '"']} for each in ("$name", "$own_name")]


def _hex_digit(power: int) -> dict[str, Any]:
    value = {"$mod": [{"$floor": {"$divide": ["$n", 16**power]}}, 16]}
    return {"$substrBytes": [DIGITS, {"$toInt": value}, 1]}


def _replaced(text: Any, find: Any, by: Any) -> dict[str, Any]:
    return {"$replaceOne": {"input": text, "find": find, "replacement": by}}


async def copy_jobs(url: str, templates: int, count: int) -> None:
    """Until there are so many. Without indexes, which are made anew when the store is opened."""
    copies = -(-count // templates)
    own_id = {"$concat": [{"$substrBytes": ["$_id", 0, 24]}, *map(_hex_digit, range(11, -1, -1))]}
    own_name = {"$concat": ["job-", {"$toString": "$n"}]}
    client: MongoClient[dict[str, Any]]
    with MongoClient(url, w=1, journal=False) as client:
        jobs: Any = client.get_default_database()["jobs"]
        ids = sorted(doc["_id"] for doc in jobs.find({}, {"_id": 1}))
        jobs.drop_indexes()
        place = {"$add": [{"$indexOfArray": [ids, "$_id"]}, {"$multiply": ["$copy", templates]}]}
        jobs.aggregate(
            [
                {"$set": {"copy": {"$range": [1, copies]}}},
                {"$unwind": "$copy"},
                {"$set": {"n": place}},
                {"$match": {"n": {"$lt": count}}},
                {"$set": {"own_id": own_id, "own_name": own_name}},
                {"$set": {"document": _replaced("$document", "$_id", "$own_id")}},
                {"$set": {"document": _replaced("$document", *QUOTED)}},
                {"$set": {"_id": "$own_id", "name": "$own_name", "search": "$own_name"}},
                {"$unset": ["copy", "n", "own_id", "own_name"]},
                {"$merge": {"into": "jobs", "whenMatched": "fail"}},
            ]
        )
    store = open_store(url)
    await store.open()
    await store.close()
