"""Addresses of databases, as they may be shown in a message: passwords are shown nowhere."""

from urllib.parse import urlsplit, urlunsplit

SQLITE, POSTGRESQL = "sqlite:///", ("postgresql://", "postgres://")


def without_password(address: str) -> str:
    """The address as it may be shown.

    >>> without_password("postgresql://ann:secret@db/clinic"), without_password("sqlite:///clinic.db")
    ('postgresql://ann:***@db/clinic', 'sqlite:///clinic.db')
    """
    if address.startswith(SQLITE):
        return address
    parts = urlsplit(address)
    place = parts.netloc
    if parts.password is not None:
        user, _, host = place.rpartition("@")
        place = f"{user.partition(':')[0]}:***@{host}"
    asked = "&".join(one for one in parts.query.split("&") if one and not one.startswith("password="))
    return urlunsplit((parts.scheme, place, parts.path, asked, ""))
