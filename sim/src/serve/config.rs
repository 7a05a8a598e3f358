//! A LiteLLM config for real calls. The router's settings are read as everywhere; here are what only
//! real calls need: values that stand in the environment, addresses, and keys.
//!
//! `os.environ/NAME` is looked up in `model_list`, in `router_settings` and for the master key. In
//! `model_list` and for the master key a variable that is not set is an error, and elsewhere the
//! setting counts as not given.

use router::{
    Profile, RouterConfig,
    live::{Secret, Upstream},
};
use scenarios::{
    ScenarioError, litellm,
    yaml::{self, Node, Value},
};

use super::addresses;

/// What a front door serves.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The router.
    pub router: RouterConfig,
    /// Whom it calls, in the order of the `model_list`.
    pub upstreams: Vec<Upstream>,
    /// `general_settings.master_key`, else `LITELLM_MASTER_KEY`.
    pub master_key: Option<Secret>,
    /// What is not acted on and why, a line each.
    pub ignored: Vec<String>,
}

/// Looks up a variable of the environment.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Reads the text of a `config.yaml`. `file` is its name in errors.
///
/// # Errors
///
/// What [`litellm::read`] refuses, variables that are not set, deployments whose provider cannot be
/// called, and addresses and keys that make no sense.
pub fn read(
    text: &str,
    file: &str,
    profile: Profile,
    environment: Environment<'_>,
) -> Result<ServeConfig, ScenarioError> {
    let mut node = litellm::parse(text, file).map_err(|error| error.with_text(text))?;
    read_node(&mut node, file, profile, environment)
        .map_err(|error| error.in_file(file).with_text(text))
}

fn read_node(
    node: &mut Node,
    file: &str,
    profile: Profile,
    environment: Environment<'_>,
) -> Result<ServeConfig, ScenarioError> {
    for (section, strict) in [("model_list", true), ("router_settings", false)] {
        if let Some(part) = node.get_mut(section) {
            fill_in(part, section, strict, environment)?;
        }
    }
    let config = litellm::from_node(node, file)?;
    let upstreams = addresses::read(node, &config, environment)?;
    let ignored = config.ignored.iter();
    let mut others = config.clone();
    others.ignored = ignored.filter(|key| !is_used(&key.path)).cloned().collect();
    Ok(ServeConfig {
        router: config.router_for(profile, None),
        upstreams,
        master_key: master_key(node, environment)?,
        ignored: others.ignored_in_lines(),
    })
}

/// Whether the front door acts on a key that routing does not read.
fn is_used(path: &str) -> bool {
    let parameter = path
        .split_once("].litellm_params.")
        .is_some_and(|(_, key)| addresses::is_used(key));
    parameter || path == "general_settings.master_key"
}

/// Puts values of the environment where they are asked for.
fn fill_in(
    node: &mut Node,
    path: &str,
    strict: bool,
    environment: Environment<'_>,
) -> Result<(), ScenarioError> {
    let found = match &mut node.value {
        Value::Str(text) => match text.strip_prefix(OS_ENVIRON) {
            None => return Ok(()),
            Some(name) => environment(name).ok_or_else(|| name.to_owned()),
        },
        Value::Seq(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                fill_in(item, &format!("{path}[{at}]"), strict, environment)?;
            }
            return Ok(());
        }
        Value::Map(map) => {
            for entry in &mut map.entries {
                let path = yaml::join(path, &entry.key.name);
                fill_in(&mut entry.value, &path, strict, environment)?;
            }
            return Ok(());
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => return Ok(()),
    };
    match found {
        Ok(text) => node.value = typed(text),
        Err(name) if strict => return Err(not_set(node, path, &name)),
        Err(_) => {}
    }
    Ok(())
}

/// A number where a number stands in the environment.
fn typed(text: String) -> Value {
    let whole = text.parse::<i64>().ok();
    let whole = whole.filter(|n| n.to_string() == text);
    match (whole, text.parse::<f64>()) {
        (Some(whole), _) => Value::Int(whole.into()),
        (None, Ok(number)) if number.is_finite() && text.contains('.') => Value::Float(number),
        (None, _) => Value::Str(text),
    }
}

fn not_set(node: &Node, path: &str, name: &str) -> ScenarioError {
    node.error(format!("the environment has no variable `{name}`"))
        .key(path)
        .help(format!("set {name}, or write the value in its place"))
}

fn master_key(node: &Node, environment: Environment<'_>) -> Result<Option<Secret>, ScenarioError> {
    let path = "general_settings.master_key";
    let given = node.at_path(path).filter(|key| !key.is_null());
    let key = match given {
        None => environment("LITELLM_MASTER_KEY"),
        Some(given) => {
            let text = given.as_str().ok_or_else(|| {
                // What stands there may be the key: it is not shown.
                given
                    .error("it is no text")
                    .key(path)
                    .help("put it in quotes")
            })?;
            match text.strip_prefix(OS_ENVIRON) {
                None => Some(text.to_owned()),
                Some(name) => Some(environment(name).ok_or_else(|| not_set(given, path, name))?),
            }
        }
    };
    match key {
        Some(key) if key.is_empty() => {
            let error = ScenarioError::new("the master key is empty").key(path);
            Err(error.help("without a master key leave it out: then everybody may call"))
        }
        key => Ok(key.map(Secret::new)),
    }
}

pub(super) const OS_ENVIRON: &str = "os.environ/";

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "
model_list:
  - model_name: chat
    litellm_params:
      model: openai/gpt-4o
      api_base: os.environ/BASE
      api_key: os.environ/KEY
      rpm: os.environ/RPM
      temperature: 0.5
      extra_headers: {x-team: blue}
    model_info: {id: a}
router_settings: {num_retries: os.environ/RETRIES, cooldown_tim: 3}
general_settings: {master_key: os.environ/MASTER}
";

    fn environment(name: &str) -> Option<String> {
        let known = [
            ("BASE", "http://127.0.0.1:9/v1"),
            ("KEY", "sk-secret"),
            ("RPM", "60"),
            ("MASTER", "sk-master"),
        ];
        let found = known.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_owned())
    }

    fn told(text: &str) -> String {
        let read = read(text, "config.yaml", Profile::default(), &environment);
        let error = read.expect_err("it is refused");
        format!("{}: {}", error.key_path(), error.message())
    }

    #[test]
    fn values_come_from_the_environment_and_are_not_shown() {
        let read = read(CONFIG, "config.yaml", Profile::default(), &environment).unwrap();

        assert_eq!(read.upstreams[0].api_base, "http://127.0.0.1:9/v1");
        assert!(read.upstreams[0].api_key.as_ref().unwrap().is("sk-secret"));
        assert_eq!(read.router.deployments[0].rpm, Some(60));
        assert_eq!(read.router.settings.num_retries, None);
        assert!(read.master_key.as_ref().unwrap().is("sk-master"));
        let parameters = read.upstreams[0].parameters.keys();
        assert_eq!(parameters.collect::<Vec<_>>(), ["temperature"]);
        let shown = format!("{read:?}");
        assert!(!shown.contains("sk-") && !shown.contains("blue"), "{shown}");
    }

    #[test]
    fn what_is_ignored_is_told_and_what_is_used_here_is_not() {
        let read = read(CONFIG, "config.yaml", Profile::default(), &environment).unwrap();

        assert_eq!(read.ignored.len(), 2, "{:?}", read.ignored);
        assert!(read.ignored[0].contains("cooldown_tim"));
        assert!(read.ignored[1].contains("num_retries"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_named_with_its_key() {
        assert_eq!(
            told(&CONFIG.replace("os.environ/KEY", "os.environ/OTHER")),
            "model_list[0].litellm_params.api_key: the environment has no variable `OTHER`"
        );
        assert_eq!(
            told(&CONFIG.replace("os.environ/MASTER", "os.environ/OTHER")),
            "general_settings.master_key: the environment has no variable `OTHER`"
        );
    }

    #[test]
    fn a_provider_that_cannot_be_called_is_told_with_its_deployment() {
        let told = told(&CONFIG.replace("openai/gpt-4o", "bedrock/claude"));

        assert!(
            told.contains("model_list[0].litellm_params.model"),
            "{told}"
        );
        assert!(told.contains("`a`") && told.contains("bedrock"), "{told}");
    }

    #[test]
    fn the_master_key_may_stand_in_the_environment_alone() {
        let text = CONFIG.replace("general_settings: {master_key: os.environ/MASTER}", "");
        let variables = |name: &str| match name {
            "LITELLM_MASTER_KEY" => Some("sk-other".to_owned()),
            name => environment(name),
        };

        let read = read(&text, "config.yaml", Profile::default(), &variables).unwrap();

        assert!(read.master_key.unwrap().is("sk-other"));
    }
}
