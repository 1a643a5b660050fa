"""The data files of the paper's experiments: names, origins, hashes, licences.

No data file is part of this package. The hash is that of the file itself, also where it comes in an archive.
"""

from dataclasses import dataclass

from breakeven.errors import expect


@dataclass(frozen=True)
class Source:
    """A data file: its name, its origin and the SHA-256 it must have; `member` names it inside a zip archive.

    >>> SUPERNOVA.filename, SUPERNOVA.size
    ('davis2007_supernova.txt', 4992)
    """

    name: str
    filename: str
    url: str
    sha256: str
    size: int
    citation: str
    licence: str
    member: str | None = None


PARKINSONS = Source(
    name="parkinsons",
    filename="parkinsons_updrs.data",
    url="https://archive.ics.uci.edu/static/public/189/parkinsons+telemonitoring.zip",
    sha256="f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39",
    size=911261,
    citation=(
        "A. Tsanas, M. A. Little, P. E. McSharry, L. O. Ramig, Accurate telemonitoring of Parkinson's "
        "disease progression by non-invasive speech tests, IEEE Trans. Biomedical Engineering 57(4), 2010; "
        "A. Tsanas, M. Little, Parkinsons Telemonitoring, UCI ML Repository, 2009, doi:10.24432/C5ZS3N"
    ),
    licence="CC BY 4.0",
    member="parkinsons_updrs.data",
)

SUPERNOVA = Source(
    name="supernova",
    filename="davis2007_supernova.txt",
    url=(
        "https://raw.githubusercontent.com/dragonfly/dragonfly/"
        "f36520e7cbf942b1cf07a3950842f114bb636590/examples/supernova/davisdata"
    ),
    sha256="18142cc27d9ac3647db95b6c8a4542d65799057aba96caaf000e4a638bd24385",
    size=4992,
    citation=(
        "T. M. Davis et al., Scrutinizing Exotic Cosmological Models Using ESSENCE Supernova Data Combined "
        "with Other Cosmological Probes, Astrophysical Journal 666, 716, 2007; its likelihood: K. Kandasamy, "
        "G. Dasarathy, J. Schneider, B. Poczos, ICML 2017"
    ),
    licence="MIT, of the repository dragonfly/dragonfly; none is known for the measurements themselves",
)


def all_sources() -> tuple[Source, ...]:
    """Every data file that an experiment needs.

    >>> [source.name for source in all_sources()]
    ['parkinsons', 'supernova']
    """
    return (PARKINSONS, SUPERNOVA)


def source_named(name: str) -> Source:
    """The source of this name.

    >>> source_named("parkinsons").licence
    'CC BY 4.0'
    """
    sources = {source.name: source for source in all_sources()}
    return sources[expect.one_of("name", name, sources)]
