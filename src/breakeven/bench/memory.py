"""What this process takes in memory, as Linux tells it."""

import re
from pathlib import Path

from breakeven.bench.measurement import NotMeasured

PROCESS = Path("/proc/self")


def check_memory() -> None:
    """Raise where a process cannot know its memory."""
    if not (PROCESS / "clear_refs").exists():
        raise NotMeasured("not measured (only Linux tells a process its memory)")


def resident() -> int:
    """Bytes in memory now."""
    return _told("VmRSS")


def peak() -> int:
    """The most bytes in memory since the start, or since `forget_peak`."""
    return _told("VmHWM")


def forget_peak() -> None:
    """Let the peak begin anew at what is in memory now."""
    (PROCESS / "clear_refs").write_text("5")


def _told(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", (PROCESS / "status").read_text())
    assert found is not None
    return 1024 * int(found[1])
