"""The paper's experiments, one file per table or figure; each runs as ``python -m smilenn.experiments.<name>``."""
