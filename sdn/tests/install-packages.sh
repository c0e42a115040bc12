#!/bin/sh
# Installs what the tests of sdn/ use of Debian and Ubuntu: Open vSwitch, and clang for the program of the ports. Without root it does
# nothing and says so; what is missing makes its tests skip and say so.
set -eu

packages="openvswitch-switch clang libbpf-dev iproute2 ethtool iperf3 openssl"

if [ "$(id -u)" -ne 0 ]; then
    echo "sdn/tests/install-packages.sh: SKIPPED: not root. Run as root, or have an administrator install: $packages" >&2
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "sdn/tests/install-packages.sh: SKIPPED: no apt-get here. Install with this system's own tool: $packages" >&2
    exit 0
fi

echo "sdn/tests/install-packages.sh: installing $packages"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $packages
ovs-vswitchd --version | head -n 1
