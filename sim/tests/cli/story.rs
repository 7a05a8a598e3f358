//! The page of one request's story.

use crate::{FLAKY, Folder, told};

#[test]
fn the_story_of_a_request_is_a_page_with_its_timeline_as_a_picture() {
    let folder = Folder::new("story-page").with("tiny.yaml", FLAKY);
    let out = ["--out", "request.html"];

    let left =
        folder.routelab(&[&["explain", "tiny.yaml", "--first", "retried"], &out[..]].concat());
    let without = told(&folder, &[&["explain", "tiny.yaml"], &out[..]].concat());
    let nowhere = [
        "explain",
        "tiny.yaml",
        "--request",
        "1",
        "--out",
        "no/such/place.html",
    ];
    let unwritable = told(&folder, &nowhere);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let page = folder.read("request.html");
    assert!(
        page.contains("<svg") && page.contains("Where its time went"),
        "{page}"
    );
    assert!(
        page.contains("attempt 1 at bad") && page.contains("num_retries"),
        "{page}"
    );
    assert!(
        page.contains("routelab explain tiny.yaml --request "),
        "{page}"
    );
    assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("href="));
    assert!(without.contains("none is asked for"), "{without}");
    assert!(unwritable.contains("no/such/place.html"), "{unwritable}");
}
