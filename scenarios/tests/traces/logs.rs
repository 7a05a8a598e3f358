//! Logs for calibration: what their readers keep, what they leave behind, and what they refuse.

use scenarios::logs::{ColumnMap, Log, LogInput, LogOptions, LogResult, LogRow, read_logs};
use scenarios::workload::trace::TimeUnit;

pub(crate) fn read(text: &str, columns: &str) -> Result<Log, String> {
    let columns = match columns {
        "" => ColumnMap::default(),
        given => ColumnMap::parse(given).map_err(|error| error.to_string())?,
    };
    let file = LogInput::Text {
        file: "log".to_owned(),
        text: text.to_owned(),
    };
    let options = LogOptions {
        columns,
        time_unit: None,
    };
    read_logs(&[file], &options).map_err(|error| error.to_string())
}

fn refused(text: &str, columns: &str) -> String {
    read(text, columns).unwrap_err()
}

fn took_ms(row: &LogRow) -> i64 {
    (row.end_ns.unwrap() - row.start_ns) / 1_000_000
}

const SPEND: &str = "\
request_id,call_type,startTime,endTime,completionStartTime,model,model_id,model_group,prompt_tokens,completion_tokens,status,session_id,user,api_key,messages,metadata
a,acompletion,2026-11-29T22:40:07.398615+00:00,2026-11-29T22:40:09.398615+00:00,2026-11-29T22:40:07.898615+00:00,azure/gpt-4o,eu,gpt-4o,10,20,success,s1,ann,sk-1,hello,
b,acompletion,2026-11-29 22:40:10.5+00,2026-11-29 22:40:11.25+00,,openai/gpt-4o,us,gpt-4o,0,0,failure,s2,bob,sk-2,classified,\"{\"\"error_information\"\": {\"\"error_code\"\": \"\"429\"\"}}\"
c,acompletion,2026-11-29T22:40:12Z,2026-11-29T22:40:13Z,2026-11-29T22:40:13Z,azure/gpt-4o,eu,gpt-4o,12,7,success,s2,bob,sk-2,classified,
d,aembedding,2026-11-29T22:40:14Z,2026-11-29T22:40:15Z,,azure/embed,e,embed,12,0,success,s3,bob,sk-2,classified,
";

#[test]
fn spend_logs_are_read_with_streams_failures_and_further_attempts() {
    let log = read(SPEND, "").unwrap();

    assert_eq!(log.models, ["gpt-4o"]);
    let ids: Vec<&str> = log.deployments.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["eu", "us"]);
    assert_eq!(log.deployments[1].litellm_model, "openai/gpt-4o");
    let [streamed, failed, again] = &log.rows[..] else {
        panic!("{:?}", log.rows)
    };
    assert_eq!(streamed.stream, Some(true));
    assert_eq!(
        streamed.first_token_ns.unwrap() - streamed.start_ns,
        500_000_000
    );
    assert_eq!(
        (took_ms(streamed), streamed.output_tokens),
        (2_000, Some(20))
    );
    assert_eq!(
        (failed.result, failed.is_arrival),
        (LogResult::Failure(429), true)
    );
    assert_eq!((again.stream, again.first_token_ns), (Some(false), None));
    assert!(
        !again.is_arrival,
        "a retry in the session of a failure is no request"
    );
    assert_eq!(log.books.read, 4);
    assert_eq!(log.books.dropped["another call than a completion"].0, 1);
}

#[test]
fn what_a_log_says_of_people_stays_behind() {
    let log = read(SPEND, "").unwrap();

    let kept = format!("{log:?}");
    for secret in ["ann", "bob", "sk-1", "hello", "classified"] {
        assert!(!kept.contains(secret), "{secret} in {kept}");
    }
    assert_eq!(log.senders, 2);
    assert_eq!(
        log.books.ignored["messages"],
        "content of calls: never read"
    );
    assert_eq!(
        log.books.ignored["api_key"],
        "about persons or secrets: never read"
    );
}

#[test]
fn any_csv_is_read_by_naming_its_columns() {
    let text =
        "created_at,duration,code,in,out\n1700000000.5,250,200,10,20\n1700000001,90,503,5,\n";
    let map = "start=created_at,latency_ms=duration,status=code,prompt_tokens=in,output_tokens=out";

    let log = read(text, map).unwrap();

    assert_eq!(log.rows[0].start_ns, 1_700_000_000_500_000_000);
    assert_eq!(took_ms(&log.rows[0]), 250);
    assert_eq!(log.rows[1].result, LogResult::Failure(503));
    assert_eq!((log.rows[0].stream, log.is_dated), (None, true));
    assert_eq!(log.deployments.len(), 1);
}

#[test]
fn a_number_of_a_time_is_taken_by_its_size_or_by_the_unit_that_was_said() {
    for (text, ns) in [
        ("12.5", 12_500_000_000),
        ("1700000000123", 1_700_000_000_123_000_000),
        ("1700000000123456", 1_700_000_000_123_456_000),
        ("1700000000123456789", 1_700_000_000_123_456_789),
    ] {
        let log = read(&format!("t,d\n{text},5\n"), "start=t,latency_ms=d").unwrap();
        assert_eq!(log.rows[0].start_ns, ns, "{text}");
    }
    let file = LogInput::Text {
        file: "log".to_owned(),
        text: "t,d\n12500,5\n".to_owned(),
    };
    let options = LogOptions {
        columns: ColumnMap::parse("start=t,latency_ms=d").unwrap(),
        time_unit: Some(TimeUnit::Milliseconds),
    };
    let log = read_logs(&[file], &options).unwrap();
    assert_eq!(log.rows[0].start_ns, 12_500_000_000);
}

#[test]
fn a_row_without_an_end_is_an_answer_that_never_came() {
    let log = read("t,d,s\n1,5,ok\n2,,ok\n", "start=t,latency_ms=d,status=s").unwrap();

    assert_eq!(log.rows[1].result, LogResult::Unfinished);
}

#[test]
fn broken_logs_are_refused_with_the_place_and_what_would_be_accepted() {
    insta::assert_snapshot!(refused("", ""), @"log: the log is empty");
    insta::assert_snapshot!(refused("a,b\n1,2\n", ""), @"log:1:1: a log of no known format has the columns a,b; accepted are LiteLLM's spend logs, which have startTime and endTime, OpenTelemetry spans as JSON, and any other rows with --columns start=…,latency_ms=…");
    insta::assert_snapshot!(refused("when,b\n1,2\n", "start=wen"), @"log:1:1: --columns: the log has no column `wen`; did you mean `when`?");
    insta::assert_snapshot!(refused("a,b\n1,2\n", "strt=a"), @"--columns: unknown name `strt`; did you mean `start`?");
    insta::assert_snapshot!(refused("a,b\n1,2\n", "start"), @"--columns: found `start`; accepted is name=column with commas between, as start=created_at,latency_ms=duration");
    insta::assert_snapshot!(refused("a,b\n1,2\n", "start=a,start=b"), @"--columns: `start` is given twice");
    insta::assert_snapshot!(refused("a,b\n1,2\n", "latency_ms=b"), @"--columns: no column is named for `start`; accepted is, for example, --columns start=created_at,latency_ms=duration");
    insta::assert_snapshot!(refused("a,b\n", "start=a"), @"log: the log has no rows");
    insta::assert_snapshot!(refused("a,b\nsoon,2\n", "start=a,latency_ms=b"), @"log: no row of the log can be used: 1 with a time that is none (first: log:2: found `soon` as start, accepted is a number of seconds, or a date with a time, as 2026-11-29T22:40:07.39Z)");
    insta::assert_snapshot!(refused("a,b\n1,2\n2,-4\n", "start=a,latency_ms=b"), @"log: 1 of 2 rows cannot be used: 1 with a length of time that is none (first: log:3: found `-4` as latency_ms, accepted is a number from 0 to a year); accepted are logs of which at most a tenth of the rows cannot be read");
    insta::assert_snapshot!(refused("a,b,c\n1,2\n", "start=a,latency_ms=b"), @"log: no row of the log can be used: 1 with another number of cells than the header (first: log:2: found 2 cells, accepted are 3)");
    insta::assert_snapshot!(refused("a,b\n1,maybe\n", "start=a,status=b"), @"log: no row of the log can be used: 1 with a status that is none (first: log:2: found `maybe`, accepted is success, failure, an HTTP status or the name of a LiteLLM exception)");
}

#[test]
fn litellms_own_log_is_read_as_json_lines() {
    let Some(data) = super::data() else { return };
    let text =
        std::fs::read_to_string(data.join("schemas/litellm/spend_logs_sample.jsonl")).unwrap();

    let log = read(&text, "").unwrap();

    assert_eq!(log.formats, ["LiteLLM spend logs (JSON)"]);
    assert_eq!(log.books.dropped_rows(), 0, "{:?}", log.books.dropped);
    let failures: Vec<LogResult> = log
        .rows
        .iter()
        .map(|row| row.result)
        .filter(|result| *result != LogResult::Success)
        .collect();
    assert!(failures.contains(&LogResult::Failure(429)), "{failures:?}");
    assert!(failures.contains(&LogResult::Failure(500)), "{failures:?}");
    assert!(log.rows.iter().any(|row| row.stream == Some(true)));
    assert!(
        log.rows.iter().any(|row| !row.is_arrival),
        "fallbacks are further attempts"
    );
    assert!(log.deployments.iter().any(|d| d.id == "azure-eu"));
    // A list of the same rows, as `/spend/logs` answers, is the same log.
    let listed = format!("[{}]", text.trim_end().replace('\n', ","));
    let again = read(&listed, "").unwrap();
    assert_eq!(again.rows, log.rows);
}

#[test]
fn spans_are_read_as_they_lie_in_files() {
    let Some(data) = super::data() else { return };
    let file = data.join("schemas/otel/inference-perf_customer_support_escalation.json");
    let text = std::fs::read_to_string(file).unwrap();

    let log = read(&text, "").unwrap();

    assert_eq!(log.formats, ["OpenTelemetry GenAI spans"]);
    assert_eq!(log.rows.len() as u64 + log.books.dropped_rows(), 9);
    assert_eq!(log.deployments[0].id, "openai/gpt-4");
    assert!(log.rows.iter().all(|row| row.result == LogResult::Success));
    assert_eq!(
        log.books.ignored["gen_ai.input.messages"],
        "content of calls: never read"
    );
    assert!(!format!("{log:?}").contains("SmartHome"));
}

const OTLP: &str = r#"{"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [
  {"traceId": "t1", "name": "chat gpt-4o", "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000002000000000",
   "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
     {"key": "gen_ai.provider.name", "value": {"stringValue": "openai"}},
     {"key": "gen_ai.request.model", "value": {"stringValue": "gpt-4o"}},
     {"key": "gen_ai.request.stream", "value": {"boolValue": true}},
     {"key": "gen_ai.server.time_to_first_token", "value": {"doubleValue": 0.5}},
     {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "31"}}]},
  {"traceId": "t2", "name": "chat gpt-4o", "startTimeUnixNano": "1700000003000000000", "endTimeUnixNano": "1700000004000000000",
   "status": {"code": 2},
   "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
     {"key": "gen_ai.request.model", "value": {"stringValue": "gpt-4o"}},
     {"key": "error.type", "value": {"stringValue": "RateLimitError"}}]},
  {"traceId": "t2", "name": "execute_tool", "startTimeUnixNano": "1700000003000000000", "endTimeUnixNano": "1700000004000000000",
   "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}]}
]}]}]}
"#;

#[test]
fn otlp_json_is_read_with_first_tokens_and_errors() {
    let log = read(OTLP, "").unwrap();

    let [streamed, failed] = &log.rows[..] else {
        panic!("{:?}", log.rows)
    };
    assert_eq!(streamed.first_token_ns, Some(1_700_000_000_500_000_000));
    assert_eq!(
        (streamed.stream, streamed.output_tokens),
        (Some(true), Some(31))
    );
    assert_eq!(failed.result, LogResult::Failure(429));
    assert_eq!(log.books.dropped["a span that is no call to a model"].0, 1);
    // A collector writes one such document a line.
    let twice = format!("{}{}", OTLP, OTLP.replace("17000000", "17000001"));
    assert_eq!(read(&twice, "").unwrap().rows.len(), 4);
}

#[test]
fn broken_json_is_refused_with_its_place() {
    insta::assert_snapshot!(refused("[{\"a\": 1},\n{]", ""), @"log:2:2: found no JSON: key must be a string at line 2 column 2; accepted are a list of objects, an object a line, or OTLP's resourceSpans");
    insta::assert_snapshot!(refused("[1]", ""), @"log:1:1: found `1`; accepted are objects: rows of a log or spans");
    insta::assert_snapshot!(refused("{\"a\": 1}\n", ""), @"log:1:1: a log of no known format has the columns a; accepted are LiteLLM's spend logs, which have startTime and endTime, OpenTelemetry spans as JSON, and any other rows with --columns start=…,latency_ms=…");
    insta::assert_snapshot!(refused("{\"a\": 1, \"l\": 2}\n\n{\"l\": 1}\n", "start=a,latency_ms=l"), @"log:3:1: a log of no known format has the columns l; accepted are LiteLLM's spend logs, which have startTime and endTime, OpenTelemetry spans as JSON, and any other rows with --columns start=…,latency_ms=…");
}

#[test]
fn a_log_that_never_tells_of_ends_is_one_of_answers() {
    let Some(data) = super::data() else { return };
    let text = std::fs::read_to_string(data.join("traces/azure_llm_2023_conv.csv")).unwrap();

    let map = "start=TIMESTAMP,prompt_tokens=ContextTokens,output_tokens=GeneratedTokens";
    let log = read(&text, map).unwrap();

    assert_eq!(log.rows.len(), 19_366);
    assert!(
        log.rows
            .iter()
            .all(|row| row.result == LogResult::Success && row.end_ns.is_none())
    );
}

#[test]
fn a_row_that_stands_twice_counts_once() {
    let file = |name: &str, text: &str| LogInput::Text {
        file: name.to_owned(),
        text: text.to_owned(),
    };
    let read_both = |one: &str, other: &str, columns: &str| {
        let options = LogOptions {
            columns: ColumnMap::parse(columns).unwrap_or_default(),
            time_unit: None,
        };
        read_logs(&[file("one", one), file("other", other)], &options).unwrap()
    };
    let once = read(SPEND, "").unwrap();
    let twice = read_both(SPEND, SPEND, "");

    assert_eq!(twice.rows, once.rows);
    assert_eq!(twice.books.read, 8);
    assert_eq!(twice.books.dropped["a row that stands twice"].0, 3);
    // A retry may have the id of its request: it begins later.
    let later = SPEND.replace("2026-11-29T22:40:12Z", "2026-11-29T22:40:12.5Z");
    assert_eq!(read_both(SPEND, &later, "").rows.len(), 4);

    // Without ids a fine clock tells as well; a coarse one does not, and nothing is dropped.
    let (fine, coarse) = ("t,d\n1.0000012,5\n2.0000034,5\n", "t,d\n1,5\n1,5\n2,5\n");
    let map = "start=t,latency_ms=d";
    assert_eq!(read_both(fine, fine, map).rows.len(), 2);
    assert_eq!(read_both(coarse, coarse, map).rows.len(), 6);
    let named = "t,d,n\n1,5,a\n1,5,a\n1,5,b\n";
    assert_eq!(read(named, &format!("{map},id=n")).unwrap().rows.len(), 2);
}

#[test]
fn a_file_is_taken_by_its_first_bytes() {
    let of = |name: &str, bytes: &[u8]| LogInput::of(name, bytes.to_vec());
    assert!(matches!(
        of("a.log", b"PAR1..."),
        Ok(LogInput::Parquet { .. })
    ));
    assert!(matches!(
        of("a.parquet", b"a,b"),
        Ok(LogInput::Parquet { .. })
    ));
    assert!(matches!(
        of("a.csv", "ü,b".as_bytes()),
        Ok(LogInput::Text { .. })
    ));
    let refused = |bytes: &[u8]| of("log", bytes).unwrap_err().to_string();
    insta::assert_snapshot!(refused(&[0x1f, 0x8b, 8]), @"log: the log is compressed (gzip); unpack it first: gunzip FILE");
    insta::assert_snapshot!(refused(b"a,b\n1,\xff\n"), @"log: the log is no text: byte 6 is not UTF-8; accepted are CSV, JSON or JSON lines in UTF-8, and Parquet");
}

/// With it, sim's tests read and break real files.
#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_refuses_it() {
    let file = LogInput::of("spend.parquet", b"PAR1".to_vec()).unwrap();

    let refused = read_logs(&[file], &LogOptions::default()).unwrap_err();

    insta::assert_snapshot!(refused.to_string(), @"spend.parquet: this build of routelab cannot read Parquet; accepted are CSV, JSON and JSON lines; builds with the feature `parquet` of the package `scenarios` read Parquet");
}

#[test]
fn a_spend_log_without_a_column_it_must_have_is_told_which() {
    let without = |column: &str| SPEND.replacen(column, "when", 1);
    insta::assert_snapshot!(refused(&without("endTime"), ""), @"log:1:1: the spend log has no column `endTime`; accepted are LiteLLM's spend logs, which have startTime and endTime, OpenTelemetry spans as JSON, and any other rows with --columns start=…,latency_ms=…");
    insta::assert_snapshot!(refused("{\"startTime\": 1, \"model\": \"a\", \"status\": \"success\"}", ""), @"log:1:1: the spend log has no column `endTime`; accepted are LiteLLM's spend logs, which have startTime and endTime, OpenTelemetry spans as JSON, and any other rows with --columns start=…,latency_ms=…");
}
