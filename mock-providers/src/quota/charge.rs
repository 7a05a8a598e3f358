//! What an attempt costs: what must fit for it to be let in, what is charged when it arrives, and
//! what is corrected when its answer has ended.

use router::Instant;

use super::{
    meter::Meter,
    spec::{OutputCharge, QuotaSpec, TokenCharge},
};
use crate::{error::SpecError, place::Place, reply::ProviderCall};

/// How attempts are charged in tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charges {
    tokens: TokenCharge,
    output: OutputCharge,
    unset_max_tokens: Option<u32>,
    settles: bool,
    weight: u64,
    overdraft: bool,
}

impl Charges {
    pub(super) fn new(spec: &QuotaSpec, place: &Place) -> Result<Self, SpecError> {
        let weight = spec.output_weight.unwrap_or(1);
        let fits = (1..=100).contains(&weight);
        place.number(
            "output_weight",
            weight.into(),
            fits,
            "a whole number from 1 to 100",
        )?;
        Ok(Self {
            tokens: spec.token_charge.unwrap_or_default(),
            output: spec.output_charge.unwrap_or_default(),
            unset_max_tokens: spec.unset_max_tokens,
            settles: spec.settles.unwrap_or_default(),
            weight: weight.into(),
            overdraft: spec.overdraft.unwrap_or_default(),
        })
    }

    /// Tokens that must fit for the attempt to be let in.
    pub(super) fn needs(&self, call: &ProviderCall) -> u64 {
        if self.overdraft {
            1
        } else {
            self.on_arrival(call)
        }
    }

    /// Tokens of the answer that must fit for the attempt to be let in.
    pub(super) fn needs_output(&self, call: &ProviderCall) -> u64 {
        match self.output {
            OutputCharge::Answer => call.answer_tokens().into(),
            OutputCharge::MaxTokens => call.max_tokens.unwrap_or(call.output_tokens).into(),
        }
    }

    /// Charges an attempt that was let in, delivers `delivered` tokens and ends at `end`.
    pub(super) fn take(
        &self,
        meter: &mut Meter,
        call: &ProviderCall,
        delivered: u32,
        end: Instant,
    ) {
        let prompt = u64::from(call.prompt_tokens);
        let used = prompt + self.weight * u64::from(delivered);
        match self.tokens {
            TokenCharge::Prompt => meter.take(prompt),
            TokenCharge::PromptAndAnswer => meter.take(used),
            TokenCharge::LargerOfPromptAndMaxTokens | TokenCharge::PromptAndMaxTokens => {
                let reserved = self.on_arrival(call);
                if self.settles {
                    meter.take(reserved.min(used));
                    meter.hold(reserved.saturating_sub(used), end);
                    meter.owe(used.saturating_sub(reserved), end);
                } else {
                    meter.take(reserved);
                    if self.weight > 1 {
                        meter.owe(used.saturating_sub(reserved), end);
                    }
                }
            }
        }
    }

    /// Charges an attempt's answer.
    pub(super) fn take_output(
        &self,
        meter: &mut Meter,
        call: &ProviderCall,
        delivered: u32,
        end: Instant,
    ) {
        let delivered = u64::from(delivered);
        meter.take(delivered);
        meter.hold(self.needs_output(call).saturating_sub(delivered), end);
    }

    /// What an attempt is charged when it arrives: a reservation, or what its usage will be.
    fn on_arrival(&self, call: &ProviderCall) -> u64 {
        let prompt = u64::from(call.prompt_tokens);
        let most = || {
            let most = call.max_tokens.or(self.unset_max_tokens);
            u64::from(most.unwrap_or(call.output_tokens))
        };
        match self.tokens {
            TokenCharge::LargerOfPromptAndMaxTokens => prompt.max(most()),
            TokenCharge::Prompt => prompt,
            TokenCharge::PromptAndAnswer => prompt + self.weight * u64::from(call.answer_tokens()),
            TokenCharge::PromptAndMaxTokens => prompt + most(),
        }
    }
}
