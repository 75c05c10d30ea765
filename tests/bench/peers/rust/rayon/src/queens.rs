// SPDX-License-Identifier: Apache-2.0
//! The number of ways to place queens on a board: a task for each safe placement.

use crate::with_workers;
use measure::{each, fail, figure};
use rayon::prelude::*;
use std::time::Instant;

const MOST: usize = 14;

#[derive(Clone, Copy)]
struct Board {
    placed: usize,
    size: usize,
    columns: [i8; MOST],
}

impl Board {
    fn empty(size: usize) -> Board {
        Board { placed: 0, size, columns: [0; MOST] }
    }

    /// The queens placed so far do not attack each other.
    fn is_safe(&self, column: usize) -> bool {
        self.columns[..self.placed].iter().enumerate().all(|(row, &queen)| {
            let (apart, rows) = (queen as isize - column as isize, (self.placed - row) as isize);
            apart != 0 && apart != rows && apart != -rows
        })
    }

    fn with_queen(&self, column: usize) -> Board {
        let mut next = *self;
        next.columns[next.placed] = column as i8;
        next.placed += 1;
        next
    }

    fn solutions(&self) -> usize {
        if self.placed == self.size {
            return 1;
        }
        let mut next = [*self; MOST];
        let mut placements = 0;
        for column in (0..self.size).filter(|&column| self.is_safe(column)) {
            next[placements] = self.with_queen(column);
            placements += 1;
        }
        next[..placements].par_iter().with_max_len(1).map(Board::solutions).sum()
    }
}

pub fn nqueens(size: usize, workers: usize) {
    const KNOWN: [usize; MOST + 1] = [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596];
    if size > MOST {
        fail(&format!("nqueens: a board of {MOST} at most"));
    }
    let (solutions, spent) = with_workers(workers, || {
        Board::empty(size.min(8)).solutions();
        let start = Instant::now();
        (Board::empty(size).solutions(), start.elapsed())
    });
    if solutions != KNOWN[size] {
        fail(&format!("{solutions} solutions instead of {}", KNOWN[size]));
    }
    figure("ms", each(spent, 1) / 1e6);
}
