//! `retry_policy` and `allowed_fails_policy`: numbers by the class of the error (semantics 4.4, 5.3).

use router::config::{AllowedFailsPolicy, RetryPolicy};

use super::{
    section::{Section, used},
    tables::UNKNOWN,
};

pub(super) static RETRY_POLICY: Section<RetryPolicy> = Section {
    keys: &[
        used("AuthenticationErrorRetries", |p, s| {
            s.few_or_text().map(|n| p.authentication = n)
        }),
        used("BadRequestErrorRetries", |p, s| {
            s.few_or_text().map(|n| p.bad_request = n)
        }),
        used("ContentPolicyViolationErrorRetries", |p, s| {
            s.few_or_text().map(|n| p.content_policy_violation = n)
        }),
        used("DefaultRetries", |p, s| {
            s.few_or_text().map(|n| p.default = n)
        }),
        used("InternalServerErrorRetries", |p, s| {
            s.few_or_text().map(|n| p.internal_server = n)
        }),
        used("NotFoundErrorRetries", |p, s| {
            s.few_or_text().map(|n| p.not_found = n)
        }),
        used("RateLimitErrorRetries", |p, s| {
            s.few_or_text().map(|n| p.rate_limit = n)
        }),
        used("ServiceUnavailableErrorRetries", |p, s| {
            s.few_or_text().map(|n| p.service_unavailable = n)
        }),
        used("TimeoutErrorRetries", |p, s| {
            s.few_or_text().map(|n| p.timeout = n)
        }),
    ],
    families: &[],
    otherwise: UNKNOWN,
};

pub(super) static ALLOWED_FAILS_POLICY: Section<AllowedFailsPolicy> = Section {
    keys: &[
        used("AuthenticationErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.authentication = n)
        }),
        used("BadGatewayErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.bad_gateway = n)
        }),
        used("BadRequestErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.bad_request = n)
        }),
        used("ContentPolicyViolationErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.content_policy_violation = n)
        }),
        used("InternalServerErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.internal_server = n)
        }),
        used("NotFoundErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.not_found = n)
        }),
        used("RateLimitErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.rate_limit = n)
        }),
        used("ServiceUnavailableErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.service_unavailable = n)
        }),
        used("TimeoutErrorAllowedFails", |p, s| {
            s.fails_or_text().map(|n| p.timeout = n)
        }),
    ],
    families: &[],
    otherwise: UNKNOWN,
};
