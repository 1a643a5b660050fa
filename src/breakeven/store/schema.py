"""The tables, version by version. Versions go forward, by `breakeven store upgrade` and in no other way.

A new store takes the same steps as an old one that is upgraded. A step is never changed once it is released;
a change is a further step.
"""

from typing import NamedTuple

from breakeven.errors.storing import WrongStore


class Dialect(NamedTuple):
    """The words in which two databases differ."""

    whole: str
    real: str
    blob: str
    by_key: str  # after a table whose rows lie in the order of its key


# The rows of `entry` lie in the order in which they came: by their key SQLite would write a fifth more pages.
THE_LOG = (
    "CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL)",
    "CREATE TABLE stream (number {whole} PRIMARY KEY, name text NOT NULL UNIQUE, config {blob} NOT NULL, "
    "created {real} NOT NULL, closed {real})",
    "CREATE TABLE entry (stream {whole} NOT NULL, seq {whole} NOT NULL, at {real} NOT NULL, "
    "by text NOT NULL, kind text NOT NULL, id text, body {blob} NOT NULL, PRIMARY KEY (stream, seq))",
    "CREATE UNIQUE INDEX arrival ON entry (stream, id) WHERE kind = 'Arrived'",
    "CREATE TABLE snapshot (stream {whole} NOT NULL, seq {whole} NOT NULL, at {real} NOT NULL, "
    "version text NOT NULL, body {blob} NOT NULL, PRIMARY KEY (stream, seq))",
)
WHO_MAY_DO_WHAT = (
    "CREATE TABLE token (id text PRIMARY KEY, name text NOT NULL, hash {blob} NOT NULL, roles text NOT NULL, "
    "streams text, created {real} NOT NULL, expires {real}, used {real}, revoked {real})",
    "CREATE TABLE session (hash {blob} PRIMARY KEY, token text NOT NULL, expires {real} NOT NULL)",
    "CREATE TABLE person (name text PRIMARY KEY, roles text NOT NULL, streams text)",
    "CREATE TABLE owner (one {whole} PRIMARY KEY CHECK (one = 1), server text NOT NULL, host text NOT NULL, "
    "pid {whole} NOT NULL, epoch {whole} NOT NULL, since {real} NOT NULL, until {real} NOT NULL)",
)
LEARNERS_KINDS = (
    "Arrived", "Told", "Withdrawn", "Corrected", "Reopened", "Learnt", "Fitted", "Repriced", "Refuted",
    "Erased", "Created",
)  # fmt: skip
# Written out, the most frequent first: SQLite makes a table of a list for each row that is added.
NO_LEARNERS_KIND = " AND ".join(f"kind <> '{kind}'" for kind in LEARNERS_KINDS)
FINDING_ENTRIES = (
    "CREATE INDEX about ON entry (stream, id, seq) WHERE kind <> 'Arrived' AND id IS NOT NULL",
    f"CREATE INDEX beside ON entry (stream, seq) WHERE {NO_LEARNERS_KIND}",
)
WHAT_WAS_DONE = (
    "CREATE TABLE trail (number {whole} PRIMARY KEY, at {real} NOT NULL, by text NOT NULL, "
    "verb text NOT NULL, about text NOT NULL, detail text NOT NULL)",
    "CREATE TABLE erased (stream {whole} NOT NULL, mark {blob} NOT NULL, PRIMARY KEY (stream, mark)){by_key}",
)
# A row may hold many arrivals, numbered from `seq` up to `upto`; so their ids are in a table of their own.
ARRIVALS_TOGETHER = (
    "ALTER TABLE entry ADD COLUMN upto {whole}",
    "CREATE INDEX batch ON entry (stream, upto, seq, at) WHERE upto IS NOT NULL",
    "CREATE TABLE arrived (stream {whole} NOT NULL, id text NOT NULL, entry {whole} NOT NULL, "
    "PRIMARY KEY (stream, id)){by_key}",
    "INSERT INTO arrived SELECT stream, id, seq FROM entry WHERE kind = 'Arrived' AND id IS NOT NULL",
    "DROP INDEX arrival",
)
SCHEMA_STEPS = (THE_LOG, WHO_MAY_DO_WHAT, FINDING_ENTRIES, WHAT_WAS_DONE, ARRIVALS_TOGETHER)
SCHEMA_VERSION = len(SCHEMA_STEPS)


def statements(dialect: Dialect, *, since: int) -> list[str]:
    """What leads from a version to this one; version 0 is an empty database."""
    words = dialect._asdict()
    return [one.format(**words) for step in SCHEMA_STEPS[since:] for one in step]


def check_version(name: str, address: str, found: int) -> None:
    """Raise unless a store has the version that this program writes; `address` is what a command takes.

    >>> check_version("clinic.db", "sqlite:///clinic.db", 1)
    Traceback (most recent call last):
    breakeven.errors.storing.WrongStore: clinic.db: expected version 5, got the older version 1; \
run `breakeven store upgrade --store sqlite:///clinic.db`
    """
    if found < SCHEMA_VERSION:
        hint = f"the older version {found}; run `breakeven store upgrade --store {address}`"
    elif found > SCHEMA_VERSION:
        hint = f"the newer version {found}; upgrade breakeven"
    else:
        return
    raise WrongStore(f"{name}: expected version {SCHEMA_VERSION}, got {hint}")
