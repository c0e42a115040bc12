"""Certificates of a laboratory, made with openssl: an authority, and one for each end."""

from pathlib import Path

from tidemark_sdn.config import Tls
from tidemark_sdn.lab.network import run

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]


class Authority:
    """Signs certificates, all in one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self._folder = folder
        self.certificate = folder / "authority.pem"
        self._key = folder / "authority.key"
        self._request("authority", "-x509", "-out", str(self.certificate), "-keyout", str(self._key))

    def issue(self, name: str) -> Tls:
        """A certificate with this common name."""
        certificate, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        signing = ["-CA", str(self.certificate), "-CAkey", str(self._key)]
        self._request(name, "-x509", *signing, "-out", str(certificate), "-keyout", str(key))
        return Tls(certificate, key, self.certificate)

    @staticmethod
    def _request(name: str, *arguments: str) -> None:
        run("openssl", "req", *_KEY, "-subj", f"/CN={name}", *arguments)
