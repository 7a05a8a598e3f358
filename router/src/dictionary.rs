//! A dictionary of deployments that keeps the order in which they came: LiteLLM's strategies keep
//! their counts so, and break ties by it.

use crate::request::DeploymentId;

/// Values by deployment, in the order of their first mention.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dictionary<T> {
    /// By deployment; `None`: not in it.
    values: Vec<Option<T>>,
    order: Vec<DeploymentId>,
}

impl<T> Default for Dictionary<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            order: Vec::new(),
        }
    }
}

impl<T: Copy + Default> Dictionary<T> {
    /// The value of a deployment, which comes in last if it is new.
    pub(crate) fn entry(&mut self, deployment: DeploymentId) -> &mut T {
        let at = deployment.index();
        if at >= self.values.len() {
            self.values.resize(at + 1, None);
        }
        if self.values[at].is_none() {
            self.order.push(deployment);
        }
        self.values[at].get_or_insert_default()
    }

    /// The value of a deployment, if it is in.
    pub(crate) fn get(&self, deployment: DeploymentId) -> Option<T> {
        self.values.get(deployment.index()).copied().flatten()
    }

    /// Everybody with a value, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (DeploymentId, T)> + '_ {
        let value = |&deployment: &DeploymentId| {
            let value = self.values[deployment.index()]?;
            Some((deployment, value))
        };
        self.order.iter().filter_map(value)
    }

    /// Forgets everybody.
    pub(crate) fn clear(&mut self) {
        self.values.fill(None);
        self.order.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_order_of_first_mention_and_forgets_it_when_cleared() {
        let id = DeploymentId;
        let mut counts = Dictionary::default();
        for deployment in [2, 0, 2] {
            *counts.entry(id(deployment)) += 1;
        }
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(id(2), 2), (id(0), 1)]);
        assert_eq!((counts.get(id(2)), counts.get(id(1))), (Some(2), None));
        assert_eq!(counts.get(id(9)), None);

        counts.clear();
        *counts.entry(id(0)) += 1;
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(id(0), 1)]);
    }
}
