"""How orders are found."""
