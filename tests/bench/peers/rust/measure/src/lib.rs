// SPDX-License-Identifier: Apache-2.0
//! Common parts of the Rust programs: `PROGRAM WORKLOAD SIZE WORKERS`, the clock, the CPU of each worker,
//! resident memory, and the printing of figures.

use std::time::{Duration, Instant};

/// A name, and the function that runs it with a size and a number of workers.
pub type Workload = (&'static str, fn(usize, usize));

/// Runs the workload that the command line names; the process ends with status 3 if `table` does not have it.
pub fn run_workload(table: &[Workload]) {
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 4 {
        fail("usage: PROGRAM WORKLOAD SIZE WORKERS");
    }
    match table.iter().find(|(name, _)| *name == words[1]) {
        Some((_, run)) => run(positive(&words[2]), positive(&words[3])),
        None => std::process::exit(3),
    }
}

fn positive(text: &str) -> usize {
    match text.parse() {
        Ok(value) if value > 0 => value,
        _ => fail(&format!("{text:?} is no number of anything")),
    }
}

/// Ends the process with the reason as the last line on stderr.
pub fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(1)
}

pub fn figure(name: &str, value: f64) {
    println!("{name} {value:.3}");
}

/// Nanoseconds per operation.
pub fn each(spent: Duration, operations: usize) -> f64 {
    spent.as_nanos() as f64 / operations as f64
}

pub fn figures_of_samples(samples: &mut [Duration]) {
    samples.sort_unstable();
    figure("p50", each(samples[samples.len() / 2], 1));
    figure("p99", each(samples[samples.len() * 99 / 100], 1));
}

/// The processor time of all threads of the process.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } != 0 {
        fail("no clock of the process");
    }
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The start of a measurement, and the processor time of the process at that moment.
pub struct Idleness(Instant, Duration);

impl Idleness {
    pub fn begin() -> Idleness {
        Idleness(Instant::now(), processor_time())
    }

    /// Prints the processor time that all threads except the measuring one have used, in percent of a CPU.
    pub fn figure_of_others(&self) {
        let (wall, busy) = (self.0.elapsed().as_secs_f64(), (processor_time() - self.1).as_secs_f64());
        figure("others_percent", 100.0 * (busy - wall) / wall);
    }
}

/// How many wake-ups to sample if each waits so long for the other side to fall asleep: half a second of them.
pub fn wake_samples(idle_us: usize) -> usize {
    (500_000 / idle_us).clamp(300, 3000)
}

pub fn spin_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The CPUs that this process may use; must be called before anything is pinned.
pub fn allowed_cpus() -> Vec<usize> {
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    if unsafe { libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set) } != 0 {
        fail("no CPU affinity");
    }
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Pins worker i of several to the i-th of `cpus`; a single one to the last, since CPU 0 does work for the whole system.
pub fn pin(cpus: &[usize], worker: usize, workers: usize) {
    let cpu = if workers == 1 { cpus[cpus.len() - 1] } else { cpus[worker % cpus.len()] };
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    unsafe { libc::CPU_SET(cpu, &mut set) };
    if unsafe { libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) } != 0 {
        fail(&format!("cannot pin a worker to CPU {cpu}"));
    }
}

/// Includes page tables.
pub fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_else(|_| fail("no /proc/self/status"));
    let kib = |line: &str| line.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let counted = |line: &&str| line.starts_with("VmRSS:") || line.starts_with("VmPTE:");
    status.lines().filter(counted).map(kib).sum::<usize>() * 1024
}

/// The spawns of fib(n) if each call spawns one; at least 1, since results are divided by it.
pub fn spawns_of_fib(n: usize) -> usize {
    (2..=n).fold((0, 0), |(before, spawns), _| (spawns, before + spawns + 1)).1.max(1)
}

pub fn fib_by_adding(n: usize) -> usize {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// The tasks of a skynet with a power of ten of leaves, without the root.
pub fn tasks_of_skynet(leaves: usize) -> usize {
    let levels = std::iter::successors(Some(leaves), |level| Some(level / 10)).take_while(|&level| level > 1);
    levels
        .inspect(|level| {
            if level % 10 != 0 {
                fail("skynet wants a power of ten of leaves")
            }
        })
        .sum()
}

/// Checks a skynet's sum and prints its figures.
pub fn figures_of_skynet(leaves: usize, sum: usize, spent: Duration) {
    if sum != leaves * (leaves - 1) / 2 {
        fail(&format!("the leaves add up to {sum}"));
    }
    figure("ns", each(spent, tasks_of_skynet(leaves)));
    figure("ms", each(spent, 1) / 1e6);
}

/// The tree of ../../../../workloads/uts_tree.h.
pub mod uts {
    pub const ROOT: u64 = 42;
    pub const CHILDREN: usize = 8;
    const WITH_CHILDREN: u64 = 536_334_041;

    pub fn child(state: u64, i: usize) -> u64 {
        let state = state.wrapping_add((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    }

    pub fn is_leaf(state: u64) -> bool {
        state >> 32 >= WITH_CHILDREN
    }

    fn count(state: u64, children: usize) -> usize {
        let below = |child| if is_leaf(child) { 1 } else { count(child, CHILDREN) };
        1 + (0..children).map(|i| below(child(state, i))).sum::<usize>()
    }

    /// The nodes of the tree whose root has `children`.
    pub fn nodes(children: usize) -> usize {
        if children == 2000 {
            1_567_497
        } else {
            count(ROOT, children)
        }
    }
}

/// Checks the number of nodes of a tree and prints its figure.
pub fn figures_of_uts(children: usize, nodes: usize, spent: Duration) {
    if nodes != uts::nodes(children) {
        fail(&format!("{nodes} nodes"));
    }
    figure("ns", each(spent, nodes));
}
