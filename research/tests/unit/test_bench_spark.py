"""What the benchmark of Spark rests on: the trivial map counts, and CPU time is that of all processes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from breakeven.engines.frames import A_LABEL, AN_ARRIVAL
from breakeven_research.bench.results import FULL, QUICK
from breakeven_research.bench.spark_streams import _compared, count_by_key, cpu_of, measurements


def test_the_map_counts_arrivals_by_key_and_goes_on():
    frame = pd.DataFrame({"what": AN_ARRIVAL, "key": [7, 3, 7], "id": [1, 2, 3]})
    state, answers = count_by_key(b"", [frame])
    assert answers["round"].tolist() == [2, 1, 2]
    more = pd.DataFrame({"what": [AN_ARRIVAL, A_LABEL], "key": [7, 7], "id": [4, 1]})
    state, answers = count_by_key(state, [more])
    assert answers["round"].tolist() == [3]
    assert np.frombuffer(state, dtype=np.int64).tolist() == [3, 7, 1, 3]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
def test_the_time_of_children_counts():
    before = cpu_of(os.getpid())
    subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
    assert cpu_of(os.getpid()) > before


def test_ratios_are_of_warm_batches_and_the_slowest_is_named():
    ours = [9.0, 2.0] + [2.0] * 18 + [3.0]
    rate, growth = _compared(FULL, ours, [8.0, 1.5, 1.8, 2.1], [1.0, 1.0])
    assert (rate.ratio, rate.reached) == ("0.90× its rate", True)
    assert (growth.ratio, growth.reached) == ("1.50×", False)


def test_a_quick_run_says_that_spark_is_left_out():
    found = [one for measurement in measurements(QUICK) for one in measurement.results()]
    assert {one.beside for one in found} == {"in a full run only: Spark alone takes half a minute to start"}
