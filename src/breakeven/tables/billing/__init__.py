"""What a run cost, beside labelling everyone, no one, and what other rules, prices and orders cost."""
