#!/bin/sh
# Installs what the tests use of Debian and Ubuntu: decoders and network tools that we did not write, valgrind, which counts instructions, what
# packages libtidemark and takes it into a build, and what reads completions and manual pages.
# What is missing makes its tests skip and say so, so this may be left out; without root it does nothing and says so.
set -eu

packages="valgrind tshark iproute2 iputils-ping ethtool nftables iperf3 tcpdump chromium cmake pkg-config lintian groff zsh fish"

if [ "$(id -u)" -ne 0 ]; then
    echo "install-packages.sh: SKIPPED: not root. Run as root, or have an administrator install: $packages" >&2
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "install-packages.sh: SKIPPED: no apt-get here. Install with this system's own tool: $packages" >&2
    exit 0
fi

echo "install-packages.sh: installing $packages"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $packages
tshark --version | head -n 1
