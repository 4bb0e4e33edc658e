//! The cryptography that a charter can name: modules that agree on keys, and ciphers that seal
//! under them.

/// The modules of key agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModuleName {
    /// Cliques GDH over ristretto255, IKA.2 pattern.
    Gdh,
    /// Centralised key distribution, AES-256-GCM under pair keys over ristretto255.
    Ckd,
    /// Burmester–Desmedt over ristretto255.
    Bd,
    /// Dutta–Barua over ristretto255: KeyAgree and Join.
    DuttaBarua,
    /// Key trees over ristretto255.
    Tgdh,
    /// Key trees that are lists, over ristretto255.
    Str,
    /// MLS, RFC 9420.
    Mls,
    /// [`Self::Ckd`] with pair keys by X-Wing (ML-KEM-768 and X25519).
    CkdHybrid,
    /// [`Self::Mls`] with X-Wing for its encapsulations.
    MlsHybrid,
}

/// Most members for which GDH is the default.
const GDH_MEMBERS_MAX: usize = 8;

impl ModuleName {
    /// Every module.
    pub const ALL: &[Self] = &[
        Self::Gdh,
        Self::Ckd,
        Self::Bd,
        Self::DuttaBarua,
        Self::Tgdh,
        Self::Str,
        Self::Mls,
        Self::CkdHybrid,
        Self::MlsHybrid,
    ];

    /// The default for so many members if the charter names no module (DECISIONS K6): GDH up to
    /// eight, then TGDH. Both are contributory.
    pub fn by_size(members: usize) -> Self {
        if members > GDH_MEMBERS_MAX { Self::Tgdh } else { Self::Gdh }
    }

    /// The same where members are far from each other: TGDH, whose shares can be told before the
    /// view (KEY-22).
    pub fn by_distance() -> Self {
        Self::Tgdh
    }

    /// Whether every member has a share of its own in every key. It has none if one member makes
    /// the key, nor in a Dutta–Barua join, where most of the old members only listen. A charter
    /// uses these modules only if it names them.
    pub fn contributory(self) -> bool {
        match self {
            Self::Gdh | Self::Bd | Self::Tgdh | Self::Str => true,
            Self::Ckd | Self::DuttaBarua | Self::Mls | Self::CkdHybrid | Self::MlsHybrid => false,
        }
    }

    /// The same module with ML-KEM-768 in every exchange between two members; `None` if the module
    /// has no such form.
    pub fn hybrid(self) -> Option<Self> {
        match self {
            Self::Ckd | Self::CkdHybrid => Some(Self::CkdHybrid),
            Self::Mls | Self::MlsHybrid => Some(Self::MlsHybrid),
            Self::Gdh | Self::Bd | Self::DuttaBarua | Self::Tgdh | Self::Str => None,
        }
    }

    /// Whether this is a form with ML-KEM-768. A charter asks for it by `hybrid = true`, not by its
    /// name.
    pub fn is_hybrid(self) -> bool {
        self.hybrid() == Some(self)
    }

    /// The name under signatures and, except for hybrid forms, in charters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gdh => "gdh",
            Self::Ckd => "ckd",
            Self::Bd => "bd",
            Self::DuttaBarua => "dutta-barua",
            Self::Tgdh => "tgdh",
            Self::Str => "str",
            Self::Mls => "mls",
            Self::CkdHybrid => "ckd+ml-kem-768",
            Self::MlsHybrid => "mls+ml-kem-768",
        }
    }

    /// Reads what [`Self::as_str`] writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|module| module.as_str() == name)
    }
}

/// How a charter chooses the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keying {
    /// By the number of members of each view: [`ModuleName::by_size`].
    #[default]
    BySize,
    /// This one.
    Module(ModuleName),
}

impl Keying {
    /// The word in charters for [`Self::BySize`].
    const BY_SIZE: &'static str = "by-size";

    /// The module of a view of so many members, which are `far` from each other, or not.
    pub fn module(self, members: usize, far: bool) -> ModuleName {
        match self {
            Self::BySize if far => ModuleName::by_distance(),
            Self::BySize => ModuleName::by_size(members),
            Self::Module(module) => module,
        }
    }

    /// Whether every module that this may choose is contributory.
    pub fn contributory(self) -> bool {
        match self {
            Self::BySize => true,
            Self::Module(module) => module.contributory(),
        }
    }

    /// The same choice with ML-KEM-768 in every exchange between two members; `None` if a module
    /// that it may choose has no such form.
    pub fn hybrid(self) -> Option<Self> {
        match self {
            Self::BySize => None,
            Self::Module(module) => module.hybrid().map(Self::Module),
        }
    }

    /// The word in charters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BySize => Self::BY_SIZE,
            Self::Module(module) => module.as_str(),
        }
    }

    /// Reads what [`Self::as_str`] writes, for modules that a charter can name. A hybrid form is
    /// not one of them: it has a field of its own.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == Self::BY_SIZE {
            return Some(Self::BySize);
        }
        ModuleName::from_name(name).filter(|module| !module.is_hybrid()).map(Self::Module)
    }
}

/// The ciphers that seal messages. All are authenticated, with associated data, keys of 32 bytes
/// and nonces of 12 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Cipher {
    /// AES-256-GCM: the fastest if the processor has instructions for it.
    #[default]
    Aes256Gcm,
    /// ChaCha20-Poly1305 (RFC 8439): fast in software, whatever the processor.
    ChaCha20Poly1305,
}

impl Cipher {
    /// Every cipher.
    pub const ALL: &[Self] = &[Self::Aes256Gcm, Self::ChaCha20Poly1305];

    /// The word in charters and under derived keys.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Aes256Gcm => "aes-256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
        }
    }

    /// Reads what [`Self::as_str`] writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cipher| cipher.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_as_what_wrote_it_and_no_other_does() {
        for module in ModuleName::ALL {
            assert_eq!(ModuleName::from_name(module.as_str()), Some(*module));
            let named = Keying::from_name(module.as_str());
            assert_eq!(named, (!module.is_hybrid()).then_some(Keying::Module(*module)));
        }
        assert_eq!(Keying::from_name(Keying::BySize.as_str()), Some(Keying::BySize));
        for cipher in Cipher::ALL {
            assert_eq!(Cipher::from_name(cipher.as_str()), Some(*cipher));
        }
        for word in ["", "GDH", "gdh ", "by_size", "aes"] {
            assert!(Keying::from_name(word).is_none() && Cipher::from_name(word).is_none(), "{word}");
        }
    }

    #[test]
    fn a_hybrid_form_is_its_own_and_has_the_share_rules_of_its_module() {
        assert_eq!(Keying::BySize.hybrid(), None);
        for module in ModuleName::ALL {
            let hybrid = module.hybrid();
            assert_eq!(Keying::Module(*module).hybrid(), hybrid.map(Keying::Module));
            let Some(hybrid) = hybrid else { continue };
            assert_eq!((hybrid.hybrid(), hybrid.contributory()), (Some(hybrid), module.contributory()));
            assert!(hybrid.is_hybrid() && hybrid.as_str().starts_with(module.as_str()));
        }
    }

    #[test]
    fn whoever_names_no_module_gets_contributory_ones() {
        for members in [1, 8, 9, 1_000] {
            assert!([true, false].iter().all(|far| Keying::BySize.module(members, *far).contributory()));
        }
        assert_ne!(Keying::BySize.module(8, false), Keying::BySize.module(9, false));
    }
}
