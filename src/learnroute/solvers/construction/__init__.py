"""Construction heuristics: Algorithm 1, nearest neighbour, greedy edge, insertion and baselines."""
