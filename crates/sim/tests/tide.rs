//! The law `tide`: Prague and CUBIC in one DRB of a cell that stands still.

use crate::common;

#[test]
fn prague_and_cubic_in_one_drb_fill_the_cell_and_neither_has_twice_the_other() {
    let mut text = String::from(
        "name = \"shared\"\nduration = \"120 s\"\nwarmup = \"60 s\"\n[marker]\nlaw = \"tide\"\n[[ue]]\nname = \"ue\"\n",
    );
    for controller in ["prague", "cubic"] {
        text += &format!(
            "[[flow]]\nname = \"{controller}\"\nue = \"ue\"\nround_trip = \"38 ms\"\n\
             sender = {{ controller = \"{controller}\" }}\n"
        );
    }
    let result = common::run(&text, &[]);
    let rates: Vec<_> = result.flows.iter().map(|flow| flow.throughput_mbps).collect();
    assert!(rates.iter().sum::<f64>() > 40.0, "{rates:?} of 40.1 Mbit/s");
    let ratio = rates[0] / rates[1];
    assert!((0.5..=2.0).contains(&ratio), "{rates:?}");
    let queue = result.bearers[0].queue_ms.unwrap().mean;
    assert!(queue < 30.0, "{queue} ms");
}
