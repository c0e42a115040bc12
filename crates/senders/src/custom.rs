//! A congestion control of another crate.

use std::fmt;
use std::sync::Arc;

use crate::control::CongestionControl;

/// A congestion control that this crate does not know: made by [`SenderConfig::custom`](crate::SenderConfig::custom). A scenario file
/// can't name it.
#[derive(Clone)]
pub struct CustomControl {
    name: &'static str,
    control: Arc<dyn CongestionControl + Send + Sync>,
}

impl CustomControl {
    pub(crate) fn new(name: &'static str, control: impl CongestionControl + Send + Sync + 'static) -> Self {
        Self { name, control: Arc::new(control) }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }
}

impl fmt::Debug for CustomControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomControl").field(&self.name).finish()
    }
}

/// Equality: copies of a control that was made by one call are equal.
impl PartialEq for CustomControl {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.control, &other.control)
    }
}

/// Writes only the name, for the results of a run.
#[cfg(feature = "serde")]
impl serde::Serialize for CustomControl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("CustomControl", 1)?;
        fields.serialize_field("name", self.name)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SenderConfig, controller};

    #[test]
    fn a_custom_control_answers_as_the_one_inside() {
        let reno = controller::RenoConfig::default();
        let custom = SenderConfig::custom("mine", reno.clone());
        assert_eq!((custom.name(), custom.codepoint()), ("mine", SenderConfig::Reno(reno.clone()).codepoint()));
        assert_eq!(custom.properties(), reno.properties());
        assert_eq!(custom, custom.clone());
        assert_ne!(custom, SenderConfig::custom("mine", reno));
    }
}
