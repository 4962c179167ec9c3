//! Work on all cores, its results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::STACK;

/// As many threads as the machine has cores.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does the work of each item, on up to `threads` threads with large stacks, and hands items and results to `take` in the order
/// of the items, each as soon as all before them are there. What is handed over does not depend on the number of threads.
pub(crate) fn in_order<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(&T, R),
) {
    let threads = threads.min(items.len());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        let mut started = 0;
        for _ in 0..if threads < 2 { 0 } else { threads } {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let worker = move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    if sender.send((at, work(item))).is_err() {
                        return;
                    }
                }
            };
            // Where the system gives no further thread, those that there are do all the work.
            started += usize::from(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker).is_ok());
        }
        drop(sender);
        if started == 0 {
            for item in items {
                take(item, work(item));
            }
            return;
        }
        let (mut early, mut wanted) = (BTreeMap::new(), 0);
        for (at, result) in results {
            early.insert(at, result);
            while let (Some(item), Some(result)) = (items.get(wanted), early.remove(&wanted)) {
                take(item, result);
                wanted += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::in_order;

    #[test]
    fn results_come_in_the_order_of_the_items_at_any_number_of_threads() {
        let items: Vec<u64> = (0..500).collect();
        for threads in [0, 1, 2, 7, 600] {
            let later_is_done = AtomicBool::new(threads < 2);
            let work = |n: &u64| {
                // With several threads the first item is done after others.
                while *n == 0 && !later_is_done.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                later_is_done.fetch_or(*n == 9, Ordering::AcqRel);
                *n
            };
            let mut found = Vec::new();
            in_order(&items, threads, work, |item, n| found.push((*item, n)));
            assert!(found.iter().map(|(item, _)| item).eq(&items), "{threads} threads");
            assert!(found.iter().all(|(item, result)| item == result));
        }
    }
}
