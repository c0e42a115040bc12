//! The report's page, which `web/` builds, with the run's data inside.

use miette::{IntoDiagnostic, Result};
use tidemark_record::output::report_data;
use tidemark_sim::RunResult;

use crate::carried::carried;

const PAGE: &str = carried!("web/dist/report.html");
const PLACEHOLDER: &str = "/*TIDEMARK_DATA*/";

/// Gives the report of a run as one HTML page.
///
/// # Errors
/// Results that can't be written as JSON.
pub(crate) fn page(result: &RunResult) -> Result<String> {
    Ok(with_data(&report_data(result).into_diagnostic()?))
}

fn with_data(json: &str) -> String {
    // A `<` inside JSON can only stand in a string, where an escape means the same and can't end the script element.
    PAGE.replacen(PLACEHOLDER, &json.replace('<', "\\u003c"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_place_for_the_data() {
        assert_eq!(PAGE.matches(PLACEHOLDER).count(), 1);
    }

    #[test]
    fn a_name_does_not_end_the_script_of_the_page() {
        let page = with_data(r#"{"name":"</script><!--<script>"}"#);
        assert_eq!(page.matches('<').count(), PAGE.matches('<').count());
        assert!(page.contains(r#"{"name":"\u003c/script>"#));
    }
}
