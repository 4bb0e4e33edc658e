//! Cliques GDH: `K = g^(N1·N2·…·Nn)`, each member one share.

mod run;

pub use run::Run;
