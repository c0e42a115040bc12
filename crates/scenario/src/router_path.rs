//! The routers that a flow passes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_core::Duration;
use tidemark_router::RouterConfig;

/// The routers that a flow passes in one direction: one name, or several in the order in which its packets meet them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected the name of a [[router]], or a list of names in the order in which packets meet them"
)]
pub enum RouterPath {
    /// One router.
    One(String),
    /// Several in series, each at most once.
    Several(Vec<String>),
}

impl Default for RouterPath {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl RouterPath {
    /// Names of the routers.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    /// Indices of the routers; a name that no router has is left out.
    pub(crate) fn indices(&self, routers: &[RouterConfig]) -> Vec<usize> {
        let index = |name: &String| routers.iter().position(|router| router.name == *name);
        self.names().iter().filter_map(index).collect()
    }

    /// The delay of the wires beside them.
    pub(crate) fn delay(&self, routers: &[RouterConfig]) -> Duration {
        self.indices(routers).iter().fold(Duration::ZERO, |sum, index| sum + routers[*index].delay)
    }

    /// Checks that every name is a router's, and that no name is repeated.
    ///
    /// # Errors
    /// What would be right.
    pub(crate) fn check(&self, routers: &[RouterConfig]) -> Result<(), String> {
        let names = self.names();
        for (index, name) in names.iter().enumerate() {
            if !routers.iter().any(|router| router.name == *name) {
                let known: Vec<_> = routers.iter().map(|router| router.name.as_str()).collect();
                let right =
                    if known.is_empty() { "write one".into() } else { format!("use one of {}", known.join(", ")) };
                return Err(format!("there is no [[router]] named `{name}`: {right}"));
            }
            if names[..index].contains(name) {
                return Err(format!("names `{name}` twice: a packet passes a router once, write a second [[router]]"));
            }
        }
        Ok(())
    }
}
