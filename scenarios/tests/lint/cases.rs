//! One case for each rule: a config that has what it finds, and one that differs in just that.

mod admission;
mod choosing;
mod names;

use router::ProfileName::{self, Litellm192 as OLD, Litellm1110 as NEW};

/// A rule's case.
pub(crate) struct Case {
    pub(crate) id: &'static str,
    pub(crate) profile: ProfileName,
    /// It is found here.
    pub(crate) bad: &'static str,
    /// It is not found here.
    pub(crate) good: &'static str,
}

const fn case(
    id: &'static str,
    profile: ProfileName,
    bad: &'static str,
    good: &'static str,
) -> Case {
    Case {
        id,
        profile,
        bad,
        good,
    }
}

/// Two deployments of `m` and two of `n`, and what follows.
macro_rules! two_models {
    ($rest:expr) => {
        concat!(
            "model_list:\n",
            "- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {id: a}}\n",
            "- {model_name: m, litellm_params: {model: gpt-4o-mini}, model_info: {id: b}}\n",
            "- {model_name: n, litellm_params: {model: gpt-4o}, model_info: {id: c}}\n",
            "- {model_name: n, litellm_params: {model: gpt-4o-mini}, model_info: {id: d}}\n",
            $rest,
            "\n"
        )
    };
}

/// One deployment of `m`, and what follows.
macro_rules! lone {
    ($rest:expr) => {
        concat!(
            "model_list:\n",
            "- {model_name: m, litellm_params: {model: gpt-4o}, model_info: {id: a}}\n",
            $rest,
            "\n"
        )
    };
}

/// Two deployments of `m` with these further `litellm_params`, and what follows.
macro_rules! pair {
    ($first:expr, $second:expr) => {
        pair!($first, $second, "")
    };
    ($first:expr, $second:expr, $rest:expr) => {
        concat!(
            "model_list:\n",
            "- {model_name: m, litellm_params: {model: gpt-4o",
            $first,
            "}, model_info: {id: a}}\n",
            "- {model_name: m, litellm_params: {model: gpt-4o-mini",
            $second,
            "}, model_info: {id: b}}\n",
            $rest,
            "\n"
        )
    };
}

use {lone, pair, two_models};

/// Every case.
pub(crate) fn all() -> impl Iterator<Item = &'static Case> {
    [names::CASES, choosing::CASES, admission::CASES]
        .into_iter()
        .flatten()
}
