//! `routelab mock`: the providers of a scenario, or of a file, over HTTP until it is interrupted.

use std::{fmt::Write as _, fs, path::Path, sync::mpsc, time::Duration};

use mock_providers::http::{Limits, MockServer, ServerOptions, Upstream};
use router::{DeploymentConfig, Seed};
use scenarios::{Scenario, read_providers};

use super::Ended;
use crate::{cli::MockArgs, complaint::Complaint, output, progress::note};

pub(super) fn mock(args: &MockArgs) -> Result<Ended, Complaint> {
    let options = match &args.providers {
        Some(file) => of_file(file, args)?,
        None => of_scenario(&args.scenario.load()?, args)?,
    };
    let refused = |error: &dyn std::fmt::Display| Complaint::Usage {
        message: error.to_string(),
        help: "choose another address: --listen 127.0.0.1:0".to_owned(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| refused(&error))?;
    let (interrupt, interrupted) = mpsc::channel();
    let mut interrupts = 0;
    ctrlc::set_handler(move || {
        interrupts += 1;
        if interrupts > 1 || interrupt.send(()).is_err() {
            std::process::exit(130);
        }
    })
    .map_err(|error| refused(&error))?;

    let server = runtime
        .block_on(MockServer::start(&options, args.listen))
        .map_err(|error| refused(&error))?;
    output::print(&welcome(&server, &options))?;
    runtime.block_on(async {
        let waiting = tokio::task::spawn_blocking(move || interrupted.recv());
        drop(waiting.await);
        let grace = args.grace_s;
        note(&format!(
            "stopping: exchanges under way may end, up to {grace} s; interrupt again to leave them"
        ));
        server.stop(Duration::from_secs(grace.into())).await;
    });
    Ok(Ended::Done)
}

fn of_file(file: &Path, args: &MockArgs) -> Result<ServerOptions, Complaint> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|error| Complaint::Usage {
        message: format!("cannot read {name}: {error}"),
        help: "--providers names a YAML file of providers".to_owned(),
    })?;
    let upstreams = read_providers(&text, &name)?.into_iter();
    Ok(ServerOptions {
        upstreams: upstreams
            .map(|(name, spec)| Upstream {
                name,
                models: Vec::new(),
                spec,
            })
            .collect(),
        seed: Seed(args.scenario.seed.unwrap_or_default()),
        output_tokens: args.output_tokens,
        limits: Limits::default(),
    })
}

/// One provider for each deployment: its luck is that of the same deployment in a run.
fn of_scenario(scenario: &Scenario, args: &MockArgs) -> Result<ServerOptions, Complaint> {
    if args.arm >= scenario.arms().len() {
        return Err(Complaint::Usage {
            message: format!("there is no arm {}", args.arm),
            help: format!("arms are 0 to {}", scenario.arms().len() - 1),
        });
    }
    let plan = scenario.plan(args.arm, 0);
    let deployments = plan.router.deployments.iter();
    Ok(ServerOptions {
        upstreams: deployments
            .zip(&*plan.providers)
            .map(|(deployment, binding)| Upstream {
                name: deployment.id.clone(),
                models: models(deployment),
                spec: (*binding.spec).clone(),
            })
            .collect(),
        seed: plan.seed,
        output_tokens: args.output_tokens,
        limits: Limits::default(),
    })
}

/// What a client may ask for: LiteLLM sends the model without its provider, a caller of one's own
/// may send the name of the group.
fn models(deployment: &DeploymentConfig) -> Vec<String> {
    let model = &deployment.model;
    let bare = model.split_once('/').map(|(_, bare)| bare.to_owned());
    let all = bare.into_iter();
    all.chain([model.clone(), deployment.model_name.clone()])
        .collect()
}

fn welcome(server: &MockServer, options: &ServerOptions) -> String {
    let url = server.url();
    let mut text = format!("listening on {url}\n");
    let upstreams = options.upstreams.iter();
    let width = upstreams.clone().map(|up| up.name.chars().count()).max();
    let width = width.unwrap_or_default();
    for upstream in upstreams {
        let kind = upstream.spec.preset.as_deref().unwrap_or("its own numbers");
        let name = &upstream.name;
        let _ = writeln!(text, "  {name:<width$}  {url}/{name}/v1  ({kind})");
    }
    let _ = writeln!(
        text,
        "control: {url}/_mock/providers   metrics: {url}/metrics"
    );
    text
}
