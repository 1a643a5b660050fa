"""The streams of the paper's experiments: types, Branin, Hartmann, Parkinsons and supernovae.

A function named `…_stream` follows the paper's text and takes a seed; one named `…figures_trials` makes the
published figures' draws again. The last two need data files: `locate` finds them, `fetch` downloads them.
"""

from breakeven.datasets.discrete import Arrivals, arrival_shares, discrete_stream, figures_trials
from breakeven.datasets.files import (
    CorruptData,
    MissingData,
    Status,
    cache_folder,
    fetch,
    locate,
    verify,
)
from breakeven.datasets.functions import BRANIN, HARTMANN6, Function
from breakeven.datasets.parkinsons import (
    PatientArrivals,
    Recordings,
    parkinsons_figures_trials,
    parkinsons_stream,
    read_recordings,
    recordings_per_patient,
)
from breakeven.datasets.smooth import (
    branin_figures_trials,
    branin_stream,
    hartmann_figures_trials,
    hartmann_stream,
    smooth_stream,
)
from breakeven.datasets.sources import PARKINSONS, SUPERNOVA, Source, all_sources, source_named
from breakeven.datasets.stream import Stream
from breakeven.datasets.supernova import (
    distance_modulus,
    log_likelihood,
    log_likelihoods,
    read_supernovae,
    supernova_figures_trials,
    supernova_stream,
)

__all__ = [
    "BRANIN",
    "HARTMANN6",
    "PARKINSONS",
    "SUPERNOVA",
    "Arrivals",
    "CorruptData",
    "Function",
    "MissingData",
    "PatientArrivals",
    "Recordings",
    "Source",
    "Status",
    "Stream",
    "all_sources",
    "arrival_shares",
    "branin_figures_trials",
    "branin_stream",
    "cache_folder",
    "discrete_stream",
    "distance_modulus",
    "fetch",
    "figures_trials",
    "hartmann_figures_trials",
    "hartmann_stream",
    "locate",
    "log_likelihood",
    "log_likelihoods",
    "parkinsons_figures_trials",
    "parkinsons_stream",
    "read_recordings",
    "read_supernovae",
    "recordings_per_patient",
    "smooth_stream",
    "source_named",
    "supernova_figures_trials",
    "supernova_stream",
    "verify",
]
