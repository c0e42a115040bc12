"""Namespaces of a laboratory, which end with it.

Everything runs under one process that is number 1 of a process namespace, with its own network and mount namespaces.
When it ends, in whatever way, the kernel ends all other processes and the networks, so nothing is left to clean up.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

_MARK = "TIDEMARK_SDN_LAB"


class LabError(Exception):
    """Error: a part that a laboratory needs is missing or failed."""


def missing() -> str | None:
    """Gives the reason why a laboratory can't run here, or None."""
    if os.geteuid() != 0:
        return "not root: network namespaces can't be made"
    needed = {
        "unshare": "util-linux",
        "ip": "iproute2",
        "ethtool": "ethtool",
        "ovs-vswitchd": "openvswitch-switch",
        "ovsdb-server": "openvswitch-switch",
        "clang": "clang and libbpf-dev",
        "iperf3": "iperf3",
        "openssl": "openssl",
    }
    for name, package in needed.items():
        if shutil.which(name) is None:
            return f"there is no {name} here: install {package}"
    probe = ["unshare", "--net", "--mount", "--pid", "--fork", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        return "no namespaces may be made here"
    return None


def enter(arguments: list[str]) -> None:
    """Becomes `tidemark-sdn` with these arguments inside the namespaces; returns if it runs inside already."""
    if os.environ.get(_MARK) == str(os.getpid()) == "1":
        furnish()
        return
    if reason := missing():
        raise LabError(reason)
    # Grandchildren read a wrong number for themselves, and would nest one level deeper.
    environment = os.environ | {_MARK: "1"}
    options = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = ["unshare", *options, sys.executable, "-m", "tidemark_sdn", *arguments]
    os.execvpe(command[0], command, environment)


def furnish() -> None:
    """Gives the laboratory its own /run, for names of namespaces, sockets and databases."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    Path("/run/netns").mkdir()
