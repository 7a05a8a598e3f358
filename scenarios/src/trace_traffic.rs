//! From `workload.trace` to traffic: which part of a recording is played, how fast, how often.
//!
//! Single requests keep their recorded times, divided by `rate_multiplier`. ServeGen's rates are
//! multiplied by it instead, and a Poisson process (aggregate) or each caller's own renewal process
//! (clients) draws the requests.

use std::{sync::Arc, time::Duration};

use router::Instant;

use crate::{
    error::ScenarioError,
    schema::{TraceSpec, WorkloadSpec},
    traffic::{Files, lengths_missing, lengths_of},
    workload::{
        Replay, Traffic,
        arrivals::{SECONDS_AT_MOST, number},
        dist::Gap,
        trace::{
            self, Trace, TraceFormat, TraceOptions, TraceRow, grouped,
            servegen::{self, ClientTable, RateTable, Slice, seconds},
        },
    },
};

/// A trace in memory, with how it was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadTrace {
    file: String,
    options: TraceOptions,
    data: TraceData,
}

impl ReadTrace {
    /// The trace with its file, if it is one of single requests.
    pub(crate) fn requests(&self) -> Option<(String, Arc<Trace>)> {
        match &self.data {
            TraceData::Requests(trace) => Some((self.file.clone(), Arc::clone(trace))),
            TraceData::Rates(_) | TraceData::Clients(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
enum TraceData {
    Requests(Arc<Trace>),
    Rates(Arc<RateTable>),
    Clients(Arc<[ClientTable]>),
}

/// Traffic and how long it lasts. Errors name their key from `workload` on.
pub(crate) fn traffic(
    spec: &TraceSpec,
    workload: &WorkloadSpec,
    files: &mut Files,
) -> Result<(Traffic, Duration), ScenarioError> {
    if workload.duration_s.is_some() {
        return Err(ScenarioError::new("found beside `trace`")
            .key("duration_s")
            .help("a trace has its own length: cut it by `trace.from_s` and `trace.to_s`"));
    }
    let slice = slice(spec)?;
    let data = data(spec, files)?;
    if let (Some(_), TraceData::Rates(_) | TraceData::Clients(_)) = (spec.repeat, &data) {
        return Err(ScenarioError::new("only single requests can be repeated")
            .key("trace.repeat")
            .help("this trace is one of rates: leave it out"));
    }
    let file = &spec.file;
    match data {
        TraceData::Requests(trace) => {
            if workload.lengths.is_some() {
                return Err(
                    ScenarioError::new("found beside a trace that has its own lengths")
                        .key("lengths")
                        .help("leave it out"),
                );
            }
            requests(&trace, slice, spec, files)
        }
        TraceData::Rates(table) => {
            let lengths = workload.lengths.as_ref().ok_or_else(lengths_missing)?;
            let lengths = lengths_of(lengths, files)?;
            let (rate, length_s) = table.rate(slice, file)?;
            let traffic = Traffic::Generated {
                rate,
                gap: Gap::Exponential,
                lengths,
            };
            Ok((traffic, Duration::from_secs_f64(length_s)))
        }
        TraceData::Clients(tables) => clients(&tables, slice, spec, workload, files),
    }
}

fn slice(spec: &TraceSpec) -> Result<Slice, ScenarioError> {
    let rate_multiplier = spec.rate_multiplier.unwrap_or(1.0);
    if !(rate_multiplier > 0.0 && rate_multiplier <= MULTIPLIER_AT_MOST) {
        let accepted = format!("a factor above 0 and up to {MULTIPLIER_AT_MOST}");
        return Err(number("trace.rate_multiplier", rate_multiplier, accepted));
    }
    let from_s = spec.from_s.unwrap_or(0.0);
    if !(0.0..=SECONDS_AT_MOST).contains(&from_s) {
        return Err(number("trace.from_s", from_s, "0 or more seconds"));
    }
    if let Some(to_s) = spec.to_s.filter(|to_s| *to_s <= from_s) {
        let accepted = format!("a time after `from_s`, which is {from_s}");
        return Err(number("trace.to_s", to_s, accepted));
    }
    if spec.repeat == Some(0) {
        return Err(number("trace.repeat", 0.0, "1 or more"));
    }
    Ok(Slice {
        from_s,
        to_s: spec.to_s,
        rate_multiplier,
    })
}

fn data(spec: &TraceSpec, files: &mut Files) -> Result<TraceData, ScenarioError> {
    let max_dropped_share = spec
        .max_dropped_share
        .unwrap_or_else(|| TraceOptions::default().max_dropped_share);
    if !(0.0..=1.0).contains(&max_dropped_share) {
        return Err(number(
            "trace.max_dropped_share",
            max_dropped_share,
            "a share from 0 to 1",
        ));
    }
    let options = TraceOptions {
        format: spec.format,
        columns: spec.columns.clone(),
        unsorted: spec.unsorted.unwrap_or_default(),
        max_dropped_share,
    };
    let known = files
        .traces
        .iter()
        .find(|read| read.file == spec.file && read.options == options);
    if let Some(read) = known {
        return Ok(read.data.clone());
    }
    let path = files.find(&spec.file, "trace.file")?;
    let data = if path.is_dir() {
        if !matches!(spec.format, None | Some(TraceFormat::ServegenClients)) {
            return Err(ScenarioError::new(format!("`{}` is a folder", spec.file))
                .key("trace.file")
                .help("only a trace of format servegen-clients is a folder"));
        }
        TraceData::Clients(servegen::read_folder(&path, &spec.file)?.into())
    } else {
        read_file(spec, &options, files)?
    };
    files.note(match &data {
        TraceData::Requests(trace) => format!("trace {}: {}", spec.file, trace.books.account()),
        TraceData::Rates(table) => format!("trace {}: {}", spec.file, table.books.account()),
        TraceData::Clients(tables) => clients_note(&spec.file, tables),
    });
    let read = ReadTrace {
        file: spec.file.clone(),
        options,
        data: data.clone(),
    };
    files.traces.push(read);
    Ok(data)
}

fn read_file(
    spec: &TraceSpec,
    options: &TraceOptions,
    files: &Files,
) -> Result<TraceData, ScenarioError> {
    let text = files.text(&spec.file, "trace.file")?;
    let format = match (options.format, &options.columns) {
        (Some(format), _) => format,
        (None, Some(_)) => TraceFormat::Columns,
        (None, None) => trace::detect(&text, &spec.file)?,
    };
    match format {
        TraceFormat::ServegenAggregate => Ok(TraceData::Rates(Arc::new(RateTable::read(
            &text, &spec.file,
        )?))),
        TraceFormat::ServegenClients => {
            Err(ScenarioError::new(format!("`{}` is no folder", spec.file))
                .key("trace.file")
                .help("a trace of format servegen-clients is a folder of chunk-*-trace.csv files"))
        }
        TraceFormat::Azure
        | TraceFormat::Burstgpt
        | TraceFormat::Columns
        | TraceFormat::Mooncake
        | TraceFormat::Sharegpt => Ok(TraceData::Requests(Arc::new(trace::read(
            &text, &spec.file, options,
        )?))),
    }
}

fn clients_note(file: &str, tables: &[ClientTable]) -> String {
    let read: u64 = tables.iter().map(|table| table.books.read).sum();
    let dropped: u64 = tables.iter().map(|table| table.books.dropped_rows()).sum();
    let with_lengths = tables.iter().filter(|table| table.has_lengths()).count();
    format!(
        "trace {file}: {} callers, {with_lengths} with lengths of their own; windows read {} = kept \
         {} + dropped {} (malformed)",
        tables.len(),
        grouped(read),
        grouped(read - dropped),
        grouped(dropped)
    )
}

fn requests(
    trace: &Trace,
    slice: Slice,
    spec: &TraceSpec,
    files: &mut Files,
) -> Result<(Traffic, Duration), ScenarioError> {
    let from_ns = router::nanos_from_secs(slice.from_s);
    let to_ns = slice.to_s.map_or(u64::MAX, router::nanos_from_secs);
    let begin = trace.rows.partition_point(|row| row.at_ns < from_ns);
    let end = trace.rows.partition_point(|row| row.at_ns < to_ns);
    let chosen = &trace.rows[begin..end];
    let last_of_all = trace.rows[trace.rows.len() - 1].at_ns;
    let Some(last) = chosen.last() else {
        let length = seconds(Instant::from_nanos(last_of_all).as_secs_f64());
        let message = format!("no request of the trace, which is {length} s long, is chosen");
        return Err(ScenarioError::new(message).key("trace"));
    };
    if chosen.len() < trace.rows.len() {
        files.note(format!(
            "trace {}: {} of {} requests are played, those from {} s to {} s",
            spec.file,
            grouped(chosen.len() as u64),
            grouped(trace.rows.len() as u64),
            seconds(slice.from_s),
            seconds(Instant::from_nanos(to_ns.min(last_of_all)).as_secs_f64()),
        ));
    }
    // A trace ends one mean gap after its last request, so that rounds join without a step.
    let span_ns = last.at_ns - from_ns;
    let mean_gap_ns = span_ns / (chosen.len() as u64 - 1).max(1);
    let open_ns = (span_ns + mean_gap_ns).max(1_000_000_000);
    let period_ns = if to_ns <= last_of_all {
        to_ns - from_ns
    } else {
        open_ns
    };
    let row = |row: &TraceRow| TraceRow {
        at_ns: row.at_ns - from_ns,
        ..*row
    };
    let replay = Replay {
        rows: chosen.iter().map(row).collect(),
        rate_multiplier: slice.rate_multiplier,
        repeat: spec.repeat.unwrap_or(1),
        period_ns,
        partial: 0,
    };
    let whole_ns = period_ns.saturating_mul(u64::from(replay.repeat));
    let duration = Duration::from_nanos(replay.scaled(whole_ns));
    if duration.as_secs_f64() > SECONDS_AT_MOST {
        return Err(
            ScenarioError::new("the trace as played is longer than a hundred years").key("trace"),
        );
    }
    Ok((Traffic::Replayed(replay), duration))
}

fn clients(
    tables: &[ClientTable],
    slice: Slice,
    spec: &TraceSpec,
    workload: &WorkloadSpec,
    files: &mut Files,
) -> Result<(Traffic, Duration), ScenarioError> {
    let lengths = match &workload.lengths {
        Some(lengths) => Some(lengths_of(lengths, files)?),
        None => None,
    };
    let without = tables.iter().filter(|table| !table.has_lengths()).count();
    if lengths.is_none() && without > 0 {
        return Err(ScenarioError::new(format!(
            "{without} of {} callers have no lengths of their own",
            tables.len()
        ))
        .key("lengths")
        .help("give `workload.lengths` for them"));
    }
    let trace_end = tables.iter().map(ClientTable::end_s).fold(0.0, f64::max);
    let to_s = slice.end(trace_end, &spec.file)?;
    let clients: Arc<[_]> = tables
        .iter()
        .filter_map(|table| table.client(slice, to_s, lengths.as_ref()))
        .collect();
    if clients.is_empty() {
        let message = "no caller has any arrivals in the chosen slice";
        return Err(ScenarioError::new(message).key("trace"));
    }
    files.note(format!(
        "trace {}: {} of {} callers have arrivals in the chosen slice",
        spec.file,
        clients.len(),
        tables.len()
    ));
    Ok((
        Traffic::Clients(clients),
        Duration::from_secs_f64(to_s - slice.from_s),
    ))
}

/// A million times the recorded rate.
const MULTIPLIER_AT_MOST: f64 = 1e6;
