"""Exact, certified computational geometry for ReLU networks.

The names at the top level are listed once, in the stub `__init__.pyi` beside this file; they are
imported when they are first used, so that `import polyrelu` and `polyrelu --help` load no
mathematics. Everything else stands in the public submodules: `polyrelu.complex`, `polyrelu.walks`,
`polyrelu.topology` and so on.

Examples
--------
>>> import polyrelu
>>> outcome = polyrelu.identify(polyrelu.load("example:digits"))
>>> outcome.status, outcome.certificate.claim.among
('proved', 'generic')
"""

import lazy_loader

from polyrelu.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
