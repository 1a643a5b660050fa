"""Speed and size as ratios, each measured side by side with its peer in one run."""
