//! What the fold keeps of each trial, in few bytes: a run can have more trials than a person will look at.

use crate::sheet::Mark;

/// So many items are in a piece.
const PIECE: usize = 4096;

/// A list that grows by pieces: nothing is copied when it grows, and no room of old copies is left behind.
#[derive(Debug)]
pub(crate) struct Pieces<T>(Vec<Vec<T>>);

/// The keys of samples, one for each trial.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// Those of a piece, side by side.
    texts: Vec<String>,
    /// Of each: where it ends in its text.
    ends: Pieces<u32>,
}

/// A number of each trial, of which nothing is kept until one is not the usual one.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    usual: u32,
    numbers: Pieces<u32>,
}

/// The verdicts of one scorer.
#[derive(Debug)]
pub(crate) enum Marks {
    /// Of a few kinds, as those of yes and no and of steps are: the kinds, and of each verdict which one it is.
    Few(Vec<Mark>, Pieces<u8>),
    /// Of more kinds than a byte can tell: their numbers, and of each verdict which kind it would be if it had the number 0.
    Many(Box<Marks>, Pieces<f64>),
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Pieces<T> {
    fn push(&mut self, item: T) {
        if let Some(last) = self.0.last_mut().filter(|last| last.len() < PIECE) {
            return last.push(item);
        }
        // A small run keeps a small first piece.
        let mut next = Vec::with_capacity(if self.0.is_empty() { 1 } else { PIECE });
        next.push(item);
        self.0.push(next);
    }

    fn get(&self, at: usize) -> Option<T> {
        self.0.get(at / PIECE)?.get(at % PIECE).copied()
    }

    fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * PIECE + last.len())
    }
}

impl Keys {
    pub(crate) fn push(&mut self, key: &str) {
        let place = self.ends.len() / PIECE;
        if place == self.texts.len() {
            self.texts.push(String::new());
        }
        if let Some(text) = self.texts.get_mut(place) {
            text.push_str(key);
            self.ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
    }

    pub(crate) fn get(&self, at: usize) -> &str {
        let found = || {
            let start = if at.is_multiple_of(PIECE) { 0 } else { self.ends.get(at - 1)? };
            self.texts.get(at / PIECE)?.get(start as usize..self.ends.get(at)? as usize)
        };
        found().unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}

impl Rare {
    pub(crate) fn new(usual: u32) -> Self {
        Self { usual, numbers: Pieces::default() }
    }

    /// Of the trial `at`; after one none is told of that comes before it.
    pub(crate) fn push(&mut self, at: usize, number: u32) {
        if number != self.usual {
            while self.numbers.len() < at {
                self.numbers.push(self.usual);
            }
            self.numbers.push(number);
        }
    }

    pub(crate) fn get(&self, at: usize) -> u32 {
        self.numbers.get(at).unwrap_or(self.usual)
    }
}

impl Default for Marks {
    fn default() -> Self {
        Self::Few(Vec::new(), Pieces::default())
    }
}

impl Marks {
    pub(crate) fn push(&mut self, mark: &Mark) {
        match self {
            Self::Many(kinds, numbers) => {
                numbers.push(mark.number.unwrap_or_default());
                kinds.push(&Mark { number: mark.number.map(|_| 0.0), ..*mark });
            }
            Self::Few(kinds, places) => {
                let known = kinds.iter().position(|kind| kind == mark);
                match u8::try_from(known.unwrap_or(kinds.len())) {
                    Ok(place) => {
                        kinds.extend(known.is_none().then_some(*mark));
                        places.push(place);
                    }
                    Err(_) => {
                        let few = std::mem::replace(self, Self::Many(Box::default(), Pieces::default()));
                        few.iter().for_each(|mark| self.push(&mark));
                        self.push(mark);
                    }
                }
            }
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<Mark> {
        match self {
            Self::Few(kinds, places) => kinds.get(usize::from(places.get(at)?)).copied(),
            Self::Many(kinds, numbers) => {
                let kind = kinds.get(at)?;
                let number = numbers.get(at)?;
                Some(Mark { number: kind.number.map(|_| number), ..kind })
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = Mark> {
        (0..).map_while(|at| self.get(at))
    }
}

#[cfg(test)]
mod tests {
    use aigo_ir::verdict::Outcome;

    use super::*;

    #[test]
    fn what_is_kept_comes_back_over_the_borders_of_pieces() {
        let (mut keys, mut rare) = (Keys::default(), Rare::new(7));
        let [mut few, mut many] = [Marks::default(), Marks::default()];
        let key = |n: usize| "k".repeat(n % 5);
        let number = |n: usize| if n == PIECE + 9 { 1 } else { 7 };
        let outcomes: Vec<Option<Outcome>> = Outcome::ALL.into_iter().map(Some).chain([None]).collect();
        let mark = |n: usize, numbers: usize| Mark {
            outcome: outcomes[n % 5],
            number: n.is_multiple_of(5).then_some((n % numbers) as f64),
            pass: n.is_multiple_of(2),
        };
        let most = 2 * PIECE + 3;
        for n in 0..most {
            assert_eq!((keys.len(), few.get(n), many.get(n)), (n, None, None));
            keys.push(&key(n));
            rare.push(n, number(n));
            few.push(&mark(n, 30));
            many.push(&mark(n, usize::MAX));
        }
        for n in 0..most {
            assert_eq!((keys.get(n), rare.get(n)), (&*key(n), number(n)));
            assert_eq!((few.get(n), many.get(n)), (Some(mark(n, 30)), Some(mark(n, usize::MAX))));
        }
        assert_eq!((keys.get(most), rare.get(most), few.get(most), many.get(most)), ("", 7, None, None));
        assert!(matches!((few, many), (Marks::Few(..), Marks::Many(..))));
        assert_eq!(rare.numbers.len(), PIECE + 10);
    }
}
