//! `routelab serve`: the front door of a config, until it is interrupted.

use std::{
    fmt::{Display, Write as _},
    fs,
    net::SocketAddr,
    sync::mpsc,
    time::Duration,
};

use mock_providers::http::Limits;
use router::{ProfileName, Seed};
use sim::serve::{FrontDoor, ServeConfig, ServeOptions, read};

use super::Ended;
use crate::{cli::ServeArgs, complaint::Complaint, output, progress::note};

pub(super) fn serve(args: &ServeArgs) -> Result<Ended, Complaint> {
    let config = config(args)?;
    for line in &config.ignored {
        note(&format!("not acted on: {line}"));
    }
    if config.master_key.is_none() {
        note("no master key is set: whoever reaches the address may call");
        if !args.listen.ip().is_loopback() {
            note("and the address is not of this machine alone: set general_settings.master_key");
        }
    }
    let refused = |error: &dyn Display| Complaint::Usage {
        message: error.to_string(),
        help: "choose another address with --listen or file with --journal, or mend the config"
            .to_owned(),
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

    let options = ServeOptions {
        seed: Seed(args.seed),
        limits: Limits {
            connections: args.max_connections,
            head_timeout: seconds(args.head_timeout_s),
            body_timeout: seconds(args.body_timeout_s),
            write_timeout: seconds(args.write_timeout_s),
            largest_body: args.max_body_mib as usize * (1 << 20),
        },
        proxies: true,
        journal: args.journal.clone(),
        tell: note,
    };
    let welcome = welcome(&config);
    let opening = FrontDoor::open(config, options, args.listen);
    let door = runtime.block_on(opening).map_err(|error| refused(&error))?;
    output::print(&(listening(door.address()) + &welcome))?;
    runtime.block_on(async {
        let waiting = tokio::task::spawn_blocking(move || interrupted.recv());
        drop(waiting.await);
        let grace = args.grace_s;
        note(&format!(
            "stopping: requests under way may end, up to {grace} s; interrupt again to leave them"
        ));
        if !door.stop(seconds(grace)).await {
            note("some requests were left before their end");
        }
    });
    Ok(Ended::Done)
}

fn config(args: &ServeArgs) -> Result<ServeConfig, Complaint> {
    let file = args.config.display().to_string();
    let text = fs::read_to_string(&args.config).map_err(|error| Complaint::Usage {
        message: format!("cannot read {file}: {error}"),
        help: "--config names a LiteLLM config.yaml".to_owned(),
    })?;
    let profile = args.profile.unwrap_or_default();
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let profile = ProfileName::profile(profile);
    Ok(read(&text, &file, profile, &environment)?)
}

fn seconds(number: u32) -> Duration {
    Duration::from_secs(number.into())
}

fn listening(address: SocketAddr) -> String {
    format!("listening on http://{address}\n")
}

/// Who is served by whom. No key is printed.
fn welcome(config: &ServeConfig) -> String {
    let mut text = String::new();
    let deployments = config.router.deployments.iter();
    let width = |of: fn(&router::DeploymentConfig) -> &String| {
        let widths = deployments.clone().map(|d| of(d).chars().count());
        widths.max().unwrap_or_default()
    };
    let (names, ids) = (width(|d| &d.model_name), width(|d| &d.id));
    for (deployment, upstream) in deployments.clone().zip(&config.upstreams) {
        let (name, id, model) = (&deployment.model_name, &deployment.id, &deployment.model);
        let base = upstream.api_base.split('?').next().unwrap_or_default();
        let _ = writeln!(text, "  {name:<names$}  {id:<ids$}  {model} at {base}");
    }
    text + "state: /health /cooldowns   metrics: /metrics\n"
}
