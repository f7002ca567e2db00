"""The long proofs: `./run prove [--minutes N] [--seed S] [--only NAME]`.

The report for people goes to standard error, one JSON document to standard output; the exit code
is 1 when a promise was refuted. Proofs that take their own time run with 15 minutes and more.
"""

import argparse
import json
import secrets
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from tests.processes.child import family
from tests.prove.crew import Crew
from tests.prove.long import LONG, prove_at_length
from tests.prove.proofs import PROOFS
from tests.prove.sites import SITES
from tests.prove.verdict import Verdict

#: Minutes from which on proofs run that take as long as they take.
PLENTY = 15.0


def prove(name: str, seconds: float, seed: int) -> Verdict:
    """One proof: faults, healing, quiet, then the history is read."""
    plan = PROOFS[name]
    verdict, began = Verdict(name, seed), time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"tickwell-prove-{name}-"))
    site = SITES[plan.store](folder, name)
    with family() as processes:
        crew = Crew(site, processes, seed, sending=plan.sending)
        try:
            plan.proof(site, crew, verdict, seconds)
            verdict.faults = crew.faults
            verdict.heal(site)
        finally:
            crew.close()
    verdict.judge(site, by_reason=plan.by_reason)
    if verdict.outcomes.get("lost") and not plan.loses:
        verdict.violations.append(f"{verdict.outcomes['lost']} attempts were lost, and none had to")
    verdict.seconds = time.monotonic() - began
    if verdict.ok:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    else:
        verdict.violations.append(f"all that is left of it: {folder}")
    return verdict


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run prove", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long in all")
    parser.add_argument("--seed", type=int, default=None, help="repeat the faults of a run")
    parser.add_argument(
        "--only", choices=sorted(PROOFS | LONG), help="one proof, with all the time"
    )
    given = parser.parse_args()
    seed = secrets.randbelow(1 << 32) if given.seed is None else given.seed
    chosen = [name for name in PROOFS if given.only in {None, name}]
    whole = sum(PROOFS[name].share for name in chosen)
    verdicts = []
    for name in chosen:
        seconds = given.minutes * 60 * PROOFS[name].share / whole
        verdicts.append(prove(name, seconds, seed))
        sys.stderr.write(verdicts[-1].in_words() + "\n")
    for name in LONG:
        if given.only == name or (given.only is None and given.minutes >= PLENTY):
            verdicts.append(prove_at_length(name, seed))
            sys.stderr.write(verdicts[-1].in_words() + "\n")
    ok = all(verdict.ok for verdict in verdicts)
    json.dump({"ok": ok, "seed": seed, "proofs": [asdict(each) for each in verdicts]}, sys.stdout)
    sys.stdout.write("\n")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
