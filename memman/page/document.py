"""The document around a page."""

from html import escape

from memman.page.views import NAMED

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 0 1rem 3rem; overflow-wrap: anywhere; }
nav ul, .buttons { display: flex; flex-wrap: wrap; gap: .5rem 1rem; padding: 0; list-style: none; }
[aria-current] { font-weight: bold; }
.about, dt { opacity: .8; font-size: .9rem; }
li p, dd { margin: 0; } li { margin-bottom: 1rem; }
button, input { font: inherit; padding: .25rem .75rem; }
pre { white-space: pre-wrap; }
.notice { border: 2px solid; padding: .5rem 1rem; }
section { border-top: 1px solid; }
:focus-visible { outline: 3px solid; outline-offset: 2px; }
"""


def whole(title: str, body: str, path: str) -> str:
    """Return the document of a page."""
    links = "".join(
        f'<li><a href="{at}"{" aria-current=page" if at == path else ""}>{name}</a></li>' for at, name in NAMED.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} - memman</title><style>{_STYLE}</style></head>\n"
        f'<body><nav aria-label="Pages"><ul>{links}</ul></nav><main><h1>{escape(title)}</h1>\n'
        f"{body}</main></body></html>\n"
    )
