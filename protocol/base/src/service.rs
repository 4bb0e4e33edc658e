//! The ordering ladder.

use crate::codec::codec_enum;

codec_enum! {
    /// What a sender asks of the delivery of one message; each level promises all that the levels
    /// below it do.
    pub enum Service {
        /// May be lost, in any order.
        Unreliable = 1,
        /// Arrives, in any order.
        Reliable = 2,
        /// In the order of its sender.
        Fifo = 4,
        /// After everything its sender had delivered before it sent.
        Causal = 8,
        /// In one order for all.
        Agreed = 16,
        /// Agreed, and only when all of the configuration are known to hold it.
        Safe = 32,
    }
}
