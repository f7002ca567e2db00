"""A page of any size that costs nothing to make: `python -m bench.limits.static_page`."""

from functools import cache

from fastapi import FastAPI, Response

from bench.ours.listen import serve

app = FastAPI(openapi_url=None)


@cache
def _body(size: int) -> bytes:
    return b"x" * size


@app.get("/page/{size}")
async def page(size: int) -> Response:
    """So many bytes."""
    return Response(_body(size), media_type="text/html")


if __name__ == "__main__":
    serve(app)
