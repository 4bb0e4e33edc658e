//! Names of nodes and messages.

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
