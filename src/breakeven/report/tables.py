"""Tables as CSV: every digit of every number, so that reading the file back gives the table."""

from pathlib import Path

from breakeven.files import write
from breakeven.values.exhibit import Cell, Table


def write_table(table: Table, folder: Path) -> Path:
    r"""Write `<name>.csv` into the folder.

    >>> from tempfile import TemporaryDirectory
    >>> bill = Table(name="bill", title="The bill", columns=["method", "loss"], rows=[["Never", 0.1]])
    >>> with TemporaryDirectory() as folder:
    ...     write_table(bill, Path(folder)).read_text()
    'method,loss\nNever,0.1\n'
    """
    return write(folder, f"{table.name}.csv", csv(table).encode())


def csv(table: Table) -> str:
    """The table as CSV (RFC 4180, but with plain line ends); what is missing is empty."""
    lines: list[list[Cell]] = [[*table.columns], *table.rows]
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case float():
            return float.__repr__(cell)  # the shortest that reads back as the same number
        case int():
            return str(cell)
    quoted = cell.replace('"', '""')
    return f'"{quoted}"' if any(sign in cell for sign in '",\r\n') else cell
