"""Who made a model folder: an Ed25519 signature of its manifest (docs/certificate.md, §6.1).

    sign(folder, "private.pem")              writes signature.json beside the manifest
    verify(folder, "public.pem")             raises unless that key has signed the folder as it is

The manifest's digest covers the hash of every file, so the signature covers all of them. Keys are PEM files, as
OpenSSL writes them; a public key may also be given as its 64 hexadecimal digits. The library `cryptography` is
imported here and nowhere else.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

from smilenn.errors import AlteredError, SmileError
from smilenn.model.folder import SIGNATURE, dump_json, parse_json, read_file, read_folder, read_manifest

FORMAT, VERSION = "smilenn-signature", 1
MOST_BYTES = 4096  # of signature.json
FIELD = 2**255 - 19


def sign(folder: Path | str, key: Path | str) -> str:
    """Sign a model folder with a private key; returns the public key in hexadecimal. All hashes are compared first."""
    secret = _private(Path(key))  # before anything long
    read_folder(folder)
    entry = _signed(_message(_manifest(folder)), secret)
    place = Path(folder) / SIGNATURE
    part = place.with_suffix(".part")
    part.unlink(missing_ok=True)  # it may be a link that somebody has put there
    with part.open("xb") as file:
        file.write(dump_json(entry))
    os.replace(part, place)
    return str(entry["key"])


def signature(message: bytes, key: Path | str) -> bytes:
    """The content of a signature.json that signs a message."""
    return dump_json(_signed(message, _private(Path(key))))


def _signed(message: bytes, secret: Any) -> dict[str, Any]:
    serialization, _, _ = _library()
    public = secret.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()
    return {"format": FORMAT, "version": VERSION, "key": public, "signature": secret.sign(message).hex()}


def verify(folder: Path | str, key: Path | str) -> str:
    """The digest of the manifest that the key has signed; else an `AlteredError` that says what fails.

    `key` is a PEM file or 64 hexadecimal digits. Only the manifest is looked at: the hashes that it lists are for the
    checkers to compare, which must report the same digest.
    """
    public_key(key)  # a key that is none is said first
    manifest = _manifest(folder)
    verify_message(Path(folder), _message(manifest), key)
    return str(manifest["digest"])


def verify_message(folder: Path, message: bytes, key: Path | str) -> None:
    """Raise `AlteredError` unless signature.json of a folder signs the message by the key."""
    public = public_key(key)
    _, ed25519, invalid = _library()
    place = folder / SIGNATURE
    if not place.exists() and not place.is_symlink():
        raise AlteredError(f"{str(folder)!r} is not signed; sign it with smile sign, or check it without a key.")
    entry = _entry(place)
    if entry["key"] != public:
        raise AlteredError(f"{str(folder)!r} is signed by another key, {entry['key'][:16]}…; check whose it is.")
    try:
        verifier = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        verifier.verify(bytes.fromhex(entry["signature"]), message)
    except (invalid, ValueError):
        raise AlteredError(f"The signature of {str(folder)!r} does not fit its files; sign the folder again.") from None


def new_key(private: Path | str) -> str:
    """Write a new private key as a PEM file that only its owner can read; returns the public key in hexadecimal."""
    serialization, ed25519, _ = _library()
    secret = ed25519.Ed25519PrivateKey.generate()
    text = secret.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise SmileError(f"The key file {str(private)!r} exists; choose another name.") from None
    except OSError as error:
        raise SmileError(f"The key file {str(private)!r} cannot be written: {error.strerror}.") from None
    with open(descriptor, "wb") as file:
        file.write(text)
    return secret.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()


def public_key(key: Path | str) -> str:
    """A public key in hexadecimal, from a PEM file (of the public or the private key) or from its digits."""
    if isinstance(key, str) and re.fullmatch("[0-9a-fA-F]{64}", key):
        if _of_small_order(bytes.fromhex(key)):
            raise SmileError("The public key has a small order, so anybody can sign for it; ask for the real one.")
        return key.lower()
    serialization, ed25519, _ = _library()
    data = _read(Path(key))
    try:
        found: Any = serialization.load_pem_public_key(data)
    except ValueError:
        found = _private(Path(key)).public_key()
    if not isinstance(found, ed25519.Ed25519PublicKey):
        raise SmileError(f"{str(key)!r} holds no Ed25519 key; make one with smile sign --new-key.")
    digits = found.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()
    return public_key(digits)


def _of_small_order(key: bytes) -> bool:
    """Whether a point (x, y) of −x² + y² = 1 + d·x²y² has order 8 or less, in whatever way its y is written.

    Such a point, times the hash of a message, is the same for one message in eight: its signatures say nothing. Order 1
    and 2: y = ±1. Order 4: y = 0. Order 8: twice the point has y = 0, so x² = −y², so d·y⁴ + 2y² = 1.
    """
    y = int.from_bytes(key, "little") % (1 << 255)  # the last bit is the sign of x
    d = -121665 * pow(121666, -1, FIELD)
    return y * (y * y - 1) * (d * y**4 + 2 * y * y - 1) % FIELD == 0


def _private(path: Path) -> Any:
    serialization, ed25519, _ = _library()
    data = _read(path)
    try:
        found = serialization.load_pem_private_key(data, password=None)
    except TypeError:
        raise SmileError(f"The key in {str(path)!r} is encrypted; decrypt it with openssl pkey first.") from None
    except ValueError:
        raise SmileError(f"{str(path)!r} holds no key in PEM; make one with smile sign --new-key.") from None
    if not isinstance(found, ed25519.Ed25519PrivateKey):
        raise SmileError(f"{str(path)!r} holds no Ed25519 key; make one with smile sign --new-key.")
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SmileError(f"The key {str(path)!r} cannot be read: {error.strerror}; check the path.") from None


def _entry(place: Path) -> dict[str, str]:
    """The content of signature.json, every key and value as the specification has it."""
    if not stat.S_ISREG(place.lstat().st_mode) or place.stat().st_size > MOST_BYTES:
        raise AlteredError(f"{str(place)!r} is not a regular file of a signature; sign the folder again.")
    entry = parse_json(read_file(place, MOST_BYTES), str(place))
    good = isinstance(entry, dict) and set(entry) == {"format", "version", "key", "signature"}
    good = good and entry["format"] == FORMAT and entry["version"] is VERSION
    for name, digits in (("key", 64), ("signature", 128)):
        good = good and isinstance(entry[name], str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", entry[name])
    if not good:
        raise AlteredError(f"{str(place)!r} is not a signature of version {VERSION}; sign the folder again.")
    return entry


def _manifest(folder: Path | str) -> dict[str, Any]:
    manifest = read_manifest(folder)
    if manifest["version"] == 1:
        raise SmileError(f"{str(folder)!r} has format version 1, which cannot be signed; prove it again, then sign it.")
    return manifest


def _message(manifest: dict[str, Any]) -> bytes:
    return f"{FORMAT} {VERSION}\n{manifest['digest']}".encode()


def _library() -> tuple[Any, Any, type[Exception]]:
    """What is needed of `cryptography`: two modules, and the error of a signature that does not fit."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise SmileError("Signatures need the library cryptography: pip install 'smilenn[sign]'.") from None
    return serialization, ed25519, InvalidSignature
