//! The services: what a sender can ask of the delivery of a message.

use crate::codec::codec_enum;

codec_enum! {
    /// What a sender asks of the delivery of one message; each level promises everything that the
    /// levels below it promise.
    pub enum Service {
        /// May be lost, in any order.
        Unreliable = 1,
        /// Arrives, in any order.
        Reliable = 2,
        /// In the order of its sender.
        Fifo = 4,
        /// After everything that its sender had delivered before it sent this.
        Causal = 8,
        /// In one order for all.
        Agreed = 16,
        /// Agreed, and delivered only when every node of the configuration is known to hold it.
        Safe = 32,
    }
}
