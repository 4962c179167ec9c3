//! Votes to items: what the judge says of each, and what people say.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Answer, Flips, Kind, Preference, Scale, Vote};

/// An item.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub(super) cluster: Arc<str>,
    pub(super) group: Option<Arc<str>>,
    /// The judge's answer, by its place on the scale.
    pub(super) judge: Option<usize>,
    /// The people's.
    pub(super) people: Vec<usize>,
    pub(super) flips: Flips,
}

/// The items of all votes, by name.
pub(super) fn items(scale: &Scale, judge: &[Vote], people: &[Vote]) -> BTreeMap<Arc<str>, Item> {
    let mut items: BTreeMap<Arc<str>, Item> = BTreeMap::new();
    let mut asked: BTreeMap<&Arc<str>, Vec<&Vote>> = BTreeMap::new();
    for vote in people {
        let item = entry(&mut items, vote);
        item.people.push(scale.place(&vote.answer));
    }
    for vote in judge {
        entry(&mut items, vote);
        asked.entry(&vote.item).or_default().push(vote);
    }
    for (name, votes) in asked {
        if let Some(item) = items.get_mut(name) {
            (item.judge, item.flips) = said(scale, &votes);
        }
    }
    items
}

fn entry<'i>(items: &'i mut BTreeMap<Arc<str>, Item>, vote: &Vote) -> &'i mut Item {
    items.entry(Arc::clone(&vote.item)).or_insert_with(|| Item {
        cluster: Arc::clone(&vote.cluster),
        group: vote.group.clone(),
        ..Item::default()
    })
}

/// What a judge says of an item. Of a preference asked in both orders a difference is a tie (Zheng et al., "Judging LLM-as-a-Judge
/// with MT-Bench and Chatbot Arena", 2023); of several verdicts of one kind it is the most frequent, or the middle one.
fn said(scale: &Scale, votes: &[&Vote]) -> (Option<usize>, Flips) {
    let places: Vec<usize> = votes.iter().map(|vote| scale.place(&vote.answer)).collect();
    let is_both = votes.iter().any(|vote| vote.is_swapped) && votes.iter().any(|vote| !vote.is_swapped);
    if is_both && scale.kind == Kind::Preferences {
        let same = places.iter().all(|place| Some(place) == places.first());
        let tie = scale.place(&Answer::Prefers(Preference::Tie));
        let flips = Flips { both: 1, flipped: u64::from(!same) };
        return (if same { places.first().copied() } else { Some(tie) }, flips);
    }
    (consensus(scale, &places), Flips::default())
}

/// What most say; of numbers the middle one, the lower of two. Of preferences as many one way as another are a tie; of others
/// they are no answer.
pub(super) fn consensus(scale: &Scale, places: &[usize]) -> Option<usize> {
    if scale.kind == Kind::Numbers {
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        return sorted.get(sorted.len().checked_sub(1)? / 2).copied();
    }
    let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
    for place in places {
        *counts.entry(*place).or_default() += 1;
    }
    let most = *counts.values().max()?;
    let mut first = counts.iter().filter(|(_, count)| **count == most).map(|(place, _)| *place);
    match (first.next(), first.next()) {
        (one, None) => one,
        _ => scale.tie(),
    }
}
