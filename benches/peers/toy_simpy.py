"""The toy model in SimPy 4.1.1: `python toy_simpy.py REQUESTS REPLICATIONS`, one line of JSON for each replication.

Poisson arrivals, 15 a second. Three deployments of four slots, first come, first served; an answer takes an
exponential time of mean 0.4 s. Each request goes to a deployment drawn at random among those that are not benched.
An attempt fails with probability 0.05, after 10 ms and without a slot; its deployment is then benched for a second,
and the request is tried once more. Where all are benched it fails at once.
"""

import json
import random
import sys
import time

import simpy


class Toy:
    def __init__(self, requests, seed):
        self.random = random.Random(seed)
        self.env = simpy.Environment()
        self.slots = [simpy.Resource(self.env, capacity=4) for _ in range(3)]
        self.benched_until = [0.0] * 3
        self.requests = requests
        self.completed = self.failed = self.attempts = 0
        self.latency = 0.0

    def arrivals(self):
        for _ in range(self.requests):
            yield self.env.timeout(self.random.expovariate(15.0))
            self.env.process(self.request())

    def request(self):
        arrived = self.env.now
        for _ in range(2):
            ready = [d for d in range(3) if self.benched_until[d] <= self.env.now]
            if not ready:
                break
            deployment = self.random.choice(ready)
            self.attempts += 1
            if self.random.random() < 0.05:
                yield self.env.timeout(0.01)
                self.benched_until[deployment] = self.env.now + 1.0
                continue
            with self.slots[deployment].request() as slot:
                yield slot
                yield self.env.timeout(self.random.expovariate(1 / 0.4))
            self.completed += 1
            self.latency += self.env.now - arrived
            return
        self.failed += 1


def main():
    requests, replications = int(sys.argv[1]), int(sys.argv[2])
    for replication in range(replications):
        toy = Toy(requests, replication)
        begun = time.process_time()
        toy.env.process(toy.arrivals())
        toy.env.run()
        took = time.process_time() - begun
        print(json.dumps({
            "requests": requests, "cpu_s": took, "success": toy.completed / requests,
            "attempts": toy.attempts / requests, "mean_s": toy.latency / toy.completed,
        }))


if __name__ == "__main__":
    main()
