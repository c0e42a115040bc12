//! The 5G cell: channel, scheduler, HARQ, RLC, PDCP and F1-U feedback.
