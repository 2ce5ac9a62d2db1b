"""Imported before Chroma, for what Chroma imports to take less long.

Where JupyterLab is installed there is a parser of addresses that nothing here asks for; to make
it takes longer than all the rest of Chroma, in each process again.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
