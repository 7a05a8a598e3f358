//! The page, its pictures and the files of a report.

use std::{fs, path::Path};

use reports::write_report;

#[test]
fn a_report_is_a_folder_of_files_with_the_page_first() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");

    let files = write_report(&crate::stand_in::sweep(10, 1_500), &folder).unwrap();

    assert_eq!(files[0], folder.join("index.html"));
    for file in &files {
        assert!(
            fs::metadata(file).unwrap().len() > 100,
            "{}",
            file.display()
        );
    }
}
