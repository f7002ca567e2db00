"""The same with every role, sequences of requests, and a large budget; on both kinds of store."""

import pytest

from tests.api.fuzzing import PHASES, Fuzz
from tests.api.serving import WHO, Serving, kept_in

#: Seconds for one role on one store, and requests for one operation.
BUDGET, EXAMPLES = 600, 50

pytestmark = pytest.mark.timeout(BUDGET)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def serving(request, tmp_path_factory):
    with Serving(kept_in(request.param, tmp_path_factory.mktemp("fuzz"))) as serving:
        yield serving


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("role", WHO)
def test_no_request_is_a_server_error_or_passes_unknown(serving, role, phase):
    budget = BUDGET // len(PHASES)
    fuzz = Fuzz(serving, role, phases=[phase], examples=EXAMPLES, seed=1, seconds=budget)
    assert fuzz.run() == {}
