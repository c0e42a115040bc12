"""tshark decodes every frame kind that we emit without an error and reads back the fields."""

import json
import re
import shutil
import subprocess

import pytest

if not shutil.which("tshark"):
    pytest.skip("tshark is missing: run tests/install-packages.sh", allow_module_level=True)

OPTIONS = [
    # Signatures by which tshark knows MAC and PDCP PDUs, and the port that stands for RTCP's negotiated one.
    "--enable-heuristic=mac_nr_udp",
    "--enable-heuristic=pdcp_nr_udp",
    "-dudp.port==5005,rtcp",
    "-oip.check_checksum:TRUE",
    "-otcp.check_checksum:TRUE",
    "-oudp.check_checksum:TRUE",
    # The frames are no conversation: their sequence numbers mean nothing to one another.
    "-otcp.analyze_sequence_numbers:FALSE",
    "-otcp.relative_sequence_numbers:FALSE",
]

# Severities of expert information (epan/proto.h): a comment and a SYN, which is a "chat", lie below a note.
NOTE = 0x0040_0000


def flat(pairs):
    for key, value in pairs:
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            yield from flat(value)
        else:
            yield key, value


def number(text):
    return int(text, 0) if re.fullmatch(r"0x[0-9a-f]+|\d+", text) else text


@pytest.fixture(scope="session")
def frames(capture):
    """The fields of each frame by frame name, with all values of each field."""
    command = ["tshark", "-r", capture, "-T", "json", *OPTIONS]
    out = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    frames = {}
    for packet in json.loads(out, object_pairs_hook=lambda pairs: pairs):
        fields = {}
        for key, value in flat(packet):
            fields.setdefault(key, []).append(number(value) if isinstance(value, str) else value)
        [name] = fields["frame.comment"]
        frames[name] = fields
    return frames


# What the example set, in the words of tshark. It names the AE, CWR and ECE flags after what it believes the connection
# to have negotiated, so here they are bits 8 to 6 of all flags. A field that older versions of tshark don't know starts with "?".
EXPECTED = {
    "tcp-syn": {
        "tcp.flags": [0x1C2],
        "tcp.options.mss_val": [1460],
        "tcp.options.wscale.shift": [7],
        "tcp.options.timestamp.tsval": [11],
    },
    "tcp-accecn1": {
        "ip.dsfield.ecn": [1],
        "tcp.seq": [1000],
        "tcp.ack": [2000],
        "tcp.window_size_value": [0x1234],
        "tcp.flags": [0x150],
        "tcp.options.acc_ecn.ee1b": [0x010203],
        "tcp.options.acc_ecn.eceb": [0x040506],
        "tcp.options.acc_ecn.ee0b": [0x070809],
        "tcp.len": [3],
    },
    "tcp-accecn0-sack": {
        "tcp.options.acc_ecn.ee0b": [0x111213],
        "tcp.options.acc_ecn.eceb": [0x141516],
        "tcp.options.sack.count": [2],
        "tcp.options.sack_le": [3000, 5000],
        "tcp.options.sack_re": [4000, 6000],
    },
    "tcp-rewritten": {
        "ip.dsfield.ecn": [3],
        "tcp.flags": [0x090],
        "tcp.options.acc_ecn.ee1b": [0x212223],
        "tcp.options.acc_ecn.eceb": [0x242526],
        "tcp.options.acc_ecn.ee0b": [0x070809],
    },
    "tcp-classic-ece": {"tcp.flags": [0x050]},
    "ipv6-udp": {"ipv6.tclass.dscp": [46], "ipv6.tclass.ecn": [2], "ipv6.flow": [0xABCDE], "udp.length": [13]},
    "ipv6-udp-marked": {"ipv6.tclass.dscp": [46], "ipv6.tclass.ecn": [3], "ipv6.flow": [0xABCDE]},
    "esp": {"esp.spi": [0x1234], "esp.sequence": [9], "ip.dsfield.ecn": [1]},
    "gtpu-dl": {
        "gtp.message": [255],
        "gtp.teid": [0x01020304],
        "gtp.ext_hdr.next": [0x85, 0],
        "gtp.ext_hdr.pdu_ses_con.pdu_type": [0],
        "gtp.ext_hdr.pdu_ses_cont.ppp": [0],
        "gtp.ext_hdr.pdu_ses_cont.rqi": [1],
        "gtp.ext_hdr.pdu_ses_con.qos_flow_id": [9],
        "ip.dsfield.ecn": [1, 1],
    },
    "gtpu-dl-all": {
        "gtp.ext_hdr.pdu_ses_cont.ppp": [1],
        "gtp.ext_hdr.pdu_ses_cont.ppi": [5],
        "gtp.ext_hdr.pdu_ses_con.qos_flow_id": [9],
        "?gtp.ext_hdr.pdu_ses_cont.dl_qfi_sn": [77],
        "udp.dstport": [2152, 4001],
    },
    "gtpu-ul-congestion": {
        "gtp.ext_hdr.length": [2],
        "gtp.ext_hdr.pdu_ses_con.pdu_type": [1],
        "gtp.ext_hdr.pdu_ses_con.qos_flow_id": [5],
        "udp.dstport": [2152, 4001],
    },
    "gtpu-ul-all": {
        "gtp.ext_hdr.length": [13],
        "gtp.ext_hdr.pdu_ses_con.pdu_type": [1],
        "gtp.ext_hdr.pdu_ses_con.qos_flow_id": [5],
        "udp.dstport": [2152, 4001],
    },
    "gtpu-pdu-set": {"gtp.ext_hdr.next": [4, 0], "gtp.ext_hdr.length": [3], "udp.dstport": [2152, 4001]},
    "gtpu-echo-request": {"gtp.message": [1], "gtp.seq_number": [7]},
    "gtpu-echo-response": {"gtp.message": [2], "gtp.seq_number": [7], "gtp.recovery": [0]},
    "gtpu-error-indication": {
        "gtp.message": [26],
        "gtp.seq_number": [0],
        "gtp.teid_data": [0x01020304],
        "gtp.gsn_ipv6": ["2001:db8::7"],
    },
    "gtpu-supported": {"gtp.message": [31], "gtp.num_ext_hdr_types": [2], "gtp.ext_hdr_type": [0x84, 0x85]},
    "gtpu-end-marker": {"gtp.message": [254], "gtp.teid": [9], "gtp.length": [0]},
    "nru-user-data": {
        "nrup.pdu_type": [0],
        "nrup.user_data_existence_flag": [1],
        "nrup.report_polling": [0],
        "nrup.retransmission_flag": [0],
        "nrup.seq_num": [0x010203],
    },
    "nru-user-data-all": {
        "nrup.spr_bit": [0],
        "nrup.dl_disc_blks": [1],
        "nrup.dl_flush": [1],
        "nrup.report_polling": [1],
        "nrup.spare": [0],
        "nrup.request_out_of_seq_report": [1],
        "nrup.report_delivered": [1],
        "nrup.user_data_existence_flag": [1],
        "nrup.ass_inf_rep_poll_flag": [1],
        "nrup.retransmission_flag": [1],
        "nrup.seq_num": [0x010203],
        "nrup.dl_disc_nr_pdcp_pdu_sn": [50],
        "nrup.dl_disc_num_blks": [2],
        "nrup.dl_disc_nr_pdcp_pdu_sn_start": [100, 200],
        "nrup.disc_blk_sz": [3, 1],
        "nrup.dl_report_nr_pdcp_pdu_sn": [60],
    },
    "nru-status-first": {
        "nrup.pdu_type": [1],
        "nrup.high_tx_nr_pdcp_sn_ind": [0],
        "nrup.high_delivered_nr_pdcp_sn_ind": [0],
        "nrup.desrd_buff_sz_data_radio_bearer": [3000],
    },
    "nru-status": {
        "nrup.desrd_buff_sz_data_radio_bearer": [1_000_000],
        "nrup.high_tx_nr_pdcp_sn": [4095],
        "nrup.high_success_delivered_nr_pdcp_sn": [4090],
    },
    "nru-status-all": {
        "nrup.final_frame_ind": [1],
        "nrup.desrd_buff_sz_data_radio_bearer": [123_456],
        "nrup.desrd_data_rate": [5_000_000],
        "nrup.num_lost_nru_seq_num": [1],
        "nrup.start_num_lost_nru_seq_num": [10],
        "nrup.end_num_lost_nru_seq_num": [12],
        "nrup.high_success_delivered_nr_pdcp_sn": [4090],
        "nrup.high_tx_nr_pdcp_sn": [4095],
        "nrup.cause_val": [4],
        "nrup.high_success_delivered_retx_nr_pdcp_sn": [30],
        "nrup.high_retx_nr_pdcp_sn": [31],
    },
    "nru-status-ranges": {"nrup.delivered_nr_pdcp_sn_range_ind": [1]},
    "nru-assistance": {
        "nrup.pdu_type": [2],
        "nrup.pdcp_duplication_ind": [1],
        "nrup.pdcp_duplication_activation_suggestion": [1],
        "nrup.num_assistance_info_fields": [2],
        "nrup.assistance_info_type": [1, 4],
        "nrup.num_octets_radio_qa_info": [1, 1],
        "nrup.radio_qa_info": ["0b", "4d"],
        "nrup.ul_delay_du_result": [12],
        "nrup.dl_delay_du_result": [13],
    },
    "pdcp-12-sdap-dl": {
        "pdcp-nr.pdu-type": [1],
        "pdcp-nr.seq-num": [0xABC],
        "sdap.rdi": [1],
        "sdap.rqi": [0],
        "sdap.qfi": [9],
        "ip.dsfield.ecn": [0, 3],
    },
    "pdcp-18-sdap-ul": {
        "pdcp-nr.pdu-type": [1],
        "pdcp-nr.seq-num": [0x2ABCD],
        "sdap.pdu-type": [1],
        "sdap.qfi": [5],
    },
    "mac-recommended": {
        "mac-nr.dlsch.lcid": [47, 63],
        "mac-nr.control.recommended-bit-rate.lcid": [4],
        "mac-nr.control.recommended-bit-rate.dir": [1],
        "mac-nr.control.recommended-bit-rate.bit-rate": [50],
        "mac-nr.control.recommended-bit-rate.reserved": [0],
    },
    "mac-query": {
        "mac-nr.ulsch.lcid": [53, 63],
        "mac-nr.control.recommended-bit-rate-query.lcid": [4],
        "mac-nr.control.recommended-bit-rate-query.dir": [0],
        "mac-nr.control.recommended-bit-rate-query.bit-rate": [50],
    },
    "mac-short-bsr": {
        "mac-nr.ulsch.lcid": [61, 63],
        "mac-nr.control.bsr.short.lcg": [5],
        "mac-nr.control.bsr.bs-lcg5": [15],
    },
    "mac-long-bsr": {
        "mac-nr.ulsch.lcid": [62, 63],
        "mac-nr.control.bsr.long.lcg0": [1],
        "mac-nr.control.bsr.long.lcg6": [1],
        "mac-nr.control.bsr.long.lcg1": [0],
        "mac-nr.control.bsr.bs-lcg0": [74],
        "mac-nr.control.bsr.bs-lcg6": [254],
    },
    "rtcp-ccfb": {"rtcp.rtpfb.fmt": [11], "rtcp.pt": [205], "rtcp.senderssrc": [0x01020304], "rtcp.length_check": [1]},
    "rtcp-twcc": {
        "rtcp.rtpfb.fmt": [15],
        "rtcp.senderssrc": [1],
        "rtcp.mediassrc": [2],
        "rtcp.rtpfb.transportcc.baseseq": [100],
        "rtcp.rtpfb.transportcc.statuscount": [8],
        "rtcp.rtpfb.transportcc.reftime": [1000],
        "rtcp.rtpfb.transportcc.pktcount": [3],
        "rtcp.rtpfb.transportcc.recv_delta": [4, 300, 0xFFF8, 1, 2, 3, 4],
        "rtcp.length_check": [1],
    },
}


def test_every_frame_has_an_expectation(frames):
    assert frames.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_no_complaint(frames, name):
    fields = frames[name]
    assert not any(key.startswith(("_ws.malformed", "_ws.short")) for key in fields)
    messages = zip(fields["_ws.expert.severity"], fields["_ws.expert.message"], strict=True)
    assert [message for severity, message in messages if severity >= NOTE] == []
    for checksum in ("ip.checksum.status", "tcp.checksum.status", "udp.checksum.status"):
        assert all(status == 1 for status in fields.get(checksum, [])), checksum


@pytest.mark.parametrize("name", EXPECTED)
def test_fields_are_read_back(frames, name):
    for key, values in EXPECTED[name].items():
        if key.startswith("?") and key[1:] not in frames[name]:
            continue
        assert frames[name].get(key.removeprefix("?")) == values, key


@pytest.fixture(scope="session")
def wireshark_tables():
    """Wireshark's texts for the values of a field, by table."""
    out = subprocess.run(["tshark", "-G", "values"], capture_output=True, check=True, text=True).stdout
    tables, current = {}, None
    for line in out.splitlines():
        if "\tmac-nr." not in line:
            current = None
            continue
        kind, field, *rest = line.split("\t")
        if kind == "E":
            current = tables.setdefault((field, rest[1]), {})
        elif kind == "V" and current is not None:
            current[int(rest[0], 0)] = rest[1]
    return tables


def test_bit_rates_are_wiresharks(tables, wireshark_tables):
    texts = wireshark_tables["mac-nr.control.recommended-bit-rate.bit-rate", "bit_rate_vals"]
    theirs = [int(re.fullmatch(r"(\d+) kbit/s", texts[index])[1]) for index in range(1, len(texts))]
    assert tables["bit_rates"] == theirs


@pytest.mark.parametrize(("ours", "theirs"), [("a", "buffer_size_5bits_vals"), ("b", "buffer_size_8bits_vals")])
def test_buffer_sizes_are_wiresharks(tables, wireshark_tables, ours, theirs):
    texts = wireshark_tables["mac-nr.control.bsr.bs-lcg0", theirs]
    ends = [0] + [int(match[1]) for text in texts.values() if (match := re.fullmatch(r"\d+ < BS <= (\d+)", text))]
    assert tables[ours] == ends
    assert f"BS > {ends[-1]}" in texts.values()
