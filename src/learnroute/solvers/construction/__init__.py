"""Orders built from nothing: Algorithm 1, the nearest-neighbour rule, baselines."""
