"""Parts that all tests share."""

import subprocess

from hypothesis import settings

from tests.lab import ISOLATED

# A busy machine is not a fault of the code.
settings.register_profile("tidemark", deadline=None, database=None)
settings.load_profile("tidemark")

if ISOLATED:
    # A new network namespace has its loopback down.
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
