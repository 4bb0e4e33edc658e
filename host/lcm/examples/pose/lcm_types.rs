// Written by folkmoot-lcm-gen from .lcm files. Whatever is changed here is lost.

#[allow(clippy::all, clippy::pedantic, clippy::nursery, missing_docs, non_snake_case, non_upper_case_globals, rustdoc::all, unreachable_pub, unused)]
pub mod robot {
    /// Where a robot is.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct PoseT {
        /// microseconds since 1970
        pub utime: i64,
        /// metres
        pub position: [f64; 3],
        /// quaternion: w, x, y, z
        pub orientation: [f64; 4],
        pub name: String,
    }

    impl ::folkmoot_lcm::typed::Typed for PoseT {
        const NAME: &'static str = "robot.pose_t";
        const FINGERPRINT: u64 = 0xa5a989e277c9cc94;

        fn write(&self, to: &mut ::folkmoot_lcm::typed::Writer<'_>) -> ::core::result::Result<(), ::folkmoot_lcm::typed::EncodeError> {
            to.value(&self.utime);
            to.value(&self.position);
            to.value(&self.orientation);
            to.text("name", &self.name)?;
            Ok(())
        }

        fn read(from: &mut ::folkmoot_lcm::typed::Reader<'_>) -> ::core::result::Result<Self, ::folkmoot_lcm::typed::DecodeError> {
            let v_utime: i64 = from.value()?;
            let v_position: [f64; 3] = from.value()?;
            let v_orientation: [f64; 4] = from.value()?;
            let v_name: String = from.text()?;
            Ok(Self { utime: v_utime, position: v_position, orientation: v_orientation, name: v_name })
        }
    }
}
