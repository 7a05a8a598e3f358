//! One entry of `model_list`: its four keys, and the deployments that it gives (semantics 1.1, 1.4).

use std::time::Duration;

use router::{DeploymentConfig, Prices, config::Budget};

use super::{
    deployment_id::deployment_id,
    model_info::MODEL_INFO,
    params::LITELLM_PARAMS,
    section::{Section, ignored, used},
    setting::{Result, Setting, fill},
    tables::UNKNOWN,
};
use crate::yaml::Node;

/// What an entry says that stands in no field of its [`DeploymentConfig`]: what its prices and its
/// context window follow from (semantics 11).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeploymentFacts {
    /// Place of the entry in `model_list`.
    pub entry: usize,
    /// Prices in `model_info`.
    pub info_prices: Prices,
    /// `litellm_params.base_model`.
    pub base_model_of_params: Option<String>,
    /// `model_info.base_model`.
    pub base_model_of_info: Option<String>,
    /// `model_info.max_input_tokens`.
    pub max_input_tokens: Option<u32>,
}

/// What the entries give, and what they are read by.
#[derive(Debug, Default)]
pub(super) struct Deployments {
    /// In the file's order.
    pub(super) list: Vec<(DeploymentConfig, DeploymentFacts)>,
    /// The number of entries.
    pub(super) entries: usize,
    /// `environment_variables.LITELLM_ENVIRONMENT`.
    pub(super) environment: Option<String>,
}

/// Reads one entry. It gives several deployments with one id where `organization` is a list, and
/// none where it is for other environments.
pub(super) fn read_entry(all: &mut Deployments, s: &mut Setting<'_>) -> Result<()> {
    let accepted = "a mapping with `model_name` and `litellm_params`, which has `model`";
    let map = s.node.as_map().ok_or_else(|| s.unaccepted(accepted))?;
    let mut draft = Draft {
        environment: all.environment.clone(),
        ..Draft::default()
    };
    draft.facts.entry = all.entries;
    all.entries += 1;
    s.section(&ENTRY, &mut draft)?;
    let params = map.get("litellm_params").and_then(Node::as_map);
    let missing = if !draft.has_name {
        Some((map, "model_name"))
    } else if params.is_none() {
        Some((map, "litellm_params"))
    } else if !draft.has_model {
        params.map(|params| (params, "model"))
    } else {
        None
    };
    if let Some((inside, key)) = missing {
        let error = s.error(format!("`{key}` is missing"));
        return Err(error.help(inside.nearest(key).map_or_else(
            || format!("accepted is {accepted}"),
            |near| format!("`{near}` is there; did you mean `{key}`?"),
        )));
    }
    let params = params.expect("an entry without parameters was refused");

    let Draft {
        mut deployment,
        facts,
        request_timeout,
        organizations,
        budget,
        is_elsewhere,
        model_is_elsewhere,
        ..
    } = draft;
    deployment.timeout = deployment.timeout.or(request_timeout);
    if let (limit @ Some(_), period @ Some(_)) = budget {
        deployment.budget = Some(Budget { limit, period });
    }
    if deployment.id.is_empty() {
        deployment.id = deployment_id(&deployment.model_name, params);
    }
    if model_is_elsewhere {
        // Whose it is, only the environment says. It is called all the same, and no provider's budget
        // is held against it.
        let provider = &mut deployment.custom_llm_provider;
        provider.get_or_insert_with(|| "os.environ".to_owned());
    } else if let Some(why) = why_uncallable(&deployment) {
        s.suspect(format!("{why}, and its proxy skips such an entry"));
        return Ok(());
    }
    if !is_elsewhere {
        let times = organizations.unwrap_or(1);
        all.list
            .extend(std::iter::repeat_n((deployment, facts), times));
    }
    Ok(())
}

/// Why LiteLLM could not call a deployment: it does not know the provider. (semantics 1.2)
fn why_uncallable(deployment: &DeploymentConfig) -> Option<String> {
    match deployment.provider() {
        Some("*") => None,
        Some(name) if router::is_provider(name) => None,
        Some(name) => Some(format!("LiteLLM knows no provider `{name}`")),
        None => Some(format!(
            "LiteLLM finds no provider for `{}` (it wants `provider/model`)",
            deployment.model
        )),
    }
}

/// An entry as far as it is read.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) deployment: DeploymentConfig,
    pub(super) facts: DeploymentFacts,
    pub(super) has_model: bool,
    /// The model stands in the environment.
    pub(super) model_is_elsewhere: bool,
    pub(super) request_timeout: Option<Duration>,
    pub(super) organizations: Option<usize>,
    /// `max_budget` and `budget_duration`.
    pub(super) budget: (Option<f64>, Option<Duration>),
    pub(super) environment: Option<String>,
    /// It is for other environments than this one.
    pub(super) is_elsewhere: bool,
    has_name: bool,
}

static ENTRY: Section<Draft> = Section {
    keys: &[
        used("model_name", |d, s| {
            let name = s.text()?.filter(|name| !name.is_empty());
            d.deployment.model_name =
                name.ok_or_else(|| s.unaccepted("the name of a model group"))?;
            d.has_name = true;
            Ok(())
        }),
        used("litellm_params", |d, s| s.section(&LITELLM_PARAMS, d)),
        used("model_info", |d, s| s.section(&MODEL_INFO, d)),
        used("rpm", |d, s| {
            let rpm = s.count_or_text()?;
            fill(&mut d.deployment.rpm, rpm, s, "litellm_params.rpm");
            Ok(())
        }),
        used("tpm", |d, s| {
            let tpm = s.count_or_text()?;
            fill(&mut d.deployment.tpm, tpm, s, "litellm_params.tpm");
            Ok(())
        }),
        ignored(
            "aliases",
            "LiteLLM does not read it; other names stand in router_settings.model_group_alias",
        ),
    ],
    families: &[],
    otherwise: UNKNOWN,
};
