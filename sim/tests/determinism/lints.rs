//! No build target for another platform is at hand everywhere, so that what would make its results others
//! is banned by lints instead. Every package whose results must be the same bytes everywhere has a
//! `clippy.toml`; clippy knows no list that several share, so each has the whole of it, and this test sees
//! to that. What is exact on every platform (`sqrt`, `mul_add`, rounding) may be used.

use std::{fs, path::Path};

/// Packages whose results must be the same bytes on every machine.
const PACKAGES: [&str; 5] = ["router", "mock-providers", "scenarios", "reports", "sim"];

/// Functions of `f32` and `f64` that the standard library takes from the platform, or documents as not
/// the same everywhere.
const PLATFORM_MATHS: [&str; 26] = [
    "ln", "log", "log2", "log10", "ln_1p", "exp", "exp2", "exp_m1", "powf", "powi", "sin", "cos",
    "tan", "sin_cos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "cbrt", "hypot",
];

/// Clocks, waits, and what differs by thread.
const METHODS: [&str; 5] = [
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "std::thread::sleep",
    "std::thread::park_timeout",
    "std::thread::current",
];

/// What goes through its content in an order by chance, or hashes as it may do otherwise tomorrow.
const TYPES: [&str; 4] = [
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::hash::RandomState",
    "std::hash::DefaultHasher",
];

const MACROS: [&str; 1] = ["std::thread_local"];

#[test]
fn every_package_bans_what_differs_between_platforms_threads_and_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for package in PACKAGES {
        let file = root.join(package).join("clippy.toml");
        let text = fs::read_to_string(&file).unwrap();
        let list = |name: &str| {
            let start = text.split_once(&format!("\n{name} = [\n"));
            let (_, rest) = start.unwrap_or_else(|| panic!("{package} has no {name}"));
            rest.split_once("\n]").unwrap().0.to_owned()
        };
        let holds = |list: &str, path: &str| {
            let entry = format!("{{ path = \"{path}\", reason = \"");
            assert!(list.contains(&entry), "{package} does not ban {path}");
        };
        let methods = list("disallowed-methods");
        METHODS.iter().for_each(|path| holds(&methods, path));
        for function in PLATFORM_MATHS {
            holds(&methods, &format!("f32::{function}"));
            holds(&methods, &format!("f64::{function}"));
        }
        let types = list("disallowed-types");
        TYPES.iter().for_each(|path| holds(&types, path));
        let macros = list("disallowed-macros");
        MACROS.iter().for_each(|path| holds(&macros, path));

        let manifest = fs::read_to_string(root.join(package).join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{package}");
    }
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    for lint in [
        "disallowed_methods",
        "disallowed_types",
        "disallowed_macros",
        "iter_over_hash_type",
    ] {
        assert!(
            workspace.contains(&format!("\n{lint} = \"deny\"\n")),
            "{lint}"
        );
    }
}
