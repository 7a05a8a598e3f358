//! One's own server, and providers in no particular style.

use super::{
    Preset, Setting, Shape, assumed,
    measured::{TWENTY_MS_A_TOKEN, TWENTY_MS_GROUNDS},
    prompt_cache, sourced,
};
use crate::{
    failure::{ErrorRate, FailureMode, Hang, MidStream, MidStreamHow},
    latency::{LoadMeasure, Slows},
    quota::WindowKind,
    wire::Dialect,
};

const TOY: Setting = Setting::FirstToken(Shape::LogNormal {
    median_ms: 500.0,
    sigma: 0.5,
});

pub(super) const GENERIC: Preset = Preset {
    name: "generic",
    aliases: &[],
    about: "No provider in particular: the toy of the cooldown cliff",
    parameters: &[
        assumed(TOY, "2026", "what field notes E1 calculate with"),
        assumed(TWENTY_MS_A_TOKEN, "2026", TWENTY_MS_GROUNDS),
        assumed(
            Setting::Window(WindowKind::TokenBucket),
            "2026",
            "what field notes E1 calculate with",
        ),
        assumed(
            prompt_cache(1_024, 1, 300.0, false),
            "2026",
            USUAL_PROMPT_CACHE,
        ),
    ],
};

pub(super) const FLAKY: Preset = Preset {
    name: "flaky",
    aliases: &[],
    about: "As generic, but one attempt in twenty fails in one of five ways",
    parameters: &[
        assumed(TOY, "2026", "what field notes E1 calculate with"),
        assumed(TWENTY_MS_A_TOKEN, "2026", TWENTY_MS_GROUNDS),
        assumed(
            Setting::Window(WindowKind::TokenBucket),
            "2026",
            "what field notes E1 calculate with",
        ),
        assumed(
            prompt_cache(1_024, 1, 300.0, false),
            "2026",
            USUAL_PROMPT_CACHE,
        ),
        assumed(error_rate(0.02, 500), "2026", FLAKY_GROUNDS),
        assumed(error_rate(0.01, 503), "2026", FLAKY_GROUNDS),
        assumed(error_rate(0.01, 429), "2026", FLAKY_GROUNDS),
        assumed(
            Setting::Fault(FailureMode::Hang(Hang {
                share: Some(0.002),
                from_s: None,
                to_s: None,
                every: None,
                random: None,
            })),
            "2026",
            FLAKY_GROUNDS,
        ),
        assumed(
            Setting::Fault(FailureMode::MidStream(MidStream {
                share: Some(0.01),
                how: Some(MidStreamHow::Cut),
                after_tokens: None,
                after_share: Some(0.5),
                class: None,
                from_s: None,
                to_s: None,
                every: None,
                random: None,
            })),
            "2026",
            FLAKY_GROUNDS,
        ),
    ],
};

const fn error_rate(share: f64, status: u16) -> Setting {
    Setting::Fault(FailureMode::ErrorRate(ErrorRate {
        share,
        status: Some(status),
        class: None,
        cause: None,
        after_ms: None,
        from_s: None,
        to_s: None,
        every: None,
        random: None,
    }))
}

const FLAKY_GROUNDS: &str = "no provider's: each kind often enough to be seen in a thousand requests (kinds: field notes D4)";

const USUAL_PROMPT_CACHE: &str = "the least of OpenAI, Azure and Google alike, and the shortest lifetime that any of them documents";

pub(super) const VLLM: Preset = Preset {
    name: "vllm",
    aliases: &[],
    about: "One's own vLLM server with Llama 3.1 8B: slower the more it answers at once, a queue above 128",
    parameters: &[
        sourced(
            Setting::FirstToken(Shape::Quantiles(&[
                (0.0, 35.7),
                (0.05, 67.3),
                (0.25, 86.8),
                (0.5, 103.7),
                (0.75, 136.9),
                (0.95, 243.9),
                (0.99, 319.9),
                (1.0, 371.9),
            ])),
            "2026-04-25",
            "vLLM 0.19.0, Llama 3.1 8B on one RTX PRO 6000, 300 requests at 10 a second: first token \
             − scheduled, so that waiting for a slot is left out; quantiles computed from them",
        ),
        sourced(
            Setting::PerOutputToken(Shape::LogNormal {
                median_ms: 9.0,
                sigma: 0.042,
            }),
            "2026-04-25",
            "the same run: what is left of (end − first token) ÷ (tokens − 1) beside the load has a \
             sigma of 0.042; of one sequence alone nothing was measured, 16 GB of weights ÷ 1.79 TB/s \
             of memory are 9 ms",
        ),
        sourced(
            Setting::Load(
                LoadMeasure::InFlight,
                Slows::PerOutputToken,
                &[(1.0, 1.0), (54.0, 2.14), (128.0, 3.92)],
            ),
            "2026-04-25",
            "the same run: 7.55 ms + 0.217 ms for each sequence in flight (54 to 128 of them, r² 0.89), \
             over 9 ms; below 54 a straight line to one alone",
        ),
        sourced(
            Setting::MaxConcurrent(128),
            "2026-04-25",
            "the same run: max_num_seqs 128",
        ),
        assumed(
            prompt_cache(16, 16, 3_600.0, false),
            "2026",
            "docs.vllm.ai, automatic prefix caching: whole blocks of 16 tokens, the longest unused given up first; \
             memory for an hour of them is an assumption",
        ),
        assumed(
            Setting::Dialect(Dialect::Plain),
            "2026",
            "a server of one's own keeps no quota, and so has no header of one",
        ),
    ],
};
