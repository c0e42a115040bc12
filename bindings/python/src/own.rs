//! Algorithms that replace a scenario's: a law and controllers written in Python, or a law of the marker.

use pyo3::prelude::*;
use tidemark_marker::LawConfig;
use tidemark_senders::SenderConfig;
use tidemark_sim::scenario::Scenario;

use crate::controller::sender_of;
use crate::error::field_error;
use crate::law::law_of;
use crate::raised::Raised;

/// A law for the marker, and controllers by the names of their flows; `*` stands for all flows.
pub(crate) struct Own {
    law: Option<LawConfig>,
    senders: Vec<(String, SenderConfig)>,
}

impl Own {
    /// Reads Python's arguments. `raised` stores exceptions that their code raises later.
    ///
    /// # Errors
    /// A class that is neither a law nor a controller.
    pub(crate) fn new(
        law: Option<&Bound<'_, PyAny>>,
        controllers: &[(String, Bound<'_, PyAny>)],
        raised: &Raised,
    ) -> PyResult<Self> {
        let law = law.map(|law| law_of(law, raised)).transpose()?;
        let sender = |(name, class): &(String, Bound<'_, PyAny>)| Ok((name.clone(), sender_of(class, raised)?));
        Ok(Self { law, senders: controllers.iter().map(sender).collect::<PyResult<_>>()? })
    }

    /// True if nothing is replaced.
    pub(crate) fn is_empty(&self) -> bool {
        self.law.is_none() && self.senders.is_empty()
    }

    /// Puts the algorithms into a scenario.
    ///
    /// # Errors
    /// A name that no flow has.
    pub(crate) fn replace(&self, scenario: &mut Scenario) -> PyResult<()> {
        if let Some(law) = self.law {
            scenario.marker.law = law;
        }
        for (name, sender) in &self.senders {
            let mut named = scenario.flow.iter_mut().filter(|flow| name == "*" || flow.name == *name).peekable();
            if named.peek().is_none() {
                let names: Vec<_> = scenario.flow.iter().map(|flow| flow.name.as_str()).collect();
                let right = format!("there is no flow `{name}`: use * or one of {}", names.join(", "));
                return Err(field_error("controllers", &right));
            }
            named.for_each(|flow| flow.sender = sender.clone());
        }
        Ok(())
    }
}
