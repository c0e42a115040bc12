#!/bin/sh
# Installs the Debian or Ubuntu packages that the tests use: independent decoders and network tools, valgrind for counting instructions, tools
# for packaging libtidemark and building with it, readers of completions and manual pages, and the assembler of the video codec.
# This is optional: tests of missing packages skip and say so. Without root it does nothing and says so.
set -eu

packages="valgrind tshark iproute2 iputils-ping ethtool nftables iperf3 tcpdump chromium cmake pkg-config lintian groff zsh fish nasm"

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
# Opens pages at half of Chromium's processor time. Not every system has it.
apt-get install -y -qq --no-install-recommends chromium-headless-shell || echo "install-packages.sh: SKIPPED: no chromium-headless-shell" >&2
tshark --version | head -n 1
