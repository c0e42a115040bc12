//! Traces in the formats of published data sets. The headings are copied, the rows are made up.

use tidemark_core::{Duration, Instant};
use tidemark_radio::channel::{Trace, TraceConfig, TraceUnit};

/// A data set: its source, its heading, two rows a second apart, the column that is read, and the values in bit/s, dB or CQI.
struct DataSet {
    source: &'static str,
    text: &'static str,
    column: &'static str,
    unit: Option<TraceUnit>,
    time: Option<&'static str>,
    values: [f64; 2],
}

const SETS: [DataSet; 12] = [
    DataSet {
        source: "Irish 5G production data set (Raca et al., MMSys 2020), G-NetTrack Pro: a rate in kbit/s",
        text: "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,DL_bitrate,UL_bitrate,State,PINGAVG,PINGMIN,PINGMAX,PINGSTDEV,PINGLOSS,CELLHEX,NODEHEX,LACHEX,RAWCELLID,NRxRSRP,NRxRSRQ\n\
               2019.12.14_08.12.32,0,0,0,B,1,5G,-90,-10,8.0,9,-,52000,300,D,-,-,-,-,-,A,B,C,1,-,-\n\
               2019.12.14_08.12.33,0,0,0,B,1,5G,-90,-10,9.5,-,-,61000,310,D,-,-,-,-,-,A,B,C,1,-,-\n",
        column: "DL_bitrate",
        unit: Some(TraceUnit::Kilobits),
        time: None,
        values: [52e6, 61e6],
    },
    DataSet {
        source: "the same: an SNR",
        text: "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,DL_bitrate,UL_bitrate,State,PINGAVG,PINGMIN,PINGMAX,PINGSTDEV,PINGLOSS,CELLHEX,NODEHEX,LACHEX,RAWCELLID,NRxRSRP,NRxRSRQ\n\
               2019.12.14_08.12.32,0,0,0,B,1,5G,-90,-10,8.0,9,-,52000,300,D,-,-,-,-,-,A,B,C,1,-,-\n\
               2019.12.14_08.12.33,0,0,0,B,1,5G,-90,-10,9.5,-,-,61000,310,D,-,-,-,-,-,A,B,C,1,-,-\n",
        column: "snr",
        unit: None,
        time: None,
        values: [8.0, 9.5],
    },
    DataSet {
        source: "Irish 4G LTE data set (Raca et al., MMSys 2018), G-NetTrack Pro: a CQI, one of them missing",
        text: "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,DL_bitrate,UL_bitrate,State,NRxRSRP,NRxRSRQ,ServingCell_Lon,ServingCell_Lat,ServingCell_Distance\n\
               2017.11.22_10.07.03,0,0,4,A,2,LTE,-119,-14,2.0,6,-94,5000,190,D,-120.0,-18.0,0,0,600\n\
               2017.11.22_10.07.04,0,0,4,A,2,LTE,-119,-14,2.0,-,-94,5100,190,D,-120.0,-18.0,0,0,600\n",
        column: "CQI",
        unit: None,
        time: None,
        values: [6.0, 6.0],
    },
    DataSet {
        source: "Lumos5G 1.0 (Narayanan et al., IMC 2020): a second each, 2147483647 is no measurement",
        text: "run_num,seq_num,abstractSignalStr,latitude,longitude,movingSpeed,compassDirection,nrStatus,lte_rssi,lte_rsrp,lte_rsrq,lte_rssnr,nr_ssRsrp,nr_ssRsrq,nr_ssSinr,Throughput,mobility_mode,trajectory_direction,tower_id\n\
               1,1,2,0,0,1.2,150,CONNECTED,-60,-95,-13,2147483647,-80,-11,21,750,walking,CW,1\n\
               1,2,2,0,0,1.3,151,CONNECTED,-60,-95,-13,2147483647,-80,-11,2147483647,900,walking,CW,1\n",
        column: "nr_ssSinr",
        unit: None,
        time: None,
        values: [21.0, 21.0],
    },
    DataSet {
        source: "the same: a throughput in Mbit/s",
        text: "run_num,seq_num,abstractSignalStr,latitude,longitude,movingSpeed,compassDirection,nrStatus,lte_rssi,lte_rsrp,lte_rsrq,lte_rssnr,nr_ssRsrp,nr_ssRsrq,nr_ssSinr,Throughput,mobility_mode,trajectory_direction,tower_id\n\
               1,1,2,0,0,1.2,150,CONNECTED,-60,-95,-13,2147483647,-80,-11,21,750,walking,CW,1\n\
               1,2,2,0,0,1.3,151,CONNECTED,-60,-95,-13,2147483647,-80,-11,22,900,walking,CW,1\n",
        column: "throughput",
        unit: Some(TraceUnit::Megabits),
        time: None,
        values: [750e6, 900e6],
    },
    DataSet {
        source: "5Gophers 1.0 (Narayanan et al., WWW 2020)",
        text: "protocol,num_tcp_conn,seq_num,Sprint_throughput_mbps,TMobile_throughput_mbps,Verizon_throughput_mbps\n\
               TCP,8,0,25.5,140.5,50\nTCP,8,1,65,87.5,80\n",
        column: "tmobile_throughput_mbps",
        unit: None,
        time: None,
        values: [140.5e6, 87.5e6],
    },
    DataSet {
        source: "artifact of 'A variegated look at 5G in the wild' (Narayanan et al., SIGCOMM 2021), merged logs",
        text: "timestamp,latitude,longitude,locationAccuracy,movingSpeed,movingSpeedAccuracyMPS,compassDirection,compassAccuracy,nrStatus,mCid,towerid,rsrp,nr_ssRsrp,nr_ssSinr,rsrp_avg,nr_ssRsrp_avg,nr_ssSinr_avg,mobileRx,mobileTx,currentNow,voltageNow,num_mcids,nrStatus_array,downlink_mbps,uplink_mbps\n\
               2021-01-15 21:51:47,0,0,5,0.3,0.1,18,0,CONNECTED,1,1,-94,-94,14.0,-94,-94,9.5,1,1,-1,1,1,\"['CONNECTED', 'NONE']\",1000.5,0.6\n\
               2021-01-15 21:51:48,0,0,5,0.3,0.1,18,0,CONNECTED,1,1,-94,-94,14.0,-94,-94,9.5,1,1,-1,1,1,\"['CONNECTED']\",850,0.6\n",
        column: "downlink_mbps",
        unit: None,
        time: None,
        values: [1000.5e6, 850e6],
    },
    DataSet {
        source: "SUTD 5G data set 2023 (Nemo Handy): a rate in bit/s",
        text: "Time,NR-ARFCN,PCI,_oid,RSRP,RSRQ,SINR,PDSCH_MCS,PUSCH_MCS,PDSCH PRBs,PUSCH PRBs,throughput_DL,C-RNTI,Corridor_tag,lab_anom,lab_bs,lab_inf,lab_1rr,Label\n\
               2022-10-04 15:52:22.917,628416,17,1,-100,-10.5,17.5,19,12,128,4,237000000,1,0,0,0,0,0,0\n\
               2022-10-04 15:52:23.917,628416,17,1,-100,-10.5,18.5,19,12,128,4,238000000,1,0,0,0,0,0,0\n",
        column: "throughput_DL",
        unit: Some(TraceUnit::Bits),
        time: None,
        values: [237e6, 238e6],
    },
    DataSet {
        source: "the same: an SINR",
        text: "Time,NR-ARFCN,PCI,_oid,RSRP,RSRQ,SINR,PDSCH_MCS,PUSCH_MCS,PDSCH PRBs,PUSCH PRBs,throughput_DL,C-RNTI,Corridor_tag,lab_anom,lab_bs,lab_inf,lab_1rr,Label\n\
               2022-10-04 15:52:22.917,628416,17,1,-100,-10.5,17.5,19,12,128,4,237000000,1,0,0,0,0,0,0\n\
               2022-10-04 15:52:23.917,628416,17,1,-100,-10.5,18.5,19,12,128,4,238000000,1,0,0,0,0,0,0\n",
        column: "SINR",
        unit: None,
        time: None,
        values: [17.5, 18.5],
    },
    DataSet {
        source: "InSecTT 5G NSA measurements (MTU Cork)",
        text: "Time,rsrp(dBm),rsrq(dB),rssi(dBm),nr_rsrp(dBm),nr_rsrq(dB),nr_rssi(dBm),Sent Bytes,RATE(MBit/s)\n\
               Wed Dec 15 16:05:11 UTC 2021,-110,-18,-71,0,0,0,2900000,7.5\n\
               Wed Dec 15 16:05:12 UTC 2021,-110,-18,-71,0,0,0,2900000,8.25\n",
        column: "rate(mbit/s)",
        unit: None,
        time: None,
        values: [7.5e6, 8.25e6],
    },
    DataSet {
        source: "CNI Cell Tracker (TU Dortmund), log of iPerf: semicolons, milliseconds since 1970",
        text: "timestamp;Protocol;direction;filesize_Byte;start;end;duration;bytes;bits_per_second;packets/retransmits;omitted;sender\n\
               1607598734875;UDP;download;1;0;1;1;1;1.5E8;0;false;false;\n\
               1607598735875;UDP;download;1;1;2;1;1;1.25E8;0;false;false;\n",
        column: "bits_per_second",
        unit: None,
        time: None,
        values: [150e6, 125e6],
    },
    DataSet {
        source: "5G uplink resource data set of three Korean networks (XCAL), whose column of the time is called td",
        text: "td,5G_TBS,4G_TBS,5G_MCS,5G_RSRP,5G_RB,4G_MCS,4G_RSRP,4G_RB,5G_BLER,4G_BLER,4G_PUSCH_POWER,4G_PUCCH_POWER,4G_TOTAL_POWER,5G_PUSCH_POWER,5G_PUCCH_POWER,5G_TOTAL_POWER,5G_PUSCH_KPI_POWER,5G_ENDC_POWER,5G_NR_POWER,5G_RSRQ,4G_RSRQ,5G_CQI,4G_CQI\n\
               2022-03-30 13:34:45.800,71,64,1.5,-106,7,13,-92,2,0,0,10,3,0,18,13,18,18,10,10,-13,-10,5.9,10\n\
               2022-03-30 13:34:46.800,71,64,1.5,-106,7,13,-92,2,0,0,10,3,0,18,13,18,18,10,10,-13,-10,7.2,10\n",
        column: "5g_cqi",
        unit: None,
        time: Some("td"),
        values: [5.0, 7.0],
    },
];

fn read(config: TraceConfig, text: &str) -> Result<std::sync::Arc<Trace>, String> {
    let mut config = TraceConfig { file: "drive.csv".into(), ..config };
    config.read(text).map_err(|error| error.to_string())?;
    config.content.ok_or_else(|| "nothing was read".into())
}

fn of(set: &DataSet) -> TraceConfig {
    let (column, time) = (Some(set.column.into()), set.time.map(Into::into));
    TraceConfig { column, time, unit: set.unit, ..TraceConfig::default() }
}

#[test]
fn published_data_sets_are_read_as_they_are() {
    for set in &SETS {
        let trace = read(of(set), set.text).unwrap_or_else(|error| panic!("{}: {error}", set.source));
        assert_eq!(trace.length(), Duration::from_secs(2), "{}", set.source);
        let values = [500, 1_500].map(|ms| trace.value_at(Instant::from_millis(ms)));
        assert_eq!(values, set.values, "{}", set.source);
    }
}

#[test]
fn a_column_without_a_unit_or_that_is_not_there_is_refused_with_a_remedy() {
    let irish = &SETS[0];
    let wrong = |column: Option<&str>, time: Option<&str>| {
        let (column, time) = (column.map(Into::into), time.map(Into::into));
        read(TraceConfig { column, time, ..TraceConfig::default() }, irish.text).unwrap_err()
    };
    let unit = wrong(Some("DL_bitrate"), None);
    assert!(unit.starts_with("drive.csv:1: ") && unit.contains("`DL_bitrate` does not say its unit"), "{unit}");
    assert!(unit.contains("kbit/s, Mbit/s") && unit.contains("G-NetTrack"), "{unit}");
    let none = wrong(None, None);
    assert!(none.contains("several columns") && none.contains("SNR, CQI can be read as they are"), "{none}");
    assert!(none.contains("DL_bitrate, UL_bitrate with a `unit`"), "{none}");
    let other = wrong(Some("SINR"), None);
    assert!(other.contains("no column `SINR`") && other.contains("its columns are Timestamp, Longitude"), "{other}");
    assert!(wrong(Some("RSRQ"), None).contains("read an SNR, a CQI or a rate"));
    assert!(wrong(Some("SNR"), Some("when")).contains("no column `when`"));
    let korean = &SETS[11];
    let timeless = read(TraceConfig { time: None, ..of(korean) }, korean.text).unwrap_err();
    assert!(timeless.contains("choose one with `time`") && timeless.contains("td, 5G_TBS"), "{timeless}");
}

#[test]
fn the_format_is_found_out_from_the_content() {
    let of = |text: &str| read(TraceConfig::default(), text);
    // mahimahi: 1504 bytes at each of these milliseconds.
    assert_eq!(of("0\n5\n10\n").unwrap().length(), Duration::from_millis(10));
    // Rates in kbit/s, ten a second, with comments or falling.
    assert_eq!(of("# a pattern\n8000\n8000\n").unwrap().value_at(Instant::ZERO), 8e6);
    assert_eq!(of("8000\n4000.5\n").unwrap().value_at(Instant::from_millis(150)), 4_000_500.0);
    let refused = of("1289406399 549 59.85 10.78 88.4 1000\n").unwrap_err();
    assert!(
        refused.starts_with("drive.csv:1: ") && refused.contains("heading") && refused.contains("mahimahi"),
        "{refused}"
    );
    assert!(of("").unwrap_err().contains("no value"));
    let column = read(TraceConfig { column: Some("SNR".into()), ..TraceConfig::default() }, "0\n5\n").unwrap_err();
    assert!(column.contains("no column `SNR`") && column.contains("leave `column` out"), "{column}");
}
