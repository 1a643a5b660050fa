"""Signed messages: who sent a body, and when, by a secret that both sides know.

The header `X-Breakeven-Signature: t=SECONDS,v1=HEX` has the HMAC-SHA256 of the seconds, a point and the body.
"""

import hmac
from hashlib import sha256

SIGNATURE_HEADER = "X-Breakeven-Signature"


def signature_of(secret: str, body: bytes, at: float) -> str:
    """The value of the header for a body sent at a time.

    >>> signature_of("a secret of ours", b"{}", 1.7e9)[:20]
    't=1700000000,v1=1715'
    """
    moment = str(int(at))
    sign = hmac.new(secret.encode(), moment.encode() + b"." + body, sha256).hexdigest()
    return f"t={moment},v1={sign}"
