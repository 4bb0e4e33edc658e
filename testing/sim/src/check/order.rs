//! Comparing what two processes delivered, in one pass for each pair.

use std::collections::BTreeMap;

/// Where each item stands in `list` (the first time, if it is there more than once).
pub(super) fn positions<K: Ord + Copy>(list: &[K]) -> BTreeMap<K, usize> {
    let mut out = BTreeMap::new();
    for (index, item) in list.iter().enumerate() {
        out.entry(*item).or_insert(index);
    }
    out
}

/// For each prefix of `list`: the position in `other` by which all of it has been delivered;
/// `None`: never.
pub(super) fn reach<K: Ord + Copy>(list: &[K], other: &BTreeMap<K, usize>) -> Vec<Option<usize>> {
    let mut out = Vec::with_capacity(list.len());
    let mut so_far = Some(0);
    for item in list {
        so_far = match (so_far, other.get(item)) {
            (Some(reach), Some(at)) => Some(reach.max(*at)),
            _ => None,
        };
        out.push(so_far);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_is_the_latest_place_of_a_prefix() {
        let other = positions(&[3, 1, 2]);
        assert_eq!(reach(&[1, 2, 3, 9, 1], &other), vec![Some(1), Some(2), Some(2), None, None]);
    }
}
