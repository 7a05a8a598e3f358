//! Errors that attempts provoked at providers, for each request that arrived. A retry that saves the
//! request does not undo them.

use router::ErrorClass;

use super::{Better, Reading, Unit, answered, share_of};
use crate::record::{ErrorOrigin, RunRecord};

pub(super) const RATE_LIMITED_PER_REQUEST: Reading = Reading {
    name: "rate_limited_per_request",
    title: "429s",
    unit: Unit::PerRequest,
    better: Better::Lower,
    formula: "attempts failed as RateLimitError / requests",
    about: "Attempts that a provider refused with 429.",
    read: |run| per_request(run, |class| class == ErrorClass::RateLimit),
};

pub(super) const TIMEOUTS_PER_REQUEST: Reading = Reading {
    name: "timeouts_per_request",
    title: "Timeouts",
    unit: Unit::PerRequest,
    better: Better::Lower,
    formula: "attempts failed as Timeout / requests",
    about: "Attempts that timed out, at the client or with 408 or 504.",
    read: |run| per_request(run, |class| class == ErrorClass::Timeout),
};

pub(super) const SERVER_ERRORS_PER_REQUEST: Reading = Reading {
    name: "server_errors_per_request",
    title: "Server errors",
    unit: Unit::PerRequest,
    better: Better::Lower,
    formula: "attempts failed as InternalServerError, BadGatewayError or ServiceUnavailableError / requests",
    about: "Attempts that ended with 500, 502 or 503, or a connection that broke.",
    read: |run| per_request(run, is_server_error),
};

pub(super) const OTHER_ERRORS_PER_REQUEST: Reading = Reading {
    name: "other_errors_per_request",
    title: "Other errors",
    unit: Unit::PerRequest,
    better: Better::Lower,
    formula: "attempts failed in any other class / requests",
    about: "Attempts that failed otherwise: bad requests, keys, content, unknown statuses.",
    read: |run| per_request(run, is_other),
};

pub(super) const NO_DEPLOYMENT_RATIO: Reading = Reading {
    name: "no_deployment_ratio",
    title: "No deployment",
    unit: Unit::Ratio,
    better: Better::Lower,
    formula: "requests failed as RouterRateLimitError / (completed + failed)",
    about: "Share of requests that the router turned away because no deployment could be picked.",
    read: no_deployment_ratio,
};

fn per_request(run: &RunRecord, of: fn(ErrorClass) -> bool) -> Option<f64> {
    let errors = run
        .deployments
        .iter()
        .flat_map(|deployment| &deployment.errors);
    share_of(
        errors
            .filter(|error| of(error.class))
            .map(|error| error.count)
            .sum(),
        run.requests,
    )
}

fn no_deployment_ratio(run: &RunRecord) -> Option<f64> {
    let refused = run.errors.iter().filter(|error| {
        error.origin == ErrorOrigin::Router && error.exception == "RouterRateLimitError"
    });
    share_of(refused.map(|error| error.count).sum(), answered(run))
}

const fn is_server_error(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::InternalServer | ErrorClass::BadGateway | ErrorClass::ServiceUnavailable
    )
}

const fn is_other(class: ErrorClass) -> bool {
    !is_server_error(class) && !matches!(class, ErrorClass::RateLimit | ErrorClass::Timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_counted_in_exactly_one_metric() {
        for class in ErrorClass::ALL {
            let places = [
                class == ErrorClass::RateLimit,
                class == ErrorClass::Timeout,
                is_server_error(class),
                is_other(class),
            ];
            assert_eq!(places.iter().filter(|&&here| here).count(), 1, "{class:?}");
        }
    }
}
