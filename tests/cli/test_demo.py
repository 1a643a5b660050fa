"""`breakeven demo`: the diabetes patients, and the report that it names at its end."""

import json
from time import monotonic

from breakeven.cli import main


def test_it_ends_by_naming_the_report_it_wrote(capsys, own):
    begun = monotonic()
    code = main(["demo", "--out", str(own / "demo")])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    assert out.endswith(f"Open {own / 'demo' / 'report.html'}\n")
    assert (own / "demo" / "report.html").exists()
    rows = {row["name"]: row for row in json.loads((own / "demo" / "summary.json").read_text())["rows"]}
    assert rows["label everyone"]["total"] == 44_200.0
    assert rows["breakeven"]["total"] < 2 / 3 * 44_200.0
    assert rows["breakeven"]["total"] < rows["random, equal spend"]["total"]
    assert monotonic() - begun < 60  # 20 s on an idle machine
