"""The program beside a switch: what OpenFlow lacks, backlogs and queues of the kernel."""

import sys

# Open vSwitch's library takes eventlet's poll where eventlet is installed, as it is with os-ken.
sys.modules.setdefault("eventlet", None)  # type: ignore[arg-type]
