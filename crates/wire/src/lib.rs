//! Bytes to values and back: IP, TCP with AccECN, UDP, GTP-U, NR-U, SDAP, PDCP, MAC CE, RTCP.
