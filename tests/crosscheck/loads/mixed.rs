// SPDX-License-Identifier: BSD-2-Clause
// Sorting, hashing, formatting and recursion over trait objects, for ever.
use std::collections::HashMap;

trait Shape {
    fn area(&self, depth: u32) -> f64;
}

struct Leaf(f64);
struct Group(Vec<Box<dyn Shape>>);

impl Shape for Leaf {
    #[inline(never)]
    fn area(&self, depth: u32) -> f64 {
        (0..20).fold(self.0, |a, i| a * 1.0001 + (i ^ depth) as f64)
    }
}

impl Shape for Group {
    #[inline(never)]
    fn area(&self, depth: u32) -> f64 {
        self.0.iter().map(|s| s.area(depth + 1)).sum()
    }
}

fn tree(depth: u32) -> Box<dyn Shape> {
    if depth == 0 {
        return Box::new(Leaf(1.5));
    }
    Box::new(Group((0..2).map(|_| tree(depth - 1)).collect()))
}

#[inline(never)]
fn words(n: u64) -> usize {
    let mut seen: HashMap<String, u64> = HashMap::new();
    for i in 0..n {
        *seen.entry(format!("word {}", i * 7919 % 97)).or_insert(0) += i;
    }
    let mut all: Vec<_> = seen.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.len()
}

#[inline(never)]
fn caught(n: u64) -> bool {
    std::panic::catch_unwind(|| {
        if n % 3 == 0 {
            std::panic::panic_any(n);
        }
    })
    .is_err()
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let shapes = tree(12);
    let worker = std::thread::spawn(|| loop {
        std::hint::black_box(words(300));
    });
    for n in 0.. {
        std::hint::black_box(shapes.area(0));
        std::hint::black_box(words(200));
        std::hint::black_box(caught(n));
        if worker.is_finished() {
            return;
        }
    }
}
