//! Congestion controllers, transports and applications.
