//! The page of streams, which shows a recorded one as well.

/// The page.
pub(crate) const PAGE: &str = include_str!(env!("TIDEMARK_STREAM_PAGE"));

/// Element of the page that is empty where streams are played, and has the figures of a recorded one.
const RECORDED: &str = "<script type=\"application/json\" id=\"recorded\">";

/// The page with a recorded stream, self-contained.
pub(crate) fn with_recorded(json: &str) -> String {
    // A `<` inside JSON can only stand in a string, where an escape means the same and can't end the script element.
    PAGE.replacen(RECORDED, &format!("{RECORDED}{}", json.replace('<', "\\u003c")), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_takes_what_was_recorded_and_no_name_ends_its_script() {
        let page = with_recorded(r#"{"controller":"</script>"}"#);
        assert!(page.contains(&format!(r#"{RECORDED}{{"controller":"\u003c/script>"}}</script>"#)));
    }
}
