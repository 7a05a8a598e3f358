//! The story of one request as a page.

use std::{fs, path::Path};

use reports::{
    StoryPage,
    plots::{RequestSpan, RequestSpanKind, RequestTimeline, request_timeline},
    story_page,
};
use scenarios::{RunPlan, Scenario};
use sim::{Span, SpanKind, Story};

use super::{of_arm, request, time};
use crate::{cli::ExplainArgs, commands::quoted, complaint::Complaint, progress::note};

pub(super) fn write(
    args: &ExplainArgs,
    scenario: &Scenario,
    plan: &RunPlan,
    story: &Story<'_>,
    file: &Path,
) -> Result<(), Complaint> {
    let number = request(args, plan)?.map_or(0, |request| request.0);
    let findings = time::finding(story);
    let seconds = |span: std::time::Duration| span.as_secs_f64();
    let span = |span: &Span| RequestSpan {
        what: span.what.clone(),
        kind: match span.kind {
            SpanKind::Answering => RequestSpanKind::Answering,
            SpanKind::Failing => RequestSpanKind::Failing,
            SpanKind::Waiting => RequestSpanKind::Waiting,
        },
        from_s: seconds(span.from),
        to_s: seconds(span.to),
        first_token_s: span.first_token.map(seconds),
        ended: span.ended.clone(),
    };
    let drawing = request_timeline(&RequestTimeline {
        title: "Where its time went".to_owned(),
        caption: "Each attempt and each wait on one line of time, with how long it took and how it ended; the table below \
                  has every decision and the setting behind it."
            .to_owned(),
        took_s: seconds(story.took()),
        spans: story.spans().iter().map(span).collect(),
    })?;
    let lines = story.lines().iter().map(|line| {
        [
            format!("{:.3} s", seconds(line.after)),
            line.what.to_owned(),
            line.details.clone(),
            line.setting.clone().unwrap_or_default(),
        ]
    });
    let text = story_page(&StoryPage {
        title: format!("Request {number} of {}", of_arm(args, scenario)),
        findings: findings.lines().map(str::to_owned).collect(),
        drawing,
        lines: lines.collect(),
        basis: format!(
            "Arm {}, replication {}, seed {}, profile {}, routelab {}.",
            args.arm,
            args.rep,
            scenario.seed(),
            plan.router.profile.name.as_str(),
            env!("CARGO_PKG_VERSION")
        ),
        command: format!(
            "routelab explain {} --request {number} --arm {} --rep {} --out {}",
            args.scenario.typed(),
            args.arm,
            args.rep,
            quoted(&file.display().to_string())
        ),
    });
    fs::write(file, text).map_err(|source| Complaint::Write {
        what: file.display().to_string(),
        source,
    })?;
    note(&format!("page: {}", file.display()));
    Ok(())
}
