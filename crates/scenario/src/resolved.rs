//! A scenario with every default filled in.

use crate::Scenario;

impl Scenario {
    /// The scenario as TOML with every default filled in, which reads back to the same run. A bearer's marker is its
    /// UE's or the scenario's where it has none of its own. Fields that are missing have no value, or follow from other
    /// fields.
    ///
    /// # Errors
    /// A value that TOML does not have, such as a seed above 2^63, in a scenario that was not read from TOML.
    pub fn resolved(&self) -> Result<String, toml::ser::Error> {
        let mut whole = self.clone();
        // A width is another way to say the number of resource blocks, and a scenario has one of the two.
        (whole.cell.bandwidth_mhz, whole.cell.prbs) = (None, self.cell.resource_blocks());
        whole.sample_interval = Some(self.sample_interval());
        whole.cell.scheduling_lead = Some(self.cell.scheduling_lead());
        for ue in &mut whole.ue {
            let config = ue.config(self);
            for (drb, resolved) in ue.drb.iter_mut().zip(config.drb) {
                drb.marker = Some(resolved.marker.unwrap_or_else(|| config.marker.clone()));
            }
            ue.marker = Some(config.marker);
        }
        toml::to_string_pretty(&whole)
    }
}
