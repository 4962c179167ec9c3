//! Choices from a seed.

/// A stream of choices (`SplitMix64`, G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators").
pub(super) struct Dice(u64);

/// Pieces of text that are hard to carry: quotes, escapes, marks of the text form, line ends, controls, what looks like code.
const HOSTILE: &[&str] = &[
    "plain",
    " ",
    "\"",
    "\\",
    "'",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[2J",
    "\u{2028}",
    "\u{202e}",
    "\u{feff}",
    "\u{85}",
    "é",
    "👩‍👩‍👧",
    "値",
    "#",
    " # no comment",
    "{",
    "}",
    "@",
    "@{\"a\":1}",
    "n0",
    "=",
    "next=n1",
    "again",
    "break",
    "\\u202e",
    "\\n",
    "${x}",
    "%}",
    "}}",
    "true",
    "none",
    "1.0",
    "-",
    "",
];

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(super) const fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// One chance in `n`.
    pub(super) const fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    /// A text of hostile pieces.
    pub(super) fn hostile(&mut self) -> String {
        (0..self.below(5)).map(|_| *self.pick(HOSTILE)).collect()
    }

    /// A hostile text that Jinja takes as it is.
    pub(super) fn literal(&mut self) -> String {
        let mut text = self.hostile();
        for opening in ["{{", "{%", "{#"] {
            text = text.replace(opening, "{ ");
        }
        // What follows may begin with a brace.
        if text.ends_with('{') { text + " " } else { text }
    }
}
