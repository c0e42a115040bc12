//! Pages built in `web/`: the report with the data of a run inside, that of a study, and the live page.

use tidemark_record::RunResult;
use tidemark_record::output::report_data;

const PAGE: &str = include_str!(env!("TIDEMARK_PAGE"));
const STUDY: &str = include_str!(env!("TIDEMARK_STUDY_PAGE"));
/// Page of a live cell, CU or hop. It reads the state from `/events`.
pub const LIVE: &str = include_str!(env!("TIDEMARK_LIVE_PAGE"));
const PLACEHOLDER: &str = "/*TIDEMARK_DATA*/";

/// Gives the report of a run as one HTML page.
///
/// # Errors
/// Never for the result of a run.
pub fn page(result: &RunResult) -> serde_json::Result<String> {
    Ok(with_data(&report_data(result)?))
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
    // A `<` inside JSON can only stand in a string, where an escape means the same and can't end the script element.
    page.replacen(PLACEHOLDER, &json.replace('<', "\\u003c"), 1)
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
    fn the_data_of_a_page_is_read_as_it_was_written() {
        assert_eq!(data(&with_data(r#"{"name":"a"}"#)), Some(r#"{"name":"a"}"#));
        assert_eq!(data("<html>"), None);
    }
}
