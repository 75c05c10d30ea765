// SPDX-License-Identifier: Apache-2.0
//! Trees of tasks.

use crate::with_workers;
use measure::{each, fail, fib_by_adding, figure, figures_of_skynet, figures_of_uts, spawns_of_fib, uts};
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

/// A recursive async function must return a boxed future.
type Sum = Pin<Box<dyn Future<Output = usize> + Send>>;

async fn joined(task: tokio::task::JoinHandle<usize>) -> usize {
    task.await.expect("a task that ends")
}

fn fib_of(n: usize) -> Sum {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let left = tokio::spawn(fib_of(n - 1));
        let right = fib_of(n - 2).await;
        joined(left).await + right
    })
}

pub fn fib(n: usize, workers: usize) {
    let (result, spent) = with_workers(workers, async move {
        fib_of(n.min(20)).await;
        let start = Instant::now();
        (fib_of(n).await, start.elapsed())
    });
    if result != fib_by_adding(n) {
        fail(&format!("fib({n}) is not {result}"));
    }
    figure("ns", each(spent, spawns_of_fib(n)));
}

fn skynet_of(first: usize, leaves: usize) -> Sum {
    Box::pin(async move {
        if leaves == 1 {
            return first;
        }
        let children: [_; 10] =
            std::array::from_fn(|i| tokio::spawn(skynet_of(first + i * (leaves / 10), leaves / 10)));
        let mut sum = 0;
        for child in children {
            sum += joined(child).await;
        }
        sum
    })
}

pub fn skynet(leaves: usize, workers: usize) {
    let (sum, spent) = with_workers(workers, async move {
        skynet_of(0, leaves.min(10_000)).await;
        let start = Instant::now();
        (skynet_of(0, leaves).await, start.elapsed())
    });
    figures_of_skynet(leaves, sum, spent);
}

fn nodes_below(state: u64, children: usize) -> Sum {
    Box::pin(async move {
        let visit = |i| tokio::spawn(nodes_of(uts::child(state, i)));
        let mut nodes = 1;
        for child in (0..children).map(visit).collect::<Vec<_>>() {
            nodes += joined(child).await;
        }
        nodes
    })
}

async fn nodes_of(state: u64) -> usize {
    if uts::is_leaf(state) {
        1
    } else {
        nodes_below(state, uts::CHILDREN).await
    }
}

pub fn uts(children: usize, workers: usize) {
    let (nodes, spent) = with_workers(workers, async move {
        nodes_below(uts::ROOT, children.min(500)).await;
        let start = Instant::now();
        (nodes_below(uts::ROOT, children).await, start.elapsed())
    });
    figures_of_uts(children, nodes, spent);
}
