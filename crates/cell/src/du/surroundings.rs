//! UEs, observers and outputs: the parts around every DU, whether its CU is in the same cell or elsewhere.

use std::collections::VecDeque;

use tidemark_core::Slab;

use crate::event::Events;
use crate::output::{Output, UeId};
use crate::ue_stack::UeStack;

/// Surroundings of a DU, but for its CU.
pub(crate) struct Surroundings<P> {
    /// UEs above their radio.
    pub(crate) ues: Slab<UeId, UeStack<P>>,
    pub(crate) events: Events<P>,
    pub(crate) outputs: VecDeque<Output<P>>,
}

impl<P> Surroundings<P> {
    /// Surroundings without UEs and listeners.
    pub(crate) fn new() -> Self {
        Self { ues: Slab::new(), events: Events::new(), outputs: VecDeque::new() }
    }
}
