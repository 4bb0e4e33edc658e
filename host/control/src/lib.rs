//! What programs say to a member that runs, and what it answers: plain types, as lines of JSON on
//! the socket `control.sock` in the member's folder (docs/control.md).
//!
//! ```text
//! member  -> program   {"folkmoot":"control","versions":[1]}            [`Hello`], once
//! program -> member    {"id":1,"op":"status"}                           [`Ask`]
//! member  -> program   {"id":1,"ok":{...}}                              [`Reply`], in any order
//!                      {"id":1,"error":"...","exit":"refused","code":"no-vote",...}
//!                      after {"id":2,"op":"subscribe"}: {"subscription":2,"event":"view",...}, ...
//! ```
//! Nothing here reads or writes a socket.

mod answer;
mod line;
mod request;

pub use answer::{Answer, By, Exit, No};
pub use line::{Ask, Hello, Id, Reply, line};
pub use request::{Faulty, Line, Ordering, PossibleView, Request, Sealed};
