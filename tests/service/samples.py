"""Configurations of streams."""

TYPES = {
    "belief": {"kind": "TypeMeans", "noise_std": 0.5},
    "rule": {"kind": "Threshold"},
    "label_cost": 2.0,
    "unit": "°C",
    "currency": "EUR",
}
PATIENTS = {
    "belief": {"kind": "GaussianProcess", "dim": 3, "noise_std": 1.0},
    "rule": {"kind": "Value", "horizon": 1000},
    "columns": {
        "label_column": {"name": "score", "unit": "points", "low": 0, "high": 100},
        "features": [
            {"name": "age", "unit": "years", "low": 0, "high": 120},
            {"name": "sex", "kind": "text", "categories": ["f", "m"]},
        ],
        "cost_column": {"name": "exam"},
    },
    "label_cost": 10.0,
}
AUDITED = TYPES | {"rule": {"kind": "Audit", "rule": {"kind": "Never"}, "rate": 0.5, "bound": 5.0}}
ALL_WANTED = TYPES | {"rule": {"kind": "Always"}}
