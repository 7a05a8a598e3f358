//! A maximum flow, by Dinic's algorithm (Dinitz 1970): O(nodes² × edges), far less on such graphs.

use std::collections::VecDeque;

/// A network from [`Flow::SOURCE`] to [`Flow::SINK`].
#[derive(Debug)]
pub(super) struct Flow {
    /// Edges of each node, as places in `edges`.
    nodes: Vec<Vec<usize>>,
    /// Each edge stands before its reverse.
    edges: Vec<Edge>,
}

#[derive(Debug)]
struct Edge {
    to: usize,
    left: u64,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            nodes: vec![Vec::new(), Vec::new()],
            edges: Vec::new(),
        }
    }
}

impl Flow {
    pub(super) const SOURCE: usize = 0;
    pub(super) const SINK: usize = 1;
    /// More than there are requests.
    pub(super) const NO_LIMIT: u64 = u64::MAX / 4;

    pub(super) fn node(&mut self) -> usize {
        self.nodes.push(Vec::new());
        self.nodes.len() - 1
    }

    pub(super) fn edge(&mut self, from: usize, to: usize, capacity: u64) {
        self.nodes[from].push(self.edges.len());
        self.edges.push(Edge { to, left: capacity });
        self.nodes[to].push(self.edges.len());
        self.edges.push(Edge { to: from, left: 0 });
    }

    /// The most that flows.
    pub(super) fn most(&mut self) -> u64 {
        let mut sum = 0;
        while let Some(depth) = self.depths() {
            let mut next = vec![0; self.nodes.len()];
            loop {
                let pushed = self.push(&depth, &mut next);
                if pushed == 0 {
                    break;
                }
                sum += pushed;
            }
        }
        sum
    }

    /// Steps from the source along what is left; `None` if the sink is out of reach.
    fn depths(&self) -> Option<Vec<u32>> {
        let mut depth = vec![u32::MAX; self.nodes.len()];
        depth[Self::SOURCE] = 0;
        let mut queue = VecDeque::from([Self::SOURCE]);
        while let Some(node) = queue.pop_front() {
            for &edge in &self.nodes[node] {
                let Edge { to, left } = self.edges[edge];
                if left > 0 && depth[to] == u32::MAX {
                    depth[to] = depth[node] + 1;
                    queue.push_back(to);
                }
            }
        }
        (depth[Self::SINK] < u32::MAX).then_some(depth)
    }

    /// Pushes along one path that goes a step deeper each time; 0 if there is none.
    fn push(&mut self, depth: &[u32], next: &mut [usize]) -> u64 {
        let mut path: Vec<usize> = Vec::new();
        let mut node = Self::SOURCE;
        while node != Self::SINK {
            let edges = &self.nodes[node];
            let goes = |&edge: &usize| {
                let Edge { to, left } = self.edges[edge];
                left > 0 && depth[to] == depth[node] + 1
            };
            let found = edges[next[node]..].iter().position(goes);
            if let Some(ahead) = found {
                next[node] += ahead;
                let edge = edges[next[node]];
                path.push(edge);
                node = self.edges[edge].to;
            } else {
                next[node] = edges.len();
                let Some(edge) = path.pop() else { return 0 };
                node = self.edges[edge ^ 1].to;
                next[node] += 1;
            }
        }
        let least = path.iter().map(|&edge| self.edges[edge].left).min();
        let least = least.unwrap_or(0);
        for edge in path {
            self.edges[edge].left -= least;
            self.edges[edge ^ 1].left += least;
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The network of Cormen et al., *Introduction to Algorithms*, 3rd ed., figure 26.1: 23.
    #[test]
    fn the_flow_of_the_textbook_is_found() {
        let mut flow = Flow::default();
        let [a, b, c, d] = [0; 4].map(|_: u8| flow.node());
        for (from, to, capacity) in [
            (Flow::SOURCE, a, 16),
            (Flow::SOURCE, b, 13),
            (a, c, 12),
            (b, a, 4),
            (c, b, 9),
            (b, d, 14),
            (d, c, 7),
            (c, Flow::SINK, 20),
            (d, Flow::SINK, 4),
        ] {
            flow.edge(from, to, capacity);
        }

        assert_eq!(flow.most(), 23);
        assert_eq!(Flow::default().most(), 0);
    }
}
