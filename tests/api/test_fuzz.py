"""No request, good or bad, is a server error or passes without a key: a small budget of them.

`./run prove --only fuzz` has a large one, with every role on both stores and sequences of requests.
"""

import pytest

from tests.api.fuzzing import Fuzz
from tests.api.serving import Serving, kept_in

#: Seconds for each role and each way of making requests.
BUDGET = 5


@pytest.fixture(scope="module")
def serving(request, tmp_path_factory):
    with Serving(kept_in(request.param, tmp_path_factory.mktemp("fuzz"))) as serving:
        yield serving


@pytest.mark.parametrize(
    ("serving", "role"), [("sqlite", "viewer"), ("postgres", "admin")], indirect=["serving"]
)
@pytest.mark.parametrize("phases", [("examples", "fuzzing"), ("coverage",)], ids="+".join)
def test_no_request_is_a_server_error_or_passes_unknown(serving, role, phases):
    fuzz = Fuzz(serving, role, phases=phases, examples=3, seed=1, seconds=BUDGET)
    assert fuzz.run() == {}
    seen = set().union(*fuzz.statuses.values())
    assert seen
