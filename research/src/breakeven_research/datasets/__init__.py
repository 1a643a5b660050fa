"""The streams of the paper's experiments: types, Branin, Hartmann, Parkinsons and supernovae; and loans.

A function named `…_stream` follows the paper's text and takes a seed; one named `…figures_trials` makes the
published figures' draws again. The last two need data files: `locate` finds them, `fetch` downloads them.
"""

from breakeven.planning.streams import Stream
from breakeven_research.datasets.files import (
    PARKINSONS,
    SUPERNOVA,
    CorruptData,
    MissingData,
    Source,
    Status,
    all_sources,
    cache_folder,
    fetch,
    locate,
    source_named,
    verify,
)
from breakeven_research.datasets.functions import BRANIN, HARTMANN6, Function
from breakeven_research.datasets.parkinsons import (
    PatientArrivals,
    Recordings,
    parkinsons_figures_trials,
    parkinsons_stream,
    read_recordings,
    recordings_per_patient,
)
from breakeven_research.datasets.supernova import (
    distance_modulus,
    log_likelihood,
    log_likelihoods,
    read_supernovae,
    supernova_figures_trials,
    supernova_stream,
)
from breakeven_research.datasets.synthetic import (
    Arrivals,
    Noise,
    arrival_shares,
    branin_figures_trials,
    branin_stream,
    discrete_stream,
    figures_trials,
    hartmann_figures_trials,
    hartmann_stream,
    loan_stream,
    smooth_stream,
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
    "Noise",
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
    "loan_stream",
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
