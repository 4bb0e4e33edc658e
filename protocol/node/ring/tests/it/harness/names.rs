//! Names of nodes and messages.

use bytes::Bytes;
use folkmoot_base::NodeId;

pub fn node(i: usize) -> NodeId {
    let mut id = [0_u8; 32];
    id[0] = (i as u8).wrapping_mul(37).wrapping_add(1);
    id[1] = i as u8;
    NodeId(id)
}

pub fn index(id: &NodeId) -> usize {
    id.0[1] as usize
}

pub(super) fn indices(ids: &[NodeId]) -> Vec<usize> {
    ids.iter().map(index).collect()
}

/// The bytes of a node's message: node, life, count, and what fills it up.
pub(super) fn message(i: usize, life: u32, count: u32, size: usize) -> Bytes {
    let mut payload = vec![0_u8; size.max(12)];
    payload[..4].copy_from_slice(&(i as u32).to_be_bytes());
    payload[4..8].copy_from_slice(&life.to_be_bytes());
    payload[8..12].copy_from_slice(&count.to_be_bytes());
    for (at, byte) in payload.iter_mut().enumerate().skip(12) {
        *byte = (at as u32).wrapping_mul(31).wrapping_add(count) as u8;
    }
    payload.into()
}

pub fn life_of(payload: &[u8]) -> u32 {
    u32::from_be_bytes(payload[4..8].try_into().unwrap())
}

pub fn count_of(payload: &[u8]) -> u32 {
    u32::from_be_bytes(payload[8..12].try_into().unwrap())
}

pub fn message_name(payload: &[u8]) -> String {
    let sender = u32::from_be_bytes(payload[..4].try_into().unwrap());
    format!("n{sender}.{}.{} ({} bytes)", life_of(payload), count_of(payload), payload.len())
}
