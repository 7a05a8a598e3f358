//! What a terminal and a pull request get to see.

use reports::{console, markdown};

#[test]
fn look() {
    let sweep = crate::stand_in::sweep(10, 1_500);
    eprintln!("{}\n=====\n{}", console(&sweep), markdown(&sweep));
}
