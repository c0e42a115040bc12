//! The cell behind sockets: `tidemark gnb n3`, a gNB's user plane, and `tidemark gnb du`, the half with the radio. The other half is in
//! `cu`.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use clap::Args;
use miette::{Result, miette};
use tidemark_cell::UeConfig;
use tidemark_emu::{Bearers, Core, F1u, GTPU_PORT, N3 as Sessions, Session, Sources, Tunnel};
use tidemark_sim::scenario::{Scenario, Ue};

use super::preset::Choice;
use super::session::{Jobs, OtherSide};
use tidemark_terminal::error::diagnostic;

const SESSION: &str = "PDU session of the next UE: peer-teid=0x2001[,teid=0x1001][,qfi=1][,address=10.45.0.2]; the default teid is random, the default qfi is that of the default QoS flow";

/// Number of the cell for the addresses of UEs to which no core gave one.
const N3_CELL: u32 = 0;

/// The cell and its UE's command.
#[derive(Args)]
struct Cell {
    #[command(flatten)]
    choice: Choice,
    /// Command of the first UE [default: the scenario's]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Arguments of `tidemark gnb n3`.
#[derive(Args)]
pub(crate) struct N3 {
    #[command(flatten)]
    cell: Cell,
    /// Own address; the default port is GTP-U's
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = endpoint)]
    bind: SocketAddr,
    /// The UPF's address
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = endpoint)]
    upf: SocketAddr,
    /// PDU session of the next UE
    #[arg(long = "session", value_name = "KEYS", required = true, help = SESSION)]
    sessions: Vec<Keys>,
    /// Take packets from any address, not only from the UPF's
    #[arg(long)]
    any_peer: bool,
    /// Let UEs send from any address, not only from their own
    #[arg(long)]
    any_source: bool,
}

/// Arguments of `tidemark gnb du`.
#[derive(Args)]
pub(crate) struct Du {
    #[command(flatten)]
    cell: Cell,
    /// Own address; the default port is GTP-U's
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = endpoint)]
    bind: SocketAddr,
    /// The CU's address
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = endpoint)]
    cu: SocketAddr,
    /// F1-U tunnel of the next bearer, UE by UE with the default bearer first: peer-teid=0x3001[,teid=0x4001]; the default teid
    /// is random
    #[arg(long = "tunnel", value_name = "KEYS", required = true)]
    tunnels: Vec<Keys>,
    /// Take packets from any address, not only from the CU's
    #[arg(long)]
    any_peer: bool,
    /// Number for the UEs' addresses, which the CU prints at its start
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..64))]
    number: u32,
}

/// A tunnel's numbers, and the other values of a PDU session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Keys {
    /// TEID of this side; `None` for a random one.
    teid: Option<u32>,
    peer_teid: u32,
    qfi: u8,
    address: Option<IpAddr>,
}

impl FromStr for Keys {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (mut teid, mut peer_teid, mut qfi, mut address) = (None, None, 1, None);
        for pair in text.split(',') {
            let (key, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}` is not key=value"))?;
            match key {
                "teid" => teid = Some(number(value)?),
                "peer-teid" => peer_teid = Some(number(value)?),
                "qfi" => {
                    let whole = number(value)?;
                    qfi = u8::try_from(whole).ok().filter(|qfi| *qfi < 64).ok_or("qfi: must be 0 to 63")?;
                }
                "address" => {
                    address = Some(value.parse().map_err(|_| format!("address: `{value}` is not an IP address"))?)
                }
                _ => return Err(format!("`{key}` is unknown: use teid, peer-teid, qfi and address")),
            }
        }
        let peer_teid = peer_teid.ok_or("peer-teid is missing, as in teid=0x1001,peer-teid=0x2001")?;
        Ok(Self { teid, peer_teid, qfi, address })
    }
}

fn number(text: &str) -> std::result::Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is not a 32-bit number"))
}

/// Reads an address; the default port is GTP-U's.
pub(crate) fn endpoint(text: &str) -> std::result::Result<SocketAddr, String> {
    let alone = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, GTPU_PORT));
    alone
        .or_else(|_| text.parse())
        .map_err(|_| format!("`{text}` is not an address, such as 192.0.2.1 or 192.0.2.1:2152"))
}

/// The tunnels to a peer. Draws missing TEIDs at random and prints them; refuses two tunnels with one TEID.
pub(crate) fn tunnels(keys: &[Keys], peer: SocketAddr, any_peer: bool) -> Result<Vec<Tunnel>> {
    let mut taken = Vec::new();
    for teid in keys.iter().filter_map(|key| key.teid) {
        if taken.contains(&teid) {
            return Err(miette!("teid {teid:#x} is named twice"));
        }
        taken.push(teid);
    }
    let mut tunnels = Vec::new();
    for (number, key) in (1..).zip(keys) {
        let teid = match key.teid {
            Some(teid) => teid,
            None => {
                let teid = Tunnel::random_teid(&taken).map_err(|error| miette!("{error}"))?;
                taken.push(teid);
                eprintln!("tidemark: tunnel {number} has teid={teid:#x}, which its peer must use to send");
                teid
            }
        };
        tunnels.push(Tunnel { teid, peer_teid: key.peer_teid, peer, any_peer });
    }
    Ok(tunnels)
}

/// The bearers of a scenario's UEs, each of which needs a tunnel.
pub(crate) fn bearers(ues: &[UeConfig], tunnels: usize) -> Result<Bearers> {
    let bearers = Bearers::new(ues);
    if bearers.len() != tunnels {
        let (ues, each) = (ues.len(), bearers.len());
        return Err(miette!(
            "the scenario has {ues} UEs with {each} bearers, but {tunnels} tunnels are named: name one for each bearer"
        ));
    }
    Ok(bearers)
}

/// A gNB's configurations of a scenario's UEs.
pub(crate) fn configs(scenario: &Scenario) -> Vec<UeConfig> {
    scenario.ues().into_iter().map(|ue| ue.config).collect()
}

impl Cell {
    /// Runs the cell of a scenario.
    fn run(&self, mut scenario: Scenario, addresses: Vec<Option<IpAddr>>, side: OtherSide) -> Result<u8> {
        scenario.flow.clear();
        let named = scenario.ues();
        let shell = |command: &str| -> Vec<OsString> { vec!["sh".into(), "-c".into(), command.into()] };
        let mut commands: Vec<_> = named.iter().map(|ue| scenario.ue[ue.kind].command.as_deref().map(shell)).collect();
        if !self.command.is_empty() {
            commands[0] = Some(self.command.clone());
        }
        self.choice.options.run(&scenario, Jobs { ues: commands, addresses, side, duration: None })
    }
}

impl N3 {
    /// Runs until the UEs' commands have ended; gives the first exit code that is not 0.
    pub(crate) fn execute(&self) -> Result<u8> {
        let tunnels = tunnels(&self.sessions, self.upf, self.any_peer)?;
        let sessions = (0..).zip(tunnels).zip(&self.sessions);
        let sessions =
            sessions.map(|((ue, tunnel), keys)| Session { tunnel, qfi: keys.qfi, sources: self.sources(ue, keys) });
        let sessions = sessions.collect();
        let n3 = Sessions::bind(self.bind, sessions).map_err(|error| miette!("{error}"))?;
        let scenario = self.cell.choice.load()?;
        let (ues, sessions) = (scenario.ues().len(), self.sessions.len());
        if ues != sessions {
            return Err(miette!("the scenario has {ues} UEs, but {sessions} sessions are named: name one for each"));
        }
        for ((index, ue), keys) in (0..).zip(configs(&scenario)).zip(&self.sessions) {
            one_default(index, &ue, keys.qfi)?;
        }
        let addresses = self.sessions.iter().map(|keys| keys.address).collect();
        self.cell.run(scenario, addresses, OtherSide::Tunnels(Box::new(Core::N3(n3)), N3_CELL))
    }
}

impl N3 {
    /// Addresses that a UE may send from.
    fn sources(&self, ue: u32, keys: &Keys) -> Sources {
        match keys.address {
            _ if self.any_source => Sources::Any,
            Some(address) => Sources::Given(address),
            None => Sources::Cell { cell: N3_CELL, ue },
        }
    }
}

/// Refuses a session whose default QoS flow has the number of another QoS flow of the UE, because both flows' packets would carry it.
fn one_default(index: usize, ue: &UeConfig, qfi: u8) -> Result<()> {
    let flows = (0..).zip(&ue.drb).flat_map(|(drb, config)| (0..).zip(&config.qos_flow).map(move |flow| (drb, flow)));
    for (drb, (position, flow)) in flows {
        if flow.qfi == qfi {
            let (session, drb, position): (usize, u32, u32) = (index + 1, drb, position);
            return Err(miette!(
                "--session number {session}: its default QoS flow and drb.{drb}.qos_flow.{position} of its UE both have qfi={qfi}: change one of them"
            ));
        }
    }
    Ok(())
}

/// Takes the laws out of a scenario for a DU, whose laws run in the CU. Reads the changed scenario again, because `tidemark ctl set`
/// starts from its text.
fn without_laws(scenario: &Scenario) -> Result<Scenario> {
    let none = |key: String| format!("{key}.marker={{ law = \"none\" }}");
    let of_ue = |(ue, config): (usize, &Ue)| {
        let drbs = (0..config.drb.len()).map(move |drb| none(format!("ue.{ue}.drb.{drb}")));
        std::iter::once(none(format!("ue.{ue}"))).chain(drbs)
    };
    let assignments: Vec<_> = scenario.ue.iter().enumerate().flat_map(of_ue).collect();
    Scenario::parse(&scenario.name, &scenario.text, &scenario.folder, &assignments).map_err(diagnostic)
}

impl Du {
    /// Runs until the UEs' commands have ended; gives the first exit code that is not 0.
    pub(crate) fn execute(&self) -> Result<u8> {
        let tunnels = tunnels(&self.tunnels, self.cu, self.any_peer)?;
        let scenario = without_laws(&self.cell.choice.load()?)?;
        let bearers = bearers(&configs(&scenario), tunnels.len())?;
        let f1u = F1u::bind(self.bind, tunnels, bearers).map_err(|error| miette!("{error}"))?;
        self.cell.run(scenario, Vec::new(), OtherSide::Tunnels(Box::new(Core::F1u(f1u)), self.number))
    }
}

#[cfg(test)]
mod tests {
    use tidemark_cell::{DrbConfig, QosFlowConfig};

    use super::*;

    #[test]
    fn a_default_qos_flow_needs_a_number_of_its_own() {
        let flow = |qfi| QosFlowConfig { qfi, ..QosFlowConfig::default() };
        let drb = vec![DrbConfig { qos_flow: vec![flow(5), flow(6)], ..DrbConfig::default() }];
        let ue = UeConfig { drb, ..UeConfig::default() };
        assert!(one_default(0, &ue, 1).is_ok());
        let said = one_default(1, &ue, 6).unwrap_err().to_string();
        assert!(said.contains("--session number 2") && said.contains("drb.0.qos_flow.1"), "{said}");
    }

    #[test]
    fn a_session_is_read_from_its_keys_and_what_is_wrong_is_named() {
        let keys: Keys = "teid=0x1001,peer-teid=8193,qfi=9,address=10.45.0.2".parse().unwrap();
        let address = Some("10.45.0.2".parse().unwrap());
        assert_eq!(keys, Keys { teid: Some(0x1001), peer_teid: 8193, qfi: 9, address });
        for (text, problem) in [
            ("teid=1", "peer-teid is missing"),
            ("teid=1,peer-teid=2,qfi=64", "0 to 63"),
            ("teid=0x1ffffffff,peer-teid=2", "not a 32-bit number"),
            ("tide=1", "`tide` is unknown"),
            ("teid", "not key=value"),
        ] {
            let said = text.parse::<Keys>().unwrap_err();
            assert!(said.contains(problem), "{said}");
        }
        let peer = endpoint("192.0.2.1").unwrap();
        assert!(tunnels(&[keys.clone(), keys.clone()], peer, false).is_err());
        // TEIDs that nobody named are other ones each time.
        let unnamed = Keys { teid: None, ..keys.clone() };
        let drawn = tunnels(&[unnamed.clone(), keys, unnamed], peer, false).unwrap();
        assert!(
            drawn[1].teid == 0x1001 && drawn[0].teid != drawn[2].teid && drawn.iter().all(|tunnel| tunnel.teid != 0)
        );
        assert_eq!(endpoint("192.0.2.1").unwrap().port(), 2152);
        assert!(endpoint("upf").is_err());
    }
}
