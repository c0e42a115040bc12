//! Reads a file of qlog with quiche's reader, and prints as JSON how many events of each name it has.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::error::Error;

use qlog::reader::{Event, QlogSeqReader};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a file of qlog")?;
    let reader = QlogSeqReader::with_file(path)?;
    let title = reader.qlog.title.clone();
    let mut names: BTreeMap<String, u64> = BTreeMap::new();
    for event in reader {
        let name = match event {
            Event::Qlog(event) => serde_json::to_value(&event)?["name"].as_str().unwrap_or_default().to_owned(),
            Event::Json(event) => format!("not of a schema: {}", event.name),
        };
        *names.entry(name).or_default() += 1;
    }
    println!("{}", serde_json::json!({ "title": title, "events": names }));
    Ok(())
}
