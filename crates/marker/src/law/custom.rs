//! A law of another crate.

use alloc::boxed::Box;
use core::fmt;

use crate::law::interface::{Arrival, Departure, Law, Odds, Properties};
use crate::law::recurrence::Recurrence;
use crate::verdict::Class;

/// A law of another crate with its parameters, made by [`LawConfig::custom`](crate::LawConfig::custom). A scenario file can't name it.
#[derive(Clone, Copy)]
pub struct CustomLaw {
    properties: &'static Properties,
    build: &'static (dyn Fn() -> Box<dyn AnyLaw> + Send + Sync),
}

impl CustomLaw {
    pub(crate) fn new<L: Law>(make: impl Fn() -> L + Send + Sync + 'static) -> Self {
        Self::with_properties(&L::PROPERTIES, make)
    }

    pub(crate) fn with_properties<L: Law>(
        properties: &'static Properties,
        make: impl Fn() -> L + Send + Sync + 'static,
    ) -> Self {
        // Leaked, so that a configuration stays a plain value: once for every law that a program brings.
        Self { properties, build: Box::leak(Box::new(move || Box::new(make()) as Box<dyn AnyLaw>)) }
    }

    pub(crate) fn properties(&self) -> &'static Properties {
        self.properties
    }

    pub(crate) fn build(&self) -> Box<dyn AnyLaw> {
        (self.build)()
    }
}

impl fmt::Debug for CustomLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomLaw").field(&self.properties.name).finish()
    }
}

/// Equal if made by one call.
impl PartialEq for CustomLaw {
    fn eq(&self, other: &Self) -> bool {
        // Closures have no equality; a closure without captures has no address of its own, which the properties make up for.
        core::ptr::addr_eq(self.build, other.build) && self.properties == other.properties
    }
}

/// Writes only the name, for the results of a run.
#[cfg(feature = "serde")]
impl serde::Serialize for CustomLaw {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("CustomLaw", 1)?;
        fields.serialize_field("name", self.properties.name)?;
        fields.end()
    }
}

/// [`Law`] without its constants, which a trait object can't have.
pub(crate) trait AnyLaw: Send {
    fn arrive(&mut self, arrival: &Arrival) -> Odds;
    fn leave(&mut self, departure: &Departure) -> Odds;
    fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence>;
}

impl<L: Law> AnyLaw for L {
    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        Law::arrive(self, arrival)
    }
    fn leave(&mut self, departure: &Departure) -> Odds {
        Law::leave(self, departure)
    }
    fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
        Law::recurrence(self, class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Decides;

    struct Never<const NAME: char>;

    impl<const NAME: char> Law for Never<NAME> {
        const PROPERTIES: Properties = Properties {
            name: if NAME == 'a' { "a" } else { "b" },
            acts_on: "nothing",
            signals_to: "nobody",
            decides: Decides::OnArrival,
            looks_at_head: false,
            marks_reported: false,
            marks: false,
        };

        fn arrive(&mut self, _: &Arrival) -> Odds {
            Odds::NONE
        }
    }

    #[test]
    fn a_law_equals_itself_and_no_other() {
        let law = CustomLaw::new(|| Never::<'a'>);
        let copy = law;
        assert_eq!(law, copy);
        assert_ne!(law, CustomLaw::new(|| Never::<'b'>));
        // Same type, other parameters.
        let [one, two] = [1, 2].map(|parameter| CustomLaw::new(move || (parameter, Never::<'a'>).1));
        assert_ne!(one, two);
    }

    /// Marks half of the packets, at regular distances.
    #[derive(Default)]
    struct Half {
        sum: Recurrence,
    }

    impl Law for Half {
        const PROPERTIES: Properties = Properties { name: "half", marks: true, ..Never::<'a'>::PROPERTIES };

        fn arrive(&mut self, _: &Arrival) -> Odds {
            Odds::mark("half", 0.5)
        }
        fn recurrence(&mut self, _: Class) -> Option<&mut Recurrence> {
            Some(&mut self.sum)
        }
    }

    #[test]
    fn regular_marks_are_those_of_the_law() {
        // A boxed one is the same.
        for law in [CustomLaw::new(Half::default), CustomLaw::new(|| Box::new(Half::default()))] {
            let mut law = law.build();
            let mut marked = |odds: f64| {
                let likelihood = tidemark_core::Probability::new(odds);
                law.recurrence(Class::L4s).unwrap().add(likelihood).0
            };
            assert_eq!((0..100).filter(|_| marked(0.5)).count(), 49, "at each whole that is exceeded");
            let arrival = crate::law::interface::tests::arrival(Class::L4s);
            assert_eq!(law.arrive(&arrival), Odds::mark("half", 0.5));
        }
    }

    #[test]
    fn one_type_can_be_many_laws() {
        const OTHER: Properties = Properties { name: "other", ..Half::PROPERTIES };
        let law = crate::LawConfig::custom_with(&OTHER, Half::default);
        assert_eq!(law.properties(), &OTHER);
    }

    #[test]
    fn a_law_of_another_crate_is_known_by_its_name() {
        let law = crate::LawConfig::custom(|| Never::<'b'>);
        assert_eq!(law.properties().name, "b");
        assert!(!law.decides_on_leaving());
        assert_eq!(alloc::format!("{:?}", CustomLaw::new(|| Never::<'a'>)), "CustomLaw(\"a\")");
    }
}
