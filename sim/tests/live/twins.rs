//! A plan over HTTP and the same plan in virtual time: the same decisions where outcomes are scripted,
//! and nearly the same numbers under open load.

use router::{Event, Instant, Observer};
use scenarios::{LoadOptions, RunPlan, Scenario, Source};
use sim::{
    RunEnd,
    journal::{Head, Journal, replay},
    live_run, simulate,
};

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

/// Runs a plan over HTTP, more and more slowly, until it comes out as in virtual time. Only a machine
/// that kept up can show that it does not: if none of the runs was in time, nothing is said.
async fn same<T, O>(plan: &RunPlan, hear: fn() -> O, of: fn(&RunEnd, &O) -> T)
where
    T: PartialEq + std::fmt::Debug,
    O: Observer + Send + 'static,
{
    let mut heard = hear();
    let end = simulate(plan, &mut heard).unwrap();
    let simulated = of(&end, &heard);
    for speed in [4.0, 2.0, 1.0] {
        let run = live_run(plan, speed, hear()).await.unwrap();
        let live = of(&run.end, &run.observer);
        if live == simulated {
            return;
        }
        assert!(
            run.latest > IN_TIME,
            "{:?} late at speed {speed}:\n live {live:?}\n sim  {simulated:?}",
            run.latest
        );
    }
    eprintln!("undecided: this machine was too slow, even in real time");
}

/// No decision of these plans hangs on less, in the run's time.
const IN_TIME: std::time::Duration = std::time::Duration::from_millis(30);

fn decided(end: &RunEnd, decisions: &Decisions) -> (Vec<String>, [u64; 2]) {
    (decisions.0.clone(), [end.requests, end.attempts])
}

#[tokio::test]
async fn scripted_outcomes_lead_to_the_same_decisions_over_http() {
    for profile in ["litellm-1.110", "litellm-1.92", "corrected"] {
        let plan = plan(&SCRIPTED.replace("PROFILE", profile));
        let mut simulated = Decisions::default();
        simulate(&plan, &mut simulated).unwrap();
        let benched = simulated.0.iter().filter(|told| told.contains("benched"));
        assert!(benched.count() > 0, "{profile}: {:?}", simulated.0);

        same(&plan, Decisions::default, decided).await;
    }
}

#[tokio::test]
async fn a_run_over_http_equals_the_replay_of_its_journal() {
    let plan = plan(&SCRIPTED.replace("PROFILE", "corrected"));
    let journal = Journal::begin(Vec::new(), &Head::of_plan(&plan)).unwrap();

    let run = live_run(&plan, 8.0, journal).await.unwrap();

    let journal = run.observer.finish().unwrap();
    let replayed = replay(&journal[..]).unwrap();
    assert_eq!(replayed.difference, None);
    assert_eq!(
        (replayed.requests, replayed.attempts, replayed.unfinished),
        (run.end.requests, run.end.attempts, 0)
    );
}

#[tokio::test]
async fn instances_that_share_a_store_decide_over_http_as_in_virtual_time() {
    let text = SCRIPTED.replace("PROFILE", "litellm-1.110");
    let plans = ["true", "false"].map(|shared| {
        plan(&format!(
            "{text}instances: {{count: 2, shared_state: {shared}}}\n"
        ))
    });
    let seen = plans.map(|plan| {
        let mut simulated = Decisions::default();
        simulate(&plan, &mut simulated).unwrap();
        (plan, simulated.0)
    });
    assert_ne!(seen[0].1, seen[1].1, "a store makes a difference");
    for (plan, _) in seen {
        same(&plan, Decisions::default, decided).await;
    }
}

/// A library that tries again before a router that does not, and callers of little patience. Half of
/// the attempts fail, and some never end.
const CALLED: &str = "
purpose: A test of callers.
kind: terminating
replications: 1
profile: PROFILE
litellm:
  model_list:
    - {model_name: m, litellm_params: {model: openai/a}, model_info: {id: a}}
    - {model_name: m, litellm_params: {model: openai/b}, model_info: {id: b}}
  router_settings: {num_retries: 0, disable_cooldowns: true, timeout: 3, stream_timeout: 3}
providers:
  default:
    latency: {first_token: {constant: {ms: 20}}, per_output_token: {constant: {ms: 1}}}
    faults: [{error_rate: {share: 0.4, status: 503}}, {hang: {share: 0.2}}]
workload:
  stream_share: 0.5
  arrivals: {constant: {per_second: 2}}
  duration_s: 20
  lengths: {prompt: {constant: 10}, output: {constant: 8}}
client: {sdk: openai, max_retries: 2, timeout_s: 1, patience: {constant_s: 1.6}}
";

#[tokio::test]
async fn callers_try_again_and_hang_up_over_http_as_in_virtual_time() {
    for profile in ["litellm-1.110", "corrected"] {
        let plan = plan(&CALLED.replace("PROFILE", profile));
        let calls = simulate(&plan, &mut ()).unwrap().calls.unwrap();
        assert!(
            calls.requests > calls.calls && calls.hung_up > 0,
            "{calls:?}"
        );

        same(&plan, || (), |end, ()| counts(end)).await;
    }
}

fn counts(end: &RunEnd) -> [u64; 8] {
    let calls = end.calls.as_ref().unwrap();
    [
        calls.calls,
        calls.requests,
        calls.attempts,
        calls.answered,
        calls.failed,
        calls.timed_out,
        calls.hung_up,
        calls.unheard,
    ]
}

#[tokio::test]
async fn a_speed_of_nothing_is_told() {
    let plan = plan(&SCRIPTED.replace("PROFILE", "corrected"));

    let refused = live_run(&plan, 0.0, ()).await;

    assert!(refused.unwrap_err().to_string().contains("speed"));
}
