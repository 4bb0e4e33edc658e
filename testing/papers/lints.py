"""The linters of pkilint, in a few processes of their own: each would take a second to start."""

import io
import json
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from multiprocessing import get_context


def pool():
    """Processes that run `findings`. They are spawned, since threads are running here."""
    return ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"))


def findings(program, *options):
    """The codes of what this linter finds with these options."""
    linter = import_module(f"pkilint.bin.{program}")
    told, failed = io.StringIO(), io.StringIO()
    with redirect_stdout(told), redirect_stderr(failed):
        linter.main(["lint", *options, "-s", "ERROR", "-f", "JSON"])
    if not told.getvalue():
        raise ValueError(failed.getvalue().strip())
    results = json.loads(told.getvalue())["results"]
    return {one["code"] for result in results for one in result["finding_descriptions"]}
