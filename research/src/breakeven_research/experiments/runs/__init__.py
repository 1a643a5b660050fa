"""What is run: problems, methods and jobs, done side by side, their results kept."""
