"""A laboratory of network namespaces: switches, hosts and traffic on one machine."""
