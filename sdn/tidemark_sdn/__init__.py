"""SDN-L4S on Open vSwitch: a controller, an agent beside each switch, and a laboratory of network namespaces."""
