"""Orders built from nothing: the paper's Algorithm 1, nearest neighbours, baselines."""
