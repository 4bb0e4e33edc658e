//! Where verified items go.

use crate::parts::Outbox;
use bytes::Bytes;
use folkmoot_group::Group;

/// To the group layer, which hands them to the ring.
pub(crate) struct Orders<'a> {
    pub(crate) group: &'a mut Group,
    pub(crate) out: &'a mut Outbox,
}

impl Orders<'_> {
    /// Orders an item.
    pub(crate) fn item(&mut self, item: &Bytes) {
        if let Err(error) = self.group.item(item) {
            self.out.refuse("group", &error);
        }
    }

    /// Orders what leads on a node that was left behind (NODE-33).
    pub(crate) fn package(&mut self, package: &Bytes) {
        if let Err(error) = self.group.package(package) {
            self.out.refuse("group", &error);
        }
    }
}
