"""Where randomness comes from: one generator per (seed, case, purpose)."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, case: str, purpose: str) -> np.random.Generator:
    """A generator that depends on its three arguments only.

    The seed sequence is taken from a SHA-256 digest, so it is the same on every platform and in
    every process (Python's own ``hash`` is not).
    """
    digest = hashlib.sha256(f"{seed}\x1f{case}\x1f{purpose}".encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
