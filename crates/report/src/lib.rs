//! Pages built in `web/`: the report with the data of a run inside, that of a study, and the live page.

use std::io::{self, Write};

use tidemark_record::RunResult;
use tidemark_record::output::write_report_data;

const PAGE: &str = include_str!(env!("TIDEMARK_PAGE"));
const STUDY: &str = include_str!(env!("TIDEMARK_STUDY_PAGE"));
/// Page of a live cell, CU or hop. It reads the state from `/events`.
pub const LIVE: &str = include_str!(env!("TIDEMARK_LIVE_PAGE"));
const PLACEHOLDER: &str = "/*TIDEMARK_DATA*/";

/// Writes the report of a run as one HTML page.
///
/// # Errors
/// An error of the writer.
pub fn write_page(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    let (before, after) = PAGE.split_once(PLACEHOLDER).unwrap_or((PAGE, ""));
    out.write_all(before.as_bytes())?;
    write_report_data(result, &mut Escaped(out))?;
    out.write_all(after.as_bytes())
}

/// Report of a run as one HTML page.
///
/// # Errors
/// Never for the result of a run.
pub fn page(result: &RunResult) -> io::Result<String> {
    let mut page = Vec::new();
    write_page(result, &mut page)?;
    String::from_utf8(page).map_err(io::Error::other)
}

/// The page with this data in JSON.
pub fn with_data(json: &str) -> String {
    filled(PAGE, json)
}

/// The page of a study with this data in JSON.
pub fn study(json: &str) -> String {
    filled(STUDY, json)
}

fn filled(page: &str, json: &str) -> String {
    page.replacen(PLACEHOLDER, &json.replace('<', LESS), 1)
}

/// A `<` inside JSON. It can only stand in a string, where this escape means the same and can't end the script element.
const LESS: &str = "\\u003c";

/// Writer of JSON into a page.
struct Escaped<'a>(&'a mut dyn Write);

impl Write for Escaped<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.write_all(json).map(|()| json.len())
    }

    fn write_all(&mut self, json: &[u8]) -> io::Result<()> {
        let mut parts = json.split(|byte| *byte == b'<');
        self.0.write_all(parts.next().unwrap_or_default())?;
        parts.try_for_each(|part| {
            self.0.write_all(LESS.as_bytes())?;
            self.0.write_all(part)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The data of a page written by this version; `None` for another page.
pub fn data(page: &str) -> Option<&str> {
    let (before, after) = PAGE.split_once(PLACEHOLDER)?;
    page.strip_prefix(before)?.strip_suffix(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_one_place_for_the_data() {
        assert_eq!([PAGE, STUDY].map(|page| page.matches(PLACEHOLDER).count()), [1, 1]);
    }

    #[test]
    fn a_name_does_not_end_the_script_of_the_page() {
        let page = with_data(r#"{"name":"</script><!--<script>"}"#);
        assert_eq!(page.matches('<').count(), PAGE.matches('<').count());
        assert!(page.contains(r#"{"name":"\u003c/script>"#));
    }

    #[test]
    fn json_that_comes_in_pieces_is_escaped_like_a_whole_one() {
        let (pieces, mut page) = (["{\"a<", "<", "b\":", "\"<!--\"}"], Vec::new());
        pieces.iter().for_each(|piece| Escaped(&mut page).write_all(piece.as_bytes()).unwrap());
        assert_eq!(page, pieces.concat().replace('<', LESS).into_bytes());
    }

    #[test]
    fn the_data_of_a_page_is_read_as_it_was_written() {
        assert_eq!(data(&with_data(r#"{"name":"a"}"#)), Some(r#"{"name":"a"}"#));
        assert_eq!(data("<html>"), None);
    }
}
