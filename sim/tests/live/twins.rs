//! A plan over HTTP and the same plan in virtual time: the same decisions where outcomes are scripted,
//! and nearly the same numbers under open load.

use router::{Event, Instant, Observer};
use scenarios::{LoadOptions, RunPlan, Scenario, Source};
use sim::{live_run, simulate};

/// Decisions in their order, without times.
#[derive(Debug, Default)]
struct Decisions(Vec<String>);

impl Observer for Decisions {
    fn observe(&mut self, _: Instant, event: &Event<'_>) {
        let told = match event {
            Event::Picked {
                request,
                deployment,
                attempt,
                candidates,
            } => {
                format!(
                    "{request} picks {} at {attempt} of {candidates}",
                    deployment.0
                )
            }
            Event::CooledDown {
                deployment, why, ..
            } => format!("{} is benched: {why:?}", deployment.0),
            Event::Retrying { request, retry, of } => format!("{request} retries {retry} of {of}"),
            Event::FellBack { request, why, .. } => format!("{request} falls back: {why:?}"),
            Event::Answered { request, answer } => match answer {
                router::Answer::Completed {
                    deployment, usage, ..
                } => {
                    format!("{request} has {usage:?} of {}", deployment.0)
                }
                router::Answer::Failed { error, .. } => {
                    format!(
                        "{request} fails: {} {:?}",
                        error.exception(),
                        error.status()
                    )
                }
            },
            Event::Mirrored {
                request, mirror, ..
            } => format!("{request} is mirrored by {mirror}"),
            _ => return,
        };
        self.0.push(told);
    }
}

fn plan(text: &str) -> RunPlan {
    let source = Source::Text {
        name: "test".to_owned(),
        text: text.to_owned(),
    };
    let scenario = Scenario::load(&source, &LoadOptions::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    scenario.plans().swap_remove(0)
}

/// Requests that do not overlap, half of them streamed, at three deployments of which two fail. No
/// cooldown ends when a request arrives: whichever comes first would decide.
const SCRIPTED: &str = "
purpose: A test of twins.
kind: terminating
replications: 1
profile: PROFILE
litellm:
  model_list:
    - {model_name: m, litellm_params: {model: openai/a}, model_info: {id: a}}
    - {model_name: m, litellm_params: {model: openai/b}, model_info: {id: b}}
    - {model_name: spare, litellm_params: {model: openai/c}, model_info: {id: c}}
  router_settings: {num_retries: 1, fallbacks: [{m: [spare]}], cooldown_time: 1, stream_timeout: 0.2, timeout: 0.2}
providers:
  default: {latency: {first_token: {constant: {ms: 10}}, per_output_token: {constant: {ms: 1}}}}
  a:
    latency: {first_token: {constant: {ms: 10}}, per_output_token: {constant: {ms: 1}}}
    faults:
      - scripted: {steps: [{outage: {status: 500}}, null, {broken: {how: reset}}, {mid_stream: {how: cut, after_tokens: 3}},
          null, {rate_limit_storm: {hint: {seconds: 1}}}, {hang: {}}, {mid_stream: {how: error_event, after_tokens: 0}}]}
  b:
    latency: {first_token: {constant: {ms: 10}}, per_output_token: {constant: {ms: 1}}}
    faults:
      - scripted: {steps: [{broken: {how: empty}}, {bad_key: {}}, null, {outage: {status: 503}}, {broken: {how: not_json}}]}
workload:
  stream_share: 0.5
  arrivals: {constant: {per_second: 1.6}}
  duration_s: 16
  lengths: {prompt: {constant: 10}, output: {constant: 8}}
";

#[tokio::test]
async fn scripted_outcomes_lead_to_the_same_decisions_over_http() {
    let twins = ["litellm-1.110", "litellm-1.92", "corrected"].map(|profile| {
        let plan = plan(&SCRIPTED.replace("PROFILE", profile));
        let live = plan.clone();
        let live = tokio::spawn(async move {
            let run = live_run(&live, 4.0, Decisions::default()).await;
            run.unwrap()
        });
        (profile, plan, live)
    });
    for (profile, plan, live) in twins {
        let mut simulated = Decisions::default();
        let end = simulate(&plan, &mut simulated).unwrap();

        let run = live.await.unwrap();
        let (live_end, live) = (run.end, run.observer);

        assert_eq!(live.0, simulated.0, "{profile}");
        assert_eq!(
            (live_end.requests, live_end.attempts),
            (end.requests, end.attempts)
        );
        let benched = live.0.iter().filter(|told| told.contains("benched"));
        assert!(benched.count() > 0, "{profile}: {:?}", live.0);
    }
}

#[tokio::test]
async fn what_one_process_cannot_drive_is_told() {
    let text = SCRIPTED.replace("PROFILE", "corrected") + "instances: {count: 2}\n";
    let several = live_run(&plan(&text), 1.0, ()).await;
    let speed = live_run(&plan(&SCRIPTED.replace("PROFILE", "corrected")), 0.0, ()).await;

    assert!(
        several
            .unwrap_err()
            .to_string()
            .contains("several instances")
    );
    assert!(speed.unwrap_err().to_string().contains("speed"));
}
