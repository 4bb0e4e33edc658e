//! What an authority of a group needs of its host, beside what every member needs.
//!
//! ```text
//! authority's member --Event::Log--> replicas --Command::Logged--> authority's member
//!                                       |
//!                     a folkmoot group of their own, and the table "log" of its state folder
//! ```

pub mod replicas;
