//! Former voters, with their keys and their disks of then, against the members of now; real
//! processes on loopback. Whoever lies here runs the shipped program on a state folder from before,
//! apart from the others, where it is honest: to the members of now it is a liar.
//!
//! ```text
//! founders   two of three founders, expelled by four of six, decide alone over the founding
//! backup     the disk of a founder who was alone, and left
//! shares     as many holders of old shares as sign, since expelled
//! resolve    a disk that was put back has made two lines: who goes over, and who is led nowhere
//! comeback   a list, a role and an electorate that a quorum approved before somebody's expulsion
//! reports    the owner of ballot 0 signs a proposal now, with an old time, and reports that it committed to it
//! ran-out    a yes that ran out: on an expulsion, and in a certificate made by hand, also in a group at rest
//! ```

mod backup;
mod comeback;
mod founders;
mod ran_out;
mod reports;
pub(crate) mod resolve;
mod shares;
pub(crate) mod stage;
