//! What the token says of each member. It comes with every visit, so it takes no allocation.

use crate::data::Record;
use core::ops::{Deref, DerefMut};
use folkmoot_base::codec::tls_codec::Error;
use folkmoot_base::codec::{DeserializeBytes, Serialize, Size, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::limits::NODES_MAX;
use std::io::Write;

/// A member's last visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Visited {
    /// It held all places up to here.
    pub held: u32,
    /// So many passes ago.
    pub passes: u16,
    /// The last record that it made there, if any: one that was lost on its way is known with the
    /// token.
    pub record: Option<Recent>,
}

/// A record, of the member beside which it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Recent {
    /// Its number.
    pub number: u32,
    /// The place of its first packet.
    pub place: u32,
    /// The number of the first packet.
    pub first: u32,
    /// How many packets.
    pub count: u16,
}

impl Recent {
    /// What the token says of `record`. Its numbers are legal, so they fit.
    pub(crate) fn of(record: &Record) -> Self {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let (number, place, first) = (small(record.number), small(record.place), small(record.first));
        Self { number, place, first, count: record.count }
    }

    fn whole(self, source: u8) -> Record {
        let (number, place, first) = (self.number.into(), self.place.into(), self.first.into());
        Record { number, place, source, first, count: self.count }
    }
}

/// One for each member, at most [`NODES_MAX`]. On the wire: how many (u8), then each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visits {
    list: [Visited; NODES_MAX],
    count: u8,
}

impl Visits {
    /// The records in it.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        (0..).zip(self.iter()).filter_map(|(source, member)| Some(member.record?.whole(source)))
    }
}

impl FromIterator<Visited> for Visits {
    /// What is more than [`NODES_MAX`] is left out.
    fn from_iter<I: IntoIterator<Item = Visited>>(all: I) -> Self {
        let mut visits = Self { list: [Visited::default(); NODES_MAX], count: 0 };
        for (slot, visited) in visits.list.iter_mut().zip(all) {
            *slot = visited;
            visits.count = visits.count.saturating_add(1);
        }
        visits
    }
}

impl Deref for Visits {
    type Target = [Visited];

    fn deref(&self) -> &[Visited] {
        self.list.get(..usize::from(self.count)).unwrap_or_default()
    }
}

impl DerefMut for Visits {
    fn deref_mut(&mut self) -> &mut [Visited] {
        self.list.get_mut(..usize::from(self.count)).unwrap_or_default()
    }
}

impl Size for Visits {
    fn tls_serialized_len(&self) -> usize {
        self.iter().fold(1, |sum, visited| sum.saturating_add(visited.tls_serialized_len()))
    }
}

impl Serialize for Visits {
    fn tls_serialize<W: Write>(&self, writer: &mut W) -> Result<usize, Error> {
        self.count.tls_serialize(writer)?;
        self.iter().try_for_each(|visited| visited.tls_serialize(writer).map(drop))?;
        Ok(self.tls_serialized_len())
    }
}

impl DeserializeBytes for Visits {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (count, mut rest) = u8::tls_deserialize_bytes(bytes)?;
        let mut visits = Self { list: [Visited::default(); NODES_MAX], count };
        let list = visits.list.get_mut(..usize::from(count)).ok_or(Error::InvalidVectorLength)?;
        for slot in list {
            (*slot, rest) = Visited::tls_deserialize_bytes(rest)?;
        }
        Ok((visits, rest))
    }
}
