//! What a scenario says must hold, as data. It is judged where metrics are known.

use crate::{
    error::{ScenarioError, suggestion},
    label::label,
    plan::Axis,
    schema::ExpectSpec,
};

/// A bound on a metric's mean over replications, in some of the arms.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// The metric's name.
    pub metric: String,
    /// Its mean must not be below.
    pub at_least: Option<f64>,
    /// Its mean must not be above.
    pub at_most: Option<f64>,
    /// Axis and value: only arms with all of these labels.
    pub filter: Vec<(String, String)>,
}

/// Checks what was written against the axes and, if there are any, the `metrics`. Errors name their key
/// from `expect` on.
pub(crate) fn expectations(
    specs: &[ExpectSpec],
    axes: &[Axis],
    metrics: &[&str],
) -> Result<Vec<Expectation>, ScenarioError> {
    specs
        .iter()
        .enumerate()
        .map(|(at, spec)| {
            expectation(spec, axes, metrics).map_err(|error| error.under(&format!("[{at}]")))
        })
        .collect()
}

fn expectation(
    spec: &ExpectSpec,
    axes: &[Axis],
    metrics: &[&str],
) -> Result<Expectation, ScenarioError> {
    if !metrics.is_empty() && !metrics.contains(&spec.metric.as_str()) {
        return Err(
            ScenarioError::new(format!("there is no metric `{}`", spec.metric))
                .key("metric")
                .help(suggestion(&spec.metric, metrics)),
        );
    }
    match (spec.at_least, spec.at_most) {
        (None, None) => {
            return Err(
                ScenarioError::new(format!("nothing is said of `{}`", spec.metric))
                    .help("accepted is `at_least`, `at_most` or both"),
            );
        }
        (Some(least), Some(most)) if least > most => {
            return Err(
                ScenarioError::new(format!("at_least {least} is above at_most {most}"))
                    .key("at_least"),
            );
        }
        _ => {}
    }
    let mut filter = Vec::with_capacity(spec.filter.len());
    for (axis, value) in &spec.filter {
        let value = label(value);
        check_label(axes, axis, &value).map_err(|error| error.under("where"))?;
        filter.push((axis.clone(), value));
    }
    Ok(Expectation {
        metric: spec.metric.clone(),
        at_least: spec.at_least,
        at_most: spec.at_most,
        filter,
    })
}

/// Whether there is such an axis with such a value; its place and the value's.
pub(crate) fn check_label(
    axes: &[Axis],
    axis: &str,
    value: &str,
) -> Result<(usize, usize), ScenarioError> {
    let key = crate::yaml::quoted(axis);
    let Some(place) = axes.iter().position(|known| known.name == axis) else {
        let names: Vec<&str> = axes.iter().map(|known| known.name.as_str()).collect();
        let help = match names.as_slice() {
            [] => "this scenario has no axes".to_owned(),
            names => suggestion(axis, names),
        };
        return Err(ScenarioError::new("no axis of `sweep` is called so")
            .key(key)
            .help(help));
    };
    let values = &axes[place].values;
    values
        .iter()
        .position(|known| known == value)
        .map(|value| (place, value))
        .ok_or_else(|| {
            let names: Vec<&str> = values.iter().map(String::as_str).collect();
            ScenarioError::new(format!("`{value}` is no value of this axis"))
                .key(key)
                .help(suggestion(value, &names))
        })
}
