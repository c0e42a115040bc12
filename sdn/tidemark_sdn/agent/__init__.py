"""The agent beside a switch: it does what OpenFlow lacks, with backlogs and queues of the kernel."""

import sys

# Open vSwitch's library uses eventlet's poll if eventlet is installed, as with os-ken.
sys.modules.setdefault("eventlet", None)  # type: ignore[arg-type]
