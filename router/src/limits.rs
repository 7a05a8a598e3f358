//! How many attempts a deployment takes at once. (semantics 7)

use crate::config::{DeploymentConfig, RouterSettings};

/// Slots of a deployment: `max_parallel_requests`, else `rpm`, else six for each thousand of `tpm`
/// (at least one), else the router's default. `None` and zero: no limit.
pub(crate) fn slots(deployment: &DeploymentConfig, settings: &RouterSettings) -> Option<u32> {
    let from_tpm = |tpm: u64| (tpm.saturating_mul(6) / 1_000).max(1);
    let slots = deployment
        .max_parallel_requests
        .or(deployment.rpm)
        .or_else(|| deployment.tpm.map(from_tpm))
        .or(settings.default_max_parallel_requests)?;
    (slots > 0).then(|| u32::try_from(slots).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        max: Option<u64>,
        rpm: Option<u64>,
        tpm: Option<u64>,
        default: Option<u64>,
    ) -> Option<u32> {
        let deployment = DeploymentConfig {
            max_parallel_requests: max,
            rpm,
            tpm,
            ..Default::default()
        };
        let settings = RouterSettings {
            default_max_parallel_requests: default,
            ..Default::default()
        };
        slots(&deployment, &settings)
    }

    #[test]
    fn the_explicit_number_comes_first_then_rpm_then_tpm_then_the_default() {
        assert_eq!(of(Some(3), Some(60), Some(9_000), Some(1)), Some(3));
        assert_eq!(of(None, Some(60), Some(9_000), Some(1)), Some(60));
        assert_eq!(of(None, None, Some(9_000), Some(1)), Some(54));
        assert_eq!(of(None, None, Some(100), Some(7)), Some(1));
        assert_eq!(of(None, None, None, Some(7)), Some(7));
        assert_eq!(of(None, None, None, None), None);
    }

    #[test]
    fn zero_is_no_limit() {
        assert_eq!(of(Some(0), Some(60), None, None), None);
    }
}
