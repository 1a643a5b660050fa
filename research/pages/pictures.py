"""Pictures small enough to be kept in git: PNG, as wide as a page shows them, in a few colours."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from PIL import Image

from breakeven import files, report
from breakeven.values import Figure

WIDTH, COLOURS = 880, 48  # pixels; of the palette


def write_pictures(figures: Iterable[Figure], folder: Path) -> None:
    """Write every chart of these figures into a folder, in place of the pictures that were there."""
    for old in folder.glob("*"):
        old.unlink()
    for figure in figures:
        for path in report.write_figure(figure, folder, endings=("png",)):
            files.write(folder, path.name, small(path.read_bytes()))


def small(picture: bytes) -> bytes:
    """The same picture, smaller."""
    with Image.open(BytesIO(picture)) as image:
        size = (WIDTH, round(image.height * WIDTH / image.width))
        scaled = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    made = BytesIO()
    scaled.quantize(COLOURS).save(made, format="png", optimize=True)
    return made.getvalue()
