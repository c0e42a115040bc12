//! The marking engine: estimators, marking laws, feedback short-circuit and the packet path.
