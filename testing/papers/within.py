"""What Python reads: the packages cryptography and pyasn1. No reader here falls back to BER."""

import hashlib
import warnings

import pyasn1_fasder
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
    load_pem_private_key,
    pkcs7,
)
from pyasn1.codec.der import decoder, encoder
from pyasn1_alt_modules import rfc2986, rfc5280, rfc5652, rfc5958

from papers import PASSPHRASE, open_form, split_pem

CERTIFICATE = [rfc5280.Certificate()]
LIST = [rfc5280.CertificateList()]
REQUEST = [rfc2986.CertificationRequest()]
MESSAGE = [rfc5652.ContentInfo(), rfc5652.SignedData()]
KEY = {"open": [rfc5958.OneAsymmetricKey()], "sealed": [rfc5958.EncryptedPrivateKeyInfo()]}

# cryptography says by a warning that it fell back to a more lenient reader.
warnings.simplefilter("error")


def inner(value):
    """What a decoded ContentInfo holds, as bytes."""
    return bytes(value["content"])


def decodes_strictly(der, specifications):
    """The reader that pkilint uses: DER only."""
    read_each(der, specifications, decode_strictly)


def decode_strictly(der, specification):
    return pyasn1_fasder.decode_der(der, asn1Spec=specification)[0]


def encodes_again(der, specifications):
    """The encoder sorts every SET OF, and leaves out what is so by default."""
    read_each(der, specifications, decode_and_encode)


def decode_and_encode(der, specification):
    value, rest = decoder.decode(der, asn1Spec=specification)
    same(rest, b"", "what follows")
    same(encoder.encode(value), der, "what is encoded again")
    return value


def read_each(der, specifications, read):
    """A message is read as a ContentInfo first, and then what it holds."""
    for number, specification in enumerate(specifications):
        value = read(der, specification)
        if number + 1 < len(specifications):
            der = inner(value)


def trusted(paper):
    return [x509.load_der_x509_certificate(der) for der in split_pem(paper.trusted.read_bytes())]


def same(one, other, what):
    if one != other:
        raise ValueError(f"{what} differs")


def certificate(paper):
    found = x509.load_der_x509_certificate(paper.der)
    same(found.version, x509.Version.v3, "the version")
    same(len(found.subject), 1, "the number of names")
    found.public_key()
    list(found.extensions)
    (issuer,) = trusted(paper)
    found.verify_directly_issued_by(issuer)


def revocations(paper):
    found = x509.load_der_x509_crl(paper.der)
    (issuer,) = trusted(paper)
    same(found.is_signature_valid(issuer.public_key()), True, "the signature")
    same(found.issuer, issuer.subject, "the issuer")
    list(found.extensions)
    same(len(list(found)) > 0, True, "the number of certificates")


def request(paper):
    found = x509.load_der_x509_csr(paper.der)
    same(found.is_signature_valid, True, "the signature")
    list(found.extensions)


def key(paper):
    """A key; and of a sealed one, the same as its open form says."""
    if paper.signer == "open":
        load_der_private_key(paper.der, None)
        return
    found = load_pem_private_key(paper.trusted.read_bytes(), PASSPHRASE.encode())
    open_one = load_pem_private_key(open_form(paper).read_bytes(), None)
    form = (Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    same(found.private_bytes(*form), open_one.private_bytes(*form), "the key")


def message(paper):
    """Every signature of a CMS message, by the certificate beside it; and that certificate."""
    loaded = pkcs7.load_der_pkcs7_certificates(paper.der)
    by_number = {(one.issuer.public_bytes(), one.serial_number): one for one in loaded}
    outer, _ = decoder.decode(paper.der, asn1Spec=rfc5652.ContentInfo())
    signed, _ = decoder.decode(inner(outer), asn1Spec=rfc5652.SignedData())
    content = bytes(signed["encapContentInfo"]["eContent"])
    same(len(signed["signerInfos"]), len(loaded), "the number of signatures")
    for signer in signed["signerInfos"]:
        named = signer["sid"]["issuerAndSerialNumber"]
        found = by_number.pop((encoder.encode(named["issuer"]), int(named["serialNumber"])))
        attributes = {
            str(one["attrType"]): [bytes(value) for value in one["attrValues"]]
            for one in signer["signedAttrs"]
        }
        key = found.public_key()
        hashed = hashlib.sha512 if isinstance(key, ed25519.Ed25519PublicKey) else hashlib.sha256
        value = hashed(content).digest()
        digest = bytes([4, len(value)]) + value
        same(attributes[str(rfc5652.id_messageDigest)], [digest], "the digest")
        # What is signed has the tag of a SET, in place of [0].
        data = b"\x31" + encoder.encode(signer["signedAttrs"])[1:]
        verify(key, bytes(signer["signature"]), data)
        issuers = [one for one in trusted(paper) if one.subject == found.issuer]
        same(any(is_issued_by(found, one) for one in issuers), True, "the certificate's issuer")


def verify(key, signature, data):
    """By the algorithm of the key."""
    if isinstance(key, ed25519.Ed25519PublicKey):
        key.verify(signature, data)
    elif isinstance(key, ec.EllipticCurvePublicKey):
        key.verify(signature, data, ec.ECDSA(hashes.SHA256()))
    else:
        key.verify(signature, data, padding.PKCS1v15(), hashes.SHA256())


def is_issued_by(found, issuer):
    try:
        found.verify_directly_issued_by(issuer)
    except Exception:  # Of several, another may be the issuer.
        return False
    return True
