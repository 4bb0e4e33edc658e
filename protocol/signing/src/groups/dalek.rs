//! What the two groups of curve25519-dalek have in common: all but how an element is read.

/// The operations of [`super::PrimeGroup`] on `$point`, whose generator has the table `$table`.
macro_rules! dalek_group {
    ($point:ty, $table:path) => {
        fn plus(left: Scalar, right: Scalar) -> Scalar {
            left + right
        }

        fn minus(scalar: Scalar) -> Scalar {
            -scalar
        }

        fn times(left: Scalar, right: Scalar) -> Scalar {
            left * right
        }

        fn inverse(scalar: Scalar) -> Option<Scalar> {
            (scalar != Scalar::ZERO).then(|| scalar.invert())
        }

        fn zero() -> Scalar {
            Scalar::ZERO
        }

        fn one() -> Scalar {
            Scalar::ONE
        }

        fn from_wide(bytes: &[u8; 64]) -> Scalar {
            Scalar::from_bytes_mod_order_wide(bytes)
        }

        fn encode_scalar(scalar: &Scalar) -> Vec<u8> {
            scalar.as_bytes().to_vec()
        }

        fn decode_scalar(bytes: &[u8]) -> Option<Scalar> {
            Scalar::from_canonical_bytes(bytes.try_into().ok()?).into()
        }

        fn raise_generator(scalar: &Scalar) -> $point {
            $table * scalar
        }

        fn raise(element: &$point, scalar: &Scalar) -> $point {
            element * scalar
        }

        fn raise_many(terms: &[(Scalar, $point)]) -> $point {
            let scalars = terms.iter().map(|(scalar, _)| scalar);
            <$point>::vartime_multiscalar_mul(scalars, terms.iter().map(|(_, element)| element))
        }

        fn add(left: &$point, right: &$point) -> $point {
            left + right
        }

        fn identity() -> $point {
            <$point>::identity()
        }

        fn encode(element: &$point) -> Vec<u8> {
            element.compress().as_bytes().to_vec()
        }
    };
}
pub(super) use dalek_group;
