//! Logs as Parquet: the same log as its CSV, and what is refused. The files were written by pyarrow;
//! `logs/make.py` tells how.

use std::fs;

use crate::Folder;

const CSV: &str = include_str!("logs/spend.csv");
/// Every column as text; Snappy.
const TEXT: &[u8] = include_bytes!("logs/text.parquet");
/// Columns of their own types, with a dictionary, a structure and three row groups; Zstandard.
const TYPED: &[u8] = include_bytes!("logs/typed.parquet");
/// The same as Spark used to write it, with times of 96 bits, in pages of the second version; gzip.
const SPARK: &[u8] = include_bytes!("logs/spark.parquet");

/// The scenario and what was printed, for a log in a file of this name.
fn calibrated(name: &str, bytes: &[u8]) -> (String, String) {
    let folder = Folder::new(&format!("parquet-{name}"));
    fs::write(folder.path(name), bytes).unwrap();
    let left = folder.routelab(&["calibrate", name]);
    assert_eq!(left.code, Some(0), "{name}: {}", left.stderr);
    let scenario = folder.read("routelab-calibration/scenario.yaml");
    (scenario.replace(name, "the log"), left.stdout)
}

#[test]
fn a_log_as_parquet_gives_the_bytes_that_its_csv_gives() {
    let (wanted, _) = calibrated("spend.csv", CSV.as_bytes());

    assert!(wanted.contains("status: 500"), "{wanted}");
    for (name, bytes) in [
        ("text.parquet", TEXT),
        ("typed.parquet", TYPED),
        ("spark.parquet", SPARK),
        // What kind of file it is stands in its first bytes, whatever its name.
        ("typed.bin", TYPED),
    ] {
        let (scenario, stdout) = calibrated(name, bytes);
        assert_eq!(scenario, wanted, "{name}");
        assert!(stdout.contains("LiteLLM spend logs (Parquet)"), "{stdout}");
    }
}

#[test]
fn parquet_of_any_columns_is_taken_with_its_columns_named() {
    let folder = Folder::new("parquet-columns");
    fs::write(folder.path("log.parquet"), TYPED).unwrap();
    fs::write(folder.path("log.csv"), CSV).unwrap();
    let map = "start=startTime,end=endTime,output_tokens=completion_tokens,status=status";
    let of = |log: &str| {
        let left = folder.routelab(&["calibrate", log, "--columns", map]);
        assert_eq!(left.code, Some(0), "{log}: {}", left.stderr);
        let scenario = folder.read("routelab-calibration/scenario.yaml");
        scenario.replace(log, "the log")
    };

    assert_eq!(of("log.parquet"), of("log.csv"));
}

/// What was said of a file that ended with 2 and wrote nothing.
fn refused(folder: &Folder, bytes: &[u8]) -> String {
    fs::write(folder.path("log.parquet"), bytes).unwrap();
    let left = folder.routelab(&["calibrate", "log.parquet"]);
    assert_eq!(left.code, Some(2), "{}", left.stderr);
    assert_eq!(left.stdout, "");
    assert!(!folder.path("routelab-calibration").exists());
    left.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn broken_parquet_ends_with_2_names_the_column_and_writes_nothing() {
    let folder = Folder::new("parquet-broken");
    let broken = "cannot be read as Parquet";
    for (bytes, told) in [
        (&TYPED[..TYPED.len() / 2], broken),
        (&TYPED[..TYPED.len() - 1], broken),
        (&TYPED[..4], broken),
        (&[], broken),
        (CSV.as_bytes(), broken),
        (
            include_bytes!("logs/truth_as_time.parquet"),
            "column `startTime`: found values of type boolean",
        ),
        (
            include_bytes!("logs/time_as_tokens.parquet"),
            "column `prompt_tokens`: found values of type timestamp",
        ),
        (
            include_bytes!("logs/list_as_tokens.parquet"),
            "column `completion_tokens`: found values of type largelist",
        ),
        (
            include_bytes!("logs/words_as_tokens.parquet"),
            "found `many` as prompt_tokens",
        ),
        (
            include_bytes!("logs/no_end.parquet"),
            "the spend log has no column `endTime`",
        ),
    ] {
        let stderr = refused(&folder, bytes);
        assert!(stderr.contains(told), "{told}: {stderr}");
    }
    let packed = refused(&folder, &[0x1f, 0x8b, 8, 0]);
    assert!(packed.contains("compressed (gzip)"), "{packed}");
}

/// Places at which the library that reads Parquet is known to take damage for a mistake of its own, and
/// some more over the whole file.
#[test]
fn a_damaged_byte_never_panics() {
    let folder = Folder::new("parquet-damaged");
    let known = [6_879, 8_177, 10_850, 17_496];
    for at in known.into_iter().chain((0..TYPED.len()).step_by(1_700)) {
        for flip in [0xff, 0x55, 0x01, 0x80] {
            let mut bytes = TYPED.to_vec();
            bytes[at] ^= flip;
            fs::write(folder.path("log.parquet"), bytes).unwrap();

            let left = folder.routelab(&["calibrate", "log.parquet"]);

            assert!(
                matches!(left.code, Some(0 | 2)) && !left.stderr.contains("panicked"),
                "byte {at} ^ {flip}: {:?} {}",
                left.code,
                left.stderr
            );
        }
    }
}
