"""TLS with certificates on both sides."""

import ssl

from tidemark_sdn.config import ConfigError, Tls


def server_context(tls: Tls) -> ssl.SSLContext:
    """Makes the context of a server, which requires a client certificate from the authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    return _load(context, tls)


def client_context(tls: Tls) -> ssl.SSLContext:
    """Makes the context of a client, which requires a server certificate from the authority, for any address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Switches move and have no DNS names; the agent is identified by its description of its switch.
    context.check_hostname = False
    return _load(context, tls)


def _load(context: ssl.SSLContext, tls: Tls) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(tls.certificate, tls.private_key)
        context.load_verify_locations(tls.authority)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"tls: {tls.certificate}, {tls.private_key}, {tls.authority}: {error}") from None
    return context
