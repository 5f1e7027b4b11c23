"""The papers' experiments, one module a paper; scripts/papers runs them."""
