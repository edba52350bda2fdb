"""One thread for all tests and the processes they start: small networks gain nothing by more.

On a busy machine a second thread that waits for its turn makes every layer wait.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
