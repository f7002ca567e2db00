"""A bare FastAPI route with the body model of a job: `python -m bench.limits.bare_api`."""

from fastapi import FastAPI

from bench.limits.job_model import JobBody
from bench.ours.listen import serve

app = FastAPI(openapi_url=None)


@app.post("/api/v1/jobs", status_code=201)
async def create(body: JobBody) -> dict[str, str]:
    return {"name": body.name}


if __name__ == "__main__":
    serve(app)
